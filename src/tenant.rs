//! The tenant whose rows a call reads and writes.

use std::ffi::CString;

use pgrx::prelude::*;

use crate::error::{Error, Result};
use crate::guc;
use crate::session::with_server_setting;
use crate::sql;

/// The tenant; `None` if the setting that contains it is empty.
pub fn current() -> Option<String> {
    match guc::tenant_from() {
        Some(setting) => guc::value(&setting).filter(|value| !value.is_empty()),
        None => Some(role()),
    }
}

/// The calling role. Call this before the user id is switched.
pub fn role() -> String {
    // SAFETY: the current user id is always valid; the name is allocated by the backend and copied.
    let name =
        unsafe { std::ffi::CStr::from_ptr(pg_sys::GetUserNameFromId(pg_sys::GetUserId(), false)) };
    name.to_string_lossy().into_owned()
}

/// The tenant. Call this before the user id is switched. Errors: 55000 if none is set.
pub fn required() -> Result<String> {
    current().ok_or_else(|| Error::NoTenant(guc::tenant_from().unwrap_or_default()))
}

/// Runs `work` for a tenant. If no setting contains the tenant, the current role must be the tenant.
pub fn with_tenant<T>(tenant: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let Some(setting) = guc::tenant_from() else {
        return work();
    };
    let invalid = |_| Error::Unknown("tenant", tenant.to_owned());
    let name = CString::new(setting).map_err(invalid)?;
    let value = CString::new(tenant).map_err(invalid)?;
    with_server_setting(&name, &value, work)
}

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

#[pg_extern(sql = false)]
fn current_tenant() -> Option<String> {
    current()
}
