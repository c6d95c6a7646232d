//! Queries of the reports. They run as the caller: row-level security selects the rows, and an auditor sees all tenants.

use pgrx::datum::TimestampWithTimeZone;
use reground_metrics::factuality::measures::Measures;
use reground_metrics::factuality::published::Setting;
use reground_metrics::factuality::validation::{LabelledDecomposition, LabelledVerdict};
use serde::Deserialize;

use crate::error::Result;
use crate::store::reports::read;

/// A period; `None` is unbounded.
#[derive(Clone, Copy)]
pub struct Period {
    pub since: Option<TimestampWithTimeZone>,
    pub until: Option<TimestampWithTimeZone>,
}

/// The last evaluation of an answer.
#[derive(Debug, Deserialize)]
pub struct ReportedAnswer {
    /// Its value of the dimension.
    pub value: Option<String>,
    pub setting: Setting,
    pub outcome: String,
    /// `None` unless the outcome is `done`.
    #[serde(flatten)]
    pub measures: Option<Measures>,
}

/// The last evaluations of the current answers of a period, by value and setting.
pub fn answers(dimension: Option<&str>, period: Period) -> Result<Vec<ReportedAnswer>> {
    // Without a dimension, `origin` finds the answers, and its value is dropped.
    Ok(read(
        "SELECT coalesce(json_agg(r), '[]')::text FROM ( \
             SELECT * FROM ( \
                 SELECT DISTINCT ON (f.message_id, f.question_ref) CASE WHEN $1::text IS NOT NULL THEN a.value END AS value, f.* \
                 FROM reground._answers_by(coalesce($1, 'origin'), true, $2, $3) AS a JOIN reground.factuality AS f ON f.message_id = a.message_id \
                 ORDER BY f.message_id, f.question_ref, f.evaluation_id DESC) AS l \
             ORDER BY l.value COLLATE \"C\" NULLS LAST, l.setting DESC, l.evaluation_id) AS r",
        &[dimension.into(), period.since.into(), period.until.into()],
    )?
    .unwrap_or_default())
}

/// The models of evaluations; `None` means all.
#[derive(Clone, Copy)]
pub struct Models<'a> {
    pub decompose: Option<&'a str>,
    pub entail: Option<&'a str>,
}

/// The reviews of decompositions by the model of a period.
pub fn reviews(models: Models<'_>, period: Period) -> Result<Vec<LabelledDecomposition>> {
    Ok(read(
        "SELECT coalesce(json_agg(r), '[]')::text FROM ( \
             SELECT l.human_statements, l.omitted_statements, \
                 (SELECT count(*) FROM reground.factuality_verdicts AS v WHERE v.evaluation_id = e.evaluation_id AND v.side = 'answer') AS statements \
             FROM reground.decomposition_labels AS l JOIN reground.factuality_evaluations AS e ON e.evaluation_id = l.evaluation_id \
             WHERE ($1::text IS NULL OR e.decompose_model = $1) AND e.created_at >= coalesce($2, '-infinity') AND e.created_at < coalesce($3, 'infinity') \
             ORDER BY l.evaluation_id, l.labelled_by COLLATE \"C\") AS r",
        &[
            models.decompose.into(),
            period.since.into(),
            period.until.into(),
        ],
    )?
    .unwrap_or_default())
}

/// The labelled verdicts by the models of a period.
pub fn verdicts(models: Models<'_>, period: Period) -> Result<Vec<LabelledVerdict>> {
    Ok(read(
        "SELECT coalesce(json_agg(r), '[]')::text FROM ( \
             SELECT v.verdict, json_agg(l.label ORDER BY l.labelled_by COLLATE \"C\") AS labels \
             FROM reground.factuality_labels AS l JOIN reground.factuality_verdicts AS v ON v.verdict_id = l.verdict_id \
             JOIN reground.factuality_evaluations AS e ON e.evaluation_id = v.evaluation_id \
             WHERE ($1::text IS NULL OR e.decompose_model = $1) AND ($2::text IS NULL OR e.entail_model = $2) \
                 AND e.created_at >= coalesce($3, '-infinity') AND e.created_at < coalesce($4, 'infinity') \
             GROUP BY v.verdict_id ORDER BY v.verdict_id) AS r",
        &[
            models.decompose.into(),
            models.entail.into(),
            period.since.into(),
            period.until.into(),
        ],
    )?
    .unwrap_or_default())
}
