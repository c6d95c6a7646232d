//! The keys of tenants.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_sealing::Kind;

use crate::api::audit::kept;
use crate::api::{given, not_empty, writable};
use crate::error::Result;
use crate::rows;
use crate::run_as::is_owner;
use crate::store::keys::{self, Reader};
use crate::tenant::{self, membership};

/// Returns a stored value as its readers see it.
#[pg_extern(sql = false)]
fn unsealed(
    tenant: &str,
    kind: &str,
    value: &str,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<String, ErrorReport> {
    let kind = Kind::of_name(kind).filter(|_| value.starts_with("sealed:"));
    match kind {
        Some(kind) if may_read(tenant)? => {
            let reader = kept(fcinfo, Reader::is_current, || Ok(Reader::new()))?;
            Ok(reader.text(tenant, kind, value)?)
        }
        _ => Ok(value.to_owned()),
    }
}

/// Whether the caller may read values of a tenant.
fn may_read(tenant: &str) -> Result<bool> {
    Ok(tenant::current().as_deref() == Some(tenant) || is_owner()? || membership::is_auditor()?)
}

#[pg_extern(sql = false)]
fn rotate_tenant_key(tenant: Option<&str>) -> std::result::Result<i64, ErrorReport> {
    writable("rotate_tenant_key")?;
    let tenant = match tenant {
        Some(tenant) => not_empty(Some(tenant), "tenant")?.to_owned(),
        None => tenant::required()?,
    };
    Ok(keys::rotate(&tenant)?)
}

#[pg_extern(sql = false)]
fn change_master_key(new_master_key: Option<&str>) -> std::result::Result<i64, ErrorReport> {
    writable("change_master_key")?;
    Ok(keys::change_master_key(given(
        new_master_key,
        "new_master_key",
    )?)?)
}

#[pg_extern(sql = false)]
fn forget_tenant_keys(
    tenant: Option<&str>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("forget_tenant_keys")?;
    let receipt = keys::destroy(not_empty(tenant, "tenant")?)?;
    rows::emit(fcinfo, receipt.rows())?;
    Ok(())
}
