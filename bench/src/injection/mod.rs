//! The command `injection`: injects faults into answers that humans wrote, and measures how many the public SQL functions detect.

mod answers;
mod books;
mod case;
mod conflicting_pair;
mod conflicts;
mod corrections;
mod fault_kind;
mod faults;
mod floors;
mod generated_facts;
mod joined_facts;
mod judge;
mod models;
mod near_faults;
mod options;
mod pages;
mod policy;
mod report;
mod scripture;
mod stale_markers;

use anyhow::{Context, Result};
use postgres::{Client, GenericClient, NoTls};

use self::answers::{CLEAR, ShownAnswer};
use self::case::TestCase;
use self::fault_kind::FaultKind;
use self::floors::MOST_ALARMS;
use self::generated_facts::Made;
use self::judge::{DEFAULT_THRESHOLD, Verdict, judge};
use self::near_faults::NearFault;
use self::options::{Options, USAGE};
use self::report::Figure;
use crate::data::{Domain, Folder};
use crate::statistics::random::SplitMix;

/// Runs the command with the arguments after its name.
///
/// # Errors
/// Invalid arguments, unreadable data, errors of the server, with `--check` figures below their floors.
pub fn run(parser: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::read(parser)? else {
        println!("{USAGE}");
        return Ok(());
    };
    let folder = Folder::below(&options.data)?;
    let all = answers::read(&folder, &Domain::ORIGINAL)?;
    let mut client =
        Client::connect(&options.uri, NoTls).context("cannot connect to the server")?;
    client.batch_execute("SET client_min_messages = error")?;
    let mut transaction = client.transaction()?;
    let mut random = SplitMix(options.seed);
    println!("# Faults injected into answers, seed {}\n", options.seed);
    let mut figures = faults_in_answers(&mut transaction, &all, &mut random)?;
    figures.extend(faults_of_other_generators(
        &mut transaction,
        &all,
        &mut random,
    )?);
    figures.extend(policy::measure(&mut transaction, &all, &mut random)?);
    figures.extend(faults_in_pages_and_turns(
        &mut transaction,
        &all,
        &mut random,
    )?);
    if let Some(path) = &options.scripture {
        figures.extend(scripture::measure(&mut transaction, path, &mut random)?);
    }
    figures.extend(corrections::measure(&mut transaction, &all, &options)?);
    figures.extend(conflicts::measure(
        &mut transaction,
        &folder,
        &all,
        &mut SplitMix(options.seed),
    )?);
    transaction.rollback()?;
    if options.check {
        floors::check(&figures, options.scripture.is_some(), options.has_models())?;
    }
    Ok(())
}

/// Faults in answers with their passages, at the default threshold. If that gives too many false alarms, also at the highest
/// threshold that does not, whose figures are returned.
fn faults_in_answers(
    client: &mut impl GenericClient,
    all: &[ShownAnswer],
    random: &mut SplitMix,
) -> Result<Vec<Figure>> {
    let (unchanged, contained) = case::unchanged(all);
    let faults: Vec<(FaultKind, Vec<TestCase>)> = FaultKind::IN_ANSWERS
        .into_iter()
        .map(|kind| (kind, faults::injected(all, kind, random)))
        .collect();
    let (joined, exchanged) = joined_facts::cases(all);
    let mut figures = Vec::new();
    let default = (DEFAULT_THRESHOLD * 100.0).round() as u8;
    for percent in (1..=default).rev() {
        let threshold = f64::from(percent) / 100.0;
        let verdicts = judge(client, &unchanged, threshold)?;
        let within = report::false_alarms(&verdicts) <= MOST_ALARMS;
        if percent < default && !within {
            continue;
        }
        println!("## Support threshold {threshold}\n");
        report::unchanged("unchanged citations", &verdicts);
        let pairs = verdicts.into_iter().zip(&contained);
        let clear: Vec<Verdict> = pairs
            .filter(|(_, contained)| **contained >= CLEAR)
            .map(|(verdict, _)| verdict)
            .collect();
        report::unchanged(
            "citations whose passage clearly contains the sentence",
            &clear,
        );
        let joined = judge(client, &joined, threshold)?;
        report::unchanged("facts of one sentence with their own citations", &joined);
        report::head();
        figures.clear();
        for (kind, cases) in &faults {
            figures.extend(report::row(*kind, &judge(client, cases, threshold)?));
        }
        let exchanged = judge(client, &exchanged, threshold)?;
        figures.extend(report::row(FaultKind::Exchanged, &exchanged));
        println!();
        if within {
            break;
        }
    }
    Ok(figures)
}

/// Faults of the other two generators, at the default threshold.
fn faults_of_other_generators(
    client: &mut impl GenericClient,
    all: &[ShownAnswer],
    random: &mut SplitMix,
) -> Result<Vec<Figure>> {
    println!("## Other generators\n");
    report::head_of_others();
    let mut figures = Vec::new();
    for kind in NearFault::ALL {
        let cases = near_faults::cases(all, kind, random);
        let verdicts = judge(client, &cases, DEFAULT_THRESHOLD)?;
        figures.push(report::row_of_others(kind.name(), &verdicts));
    }
    for kind in Made::FAULTS {
        let cases = generated_facts::cases(kind, random);
        let verdicts = judge(client, &cases, DEFAULT_THRESHOLD)?;
        figures.push(report::row_of_others(kind.name(), &verdicts));
    }
    for kind in Made::RIGHT {
        let cases = generated_facts::cases(kind, random);
        report::row_of_others(kind.name(), &judge(client, &cases, DEFAULT_THRESHOLD)?);
    }
    println!();
    Ok(figures)
}

/// Faults in pages and in markers of earlier turns.
fn faults_in_pages_and_turns(
    client: &mut impl GenericClient,
    all: &[ShownAnswer],
    random: &mut SplitMix,
) -> Result<Vec<Figure>> {
    pages::load(client, all)?;
    let cited = pages::cases(all, random);
    println!("## Pages and turns\n");
    report::unchanged(
        "citations of true pages",
        &judge(client, &cited.truly, DEFAULT_THRESHOLD)?,
    );
    report::head();
    let figures = [
        report::row(
            FaultKind::PageBeyond,
            &judge(client, &cited.beyond, DEFAULT_THRESHOLD)?,
        ),
        report::row(
            FaultKind::PageElsewhere,
            &judge(client, &cited.elsewhere, DEFAULT_THRESHOLD)?,
        ),
        report::row(FaultKind::Stale, &stale_markers::cite(client, all)?),
    ];
    println!();
    Ok(figures.concat())
}
