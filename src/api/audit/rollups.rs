//! Functions that refresh and rebuild the rollups.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

use crate::api::writable;
use crate::error::{Error, notice};
use crate::store::rollups::{self, Rebuilt};

#[pg_extern(sql = false)]
fn refresh_audit(max_answers: Option<i32>) -> std::result::Result<i64, ErrorReport> {
    writable("refresh_audit")?;
    if max_answers.is_some_and(|most| most < 1) {
        return Err(Error::Bad {
            argument: "max_answers",
            fault: "it is below 1".into(),
            hint: "NULL counts all queued answers.".into(),
        }
        .into());
    }
    Ok(rollups::refresh(max_answers.map(i64::from))?)
}

#[pg_extern(sql = false)]
fn rebuild_audit() -> std::result::Result<i64, ErrorReport> {
    writable("rebuild_audit")?;
    let Rebuilt { counted, lost } = rollups::rebuild()?;
    if lost > 0 {
        notice(
            format!(
                "the rollups counted {lost} more answers, which retention or erasure has removed"
            ),
            "ROLLBACK keeps the earlier counts.",
        );
    }
    Ok(counted)
}
