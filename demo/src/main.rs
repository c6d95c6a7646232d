//! The main job on real documents: ingest a folder, hold a conversation of six turns, audit every citation.
//!
//! There is no language model here. Answers are put together from the sources that the database returned, some of
//! them wrong on purpose; whether a citation holds is what the database says. At the end the two are compared, so
//! the demo is a test as well.

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
use reground_encoders::Encoder;

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

/// Runs the demo; false if something came out otherwise than planted.
fn run() -> Result<bool> {
    let arguments = Arguments::read(std::env::args().skip(1))?;
    let screen = Screen::of_stdout();
    let folder = documents::read(&arguments.docs)?;
    let mut client = Client::connect(&arguments.uri, NoTls)
        .with_context(|| format!("no server answers at {}", arguments.uri))?;
    let encoder = arguments.model.as_deref().map(Encoder::load).transpose()?;

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

    let ours = documents::is_manual(&arguments.docs);
    let questions = if ours {
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
        let begun = turn::begin(&mut client, &conversation, &question.text, embedding)?;
        report::question(&screen, index + 1, questions.len(), question, &begun);
        let answer = writer.write(&begun, question.faults);
        let judged = turn::end(&mut client, &begun, &answer, index + 1)?;
        report::answer(&screen, &answer, &judged);
        tally.add(&answer, &judged);
    }
    report::tally(&screen, &tally);
    report::explore(&screen, &arguments.uri, &conversation);
    // What other documents offer cannot be known: a sentence may well stand in two of them.
    Ok(!ours || tally.complete())
}
