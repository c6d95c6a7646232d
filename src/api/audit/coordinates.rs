//! The task `check_coordinates`: checks the positions of the passages of all corpora that create_corpus made.

use pgrx::pg_sys;

use crate::error::{Error, Result};
use crate::retrieve::coordinates::{self, CoordinateCounts};
use crate::run_as::{as_foreign_role, as_owner};
use crate::session::set_local;
use crate::sql;
use crate::store::corpora;
use crate::store::maintenance::{self, CoordinateCheck, ManagedCorpus};

/// Checks all corpora, stores the counts, and returns the number of passages. An error of a corpus is stored instead of its counts.
pub(super) fn check_all() -> Result<i64> {
    let mut checks = Vec::new();
    for corpus in maintenance::managed_corpora()? {
        let (counts, error) = match sql::guarded(|| count(&corpus)) {
            Ok(counts) => (Some(counts), None),
            Err(caught) => (None, Some(caught.message().to_owned())),
        };
        checks.push(CoordinateCheck {
            corpus_id: corpus.corpus_id,
            passages: counts.as_ref().map(|counts| counts.passages),
            faults: counts.as_ref().map(|counts| counts.faults),
            error,
        });
    }
    // Written at the end, so that the transaction has no id while it reads, which would keep VACUUM from removing rows.
    maintenance::write_coordinate_checks(&checks)?;
    Ok(checks.iter().filter_map(|check| check.passages).sum())
}

/// Counts the passages of a corpus as the owner of its table, who sees all rows. The owner may have replaced the tables by views or
/// added policies, whose functions must get no other rights.
fn count(checked: &ManagedCorpus) -> Result<CoordinateCounts> {
    let gone = || Error::RelationGone(checked.corpus.clone());
    let role = checked.owner.ok_or_else(gone)?;
    let tenant = checked.tenant.as_deref().unwrap_or_default();
    let corpus = as_owner(|| corpora::find(tenant, &checked.corpus))?.ok_or_else(gone)?;
    as_foreign_role(pg_sys::Oid::from_u32(role), || {
        // A table that is being rebuilt must not stop the other tasks.
        set_local(c"lock_timeout", c"5s");
        coordinates::count(&corpus.in_place()?)
    })
}
