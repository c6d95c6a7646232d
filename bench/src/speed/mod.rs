//! The command `speed`: what a turn costs, beside the queries that it cannot do without and beside the same pipeline in
//! Python, all of them in one run and in turns.

mod answer;
mod compare;
mod extension;
mod floor;

mod options;
mod plot;
mod python;
mod report;
mod rounds;

mod size;
mod throughput;
mod workload;

use anyhow::Result;

use crate::data::corpus::Corpus;
use crate::data::{Domain, Folder};
use crate::{load, machine, server};
use options::Options;
use report::Report;

/// Name of the corpus that holds the passages of all domains.
pub const CORPUS: &str = "mtrag";

/// Runs the command with the arguments after its name.
///
/// # Errors
/// Arguments that are none, data or a server that refuse, competitors whose rows differ.
pub fn run(arguments: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::read(arguments)? else {
        println!("{}", options::USAGE);
        return Ok(());
    };
    let folder = Folder::below(&options.data)?;
    let address = server::nearest(&options.uri)?;
    let mut client = server::connect(&address)?;
    let corpora = Domain::ALL
        .into_iter()
        .map(|domain| Corpus::read(&folder, domain))
        .collect::<Result<Vec<_>>>()?;
    let loaded = load::load_together(&mut client, CORPUS, &corpora)?;
    drop(corpora);

    let conversations = workload::conversations(&folder, options.turns)?;
    let rounds = rounds::run(&address, &conversations, options.python.as_deref())?;
    let sizes = size::measure(&address, &conversations)?;
    let throughput =
        throughput::measure(&address, &conversations, options.clients, options.seconds)?;
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
