//! How many right and wrong answers the policy refuses. Each answer is recorded as a turn of its own.

use anyhow::Result;
use postgres::GenericClient;
use serde_json::{Value, json};

use super::answers::ShownAnswer;
use super::case::{MarkerStyle, Replacement, answer_of, passages};
use super::faults::replacement;
use super::report::Figure;
use crate::statistics::random::SplitMix;

/// Rates of the printed curve; the second is the default of the setting `min_support_rate`.
const RATES: [f64; 4] = [0.25, 0.5, 0.75, 1.0];

/// Records the answers, and answers with a majority of false citations, and prints the shares that are refused.
///
/// # Errors
/// Errors of the server.
pub fn measure(
    client: &mut impl GenericClient,
    all: &[ShownAnswer],
    random: &mut SplitMix,
) -> Result<Vec<Figure>> {
    let right = all.iter().filter_map(|shown| {
        let answer = answer_of(shown, MarkerStyle::Letters, |_| None);
        answer.contains('[').then(|| recorded(shown, &answer))
    });
    let right: Vec<Value> = right.collect();
    let wrong: Vec<Value> = all
        .iter()
        .filter_map(|shown| Some(recorded(shown, &mostly_false(all, shown, random)?)))
        .collect();
    println!("## The policy\n");
    println!(
        "| answers | n | refused | reasons | {} |",
        RATES.map(|rate| format!("at {rate}")).join(" | ")
    );
    println!("|---|---:|---:|---|---:|---:|---:|---:|");
    let refused_right = row(client, "right", &right)?;
    let refused_wrong = row(client, "most citations false", &wrong)?;
    println!();
    Ok(vec![
        ("right answers accepted".to_owned(), 1.0 - refused_right),
        (
            "answers with false citations refused".to_owned(),
            refused_wrong,
        ),
    ])
}

fn recorded(shown: &ShownAnswer, answer: &str) -> Value {
    json!({"query": shown.question, "answer": answer, "passages": passages(shown, MarkerStyle::Letters)})
}

/// The answer with faults in more than half of its citations, of random kinds; `None` if it has too few suitable sentences.
fn mostly_false(all: &[ShownAnswer], shown: &ShownAnswer, random: &mut SplitMix) -> Option<String> {
    let mut places: Vec<usize> = shown.citing().collect();
    let most = places.len() / 2 + 1;
    random.shuffle(&mut places);
    let replaced: Vec<(usize, Replacement)> = places
        .into_iter()
        .filter_map(|place| Some((place, replacement(all, shown, place, random)?)))
        .take(most)
        .collect();
    let enough = replaced.len() == most;
    enough.then(|| {
        answer_of(shown, MarkerStyle::Letters, |place| {
            let mut replaced = replaced.iter();
            replaced.find(|(at, _)| *at == place).map(|(_, with)| with)
        })
    })
}

/// Prints a row and returns the share that is refused.
fn row(client: &mut impl GenericClient, name: &str, answers: &[Value]) -> Result<f64> {
    let turns: Value = answers
        .iter()
        .enumerate()
        .map(|(number, turn)| {
            let mut turn = turn.clone();
            let reference = format!("policy, {name}, {number}");
            turn["conversation_ref"] = json!(reference);
            turn["message_ref"] = json!(reference);
            turn
        })
        .collect();
    client.execute(
        "SELECT * FROM reground.record_turns($1, text_config => 'english')",
        &[&turns],
    )?;
    let counted = client.query_one(
        "SELECT count(*), count(*) FILTER (WHERE m.decision = 'regenerate'), \
                (SELECT pg_catalog.string_agg(r.reason || ' ' || r.n, ', ' ORDER BY r.n DESC) FROM (SELECT u.reason, count(*) AS n \
                 FROM reground.messages AS s, unnest(s.reasons) AS u(reason) WHERE starts_with(s.message_ref, $1) GROUP BY u.reason) AS r), \
                pg_catalog.array_agg((SELECT count(*) FILTER (WHERE c.holds)::float8 / nullif(count(c.holds), 0) \
                 FROM reground.citation_audit AS c WHERE c.message_id = m.message_id)) \
         FROM reground.messages AS m WHERE starts_with(m.message_ref, $1)",
        &[&format!("policy, {name}, ")],
    )?;
    let (all, refused): (i64, i64) = (counted.get(0), counted.get(1));
    let held: Vec<Option<f64>> = counted.get(3);
    let below = RATES.map(|rate| {
        let below = held.iter().flatten().filter(|held| **held < rate).count();
        format!("{:.3}", below as f64 / all as f64)
    });
    let share = refused as f64 / all as f64;
    let reasons: Option<String> = counted.get(2);
    println!(
        "| {name} | {all} | {share:.3} | {} | {} |",
        reasons.unwrap_or_default(),
        below.join(" | ")
    );
    Ok(share)
}
