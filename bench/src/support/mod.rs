//! The command `support`: agreement of the support with human labels, by the public functions of the crate and the lexemes of the
//! server.

mod features;
mod measure;
mod options;

use anyhow::{Context, Result, ensure};
use postgres::{Client, NoTls};

pub use features::stemmed;
use options::Options;

use crate::data::claims::{Item, Set};

/// Lower bounds of each set: AUROC and macro-F1 in folds. They are raised when a figure rises, never lowered.
const FLOORS: [(Set, f64, f64); 4] = [
    (Set::AttributionBench, 0.77, 0.69),
    (Set::Wice, 0.81, 0.72),
    (Set::WiceChunks, 0.82, 0.72),
    (Set::CiteCheck, 0.93, 0.85),
];

/// Runs the command with the arguments after its name.
///
/// # Errors
/// Invalid arguments, unreadable data, errors of the server, figures below their floors.
pub fn run(arguments: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::read(arguments)? else {
        println!("{}", options::USAGE);
        return Ok(());
    };
    let mut client =
        Client::connect(&options.uri, NoTls).context("cannot connect to the server")?;
    println!("# Support by text, compared with human labels\n");
    println!(
        "AUROC of each feature; macro-F1 of the support at 0.4, the default of the setting, and at the threshold that is best on the \
         other four of five folds by question.\n"
    );
    print!("| set | n | positive | F1 at .4 | F1, folds |");
    features::NAMES.iter().for_each(|name| print!(" {name} |"));
    println!("\n|{}", "---|".repeat(5 + features::NAMES.len()));
    let mut below = Vec::new();
    let mut refitted = None;
    for set in Set::ALL {
        let items = set.read(&options.data)?;
        let rows = features::of(&mut client, set, &items)?;
        let reached = row(set.name(), &items, &rows);
        if set == Set::AttributionBench {
            refitted = Some(fitted(&items, &rows));
        }
        for (_, auroc, f1) in FLOORS.iter().filter(|(floored, ..)| *floored == set) {
            if !(reached.0 >= Some(*auroc) && reached.1 >= Some(*f1)) {
                below.push(format!(
                    "{}: AUROC {:?} of {auroc}, macro-F1 {:?} of {f1}",
                    set.name(),
                    reached.0,
                    reached.1
                ));
            }
        }
        for part in parts(&items) {
            let of_part = items
                .iter()
                .zip(&rows)
                .filter(|(item, _)| item.part == part);
            let (items, rows): (Vec<Item>, Vec<_>) =
                of_part.map(|(item, row)| (item.clone(), *row)).unzip();
            row(&format!("· {part}"), &items, &rows);
        }
    }
    if let Some((auroc, f1)) = refitted {
        println!(
            "\nAttributionBench with the weights of window, pairs, numbers and names refitted on four of five folds by question: AUROC {}, \
             macro-F1 {}.",
            figure(auroc),
            figure(f1)
        );
    }
    ensure!(
        !options.check || below.is_empty(),
        "below the floors: {}",
        below.join("; ")
    );
    Ok(())
}

/// The parts of a set; empty if it has only one.
fn parts(items: &[Item]) -> Vec<String> {
    let mut parts: Vec<String> = items.iter().map(|item| item.part.clone()).collect();
    parts.sort();
    parts.dedup();
    if parts.len() > 1 { parts } else { Vec::new() }
}

/// Prints a row; returns AUROC and macro-F1 in folds of the support.
fn row(name: &str, items: &[Item], rows: &[features::Row]) -> (Option<f64>, Option<f64>) {
    let of = |feature: usize| -> Vec<(f64, bool)> {
        let pairs = rows.iter().zip(items);
        pairs
            .map(|(row, item)| (row.shown[feature], item.label.holds()))
            .collect()
    };
    let questions: Vec<&str> = items.iter().map(|item| item.question.as_str()).collect();
    let in_folds = measure::in_folds(&of(0), &questions);
    let positive = items.iter().filter(|item| item.label.holds()).count();
    print!(
        "| {name} | {} | {positive} | {} | {} |",
        items.len(),
        figure(measure::at_default(&of(0))),
        figure(in_folds),
    );
    for feature in 0..features::NAMES.len() {
        print!(
            " {} |",
            figure(reground_metrics::classification::auroc(&of(feature)))
        );
    }
    println!();
    (reground_metrics::classification::auroc(&of(0)), in_folds)
}

/// AUROC and macro-F1 of weights fitted on other questions.
fn fitted(items: &[Item], rows: &[features::Row]) -> (Option<f64>, Option<f64>) {
    let pairs = rows.iter().zip(items);
    let labelled: Vec<_> = pairs
        .map(|(row, item)| (row.weighed, item.label.holds()))
        .collect();
    let questions: Vec<&str> = items.iter().map(|item| item.question.as_str()).collect();
    measure::fitted_in_folds(&labelled, &questions)
}

fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"))
}
