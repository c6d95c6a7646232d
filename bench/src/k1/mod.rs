//! The command `k1`: when a conversation retrieves (`retrieve_at`) and with which query (`query_from`), in the four settings of
//! KnowMT-Bench (section 5.2), and its factuality from entailment verdicts.

mod answers;
mod options;
mod question;
mod report;
mod run;
mod setting;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use postgres::{Client, NoTls};
use serde::Serialize;

use crate::data::{Domain, Folder};
use crate::eval::corpora;
use options::{Options, Task};
use question::Question;
use run::Runner;
use setting::Setting;

/// Runs the command with the arguments after its name.
///
/// # Errors
/// Invalid arguments, unreadable data, errors of the server.
pub fn run(arguments: lexopt::Parser) -> Result<()> {
    match Options::read(arguments)? {
        None => println!("{}", options::USAGE),
        Some(Options {
            task: Task::Contexts(task),
            out,
        }) => {
            let questions = contexts(&task)?;
            report::print(&questions);
            write(out.as_deref(), questions.iter().flat_map(|(_, each)| each))?;
        }
        Some(Options {
            task: Task::Verdicts(path),
            out,
        }) => {
            let report = answers::report(&path)?;
            println!("## Factuality of the answers\n\n{}", report.markdown());
            write(out.as_deref(), &report.measured)?;
        }
    }
    Ok(())
}

/// The judged questions in each setting.
fn contexts(task: &options::Contexts) -> Result<Vec<(Setting, Vec<Question>)>> {
    let folder = Folder::below(&task.data)?;
    let mut clients = (0..task.connections)
        .map(|_| connect(&task.uri))
        .collect::<Result<Vec<Client>>>()?;
    let (judged, _) = corpora::load_all(&folder, &mut clients[0], &Domain::ORIGINAL)?;
    let conversations = corpora::conversations(&folder, &Domain::ORIGINAL, task.sample)?;
    let runner = Runner::read(&folder, &judged, task.prompts)?;
    let run = |setting| Ok((setting, runner.run(&mut clients, setting, &conversations)?));
    Setting::ALL.into_iter().map(run).collect()
}

/// Opens a session without warnings: a search without an embedding warns.
fn connect(uri: &str) -> Result<Client> {
    let mut client = Client::connect(uri, NoTls).context("cannot connect to the server")?;
    client.batch_execute("SET client_min_messages = error")?;
    Ok(client)
}

/// Writes one JSON value per line.
fn write<T: Serialize>(path: Option<&Path>, rows: impl IntoIterator<Item = T>) -> Result<()> {
    let Some(path) = path else { return Ok(()) };
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut file = BufWriter::new(file);
    for row in rows {
        serde_json::to_writer(&mut file, &row)?;
        file.write_all(b"\n")?;
    }
    Ok(file.flush()?)
}
