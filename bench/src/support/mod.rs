//! The command `support`: how well the support of a claim by text agrees with what humans said, through the crate's public
//! functions and the server's own stemming, as the extension does it.

mod features;
mod items;
mod measure;
mod options;

use anyhow::{Context, Result};
use postgres::{Client, NoTls};

use items::{Item, Set};
use options::Options;

/// Runs the command with the arguments after its name.
///
/// # Errors
/// Arguments that are none, data or a server that refuse.
pub fn run(arguments: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::read(arguments)? else {
        println!("{}", options::USAGE);
        return Ok(());
    };
    let mut client = Client::connect(&options.uri, NoTls).context("no connection to the server")?;
    println!("# Support by text, against human labels\n");
    println!(
        "AUROC of each figure; macro-F1 of the support at 0.5, the setting's default, and at the threshold that the other \
         four of five folds by question choose.\n"
    );
    print!("| set | n | positive | F1 at .5 | F1, folds |");
    features::NAMES.iter().for_each(|name| print!(" {name} |"));
    println!("\n|{}", "---|".repeat(5 + features::NAMES.len()));
    for set in Set::ALL {
        let items = set.read(&options.data)?;
        let rows = features::of(&mut client, set, &items)?;
        row(set.name(), &items, &rows);
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
    Ok(())
}

/// The parts of a set, where it has several.
fn parts(items: &[Item]) -> Vec<String> {
    let mut parts: Vec<String> = items.iter().map(|item| item.part.clone()).collect();
    parts.sort();
    parts.dedup();
    if parts.len() > 1 { parts } else { Vec::new() }
}

fn row(name: &str, items: &[Item], rows: &[features::Row]) {
    let of = |feature: usize| -> Vec<(f64, bool)> {
        let pairs = rows.iter().zip(items);
        pairs
            .map(|(row, item)| (row[feature], item.holds))
            .collect()
    };
    let figure =
        |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"));
    let questions: Vec<&str> = items.iter().map(|item| item.question.as_str()).collect();
    let positive = items.iter().filter(|item| item.holds).count();
    print!(
        "| {name} | {} | {positive} | {} | {} |",
        items.len(),
        figure(measure::at_default(&of(0))),
        figure(measure::in_folds(&of(0), &questions)),
    );
    for feature in 0..features::NAMES.len() {
        print!(
            " {} |",
            figure(reground_metrics::classification::auroc(&of(feature)))
        );
    }
    println!();
}
