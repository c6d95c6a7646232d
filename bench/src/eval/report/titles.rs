//! Search with and without titles.

use super::share;
use crate::eval::titles::{DOMAINS, FORMS, LISTS, MeasuredTitles, Titles};

/// Prints the lists with and without titles.
pub fn print(measured: &[MeasuredTitles]) {
    println!("## Titles\n");
    println!("nDCG@5, recall@5, recall@10 of all judged queries.\n");
    let columns: Vec<_> = DOMAINS
        .iter()
        .flat_map(|&domain| FORMS.map(|form| (domain, form)))
        .collect();
    let names = columns
        .iter()
        .map(|(domain, form)| format!("{}, {}", domain.name(), form.name()));
    println!("| list | {} |", names.collect::<Vec<_>>().join(" | "));
    println!("|---|{}", "---|".repeat(columns.len()));
    for list in LISTS {
        for titles in Titles::ALL {
            let cells = columns.iter().map(|&(domain, form)| {
                let found = measured.iter().find(|(of, one)| {
                    *of == titles && (one.domain, one.form, one.list) == (domain, form, list)
                });
                let scores = found.and_then(|(_, one)| one.since_turn(1));
                scores.map_or_else(
                    || "–".to_owned(),
                    |(scores, _)| {
                        [scores.ndcg_5, scores.recall_5, scores.recall_10]
                            .map(share)
                            .join(" ")
                    },
                )
            });
            let cells: Vec<String> = cells.collect();
            println!(
                "| {}, {} | {} |",
                list.name(),
                titles.name(),
                cells.join(" | ")
            );
        }
    }
    println!();
}
