//! Ranked lists.

use super::share;
use crate::data::Domain;
use crate::data::queries::Form;
use crate::eval::reference;
use crate::eval::retrieval::{List, Measured, Scores};
use crate::statistics::times::ms;

/// First of the later turns.
const LATER: u32 = 2;

/// Prints the lists of one form. The reference covers all conversations, so a sample has none.
pub fn print(form: Form, measured: &[Measured], sample: bool) {
    println!("## Retrieval: {}\n", form.name());
    println!("nDCG@5, recall@5, recall@10.\n");
    if !sample {
        println!(
            "\"reference\": other code on the same files; constants of `bench/src/eval/reference.rs`.\n"
        );
    }
    let columns = [1, LATER].map(|turn| Domain::ALL.map(|domain| (domain, turn)));
    let columns = columns.as_flattened();
    let titles = columns.iter().map(|&(domain, turn)| {
        let judged = measured
            .iter()
            .find(|one| (one.domain, one.form) == (domain, form))
            .and_then(|one| one.since_turn(turn))
            .map_or(0, |(_, count)| count);
        let scope = if turn == 1 { "all" } else { "later" };
        format!("{}, {scope} ({judged})", domain.name())
    });
    println!("| list | {} |", titles.collect::<Vec<_>>().join(" | "));
    println!("|---|{}", "---|".repeat(columns.len()));
    for list in List::ALL {
        let ours = columns.iter().map(|&(domain, turn)| {
            measured
                .iter()
                .find(|one| (one.domain, one.form, one.list) == (domain, form, list))
                .and_then(|one| one.since_turn(turn))
                .map(|(scores, _)| scores)
        });
        println!("| **{}** | {} |", list.name(), cells(ours));
        // A list through an index approximates the list above it, which has the reference.
        let reference = columns
            .iter()
            .map(|&(domain, turn)| reference::scores(domain, form, list, turn == LATER));
        if !sample
            && list.approximates().is_none()
            && reference.clone().any(|scores| scores.is_some())
        {
            println!("| {}, reference | {} |", list.name(), cells(reference));
        }
    }
    println!();
    println!(
        "| median ms a query | {} |",
        Domain::ALL.map(Domain::name).join(" | ")
    );
    println!("|---|{}", "---:|".repeat(Domain::ALL.len()));
    for list in List::ALL {
        let times: Vec<String> = measured
            .iter()
            .filter(|one| one.form == form && one.list == list)
            .map(|one| format!("{:.1}", ms(one.median_time())))
            .collect();
        println!("| {} | {} |", list.name(), times.join(" | "));
    }
    println!();
}

fn cells(scores: impl Iterator<Item = Option<Scores>>) -> String {
    scores
        .map(|scores| {
            scores.map_or_else(
                || "–".to_owned(),
                |scores| {
                    [scores.ndcg_5, scores.recall_5, scores.recall_10]
                        .map(share)
                        .join(" ")
                },
            )
        })
        .collect::<Vec<_>>()
        .join(" | ")
}
