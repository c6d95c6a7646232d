//! The way of a case through the extension: recorded turn, human label, queued task, completed task, agreement.

use anyhow::{Context, Result, ensure};
use postgres::GenericClient;
use serde_json::json;

use super::calibration::Calibration;
use super::cases::{CITATION, Case};
use super::similarity::{Judge, Pair, text_config};
use crate::data::claims::Set;

/// Tasks of one claim.
const AT_ONCE: i32 = 100;
/// More citations than any sample has.
const BUDGET: i32 = 1_000_000;

/// The citations of the cases.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// Their ids, without citations that have no claim: these are never judged.
    pub citation_ids: Vec<i64>,
    /// Number of citations whose claim, as extracted from the answer, is not the claim of the case.
    pub other_claims: usize,
}

/// Records a turn for each case, and labels its citation.
///
/// # Errors
/// Errors of the server, an answer whose citation is not extracted.
pub fn record(client: &mut impl GenericClient, set: Set, cases: &[Case]) -> Result<Recorded> {
    let config = text_config(set);
    let record = client.prepare(
        "SELECT citation_id, claim FROM reground.record_turn($1, $2, $3, $4, text_config => ($5::text)::regconfig) \
         WHERE raw = $6 AND chunk_id IS NOT NULL",
    )?;
    let label =
        client.prepare("SELECT reground.label_citation($1, $2, labelled_by => 'benchmark')")?;
    let mut recorded = Recorded::default();
    for (number, case) in cases.iter().enumerate() {
        let conversation = format!("{} {number}", set.name());
        let answer = case.answer();
        let passages = json!([{"content": case.passage}]);
        let rows = client.query(
            &record,
            &[
                &conversation,
                &case.question,
                &answer,
                &passages,
                &config,
                &CITATION,
            ],
        )?;
        let row = rows
            .last()
            .with_context(|| format!("{conversation}: no citation in \"{answer}\""))?;
        let (citation_id, claim): (i64, Option<String>) = (row.get(0), row.get(1));
        let claim = letters(&claim.unwrap_or_default());
        recorded.other_claims += usize::from(claim != letters(&case.claim));
        if claim.is_empty() {
            continue;
        }
        client.execute(&label, &[&citation_id, &case.label_of_citation()])?;
        recorded.citation_ids.push(citation_id);
    }
    Ok(recorded)
}

/// Letters and digits, to compare claims without their punctuation.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Registers the judge, queues the citations, and completes their tasks.
///
/// # Errors
/// Errors of the server or of the judge, citations that are not queued.
pub fn judge(
    client: &mut impl GenericClient,
    judge: &Judge,
    set: Set,
    calibration: Calibration,
    citation_ids: &[i64],
) -> Result<()> {
    let model = judge.name();
    client.execute(
        "SELECT reground.set_model($1, task => 'judge', api => 'local')",
        &[&model],
    )?;
    client.execute(
        "SELECT reground.set_judging($1, max_per_hour => $2)",
        &[&model, &BUDGET],
    )?;
    let queued: i64 = client
        .query_one(
            "SELECT reground.queue_judgements($1, citation_ids => $2, max_citations => $3)",
            &[&model, &citation_ids, &BUDGET],
        )?
        .get(0);
    ensure!(
        queued == citation_ids.len() as i64,
        "{queued} of {} citations are queued",
        citation_ids.len()
    );
    while work(client, judge, set, calibration)? > 0 {}
    Ok(())
}

/// Claims tasks and completes them; returns their number.
fn work(
    client: &mut impl GenericClient,
    judge: &Judge,
    set: Set,
    calibration: Calibration,
) -> Result<usize> {
    let rows = client.query(
        "SELECT task_id, lease_token::text, request ->> 'premise', request ->> 'hypothesis' \
         FROM reground.claim_tasks('benchmark', kinds => '{judge}', models => ARRAY[$1], max_tasks => $2)",
        &[&judge.name(), &AT_ONCE],
    )?;
    let task_ids: Vec<i64> = rows.iter().map(|row| row.get(0)).collect();
    let tokens: Vec<String> = rows.iter().map(|row| row.get(1)).collect();
    let pairs: Vec<Pair> = rows
        .iter()
        .map(|row| Pair {
            premise: row.get(2),
            hypothesis: row.get(3),
        })
        .collect();
    let similarities = judge.similarities(client, set, &pairs)?.into_iter();
    let probabilities: Vec<f64> = similarities
        .map(|similarity| calibration.probability(similarity))
        .collect();
    client.execute(
        "SELECT reground.complete_task(task_id, token::uuid, jsonb_build_object('probability', p)) \
         FROM unnest($1::bigint[], $2::text[], $3::float8[]) AS completed(task_id, token, p)",
        &[&task_ids, &tokens, &probabilities],
    )?;
    Ok(task_ids.len())
}
