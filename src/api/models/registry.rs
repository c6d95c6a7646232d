//! Functions that register models.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_models::registration::{Changes, Registration};
use reground_models::settings::ModelSettings;

use crate::api::{not_empty, writable};
use crate::datum::Json;
use crate::error::{Error, Result};
use crate::rows;
use crate::store::models::{registry, tasks};

#[pg_extern(sql = false)]
#[expect(clippy::too_many_arguments, reason = "the SQL signature")]
fn set_model(
    model: Option<&str>,
    task: Option<&str>,
    api: Option<&str>,
    endpoint: Option<&str>,
    api_model: Option<&str>,
    dimensions: Option<i32>,
    key_name: Option<&str>,
    settings: Option<Json>,
) -> std::result::Result<(), ErrorReport> {
    writable("set_model")?;
    let model = not_empty(model, "model")?;
    let changes = Changes {
        task,
        api,
        endpoint,
        api_model,
        dimensions,
        key_name,
        settings: Json::optional(settings, "settings")?,
    };
    let before = registry::hold(model)?;
    let after = Registration::changed(model, before.clone(), changes).map_err(Error::from)?;
    if let Some(before) = before
        && !after.embeds_like(&before)
        && let Some(corpus) = registry::user_of(model)?
    {
        return Err(Error::ModelInUse {
            model: before.model,
            corpus,
        }
        .into());
    }
    registry::put(&after)?;
    // A worker reads the registrations again.
    tasks::notify()?;
    Ok(())
}

#[pg_extern(sql = false)]
fn drop_model(model: Option<&str>) -> std::result::Result<bool, ErrorReport> {
    writable("drop_model")?;
    let model = not_empty(model, "model")?;
    if registry::hold(model)?.is_none() {
        return Ok(false);
    }
    if let Some(corpus) = registry::user_of(model)? {
        return Err(Error::ModelInUse {
            model: model.to_owned(),
            corpus,
        }
        .into());
    }
    registry::delete(model)?;
    Ok(true)
}

#[pg_extern(sql = false)]
fn worker_models(fcinfo: pg_sys::FunctionCallInfo) -> std::result::Result<(), ErrorReport> {
    let models = registry::all()?.into_iter().map(|mut model| {
        let settings = ModelSettings::read(&model.settings)?;
        model.settings = serde_json::to_value(settings)?;
        Ok(model)
    });
    rows::emit(fcinfo, &models.collect::<Result<Vec<Registration>>>()?)?;
    Ok(())
}
