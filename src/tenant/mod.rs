//! The tenant whose rows a call reads and writes, and the principals that it reads them as.

pub mod membership;

use std::ffi::{CStr, CString};

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_grounding::settings::principals;

use crate::error::{Error, Result};
use crate::guc;
use crate::session::with_server_setting;

/// The tenant; `None` if the setting that contains it is empty.
pub fn current() -> Option<String> {
    match guc::tenant_from() {
        Some(setting) => guc::value(&setting).filter(|value| !value.is_empty()),
        None => Some(role()),
    }
}

/// The calling role. Call this before the user id is switched.
pub fn role() -> String {
    // SAFETY: the current user id is always valid.
    role_name(unsafe { pg_sys::GetUserId() })
}

/// The name of a role; its oid if it does not exist.
pub fn role_name(role: pg_sys::Oid) -> String {
    // SAFETY: the name is allocated by the backend and ends with a NUL. It is NULL for a role that does not exist.
    unsafe {
        let name = pg_sys::GetUserNameFromId(role, true);
        match name.is_null() {
            true => role.to_u32().to_string(),
            false => CStr::from_ptr(name).to_string_lossy().into_owned(),
        }
    }
}

/// The tenant. Call this before the user id is switched. Errors: 55000 if none is set.
pub fn required() -> Result<String> {
    current().ok_or_else(|| Error::NoTenant(guc::tenant_from().unwrap_or_default()))
}

/// The tenant, for functions that maintain corpora; empty if none is set. No tenant has an empty name, so only shared corpora are then
/// found. Call this before the user id is switched.
pub fn if_any() -> String {
    current().unwrap_or_default()
}

/// Whether the session acts for a tenant or principals that a setting names. Without such a setting every role is a tenant.
pub fn is_named() -> Result<bool> {
    Ok((guc::tenant_from().is_some() && current().is_some()) || principals()?.is_some())
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

#[pg_extern(sql = false)]
fn current_tenant() -> Option<String> {
    current()
}

/// The principals of the caller; `None` if no setting contains them. Errors: 22023 if the setting is no text array.
pub fn principals() -> Result<Option<Vec<String>>> {
    let value = guc::principals_from().and_then(|setting| guc::value(&setting));
    let value = value.filter(|value| !value.is_empty());
    Ok(value.map(|value| principals::parse(&value)).transpose()?)
}

#[pg_extern(sql = false)]
fn current_principals() -> std::result::Result<Option<Vec<String>>, ErrorReport> {
    Ok(principals()?)
}
