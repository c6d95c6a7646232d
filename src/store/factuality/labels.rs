//! The tables `factuality_labels` and `decomposition_labels`.

use reground_metrics::factuality::verdicts::Entailment;
use serde::Deserialize;

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql;
use crate::store::reviews::ReviewAuthor;

/// Stores a label of a reviewer; replaces an earlier one. Returns false if the verdict does not exist.
pub fn label_verdict(
    verdict_id: i64,
    label: Entailment,
    note: Option<&str>,
    who: &ReviewAuthor,
) -> Result<bool> {
    let stored = as_owner(|| {
        sql::run(
            "INSERT INTO reground.factuality_labels (verdict_id, labelled_by, labelled_role, tenant, label, note) \
             SELECT v.verdict_id, $2, $3, v.tenant, $4, $5 FROM (SELECT verdict_id, tenant FROM reground.factuality_verdicts WHERE verdict_id = $1 FOR KEY SHARE) AS v \
             ON CONFLICT (verdict_id, labelled_by) DO UPDATE SET labelled_role = excluded.labelled_role, label = excluded.label, note = excluded.note, labelled_at = excluded.labelled_at",
            &[
                verdict_id.into(),
                who.by.as_str().into(),
                who.role.as_str().into(),
                label.name().into(),
                note.into(),
            ],
        )
    })?;
    Ok(stored > 0)
}

/// A reviewer's counts of a decomposition.
pub struct DecompositionReview<'a> {
    pub human_statements: i32,
    pub omitted_statements: i32,
    pub note: Option<&'a str>,
}

/// An evaluation that a reviewer labels.
#[derive(Debug, Deserialize)]
pub struct Reviewed {
    pub is_decomposed: bool,
}

/// Stores a review of a decomposition; replaces an earlier one of the reviewer. Returns the evaluation; `None` if it does not exist.
pub fn label_decomposition(
    evaluation_id: i64,
    review: &DecompositionReview<'_>,
    who: &ReviewAuthor,
) -> Result<Option<Reviewed>> {
    as_owner(|| {
        sql::write_json(
            "WITH e AS MATERIALIZED (SELECT evaluation_id, tenant, decomposed_at FROM reground.factuality_evaluations WHERE evaluation_id = $1 FOR KEY SHARE), \
             stored AS (INSERT INTO reground.decomposition_labels (evaluation_id, labelled_by, labelled_role, tenant, human_statements, omitted_statements, note) \
                 SELECT e.evaluation_id, $2, $3, e.tenant, $4, $5, $6 FROM e WHERE e.decomposed_at IS NOT NULL \
                 ON CONFLICT (evaluation_id, labelled_by) DO UPDATE SET labelled_role = excluded.labelled_role, human_statements = excluded.human_statements, \
                     omitted_statements = excluded.omitted_statements, note = excluded.note, labelled_at = excluded.labelled_at) \
             SELECT json_build_object('is_decomposed', e.decomposed_at IS NOT NULL)::text FROM e",
            &[
                evaluation_id.into(),
                who.by.as_str().into(),
                who.role.as_str().into(),
                review.human_statements.into(),
                review.omitted_statements.into(),
                review.note.into(),
            ],
        )
    })
}
