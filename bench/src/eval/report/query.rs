//! Ways to make the query of a turn, and ways to fuse the branches.

use reground_metrics::interval::{Interval, bootstrap_clustered_mean};

use super::{or_dash, share, signed};
use crate::data::Domain;
use crate::eval::query::folds::{Chosen, SHARES};
use crate::eval::query::queried::{QueriedTurn, QueryFrom};
use crate::eval::query::ranking::{self, Order, mean};
use crate::eval::retrieval::Scores;

/// Resamples of an interval, and their seed.
const RESAMPLES: (usize, u64) = (4000, 20_251);
/// Level of the intervals.
const CONFIDENCE: f64 = 0.95;

/// Prints the ways to make the query, each with its turns.
pub fn print(queries: &[(QueryFrom, Vec<QueriedTurn>)], chosen: Option<&Chosen>) {
    println!("## The query of a turn\n");
    println!(
        "Replayed conversations; answers cite the sources that contain their sentences. Judged later turns (from the second on): \
         nDCG@5, recall@5, recall@10. `turn` is the user's words, `dialogue` all questions so far, `contextual` the query of \
         `begin_turn`.\n"
    );
    println!(
        "| query | order | clapnq | cloud | fiqa | clapnq and cloud | three |\n|---|---|---|---|---|---|---|"
    );
    for (from, queried) in queries {
        for order in Order::COMPARED {
            let means = Domain::ALL
                .map(|domain| mean(queried, order, |turn| turn.domain == domain && later(turn)));
            let pooled = [&Domain::ORIGINAL[..], &Domain::ALL]
                .map(|domains| ranking::later(queried, domains, order));
            let cells: Vec<String> = means.iter().chain(&pooled).map(cell).collect();
            println!(
                "| {} | {} | {} |",
                from.name(),
                order.name(),
                cells.join(" | ")
            );
        }
    }
    println!();
    differences(queries);
    standalone_queries(queries);
    if let Some(chosen) = chosen {
        folds(chosen);
    }
}

fn later(turn: &QueriedTurn) -> bool {
    turn.number > 1
}

fn cell(scores: &Scores) -> String {
    let Scores {
        ndcg_5,
        recall_5,
        recall_10,
    } = *scores;
    [ndcg_5, recall_5, recall_10].map(share).join(" ")
}

fn find(queries: &[(QueryFrom, Vec<QueriedTurn>)], from: QueryFrom) -> Option<&[QueriedTurn]> {
    let found = queries.iter().find(|(one, _)| *one == from);
    found.map(|(_, queried)| queried.as_slice())
}

/// The contextual query against the others, with intervals.
fn differences(queries: &[(QueryFrom, Vec<QueriedTurn>)]) {
    let Some(contextual) = find(queries, QueryFrom::Contextual(1.0)) else {
        return;
    };
    println!(
        "`contextual` minus another query, later turns, paired, 95 % intervals that resample whole conversations. The first two columns are over clapnq and cloud:\n"
    );
    println!("| against | order | nDCG@5 | recall@10 | nDCG@5, fiqa |\n|---|---|---|---|---|");
    for (from, queried) in queries
        .iter()
        .filter(|(from, _)| matches!(from, QueryFrom::Turn | QueryFrom::Rewrite))
    {
        for order in Order::COMPARED {
            let gain = |domains: &[Domain], field: fn(Scores) -> f64| {
                paired(contextual, queried, domains, |ours, theirs| {
                    field(order.scores(ours)) - field(order.scores(theirs))
                })
            };
            println!(
                "| {} | {} | {} | {} | {} |",
                from.name(),
                order.name(),
                or_dash(gain(&Domain::ORIGINAL, |scores| scores.ndcg_5), signed),
                or_dash(gain(&Domain::ORIGINAL, |scores| scores.recall_10), signed),
                or_dash(gain(&[Domain::Fiqa], |scores| scores.ndcg_5), signed)
            );
        }
    }
    println!();
    println!("Fusion of scores minus reciprocal rank fusion, in the same turns:\n");
    println!("| query | nDCG@5 | recall@10 |\n|---|---|---|");
    for (from, queried) in queries {
        let gain = |field: fn(Scores) -> f64| {
            paired(queried, queried, &Domain::ORIGINAL, |one, _| {
                field(Order::Scores(0.7).scores(one)) - field(Order::Rrf.scores(one))
            })
        };
        println!(
            "| {} | {} | {} |",
            from.name(),
            or_dash(gain(|scores| scores.ndcg_5), signed),
            or_dash(gain(|scores| scores.recall_10), signed)
        );
    }
    println!();
}

