//! The table `judge_rules`.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql;

/// A tenant and a model that judges its citations.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rule {
    pub tenant: String,
    pub model: String,
    /// Share of the citations that hold.
    pub sample: f32,
    /// Citations that can still be queued in this hour.
    pub left: i64,
}

/// Columns of [`Rule`], from the alias `r`.
const RULE: &str = "r.tenant, r.model, r.sample, greatest(r.max_per_hour - CASE WHEN r.queued_hour = date_trunc('hour', clock_timestamp()) THEN r.queued ELSE 0 END, 0) AS left";

/// Enables judging, or changes how much is judged.
pub fn put(tenant: &str, model: &str, sample: f32, max_per_hour: i32) -> Result<()> {
    as_owner(|| {
        sql::run(
            "INSERT INTO reground.judge_rules (tenant, model, sample, max_per_hour) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (tenant, model) DO UPDATE SET sample = excluded.sample, max_per_hour = excluded.max_per_hour",
            &[
                tenant.into(),
                model.into(),
                sample.into(),
                max_per_hour.into(),
            ],
        )
    })?;
    Ok(())
}

/// Disables judging by one model or by all, and deletes the tasks; returns the number of models.
pub fn delete(tenant: &str, model: Option<&str>) -> Result<usize> {
    as_owner(|| {
        let deleted = sql::run(
            "DELETE FROM reground.judge_rules AS r WHERE r.tenant = $1 AND ($2::text IS NULL OR r.model = $2)",
            &[tenant.into(), model.into()],
        )?;
        sql::run(
            "DELETE FROM reground.model_tasks AS t WHERE t.kind = 'judge' AND t.tenant = $1 AND ($2::text IS NULL OR t.model = $2)",
            &[tenant.into(), model.into()],
        )?;
        Ok(deleted)
    })
}

/// Whether a model may judge the citations of a tenant.
pub fn is_enabled(tenant: &str, model: &str) -> Result<bool> {
    let is_enabled = as_owner(|| {
        sql::read_one::<bool>(
            "SELECT EXISTS (SELECT FROM reground.judge_rules AS r WHERE r.tenant = $1 AND r.model = $2)",
            &[tenant.into(), model.into()],
        )
    })?;
    Ok(is_enabled == Some(true))
}

/// The rules of a tenant, locked; only that of a model if it is named.
pub fn hold(tenant: &str, model: Option<&str>) -> Result<Vec<Rule>> {
    Ok(as_owner(|| {
        sql::write_json(
            &format!(
                "SELECT json_agg(x ORDER BY x.model)::text FROM (SELECT {RULE} FROM reground.judge_rules AS r \
                 WHERE r.tenant = $1 AND ($2::text IS NULL OR r.model = $2) ORDER BY r.model FOR UPDATE) AS x"
            ),
            &[tenant.into(), model.into()],
        )
    })?
    .unwrap_or_default())
}

/// The rules of all tenants that have room in this hour and that no other session holds, locked.
pub fn hold_due() -> Result<Vec<Rule>> {
    let rules: Vec<Rule> = as_owner(|| {
        sql::write_json(
            &format!(
                "SELECT json_agg(x ORDER BY x.tenant, x.model)::text FROM (SELECT {RULE} FROM reground.judge_rules AS r \
                 ORDER BY r.tenant, r.model FOR UPDATE SKIP LOCKED) AS x"
            ),
            &[],
        )
    })?
    .unwrap_or_default();
    Ok(rules.into_iter().filter(|rule| rule.left > 0).collect())
}

/// Counts queued citations against the budget of this hour.
pub fn count(rule: &Rule, queued: i64) -> Result<()> {
    as_owner(|| {
        sql::run(
            "UPDATE reground.judge_rules AS r SET queued_hour = h.hour, queued = $3::integer + CASE WHEN r.queued_hour = h.hour THEN r.queued ELSE 0 END \
             FROM (SELECT date_trunc('hour', clock_timestamp()) AS hour) AS h WHERE r.tenant = $1 AND r.model = $2",
            &[
                rule.tenant.as_str().into(),
                rule.model.as_str().into(),
                queued.into(),
            ],
        )
    })?;
    Ok(())
}
