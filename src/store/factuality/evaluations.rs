//! The tables `factuality_evaluations` and `factuality_verdicts`.

use reground_metrics::factuality::verdicts::Entailment;
use reground_models::kind::Kind;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::run_as::as_owner;
use crate::sql::{self, Record};
use crate::store::models::tasks;

/// An answer that is to be evaluated.
#[derive(Debug, Deserialize)]
pub struct EvaluatedAnswer {
    pub message_id: i64,
    /// Whether the text is stored.
    pub has_text: bool,
}

/// An answer of a turn: with this `message_ref`, or the current one. Its conversation cannot be erased until the transaction ends.
pub fn answer(
    tenant: &str,
    turn_id: i64,
    message_ref: Option<&str>,
) -> Result<Option<EvaluatedAnswer>> {
    as_owner(|| {
        sql::write_json(
            "SELECT row_to_json(r)::text FROM (SELECT m.message_id, m.answer IS NOT NULL AS has_text \
                 FROM reground.messages AS m JOIN reground.conversations AS c USING (conversation_id) \
                 WHERE m.turn_id = $1 AND m.tenant = $2 AND CASE WHEN $3::text IS NULL THEN NOT m.superseded ELSE m.message_ref = $3 END \
                 FOR KEY SHARE OF c) AS r",
            &[turn_id.into(), tenant.into(), message_ref.into()],
        )
    })
}

/// An evaluation to be stored.
#[derive(Debug, Serialize)]
pub struct NewEvaluation<'a> {
    pub tenant: &'a str,
    pub turn_id: i64,
    pub message_id: i64,
    pub question_ref: &'a str,
    pub reference: String,
    pub decompose_model: &'a str,
    pub entail_model: &'a str,
    pub decompose_prompt: &'static str,
    pub entail_prompt: &'static str,
}

/// Columns of [`NewEvaluation`].
const EVALUATION: Record = Record(&[
    "tenant text, turn_id bigint, message_id bigint, question_ref text, reference text",
    "decompose_model text, entail_model text, decompose_prompt text, entail_prompt text",
]);

/// Stores an evaluation with its facts, and returns its id.
pub fn insert(evaluation: &NewEvaluation<'_>, facts: &[String]) -> Result<i64> {
    let row = sql::json(evaluation)?;
    let stored = as_owner(|| {
        let evaluation_id: Option<i64> = sql::write_one(
            &format!(
                "INSERT INTO reground.factuality_evaluations ({0}) SELECT {0} FROM json_to_record($1::json) AS x({EVALUATION}) RETURNING evaluation_id",
                EVALUATION.columns("")
            ),
            &[row.into()],
        )?;
        sql::run(
            "INSERT INTO reground.factuality_verdicts (evaluation_id, tenant, side, statement_no, statement) \
             SELECT $1, $2, 'gold', f.fact_no, f.fact FROM unnest($3::text[]) WITH ORDINALITY AS f(fact, fact_no)",
            &[
                evaluation_id.into(),
                evaluation.tenant.into(),
                facts.to_vec().into(),
            ],
        )?;
        Ok(evaluation_id)
    })?;
    stored.ok_or_else(|| Error::Stored("a new evaluation has no id".into()))
}

/// The texts for a decomposition.
#[derive(Debug, Deserialize)]
pub struct Decomposable {
    pub query: String,
    pub answer: String,
}

/// The texts of an evaluation that is not decomposed; `None` if it is, or is gone.
pub fn decomposable(tenant: &str, evaluation_id: i64) -> Result<Option<Decomposable>> {
    as_owner(|| {
        sql::write_json(
            "SELECT row_to_json(r)::text FROM (SELECT t.query, m.answer FROM reground.factuality_evaluations AS e \
                 JOIN reground.messages AS m ON m.message_id = e.message_id JOIN reground.turns AS t ON t.turn_id = e.turn_id \
                 WHERE e.evaluation_id = $1 AND e.tenant = $2 AND e.decomposed_at IS NULL AND m.answer IS NOT NULL) AS r",
            &[evaluation_id.into(), tenant.into()],
        )
    })
}

