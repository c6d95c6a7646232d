//! `check_coordinates`, as a function and as a task of maintenance, and `accept_coordinates`.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_models::recheck::{duration_after_error, is_long};

use crate::api::audit::task_result::TaskResult;
use crate::api::corpus::corpora::named;
use crate::api::writable;
use crate::error::{Error, Result};
use crate::retrieve::coordinates::{self, CoordinateCounts};
use crate::retrieve::passages;
use crate::rows;
use crate::run_as::as_relation_owner;
use crate::session::with_latest_snapshot;
use crate::sql;
use crate::store::corpora::{self, Corpus};
use crate::store::maintenance::{self, CoordinateCheck};
use crate::store::models::embeddings::{changes, clock, since};
use crate::store::positions::{self, Fault, Key};
use crate::tenant;

/// Recorded passages that are looked up at a time.
const BATCH: i64 = 1000;

#[pg_extern(sql = false)]
fn check_coordinates(
    corpus: Option<&str>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let corpus = corpora::load(&tenant::if_any(), named(corpus)?)?;
    if corpus.managed {
        rows::emit_from(fcinfo, &coordinates::wrong(&corpus)?, &[])?;
    } else {
        let mut faults: Vec<Fault> = Vec::new();
        if coordinates::has_positions(&corpus) {
            coordinates::check_recordable(&corpus)?;
            coordinates::present(&corpus, false, |batch| {
                faults.extend(positions::compare(corpus.corpus_id, batch)?);
                Ok(())
            })?;
        }
        rows::emit(fcinfo, &faults)?;
    }
    Ok(())
}

#[pg_extern(sql = false)]
fn accept_coordinates(corpus: Option<&str>) -> std::result::Result<i64, ErrorReport> {
    writable("accept_coordinates")?;
    let corpus = corpora::load(&tenant::if_any(), named(corpus)?)?;
    if corpus.managed {
        return Err(Error::Bad {
            argument: "corpus",
            fault: format!("create_corpus made \"{}\"", corpus.name),
            hint: "Store the documents again with put_document.".into(),
        }
        .into());
    }
    Ok(positions::forget_all(corpus.corpus_id)?)
}

/// Checks the corpora that have changed, or all in any case, and stores the counts. A call that need not check all ends after some seconds;
/// the next call goes on with the corpora that were checked longest ago. An error of a corpus does not replace its last counts. Stored faults
/// are reported until a check finds none.
pub(super) fn check_all(in_any_case: bool) -> Result<TaskResult> {
    let begun = clock()?;
    let mut checks = Vec::new();
    let mut result = TaskResult::default();
    for stored in maintenance::coordinate_checks()? {
        let corpus_id = stored.corpus_id;
        let changes = changes(corpus_id)?;
        let is_due = in_any_case || !is_long(since(begun)?) && stored.last.is_due(changes);
        let last = || {
            let counts = stored.passages.zip(stored.faults);
            counts.and_then(|(passages, faults)| {
                problem(&stored.corpus, &CoordinateCounts { passages, faults })
            })
        };
        if !is_due {
            result.problems.extend(last());
            continue;
        }
        let checked_at = clock()?;
        let (counts, error) = match sql::guarded(|| count(corpus_id)) {
            Ok(counts) => (counts, None),
            Err(caught) => {
                result.problems.extend(last());
                (None, Some(caught.message().to_owned()))
            }
        };
        let seconds = since(checked_at)?;
        if let Some((name, counts)) = &counts {
            result.processed = result.processed.saturating_add(counts.passages);
            result.problems.extend(problem(name, counts));
        }
        checks.push(CoordinateCheck {
            corpus_id,
            passages: counts.as_ref().map(|(_, counts)| counts.passages),
            faults: counts.as_ref().map(|(_, counts)| counts.faults),
            changes: changes.filter(|_| error.is_none()),
            seconds: match &error {
                Some(_) => duration_after_error(seconds),
                None => seconds,
            },
            error,
        });
    }
    // Written at the end, so that a transaction without new records has no id while it reads, which would keep VACUUM from removing rows.
    maintenance::write_coordinate_checks(&checks)?;
    Ok(result)
}

/// What the task says about a corpus with wrong positions.
fn problem(corpus: &str, counts: &CoordinateCounts) -> Option<String> {
    (counts.faults > 0).then(|| {
        format!(
            "corpus \"{corpus}\" has wrong positions: {} of {} passages",
            counts.faults, counts.passages
        )
    })
}

/// Counts the passages of a corpus as the owner of its table, who sees all rows. The owner may have replaced the tables by views or
/// added policies, whose functions must get no other rights. `None` if the corpus was dropped.
fn count(corpus_id: i64) -> Result<Option<(String, CoordinateCounts)>> {
    let Some(corpus) = corpora::by_id(corpus_id)? else {
        return Ok(None);
    };
    let counts = match corpus.managed {
        true => as_relation_owner(corpus.clone(), coordinates::count)?,
        false if coordinates::has_positions(&corpus) => compare(&corpus)?,
        false => CoordinateCounts::default(),
    };
    Ok(Some((corpus.name, counts)))
}

/// Compares the positions of a registered corpus with the recorded ones, and records those of new and changed passages. The tables are read
/// with the rights of their owner. So nothing is read if another role has mapped a column, or if reading runs code of another role.
fn compare(corpus: &Corpus) -> Result<CoordinateCounts> {
    let mut faults: usize = 0;
    let passages = as_relation_owner(corpus.clone(), |corpus| {
        corpus.lock()?;
        coordinates::check_recordable(corpus)?;
        if !with_latest_snapshot(|| corpus.other_owners())?.is_empty() {
            return Err(Error::UntrustedCode(corpus.name.clone()));
        }
        coordinates::present(corpus, true, |batch| {
            faults = faults.saturating_add(positions::compare(corpus.corpus_id, batch)?.len());
            positions::record(corpus.corpus_id, batch)
        })
    })?;
    forget_gone(corpus)?;
    Ok(CoordinateCounts {
        passages,
        faults: i64::try_from(faults).unwrap_or(i64::MAX),
    })
}

/// Removes the records of passages that no longer exist.
fn forget_gone(corpus: &Corpus) -> Result<()> {
    let mut after = Key::default();
    loop {
        let recorded = positions::recorded(corpus.corpus_id, &after, BATCH)?;
        let Some(last) = recorded.last() else {
            return Ok(());
        };
        after.clone_from(last);
        let gone = as_relation_owner(corpus.clone(), |corpus| passages::gone(corpus, &recorded))?;
        if !gone.is_empty() {
            positions::forget(corpus.corpus_id, &gone)?;
        }
    }
}
