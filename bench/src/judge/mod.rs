//! The command `judge`: two baseline judges of citations, compared with human labels through the task queue of the extension.

mod agreement;
mod calibration;
mod cases;
mod options;
mod queue;
mod similarity;

use anyhow::{Context, Result};
use postgres::{Client, GenericClient, NoTls};

use self::agreement::Agreement;
use self::calibration::Calibration;
use self::cases::{Case, Split};
use self::options::{Options, USAGE};
use self::similarity::{Judge, Pair};
use crate::data::claims::Set;
use crate::progress::Progress;

/// The sets, in the order of the report. The map to probabilities is fitted on the first.
const SETS: [Set; 3] = [Set::AttributionBench, Set::WiceChunks, Set::CiteCheck];

/// Runs the command with the arguments after its name.
///
/// # Errors
/// Invalid arguments, unreadable data, errors of the server or of the worker.
pub fn run(parser: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::read(parser)? else {
        println!("{USAGE}");
        return Ok(());
    };
    let mut client =
        Client::connect(&options.uri, NoTls).context("cannot connect to the server")?;
    client.batch_execute("SET client_min_messages = error")?;
    similarity::create_function(&mut client)?;
    let mut judges = vec![Judge::Words];
    if let Some(worker) = options.worker {
        let model = options.model;
        judges.push(Judge::Embeddings { worker, model });
    }
    let splits: Vec<(Set, Split)> = SETS
        .into_iter()
        .map(|set| {
            let items = set.read(&options.data)?;
            Ok((set, cases::split(&items, options.sample, options.seed)))
        })
        .collect::<Result<_>>()?;
    println!("# Baseline judges, seed {}\n", options.seed);
    let judges = calibrated(&mut client, judges, &splits)?;
    println!(
        "\n| set | judge | n | κ | accuracy | F1 | accuracy, two classes | partial against accurate |"
    );
    println!("|---|---|---:|---|---:|---:|---:|---:|");
    for (set, split) in &splits {
        measure(&mut client, *set, &split.sample, &judges)?;
    }
    Ok(())
}

/// Fits the map of each judge to probabilities, and prints it.
fn calibrated(
    client: &mut impl GenericClient,
    judges: Vec<Judge>,
    splits: &[(Set, Split)],
) -> Result<Vec<(Judge, Calibration)>> {
    let (set, split) = splits.first().context("no set")?;
    let pairs: Vec<Pair> = split
        .rest
        .iter()
        .map(|case| Pair {
            premise: case.passage.clone(),
            hypothesis: case.claim.clone(),
        })
        .collect();
    let fitted = judges.into_iter().map(|judge| {
        let similarities = judge.similarities(client, *set, &pairs)?.into_iter();
        let labelled: Vec<_> = similarities
            .zip(&split.rest)
            .map(|(similarity, case)| ([similarity], case.label.holds()))
            .collect();
        let calibration = Calibration::fit(&labelled);
        let [accurate, partial] = calibration.thresholds();
        println!(
            "{}: accurate from a similarity of {accurate:.3}, partial from {partial:.3}, fitted on {} other cases of {}.",
            judge.name(),
            labelled.len(),
            set.name()
        );
        Ok((judge, calibration))
    });
    fitted.collect()
}

/// Prints the rows of a set. All writes are rolled back.
fn measure(
    client: &mut Client,
    set: Set,
    cases: &[Case],
    judges: &[(Judge, Calibration)],
) -> Result<()> {
    let mut transaction = client.transaction()?;
    let progress = Progress::new(set.name(), judges.len() * cases.len());
    let recorded = queue::record(&mut transaction, set, cases)?;
    for (judge, calibration) in judges {
        let ids = &recorded.citation_ids;
        queue::judge(&mut transaction, judge, set, *calibration, ids)?;
        row(
            set,
            judge,
            &agreement::read(&mut transaction, judge.name())?,
        );
        progress.step(cases.len());
    }
    progress.finish();
    eprintln!(
        "{}: {} of {} citations have another claim than the case",
        set.name(),
        recorded.other_claims,
        cases.len()
    );
    Ok(transaction.rollback()?)
}

fn row(set: Set, judge: &Judge, agreement: &Agreement) {
    let [kappa, low, high] = agreement.kappa.map(figure);
    println!(
        "| {} | {} | {} | {kappa} [{low}, {high}] | {} | {} | {} | {} |",
        set.name(),
        judge.name(),
        agreement.citations,
        figure(agreement.accuracy),
        figure(agreement.counts.f1()),
        figure(agreement.counts.accuracy()),
        figure(agreement.partial_accurate)
    );
}

fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"))
}
