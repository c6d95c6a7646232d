//! Search in partly embedded corpora.

use reground_metrics::interval::Interval;

use super::{or_dash, share};
use crate::eval::partly_embedded::{Group, Measured};

/// Prints the figures of both groups.
pub fn print(measured: &[Measured]) {
    println!("## Partly embedded corpora\n");
    println!(
        "Share of the questions whose first passage is relevant, and nDCG@5, with 95 % intervals, for the relevant passages with a \
         vector and for those without one; in brackets those of the same passages when all have vectors.\n"
    );
    println!(
        "| corpus | questions | fusion | without | with: n | first | nDCG@5 | without: n | first | nDCG@5 |"
    );
    println!("|---|---|---|---:|---:|---|---|---:|---|---|");
    for one in measured {
        let [embedded, others] = [&one.embedded, &one.others].map(|[partly, complete]| {
            let cell = |figure: fn(&Group) -> Option<Interval>| {
                or_dash(
                    figure(partly).zip(figure(complete)),
                    |(partly, complete)| {
                        let [mean, low, high] = [partly.mean, partly.low, partly.high].map(share);
                        format!("{mean} [{low}, {high}] ({})", share(complete.mean))
                    },
                )
            };
            format!(
                "{} | {} | {}",
                partly.count(),
                cell(Group::first),
                cell(Group::ndcg_5)
            )
        });
        println!(
            "| {} | {} | {} | {} % | {embedded} | {others} |",
            one.domain.name(),
            one.questions.name(),
            one.fusion,
            one.percent,
        );
    }
    println!();
}
