//! The command `recording`: how many answers of other systems are checked and recorded per second.

mod answers;
mod load;
mod options;
mod sessions;

use std::time::Instant;

use anyhow::{Result, ensure};
use postgres::Client;

use crate::data::corpus::Corpus;
use crate::data::{Domain, Folder};
use crate::database::machine;
use crate::database::server::{self, Address};
use crate::statistics::random::SplitMix;
use answers::{CITATIONS, RecordedAnswer, Shape};
use options::Options;
use sessions::{BATCH, CLEAR, RECORD, batches, run_concurrently};

/// Domain of the passages.
const DOMAIN: Domain = Domain::Clapnq;

/// Answers checked per round.
const CHECKED: usize = 500;

const LONG: Shape = Shape {
    name: "300 words, passages of 700 characters",
    words: 300,
    characters: 700,
};

const SHORT: Shape = Shape {
    name: "100 words, passages of 200 characters",
    words: 100,
    characters: 200,
};

/// Runs the command with the arguments after its name.
///
/// # Errors
/// Invalid arguments, unreadable data, errors of the server.
pub fn run(arguments: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::read(arguments)? else {
        println!("{}", options::USAGE);
        return Ok(());
    };
    let corpus = Corpus::read(&Folder::below(&options.data)?, DOMAIN)?;
    let texts: Vec<String> = corpus
        .passages
        .iter()
        .map(|passage| passage.text.clone())
        .filter(|text| text.chars().count() >= 700)
        .collect();
    ensure!(!texts.is_empty(), "no passage has 700 characters");
    let address = server::resolve(&options.uri)?;
    let mut client = server::connect(&address)?;
    client.batch_execute(
        "SET default_text_search_config = 'pg_catalog.english'; \
         CREATE TABLE IF NOT EXISTS plain_turns (turn jsonb)",
    )?;
    println!("# Checking and recording answers of other systems\n");
    for (what, value) in machine::describe(&mut client, &address)? {
        println!("- {what}: {value}");
    }
    println!(
        "\nAnswers with {CITATIONS} citations and {CITATIONS} passages each, made of passages of clapnq; every tenth citation cites \
         another source. Medians of {} rounds. One session checks; {} sessions record, {BATCH} turns per call. For comparison: \
         to_tsvector over the same answers and passages, and inserts of the same turns as jsonb.\n",
        options.rounds, options.sessions
    );
    println!(
        "| answers | check_answer/s | to_tsvector/s | ratio | record_turns/s | citations/s | jsonb inserted/s | ratio |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    for shape in [LONG, SHORT] {
        let measured = measure(&mut client, &address, &texts, shape, &options)?;
        let [check, words, record, plain] = measured.map(|mut rates| median(&mut rates));
        println!(
            "| {} | {check:.0} | {words:.0} | {:.2} | {record:.0} | {:.0} | {plain:.0} | {:.2} |",
            shape.name,
            words / check,
            record * CITATIONS as f64,
            plain / record
        );
    }
    load::run(&mut client, &address, &texts, SHORT, &options)
}

/// Answers per second by round: checked, parsed by to_tsvector, recorded, inserted as jsonb.
fn measure(
    client: &mut Client,
    address: &Address,
    texts: &[String],
    shape: Shape,
    options: &Options,
) -> Result<[Vec<f64>; 4]> {
    let mut random = SplitMix(2026);
    let answered: Vec<RecordedAnswer> = (0..CHECKED)
        .map(|_| RecordedAnswer::random(texts, shape, &mut random))
        .collect();
    let check = client.prepare(
        "SELECT count(*), count(*) FILTER (WHERE holds) FROM reground.check_answer($1, $2)",
    )?;
    let words = client.prepare(
        "SELECT length(to_tsvector($1)) + (SELECT sum(length(to_tsvector(p ->> 'content'))) FROM jsonb_array_elements($2) AS p)",
    )?;
    let mut rates = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    for round in 0..=options.rounds {
        let begun = Instant::now();
        let mut holding = 0;
        for one in &answered {
            let row = client.query_one(&check, &[&one.answer, &one.passages])?;
            ensure!(
                row.get::<_, i64>(0) == CITATIONS as i64,
                "an answer lost a citation"
            );
            holding += row.get::<_, i64>(1);
        }
        let checked = CHECKED as f64 / begun.elapsed().as_secs_f64();
        ensure!(
            holding > 0 && holding < (CHECKED * CITATIONS) as i64,
            "all citations have the same verdict"
        );
        let begun = Instant::now();
        for one in &answered {
            client.query_one(&words, &[&one.answer, &one.passages])?;
        }
        let worded = CHECKED as f64 / begun.elapsed().as_secs_f64();
        let mut seed = 1000 * (round as u64 + 1) + shape.words as u64;
        let mut turns = Vec::new();
        for _ in 0..options.sessions {
            seed += 1;
            turns.push(batches(texts, shape, seed, options.turns));
        }
        let recorded = run_concurrently(address, &turns, RECORD)?;
        let inserted = run_concurrently(
            address,
            &turns,
            "WITH new AS (INSERT INTO plain_turns SELECT t FROM jsonb_array_elements($1) AS t RETURNING 1) SELECT count(*) FROM new",
        )?;
        // Each round starts with empty tables.
        client.batch_execute(CLEAR)?;
        if round > 0 {
            let of_round = [checked, worded, recorded, inserted];
            for (rates, rate) in rates.iter_mut().zip(of_round) {
                rates.push(rate);
            }
        }
    }
    Ok(rates)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
