//! The command `speed`: the time and the space that a turn takes. It alternates, in one run, the turn with its two candidate queries
//! alone, with a floor of `end_turn`, and with hybrid searches in plain SQL.

mod answer;
mod extension;
mod floor;
pub mod hybrid;
mod options;
mod report;
mod rounds;
mod size;
mod throughput;
pub mod workload;

use anyhow::Result;

use crate::data::corpus::Corpus;
use crate::data::{Domain, Folder};
use crate::database::{load, machine, server};
use options::Options;
use report::Report;

/// Name of the corpus with the passages of all domains.
const CORPUS: &str = "mtrag";

/// Runs the command with the arguments after its name.
///
/// # Errors
/// Invalid arguments, unreadable data, errors of the server.
pub fn run(arguments: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::read(arguments)? else {
        println!("{}", options::USAGE);
        return Ok(());
    };
    let folder = Folder::below(&options.data)?;
    let address = server::resolve(&options.uri)?;
    let mut client = server::connect(&address)?;
    let corpora = Domain::ORIGINAL
        .into_iter()
        .map(|domain| Corpus::read(&folder, domain))
        .collect::<Result<Vec<_>>>()?;
    let loaded = load::load_together(&mut client, CORPUS, &corpora, Some(0))?;
    drop(corpora);
    let searches = hybrid::prepare_tables(&mut client, CORPUS)?;

    let conversations = workload::conversations(&folder, options.turns)?;
    let rounds = rounds::run(&address, CORPUS, &conversations, &searches)?;
    let sizes = size::measure(&address, CORPUS, &conversations)?;
    let throughput = throughput::measure(
        &address,
        CORPUS,
        &conversations,
        options.clients,
        options.seconds,
    )?;
    let report = Report {
        options: &options,
        machine: machine::describe(&mut client, &address)?,
        loaded,
        rounds,
        sizes,
        throughput,
    };
    report.write()
}
