//! Complaints about judgements. The extension has no judge that is a model.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use postgres::Client;
use reground_tests::server::state;
use serde_json::{Value, json};

use crate::dialogue::{FARM, alone, begin, end, farm};

/// Judgements are computed from the texts: they are equal, to the last bit, in
/// each session, with each plan, by each function, and in repeated calls.
#[test]
fn judge_scores_flip_from_run_to_run() -> Result<()> {
    let (database, _) = farm("flips")?;
    let answer = "Cows give milk every day [1]. Sheep give wool in the autumn [1]. Bees make no honey [2]. Cows give 3 litres, and wool [1][3]. Pigs fly [9].";
    let settings = json!({"max_sources": 3, "marker_style": "1"});
    let mut verdicts: BTreeSet<String> = BTreeSet::new();
    let mut judged = 0;
    let passages: Value = FARM
        .iter()
        .map(|(_, text)| json!({"content": text}))
        .collect();
    let mut given: BTreeSet<String> = BTreeSet::new();
    let mut parts: BTreeSet<String> = BTreeSet::new();
    let plans = [
        "",
        "SET enable_seqscan = off",
        "SET enable_indexscan = off; SET enable_bitmapscan = off",
        "SET plan_cache_mode = force_generic_plan",
        "SET jit_above_cost = 0; SET debug_parallel_query = on",
        "SET work_mem = '64kB'; SET TimeZone = 'Asia/Tokyo'; SET DateStyle = 'German'",
    ];
    for (number, plan) in plans.iter().enumerate() {
        let mut client = database.connect()?;
        client.batch_execute(plan)?;
        for run in 0..3 {
            let conversation = format!("{number}-{run}");
            let (turn, _) = begin(
                &mut client,
                &conversation,
                "Do cows give milk every day on the farm?",
                "farm",
                &settings,
            )?;
            // Streamed, ended, and regenerated.
            for call in [
                "feed_answer($1, $2, complete => true)",
                "end_turn($1, $2, message_ref => 'one')",
                "end_turn($1, $2, message_ref => 'two')",
            ] {
                let row = client.query_one(
                    &format!("SELECT jsonb_agg(jsonb_build_array(raw, marker, status, holds, score, support, quote))::text FROM reground.{call} WHERE raw IS NOT NULL"),
                    &[&turn, &answer],
                )?;
                verdicts.insert(row.get(0));
                judged += 1;
            }
            let row = client.query_one(
                "SELECT jsonb_agg(jsonb_build_array(raw, support_parts, best_other_marker) ORDER BY citation_no)::text FROM reground.citation_audit WHERE turn_id = $1 AND NOT superseded",
                &[&turn],
            )?;
            parts.insert(row.get(0));
            let row = client.query_one(
                "SELECT jsonb_agg(to_jsonb(v))::text FROM (SELECT raw, status, holds, score, support, support_parts, quote FROM reground.check_answer($1, $2)) AS v",
                &[&answer, &passages],
            )?;
            given.insert(row.get(0));
        }
    }
    assert_eq!(judged, plans.len() * 9);
    assert_eq!(verdicts.len(), 1, "{verdicts:#?}");
    assert_eq!(given.len(), 1, "{given:#?}");
    assert_eq!(parts.len(), 1, "{parts:#?}");
    // The answer has citations that hold, and others that fail for several reasons.
    let verdicts: Value = serde_json::from_str(verdicts.first().context("there is one")?)?;
    let statuses: BTreeSet<&str> = verdicts
        .as_array()
        .context("an array")?
        .iter()
        .filter_map(|verdict| verdict[2].as_str())
        .collect();
    ensure!(
        statuses.len() >= 3 && statuses.contains("resolved_current"),
        "{statuses:?}"
    );
    Ok(())
}

/// Citations without a verdict, invalid labels and failed rerankers are not counted.
#[test]
fn errors_of_the_judge_are_counted_as_verdicts() -> Result<()> {
    let (_database, mut client) = farm("errors")?;
    let (turn, sources) = begin(&mut client, "talk", FARM[0].1, "farm", &alone("A1"))?;
    let marker = &sources[0].marker;
    // One holds, one does not; two have no verdict.
    let answer = format!(
        "{0} [{marker}]. Pigs fly [Z9]. Cows give milk [{marker},]. Cows give milk (Smith et al., 2020).",
        FARM[0].1
    );
    let citations = end(&mut client, turn, &answer)?;
    let holds: Vec<Option<bool>> = citations.iter().map(|citation| citation.holds).collect();
    assert_eq!(holds, [Some(true), Some(false), None, None]);
    let quality = "SELECT citations, judged, holding, rate, labelled, labelled_accurate FROM reground.citation_quality()";
    let counts = |client: &mut Client| -> Result<(i64, i64, i64, f64, i64, i64)> {
        let row = client.query_one(quality, &[])?;
        Ok((
            row.get(0),
            row.get(1),
            row.get(2),
            row.get(3),
            row.get(4),
            row.get(5),
        ))
    };
    assert_eq!(counts(&mut client)?, (4, 2, 1, 0.5, 0, 0));
    // The mean of the judged citations: 1 and 0.
    let cfs: f64 = client
        .query_one("SELECT cfs FROM reground.messages", &[])?
        .get(0);
    assert_eq!(cfs, 0.5);
    // Any other label of a reviewer is refused.
    let citation: i64 = client
        .query_one(
            "SELECT min(citation_id) FROM reground.message_citations",
            &[],
        )?
        .get(0);
    for label in ["error", "timeout", "", "ACCURATE", "1"] {
        let refused = client.execute(
            "SELECT reground.label_citation($1, $2)",
            &[&citation, &label],
        );
        assert_eq!(state(&refused), Some("22023"), "{label}");
    }
    assert_eq!(counts(&mut client)?, (4, 2, 1, 0.5, 0, 0));
    client.execute(
        "SELECT reground.label_citation($1, 'accurate', labelled_by => 'anna')",
        &[&citation],
    )?;
    assert_eq!(counts(&mut client)?, (4, 2, 1, 0.5, 1, 1));
    check_silent_reranker(&mut client)
}

/// A reranker that returns NULL: the order is that of the search, no score is stored, and the turn has a warning.
fn check_silent_reranker(client: &mut Client) -> Result<()> {
    client.batch_execute(
        "CREATE FUNCTION says_nothing(query text, passages text[]) RETURNS real[] LANGUAGE sql IMMUTABLE RETURN NULL::real[]",
    )?;
    let everything = json!({"max_sources": 3});
    let mut silent = everything.clone();
    silent["reranker"] = json!("says_nothing(text, text[])");
    let query = "What do cows, sheep and bees give or make?";
    let (_, expected) = begin(client, "without", query, "farm", &everything)?;
    let (turn, found) = begin(client, "with", query, "farm", &silent)?;
    assert_eq!(found, expected);
    let row = client.query_one(
        "SELECT warnings, (SELECT count(rerank_score) FROM reground.turn_candidates AS c WHERE c.turn_id = t.turn_id) FROM reground.turns AS t WHERE turn_id = $1",
        &[&turn],
    )?;
    let warnings: Vec<String> = row.get(0);
    ensure!(
        warnings.iter().any(|warning| warning == "rerank_missing"),
        "{warnings:?}"
    );
    assert_eq!(row.get::<_, i64>(1), 0);
    Ok(())
}
