//! Tables and figures of the detected faults.

use std::collections::BTreeMap;

use super::fault_kind::FaultKind;
use super::judge::Verdict;

/// Name and value of a figure.
pub type Figure = (String, f64);

/// Prints the head of the table of faults.
pub fn head() {
    println!("| mode | kind | injected | found | recall | with the right mode | statuses |");
    println!("|---|---|---|---|---|---|---|");
}

/// Prints the row of a kind and returns two shares: detected faults (the citation does not hold), and those with the right failure
/// mode.
pub fn row(kind: FaultKind, verdicts: &[Verdict]) -> [Figure; 2] {
    let mode = kind.mode();
    let found = verdicts
        .iter()
        .filter(|verdict| verdict.holds == Some(false));
    let named = verdicts.iter().filter(|verdict| match mode {
        Some(mode) => verdict.hallucination_mode.as_deref() == Some(mode),
        None => verdict.status == "stale_turn",
    });
    let (found, named) = (found.count(), named.count());
    let (recall, by_name) = (share(found, verdicts.len()), share(named, verdicts.len()));
    println!(
        "| {} | {} | {} | {found} | {recall:.3} | {by_name:.3} | {} |",
        mode.unwrap_or("–"),
        kind.name(),
        verdicts.len(),
        statuses(verdicts)
    );
    [
        (kind.name().to_owned(), recall),
        (format!("{}, named", kind.name()), by_name),
    ]
}

/// Prints the head of the table of the other generators.
pub fn head_of_others() {
    println!("| generator and kind | n | do not hold | statuses |");
    println!("|---|---:|---:|---|");
}

/// Prints the row of a kind of another generator and returns the share of citations that do not hold.
pub fn row_of_others(name: &str, verdicts: &[Verdict]) -> Figure {
    let found = false_alarms(verdicts);
    println!(
        "| {name} | {} | {found:.3} | {} |",
        verdicts.len(),
        statuses(verdicts)
    );
    (name.to_owned(), found)
}

/// Share of unchanged citations that do not hold or were not extracted.
pub fn false_alarms(verdicts: &[Verdict]) -> f64 {
    let alarms = verdicts
        .iter()
        .filter(|verdict| verdict.holds != Some(true))
        .count();
    share(alarms, verdicts.len())
}

/// Prints the false alarms on unchanged citations.
pub fn unchanged(name: &str, verdicts: &[Verdict]) {
    println!(
        "False alarms on {name}: {:.3} of {} ({}).\n",
        false_alarms(verdicts),
        verdicts.len(),
        statuses(verdicts)
    );
}

/// Number of citations by status, the most frequent first.
fn statuses(verdicts: &[Verdict]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for verdict in verdicts {
        *counts.entry(&verdict.status).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let counts: Vec<String> = counts
        .iter()
        .map(|(status, count)| format!("{status} {count}"))
        .collect();
    counts.join(", ")
}

fn share(part: usize, all: usize) -> f64 {
    part as f64 / all.max(1) as f64
}

/// Prints and returns the share of cited places with one of the statuses `right`.
pub fn places(name: &str, verdicts: &[Verdict], right: &[&str]) -> Figure {
    let as_asked = verdicts
        .iter()
        .filter(|verdict| right.contains(&verdict.status.as_str()));
    let share = share(as_asked.count(), verdicts.len());
    println!(
        "{name}: {share:.3} of {} ({}).",
        verdicts.len(),
        statuses(verdicts)
    );
    (name.to_owned(), share)
}