/// An evaluation whose statements were stored.
#[derive(Debug, Deserialize)]
struct Decomposed {
    turn_id: i64,
    entail_model: String,
}

/// Stores the statements of an answer, and queues a task for each of them and for each fact; none without statements. Nothing
/// happens if the evaluation is decomposed or gone.
pub fn store_statements(tenant: &str, evaluation_id: i64, statements: &[String]) -> Result<()> {
    let decomposed: Option<Decomposed> = as_owner(|| {
        sql::write_json(
            "WITH e AS (UPDATE reground.factuality_evaluations SET decomposed_at = clock_timestamp() \
                 WHERE evaluation_id = $1 AND tenant = $2 AND decomposed_at IS NULL RETURNING *), \
             stored AS (INSERT INTO reground.factuality_verdicts (evaluation_id, tenant, side, statement_no, statement) \
                 SELECT e.evaluation_id, e.tenant, 'answer', s.statement_no, s.statement FROM e, unnest($3::text[]) WITH ORDINALITY AS s(statement, statement_no)) \
             SELECT row_to_json(r)::text FROM (SELECT e.turn_id, e.entail_model FROM e) AS r",
            &[
                evaluation_id.into(),
                tenant.into(),
                statements.to_vec().into(),
            ],
        )
    })?;
    match decomposed {
        Some(decomposed) if !statements.is_empty() => {
            let subjects = verdict_ids(tenant, evaluation_id)?;
            let (model, turn_id) = (&decomposed.entail_model, decomposed.turn_id);
            tasks::queue_each_for_turn(tenant, Kind::Entail, model, turn_id, subjects)
        }
        _ => Ok(()),
    }
}

/// The ids of the statements and facts of an evaluation, as text.
fn verdict_ids(tenant: &str, evaluation_id: i64) -> Result<Vec<String>> {
    Ok(as_owner(|| {
        sql::write_one(
            "SELECT array_agg(v.verdict_id::text ORDER BY v.side, v.statement_no) FROM reground.factuality_verdicts AS v WHERE v.evaluation_id = $1 AND v.tenant = $2",
            &[evaluation_id.into(), tenant.into()],
        )
    })?
    .unwrap_or_default())
}

/// A statement or fact without a verdict, and the text of the other side.
#[derive(Debug, Deserialize)]
pub struct Judgeable {
    pub premise: String,
    pub statement: String,
}

/// The texts of a missing verdict; `None` if it is there, or its evaluation is gone.
pub fn judgeable(tenant: &str, verdict_id: i64) -> Result<Option<Judgeable>> {
    as_owner(|| {
        sql::write_json(
            "SELECT row_to_json(r)::text FROM (SELECT v.statement, x.premise FROM reground.factuality_verdicts AS v \
                 JOIN reground.factuality_evaluations AS e ON e.evaluation_id = v.evaluation_id JOIN reground.messages AS m ON m.message_id = e.message_id \
                 CROSS JOIN LATERAL (SELECT CASE v.side WHEN 'answer' THEN e.reference ELSE m.answer END AS premise) AS x \
                 WHERE v.verdict_id = $1 AND v.tenant = $2 AND v.verdict IS NULL AND x.premise IS NOT NULL) AS r",
            &[verdict_id.into(), tenant.into()],
        )
    })
}

/// Stores a verdict.
pub fn store_verdict(tenant: &str, verdict_id: i64, verdict: Entailment) -> Result<()> {
    as_owner(|| {
        sql::run(
            "UPDATE reground.factuality_verdicts SET verdict = $3, judged_at = clock_timestamp() WHERE verdict_id = $1 AND tenant = $2 AND verdict IS NULL",
            &[verdict_id.into(), tenant.into(), verdict.name().into()],
        )
    })?;
    Ok(())
}
