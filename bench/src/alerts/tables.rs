//! Tables of false alarms in quiet months, and of the time until the alert for planted faults.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};

use super::month::{Alarm, Fault, Month};
use crate::parallel;

/// Traffic of the tables, in answers an hour, and its name. Of the second, fewer months are simulated, to save time.
const QUIET: [f64; 2] = [10.0, 60.0];
const TRAFFIC: [(f64, &str); 2] = [(14_400.0, "4 turns a second"), (10.0, "10 answers an hour")];

/// Planted faults and their names.
const FAULTS: [(Fault, &str); 3] = [
    (Fault::DocumentType, "45 % of the PDF citations fail"),
    (Fault::Reranker, "the reranker loses 75 % of the passages"),
    (
        Fault::ModelVersion,
        "a new model version invents 15 % of its citations",
    ),
];

/// Longest time until an alert that is waited for, in hours.
const MOST_HOURS: i64 = 72;

/// Prints the tables: for this number of quiet months, and of faults of each kind, from the first seed on.
///
/// # Errors
/// A thread that panicked.
pub fn print(quiet: u64, faults: u64, first: u64) -> Result<()> {
    println!("# Alerts on simulated months, seeds from {first} on\n");
    quiet_months(quiet, first)?;
    faults_found(faults, first)
}

/// Simulates each seed, on all processors.
fn of_seeds<R: Send>(count: u64, first: u64, simulate: impl Fn(u64) -> R + Sync) -> Result<Vec<R>> {
    let seeds: Vec<u64> = (first..first + count).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    parallel::over(&mut vec![(); threads], &seeds, |(), seed| {
        Ok(simulate(*seed))
    })
}

fn quiet_months(quiet: u64, first: u64) -> Result<()> {
    println!("| answers an hour | quiet months | false alarms a month | by rule |");
    println!("|---:|---:|---:|---|");
    for traffic in QUIET {
        let months = if traffic > 10.0 { quiet / 5 } else { quiet };
        let alarms = of_seeds(months, first, |seed| {
            Month::new(seed, traffic, 28).alarms(1)
        })?;
        let mut by_rule: BTreeMap<String, u64> = BTreeMap::new();
        for alarm in alarms.iter().flatten() {
            *by_rule.entry(alarm.name()).or_default() += 1;
        }
        let counts: Vec<String> = by_rule
            .iter()
            .map(|(name, n)| format!("{name} {n}"))
            .collect();
        let all: u64 = by_rule.values().sum();
        println!(
            "| {traffic} | {months} | {:.2} | {} |",
            all as f64 / months.max(1) as f64,
            counts.join(", ")
        );
    }
    println!();
    Ok(())
}

fn faults_found(faults: u64, first: u64) -> Result<()> {
    println!(
        "| fault in one of three corpora | traffic | alert | median time | median turns | 9 of 10 within | found in a day |"
    );
    println!("|---|---|---|---:|---:|---:|---:|");
    for (fault, what) in FAULTS {
        for (traffic, name) in TRAFFIC {
            // The weeks before a busy day are shorter, and there are fewer of them.
            let (days, count) = if traffic > 10.0 {
                (4, faults / 4)
            } else {
                (28, faults)
            };
            let count = count.max(1);
            let found = of_seeds(count, first, |seed| {
                Month::new(seed, traffic, days).first_alarm(fault, 60, MOST_HOURS)
            })?;
            let found: Vec<Alarm> = found.into_iter().flatten().collect();
            println!(
                "| {what} | {name} | {} |",
                row(&found, count).context("no alert at all")?
            );
        }
    }
    Ok(())
}

/// The alert, the median time and turns, the time of nine of ten faults, and the number found within a day.
fn row(found: &[Alarm], count: u64) -> Option<String> {
    let hours = sorted(found.iter().map(|alarm| alarm.hours));
    let turns = sorted(found.iter().map(|alarm| alarm.answers as f64));
    // Faults without an alert take longest.
    let at = |values: &[f64], share: f64| {
        let place = ((count - 1) as f64 * share).ceil() as usize;
        values.get(place).copied()
    };
    let rules: BTreeSet<&str> = found.iter().map(|alarm| alarm.rule.as_str()).collect();
    let rules: Vec<&str> = rules.into_iter().collect();
    let within_a_day = hours.iter().filter(|hours| **hours <= 24.0).count();
    Some(format!(
        "{} | {} | {:.0} | {} | {within_a_day} of {count}",
        rules.join(", "),
        duration(at(&hours, 0.5)?),
        at(&turns, 0.5)?,
        at(&hours, 0.9).map_or_else(|| format!("over {MOST_HOURS} h"), duration),
    ))
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

fn duration(hours: f64) -> String {
    if hours < 2.0 {
        format!("{:.0} min", hours * 60.0)
    } else {
        format!("{hours:.1} h")
    }
}