/// The mean of paired differences over the later turns of domains.
pub(super) fn paired(
    ours: &[QueriedTurn],
    theirs: &[QueriedTurn],
    domains: &[Domain],
    difference: impl Fn(&QueriedTurn, &QueriedTurn) -> f64,
) -> Option<Interval> {
    let mut clusters: Vec<(&str, Vec<f64>)> = Vec::new();
    let turns = ours.iter().zip(theirs);
    for (one, other) in turns.filter(|(one, _)| later(one) && domains.contains(&one.domain)) {
        let value = difference(one, other);
        match clusters.last_mut() {
            Some((of, values)) if *of == one.conversation => values.push(value),
            _ => clusters.push((&one.conversation, vec![value])),
        }
    }
    let clusters: Vec<Vec<f64>> = clusters.into_iter().map(|cluster| cluster.1).collect();
    bootstrap_clustered_mean(&clusters, CONFIDENCE, RESAMPLES.0, RESAMPLES.1)
}

/// Queries that need no context.
fn standalone_queries(queries: &[(QueryFrom, Vec<QueriedTurn>)]) {
    let (Some(turn), Some(contextual)) = (
        find(queries, QueryFrom::Turn),
        find(queries, QueryFrom::Contextual(1.0)),
    ) else {
        return;
    };
    println!(
        "Queries that need no context, `turn` → `contextual`, nDCG@5 of clapnq and cloud pooled:\n"
    );
    println!("| queries | number | BM25 | vector | scores |\n|---|---:|---|---|---|");
    let original = |turn: &QueriedTurn| Domain::ORIGINAL.contains(&turn.domain);
    let first = |turn: &QueriedTurn| original(turn) && turn.number == 1;
    let same = |turn: &QueriedTurn| original(turn) && later(turn) && turn.stands_alone;
    for (name, keep) in [
        ("first turns", &first as &dyn Fn(&QueriedTurn) -> bool),
        ("later turns whose rewrite changes no word", &same),
    ] {
        let cells = [Order::Bm25, Order::Vector, Order::Scores(0.7)].map(|order| {
            let [before, after] =
                [turn, contextual].map(|queried| mean(queried, order, keep).ndcg_5);
            format!("{} → {}", share(before), share(after))
        });
        let count = turn.iter().filter(|turn| keep(turn)).count();
        println!("| {name} | {count} | {} |", cells.join(" | "));
    }
    println!();
}

fn folds(chosen: &Chosen) {
    println!(
        "Cross-validation over conversations, five folds: nDCG@5 of later turns, mean of clapnq and cloud, by the share of the vector branch.\n"
    );
    let shares: Vec<String> = SHARES.iter().map(|share| format!("{share}")).collect();
    println!("| query | {} |", shares.join(" | "));
    println!("|---|{}", "---|".repeat(SHARES.len()));
    for (from, row) in &chosen.table {
        let cells: Vec<String> = row.iter().map(|&value| share(value)).collect();
        println!("| {} | {} |", from.name(), cells.join(" | "));
    }
    let choices: Vec<String> = chosen
        .choices
        .iter()
        .map(|(way, share)| format!("{} at {share}", way.name()))
        .collect();
    println!(
        "\nChoice of each fold by the other four: {}. Held out: {}.\n",
        choices.join("; "),
        share(chosen.held_out)
    );
}
