//! The demo: ingests a folder of documents, holds a conversation of six turns, and audits every citation.
//!
//! No language model is used. Answers are composed from the sources that the database returned, and some citations are wrong on
//! purpose. The database judges all citations. At the end its verdicts are compared with the planted faults, so the demo is also a
//! test.

mod answer;
mod arguments;
mod documents;
mod ingest;
mod questions;
mod report;
mod screen;
mod sentences;
mod tally;
mod turn;

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use postgres::{Client, NoTls};
use reground_encoders::SentenceEncoder;

use crate::answer::Writer;
use crate::arguments::Arguments;
use crate::screen::Screen;
use crate::tally::Tally;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the demo. Returns `false` if a verdict differs from the expected one.
fn run() -> Result<bool> {
    let arguments = Arguments::read(std::env::args().skip(1))?;
    let screen = Screen::of_stdout();
    let folder = documents::read(&arguments.docs)?;
    let mut client = Client::connect(&arguments.uri, NoTls)
        .with_context(|| format!("no server answers at {}", arguments.uri))?;
    let encoder = arguments
        .model
        .as_deref()
        .map(SentenceEncoder::load)
        .transpose()?;

    report::title(&screen);
    let ingested = ingest::run(&mut client, &folder, encoder.as_ref(), &screen)?;
    let conversation = turn::next_conversation(&mut client)?;
    report::ingested(
        &screen,
        &arguments,
        &folder,
        &ingested,
        encoder.as_ref(),
        &conversation,
    );

    let is_manual = documents::is_manual(&arguments.docs);
    let questions = if is_manual {
        questions::about_the_manual()
    } else {
        questions::about(&folder.documents)
    };
    let mut writer = Writer::default();
    let mut tally = Tally::default();
    for (index, question) in questions.iter().enumerate() {
        let embedding = match &encoder {
            Some(encoder) => encoder.encode(&[question.text.as_str()])?.pop(),
            None => None,
        };
        let turn = turn::begin(&mut client, &conversation, &question.text, embedding)?;
        report::question(&screen, index + 1, questions.len(), question, &turn);
        let answer = writer.write(&turn, question.faults);
        let judged = turn::end(&mut client, turn.turn_id, &answer.text, index + 1)?;
        report::answer(&screen, &answer, &judged);
        tally.add(&answer, &judged);
    }
    report::tally(&screen, &tally);
    report::explore(&screen, &arguments.uri, &conversation);
    // In other folders a planted fault can be correct by chance, because two documents can contain the same sentence.
    Ok(!is_manual || tally.complete())
}
