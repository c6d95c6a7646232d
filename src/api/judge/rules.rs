//! Functions that enable and disable judging.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_models::judge::rules as limits;
use reground_models::kind::Kind;

use crate::api::{given, not_empty, writable};
use crate::error::{Error, Result};
use crate::store::judge::rules;
use crate::store::models::registry;
use crate::tenant;

#[pg_extern(sql = false)]
fn set_judging(
    model: Option<&str>,
    sample: Option<f32>,
    max_per_hour: Option<i32>,
    tenant: Option<&str>,
) -> std::result::Result<(), ErrorReport> {
    writable("set_judging")?;
    let model = registry::with_task(not_empty(model, "model")?, Kind::Judge)?;
    let sample = limits::sample(given(sample, "sample")?).map_err(Error::from)?;
    let budget = limits::budget(given(max_per_hour, "max_per_hour")?).map_err(Error::from)?;
    rules::put(&tenant_of(tenant)?, &model.model, sample, budget)?;
    Ok(())
}

#[pg_extern(sql = false)]
fn drop_judging(
    model: Option<&str>,
    tenant: Option<&str>,
) -> std::result::Result<bool, ErrorReport> {
    writable("drop_judging")?;
    Ok(rules::delete(&tenant_of(tenant)?, model)? > 0)
}

/// The named tenant, otherwise the current one.
fn tenant_of(named: Option<&str>) -> Result<String> {
    match named {
        Some(_) => Ok(not_empty(named, "tenant")?.to_owned()),
        None => tenant::required(),
    }
}
