//! The demo: ingests a folder of documents, holds a conversation of six turns, and audits every citation.
//!
//! Answers are composed from the sources that the database returned, and some citations are wrong on purpose. The database judges all
//! citations. At the end its verdicts are compared with the planted faults, so the demo is also a test. With `REGROUND_LLM_URL`, a
//! language model writes the answers.

mod answer;
mod arguments;
mod documents;
mod ingest;
mod prompt;
mod questions;
mod report;
mod screen;
mod sentences;
mod service;
mod tally;
mod turn;

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use postgres::{Client, NoTls};

use crate::answer::{Answer, Writer};
use crate::arguments::Arguments;
use crate::screen::Screen;
use crate::service::{Embedder, Llm};
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
    let embedder = arguments.worker.as_deref().map(Embedder::at);
    let llm = Llm::from_environment()?;

    report::title(&screen, llm.as_ref().map(Llm::model));
    let ingested = ingest::run(&mut client, &folder, embedder.is_some(), &screen)?;
    let conversation = turn::next_conversation(&mut client)?;
    report::ingested(
        &screen,
        &arguments,
        &folder,
        &ingested,
        llm.as_ref().map(Llm::model),
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
        let context_text = turn::context_text(&mut client, &conversation, &question.text)?;
        let embeddings = embedder
            .as_ref()
            .map(|embedder| embedder.embed([&question.text, &context_text]));
        let embeddings = embeddings.transpose()?;
        let turn = turn::begin(&mut client, &conversation, &question.text, embeddings)?;
        report::question(&screen, index + 1, questions.len(), question, &turn);
        let prompt = prompt::read(&mut client, turn.turn_id, &conversation)?;
        if index + 1 == questions.len() {
            report::prompt(&screen, index + 1, &prompt, &question.text);
        }
        let (answer, model) = match &llm {
            Some(llm) => (
                Answer {
                    text: llm.answer(&prompt, &question.text)?,
                    statements: Vec::new(),
                },
                llm.model(),
            ),
            None => (writer.write(&turn, question.faults), "planted"),
        };
        let judged = turn::end(&mut client, turn.turn_id, &answer.text, index + 1, model)?;
        report::answer(&screen, &answer, &judged);
        tally.add(&answer, &judged);
    }
    match &llm {
        Some(_) => report::held(&screen, &tally),
        None => report::tally(&screen, &tally),
    }
    report::explore(&screen, &arguments.uri, &conversation);
    // In other folders a planted fault can be correct by chance, because two documents can contain the same sentence.
    Ok(llm.is_some() || !is_manual || tally.complete())
}
