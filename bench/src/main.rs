//! Evaluation and benchmarks of the extension on public data, through its public SQL functions.

mod attribution;
mod cost;
mod data;
mod database;
mod eval;
mod extraction;
mod injection;
mod intent;
mod progress;
mod simulation;
mod statistics;
mod support;

use anyhow::{Result, bail};
use lexopt::prelude::{Long, Short, Value};

const USAGE: &str = "usage: reground-bench COMMAND …

  eval     retrieval and whole turns, held against human judgements
  speed    what a turn costs, beside its queries alone and the same pipeline in Python
  growth   whether a turn costs more late in a conversation, or among many
  provenance  what each level of provenance adds to a turn, in time and in bytes
  recording  how many answers of other systems are judged and recorded in a second
  audit    how long an analyst waits over many million citations
  support  support of claims by text, held against human labels
  lexical  full-text search ranked by relevance, index beside index
  extraction  citations read out of real answers, held against what they literally cite
  simulation  strategies of history by the published model, beside its table and what replays measured
  intent   what a turn is after, held against conversations spliced and judgements of their passages
  injection  faults put into answers, and how many of them are found

reground-bench COMMAND --help says more.";

fn main() -> Result<()> {
    let mut arguments = lexopt::Parser::from_env();
    match arguments.next()? {
        Some(Value(command)) => match command.to_str() {
            Some("eval") => eval::run(arguments),
            Some("speed") => cost::speed::run(arguments),
            Some("audit") => cost::audit::run(arguments),
            Some("growth") => cost::growth::run(arguments),
            Some("extraction") => extraction::run(arguments),
            Some("intent") => intent::run(arguments),
            Some("injection") => injection::run(arguments),
            Some("provenance") => cost::provenance::run(arguments),
            Some("recording") => cost::recording::run(arguments),
            Some("simulation") => simulation::run(arguments),
            Some("support") => support::run(arguments),
            Some("lexical") => cost::lexical::run(arguments),
            _ => bail!("there is no command {}\n\n{USAGE}", command.display()),
        },
        None | Some(Long("help") | Short('h')) => {
            println!("{USAGE}");
            Ok(())
        }
        Some(other) => bail!("{}\n\n{USAGE}", other.unexpected()),
    }
}
