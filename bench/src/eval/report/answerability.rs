//! Answerability against the labels.

use reground_metrics::classification::auroc;

use super::{or_dash, percent, share};
use crate::data::Domain;
use crate::data::tasks::Answerability;
use crate::eval::answerability::Measured;
use crate::eval::answerability::judged::{Area, Scorer, area, scored, weights};

/// Prints all tables.
pub fn print(measured: &Measured) {
    println!("## Answerability\n");
    println!(
        "AUROC of the turns labelled ANSWERABLE against those labelled UNANSWERABLE, with 95 % intervals that resample whole \
         conversations within a domain. The other labels are left out.\n"
    );
    let turns = &measured.turns;
    let count = |domain, label| {
        let turns = turns.iter();
        turns
            .filter(|turn| turn.domain == domain && turn.label == label)
            .count()
    };
    let titles = Domain::ALL.map(|domain| {
        let [answerable, unanswerable] = [Answerability::Answerable, Answerability::Unanswerable]
            .map(|label| count(domain, label));
        format!("{} ({answerable}, {unanswerable})", domain.name())
    });
    println!("| score | {} | mean |", titles.join(" | "));
    println!("|---|{}", "---|".repeat(titles.len() + 1));
    for scorer in Scorer::ALL {
        let domains = Domain::ALL.map(|domain| scored(turns, domain, scorer));
        let cells: Vec<String> = domains
            .iter()
            .map(|domain| area(std::slice::from_ref(domain)))
            .chain([area(&domains)])
            .map(|area| or_dash(area, cell))
            .collect();
        println!("| {} | {} |", scorer.name(), cells.join(" | "));
    }
    let (intercept, [similarity, agreement, missing]) = weights(turns);
    println!(
        "\nWeights fitted on all three domains, both labels with equal weight: intercept {intercept:.2}, similarity {similarity:.2}, \
         agreement {agreement:.2}, missing word {missing:.2}.\n"
    );
    foreign(measured);
    warnings(measured);
}

fn cell(area: Area) -> String {
    let Area { value, low, high } = area;
    format!("{} [{}, {}]", share(value), share(low), share(high))
}

/// Answerable turns against first questions of the other domains.
fn foreign(measured: &Measured) {
    let areas = Domain::ALL.map(|domain| {
        let asked = measured.foreign.iter().filter(|one| one.corpus == domain);
        let turns = measured
            .turns
            .iter()
            .filter(|turn| turn.domain == domain && turn.label == Answerability::Answerable);
        let scored: Vec<(f64, bool)> = asked
            .map(|one| (one.shipped, false))
            .chain(turns.map(|turn| (turn.shipped, true)))
            .collect();
        format!("{} {}", domain.name(), or_dash(auroc(&scored), share))
    });
    println!(
        "Answerable turns against first questions of the other domains, asked to this corpus, AUROC: {}.\n",
        areas.join(", ")
    );
}

/// Share of the turns with the warning, by label; and of first questions that were asked to another corpus.
fn warnings(measured: &Measured) {
    println!("Turns with the warning `nothing_fits`, default threshold:\n");
    println!("| turns | {} |", Domain::ALL.map(Domain::name).join(" | "));
    println!("|---|{}", "---:|".repeat(Domain::ALL.len()));
    for label in Answerability::ALL {
        let cells = Domain::ALL.map(|domain| {
            let turns = measured.turns.iter();
            let here = turns.filter(|turn| turn.domain == domain && turn.label == label);
            let warned = here.clone().filter(|turn| turn.warned).count();
            let all = here.count();
            format!("{} of {all}", percent(warned, all))
        });
        println!("| {} | {} |", label.name(), cells.join(" | "));
    }
    let cells = Domain::ALL.map(|domain| {
        let asked = measured.foreign.iter().filter(|one| one.corpus == domain);
        let warned = asked.clone().filter(|one| one.warned).count();
        let all = asked.count();
        format!("{} of {all}", percent(warned, all))
    });
    println!(
        "| first questions of the other domains | {} |\n",
        cells.join(" | ")
    );
}
