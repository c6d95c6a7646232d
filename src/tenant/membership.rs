//! What the caller may do as a member of the roles of reground.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

use crate::error::{Result, notice};
use crate::guc;
use crate::sql;
use crate::tenant;

/// Whether the current role reads all tenants.
pub fn is_auditor() -> Result<bool> {
    has_role("reground_auditor")
}

/// Whether the current role is an administrator.
pub fn is_admin() -> Result<bool> {
    has_role("reground_admin")
}

/// Whether the current role has the rights of a role.
fn has_role(role: &str) -> Result<bool> {
    let has = "SELECT pg_has_role($1::name, 'USAGE')";
    Ok(sql::read_one::<bool>(has, &[role.into()])? == Some(true))
}

/// Sends a notice if the caller can read no conversation because it is no auditor: a report is then empty.
pub fn notice_scope() -> Result<()> {
    let tenant = tenant::current();
    let sees_some = "SELECT pg_has_role('reground_auditor', 'USAGE') OR NOT row_security_active('reground.conversations'::regclass) \
         OR EXISTS (SELECT FROM reground.conversations WHERE tenant = $1)";
    if sql::read_one::<bool>(sees_some, &[tenant.as_deref().into()])? == Some(true) {
        return Ok(());
    }
    let fact = match tenant {
        Some(tenant) => format!("tenant \"{tenant}\" has none"),
        None => format!(
            "the setting {} names no tenant",
            guc::tenant_from().unwrap_or_default()
        ),
    };
    notice(
        format!("the report covers no conversation: {fact}"),
        &format!(
            "Members of reground_auditor read all tenants: GRANT reground_auditor TO {};",
            sql::ident(&tenant::role())
        ),
    );
    Ok(())
}

#[pg_extern(sql = false)]
fn _notice_scope() -> std::result::Result<bool, ErrorReport> {
    notice_scope()?;
    Ok(true)
}
