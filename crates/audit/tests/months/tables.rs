//! Tables of false alarms in quiet months and of the time until the alert for planted faults, for docs/evaluation.md.

use std::collections::BTreeMap;

use super::{Fault, Month};

const FAULTS: [(Fault, &str); 3] = [
    (Fault::DocumentType, "45 % of the PDF citations fail"),
    (Fault::Reranker, "the reranker loses 75 % of the passages"),
    (
        Fault::ModelVersion,
        "a new model version invents 15 % of its citations",
    ),
];

/// Prints the tables: for this number of quiet months, and of faults of each kind, from the first seed on.
pub fn print(quiet: u64, faults: u64, first: u64) {
    quiet_months(quiet, first);
    faults_found(faults, first);
}

fn quiet_months(quiet: u64, first: u64) {
    println!("| answers an hour | quiet months | false alarms a month | by rule |");
    println!("|---:|---:|---:|---|");
    for traffic in [10.0, 60.0] {
        let months = if traffic > 10.0 { quiet / 5 } else { quiet };
        let mut by_rule: BTreeMap<String, u64> = BTreeMap::new();
        for seed in first..first + months {
            for alarm in Month::new(seed, traffic, 28).alarms(1) {
                let name = format!("{} of {}", alarm.rule, alarm.corpus);
                *by_rule.entry(name).or_default() += 1;
            }
        }
        let all: u64 = by_rule.values().sum();
        println!(
            "| {traffic} | {months} | {:.2} | {by_rule:?} |",
            all as f64 / months as f64
        );
    }
}

fn faults_found(faults: u64, first: u64) {
    println!(
        "\n| fault in one of three corpora | traffic | alert | median time | median turns | 9 of 10 within | found in a day |"
    );
    println!("|---|---|---|---:|---:|---:|---:|");
    for (fault, what) in FAULTS {
        // The weeks before a busy day are shorter, to save time.
        for (traffic, days, name, of) in [
            (14_400.0, 4, "4 turns a second", faults / 4),
            (10.0, 28, "10 answers an hour", faults),
        ] {
            let found: Vec<_> = (first..first + of.max(1))
                .filter_map(|seed| Month::new(seed, traffic, days).first_alarm(fault, 60, 72))
                .collect();
            let sorted = |mut values: Vec<f64>| {
                values.sort_by(f64::total_cmp);
                values
            };
            let hours = sorted(found.iter().map(|alarm| alarm.hours).collect());
            let turns = sorted(found.iter().map(|alarm| alarm.answers as f64).collect());
            let at = |values: &[f64], share: f64| {
                values[((values.len() - 1) as f64 * share).ceil() as usize]
            };
            let mut rules: Vec<&str> = found.iter().map(|alarm| alarm.rule.as_str()).collect();
            rules.sort_unstable();
            rules.dedup();
            let shown = |hours: f64| {
                if hours < 2.0 {
                    format!("{:.0} min", hours * 60.0)
                } else {
                    format!("{hours:.1} h")
                }
            };
            println!(
                "| {what} | {name} | {} | {} | {:.0} | {} | {} of {} |",
                rules.join(", "),
                shown(at(&hours, 0.5)),
                at(&turns, 0.5),
                shown(at(&hours, 0.9)),
                hours.iter().filter(|hours| **hours <= 24.0).count(),
                of.max(1)
            );
        }
    }
}
