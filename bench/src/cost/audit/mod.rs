//! The command `audit`: times of the audit queries over many million citations.

mod generate;
mod options;
mod queries;

use std::time::Instant;

use anyhow::Result;

use crate::database::{machine, server};
use crate::statistics::times::ms;
use options::Options;

/// Answers per run of `refresh_audit`, to measure its speed.
const COUNTED: i64 = 10_000;

/// Runs the command with the arguments after its name.
///
/// # Errors
/// Invalid arguments, errors of the server.
pub fn run(arguments: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::read(arguments)? else {
        println!("{}", options::USAGE);
        return Ok(());
    };
    let address = server::resolve(&options.uri)?;
    let mut client = server::connect(&address)?;
    generate::fill(&mut client, options.citations)?;
    let start = Instant::now();
    client.query("SELECT reground.rebuild_audit()", &[])?;
    let rebuilt = start.elapsed();
    client.batch_execute(
        "VACUUM (ANALYZE) reground.answer_rollup, reground.citation_rollup, reground.turn_rollup, reground.rollup_queue",
    )?;
    let speed = queries::counting_rate(&mut client, COUNTED, options.rounds)?;
    let took = queries::time_all(&mut client, options.rounds)?;
    let citations: i64 = client
        .query_one("SELECT count(*) FROM reground.message_citations", &[])?
        .get(0);
    let cells: i64 = client
        .query_one("SELECT (SELECT count(*) FROM reground.answer_rollup) + (SELECT count(*) FROM reground.citation_rollup)", &[])?
        .get(0);

    println!("# Times of the audit queries\n");
    for (what, value) in machine::describe(&mut client, &address)? {
        println!("- {what}: {value}");
    }
    println!(
        "- data: {citations} citations, ten per answer, ten answers per conversation, ten tenants, ninety days; {cells} rows of rollups\n"
    );
    println!(
        "Medians of {} runs, each query once per round, in milliseconds, as an auditor (`check_alerts`: as an administrator).\n",
        options.rounds
    );
    println!("| query | ms |");
    println!("|---|---:|");
    for (query, took) in took {
        println!("| {} | {:.0} |", query.name, ms(took));
    }
    println!(
        "\n`refresh_audit` counts {speed:.0} answers per second, {COUNTED} per call; `rebuild_audit` took {:.0} s.",
        rebuilt.as_secs_f64()
    );
    Ok(())
}
