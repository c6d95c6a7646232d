//! Evaluation and benchmarks of the extension on public data, through its public SQL functions.

mod alerts;
mod arguments;
mod attribution;
mod cost;
mod data;
mod database;
mod eval;
mod extraction;
mod injection;
mod intent;
mod judge;
mod k1;
mod parallel;
mod progress;
mod simulation;
mod statistics;
mod support;

use anyhow::{Result, bail};
use lexopt::prelude::{Long, Short, Value};

const USAGE: &str = "usage: reground-bench COMMAND …

Quality, measured by human judgements:
  eval        retrieval and whole turns
  extraction  citations extracted from real answers
  injection   faults injected into answers, and how many are detected
  judge       baseline judges of citations, compared with human labels
  k1          when to retrieve and with which query, and factuality from verdicts
  intent      classification of the intent of turns
  support     support of claims by text
  alerts      false alarms of the built-in rules, and the time until they find a fault
  simulation  the published model of history strategies, with its table and measured replays

Time and space:
  speed       a turn, its candidate queries, and hybrid searches in plain SQL
  keys        what the encryption of sources adds to a turn
  growth      turns late in a conversation, and in a large database
  provenance  what each provenance level adds to a turn
  repair      what a corrected copy of an answer, and conflicts of sources, add to end_turn
  recording   answers of other systems, checked and recorded per second
  audit       audit queries over many million citations
  lexical     indexes for ranked full-text search
  scale       hybrid search over many passages

reground-bench COMMAND --help lists the options.";

fn main() -> Result<()> {
    let mut arguments = lexopt::Parser::from_env();
    match arguments.next()? {
        Some(Value(command)) => match command.to_str() {
            Some("eval") => eval::run(arguments),
            Some("speed") => cost::speed::run(arguments),
            Some("alerts") => alerts::run(arguments),
            Some("audit") => cost::audit::run(arguments),
            Some("growth") => cost::growth::run(arguments),
            Some("keys") => cost::keys::run(arguments),
            Some("extraction") => extraction::run(arguments),
            Some("intent") => intent::run(arguments),
            Some("injection") => injection::run(arguments),
            Some("judge") => judge::run(arguments),
            Some("k1") => k1::run(arguments),
            Some("provenance") => cost::provenance::run(arguments),
            Some("repair") => cost::repair::run(arguments),
            Some("recording") => cost::recording::run(arguments),
            Some("simulation") => simulation::run(arguments),
            Some("support") => support::run(arguments),
            Some("lexical") => cost::lexical::run(arguments),
            Some("scale") => cost::scale::run(arguments),
            _ => bail!("unknown command {}\n\n{USAGE}", command.display()),
        },
        None | Some(Long("help") | Short('h')) => {
            println!("{USAGE}");
            Ok(())
        }
        Some(other) => bail!("{}\n\n{USAGE}", other.unexpected()),
    }
}
