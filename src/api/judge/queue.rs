//! Functions that queue citations for the judge.

use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_models::judge::prompt::PROMPT;
use reground_models::judge::votes::{is_deterministic, wanted};

use crate::api::{given, writable};
use crate::error::{Error, Result};
use crate::store::judge::citations::{self, Selection};
use crate::store::judge::rules::{self, Rule};
use crate::store::models::{registry, tasks};
use crate::tenant;

#[pg_extern(sql = false)]
fn judge_sample() -> std::result::Result<i64, ErrorReport> {
    writable("judge_sample")?;
    Ok(queue_sample()?)
}

/// Queues new citations of all tenants, and returns their number.
pub(in crate::api) fn queue_sample() -> Result<i64> {
    let mut queued: i64 = 0;
    for rule in rules::hold_due()? {
        let selection = Selection {
            share: rule.sample,
            is_sample: true,
            ..Selection::default()
        };
        queued = queued.saturating_add(queue(&rule, &selection, i64::MAX)?);
    }
    notify(queued)?;
    Ok(queued)
}

#[pg_extern(sql = false)]
fn queue_judgements(
    model: Option<&str>,
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
    corpus: Option<String>,
    only_failing: Option<bool>,
    max_citations: Option<i32>,
    citation_ids: Option<Vec<Option<i64>>>,
) -> std::result::Result<i64, ErrorReport> {
    writable("queue_judgements")?;
    let tenant = tenant::required()?;
    let most = given(max_citations, "max_citations")?;
    if most < 0 {
        return Err(Error::Bad {
            argument: "max_citations",
            fault: "it is below 0".into(),
            hint: String::new(),
        }
        .into());
    }
    let only_failing = given(only_failing, "only_failing")?;
    let selection = Selection {
        since,
        until,
        corpus,
        citation_ids: citation_ids.map(|ids| ids.into_iter().flatten().collect()),
        share: if only_failing { 0.0 } else { 1.0 },
        is_sample: false,
    };
    let rules = rules::hold(&tenant, model)?;
    if rules.is_empty() {
        return Err(Error::NoJudging(tenant).into());
    }
    let mut queued: i64 = 0;
    for rule in rules {
        queued = queued.saturating_add(queue(&rule, &selection, most.into())?);
    }
    notify(queued)?;
    Ok(queued)
}

/// Queues citations within the budget of this hour, and returns their number.
fn queue(rule: &Rule, selection: &Selection, most: i64) -> Result<i64> {
    let most = most.min(rule.left);
    let Some(model) = registry::find(&rule.model)?.filter(|_| most > 0) else {
        return Ok(0);
    };
    let votes = wanted(is_deterministic(model.api));
    let queued = citations::queue(rule, PROMPT, votes, selection, most)?;
    if queued > 0 {
        rules::count(rule, queued)?;
    }
    Ok(queued)
}

fn notify(queued: i64) -> Result<()> {
    match queued {
        0 => Ok(()),
        _ => tasks::notify(),
    }
}
