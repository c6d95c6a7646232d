//! Measures for evaluations of the application: rankings and reference answers.

use std::collections::{BTreeMap, BTreeSet};

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_metrics::history_hits::HistoryHits;
use reground_metrics::ranking::{average_precision, ndcg, precision, recall, reciprocal_rank};
use reground_metrics::rouge::rouge_l;
use reground_metrics::squad::{exact_match, token_f1};
use serde::de::DeserializeOwned;

use crate::api::given;
use crate::datum::Json;
use crate::error::{Error, Result};
use crate::rows;

#[pg_extern(sql = false)]
fn retrieval_metrics(
    ranking: Option<Vec<Option<String>>>,
    judgements: Option<Json>,
    k: Option<i32>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let ranking: Vec<String> = given(ranking, "ranking")?.into_iter().flatten().collect();
    let gains = gains(given(judgements, "judgements")?)?;
    let k = depth(given(k, "k")?)?;
    let row = [
        ndcg(&ranking, &gains, k),
        recall(&ranking, &gains, k),
        precision(&ranking, &gains, k),
        reciprocal_rank(&ranking, &gains),
        average_precision(&ranking, &gains),
    ];
    rows::emit_values(fcinfo, &row.map(IntoDatum::into_datum));
    Ok(())
}

fn gains(judgements: Json) -> Result<BTreeMap<String, f64>> {
    serde_json::from_value(judgements.value("judgements")?).map_err(|fault| Error::Bad {
        argument: "judgements",
        fault: fault.to_string(),
        hint: "Write {\"chunk_id\": gain}, each gain a number.".into(),
    })
}

fn depth(k: i32) -> Result<usize> {
    let depth = usize::try_from(k).ok().filter(|depth| *depth > 0);
    depth.ok_or_else(|| Error::Bad {
        argument: "k",
        fault: k.to_string(),
        hint: "1 or more places.".into(),
    })
}

#[pg_extern(sql = false)]
fn text_metrics(
    answer: Option<&str>,
    reference: Option<&str>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let (answer, reference) = (given(answer, "answer")?, given(reference, "reference")?);
    let rouge = rouge_l(answer, reference);
    let row = [
        exact_match(answer, reference).into_datum(),
        token_f1(answer, reference).into_datum(),
        rouge.map(|rouge| rouge.precision).into_datum(),
        rouge.map(|rouge| rouge.recall).into_datum(),
        rouge.map(|rouge| rouge.f1).into_datum(),
    ];
    rows::emit_values(fcinfo, &row);
    Ok(())
}

/// Candidates of a search, best first. A rank has several passages if they were merged.
type Ranking = Vec<Vec<String>>;

#[pg_extern(sql = false)]
fn _history_hits(
    ranking: Option<Json>,
    earlier_rankings: Option<Json>,
    relevant_chunk_ids: Option<Vec<Option<String>>>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let ranking: Ranking = rankings(given(ranking, "ranking")?, "ranking")?;
    let earlier: Vec<Ranking> = rankings(
        given(earlier_rankings, "earlier_rankings")?,
        "earlier_rankings",
    )?;
    let relevant: BTreeSet<String> = given(relevant_chunk_ids, "relevant_chunk_ids")?
        .into_iter()
        .flatten()
        .collect();
    let hits = HistoryHits::of(&ranking, earlier.iter().map(Vec::as_slice), &relevant);
    let row = [hits.bottom, hits.history, hits.supplement];
    rows::emit_values(fcinfo, &row.map(IntoDatum::into_datum));
    Ok(())
}

fn rankings<T: DeserializeOwned>(given: Json, argument: &'static str) -> Result<T> {
    serde_json::from_value(given.value(argument)?).map_err(|fault| Error::Bad {
        argument,
        fault: fault.to_string(),
        hint: "Write [[\"1\"], [\"2\", \"3\"]], a list of passages for each rank.".into(),
    })
}
