//! Whose rows a call sees and writes.

use pgrx::prelude::*;

use crate::error::{Error, Result};
use crate::guc;
use crate::sql;

/// The tenant, or `None` where the setting that names it is empty.
pub fn current() -> Option<String> {
    match guc::tenant_from() {
        Some(setting) => guc::value(&setting).filter(|value| !value.is_empty()),
        None => Some(role()),
    }
}

/// The role that calls. Taken before the user is switched.
pub fn role() -> String {
    // SAFETY: the current user id is always valid; the name is allocated by the backend and copied.
    let name =
        unsafe { std::ffi::CStr::from_ptr(pg_sys::GetUserNameFromId(pg_sys::GetUserId(), false)) };
    name.to_string_lossy().into_owned()
}

/// The tenant, or 55000. Taken before the user is switched.
pub fn required() -> Result<String> {
    current().ok_or_else(|| Error::NoTenant(guc::tenant_from().unwrap_or_default()))
}

/// Whether this role reads all tenants.
pub fn is_auditor() -> Result<bool> {
    Ok(sql::read_one::<bool>(
        "SELECT pg_catalog.pg_has_role('reground_auditor', 'USAGE')",
        &[],
    )? == Some(true))
}

/// Whether this role administers.
pub fn is_admin() -> Result<bool> {
    Ok(sql::read_one::<bool>(
        "SELECT pg_catalog.pg_has_role('reground_admin', 'USAGE')",
        &[],
    )? == Some(true))
}

#[pg_extern(sql = false)]
fn current_tenant() -> Option<String> {
    current()
}
