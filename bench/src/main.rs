//! Evaluation and benchmarks of the extension on data that nobody on the project wrote, through its public SQL functions.

mod audit;
mod data;
mod draw;
mod eval;
mod extraction;
mod folds;
mod growth;
mod injection;
mod intent;
mod lexical;
mod load;
mod logistic;
mod machine;
mod progress;
mod provenance;
mod recording;
mod server;
mod simulation;
mod speed;
mod support;
mod talk;
mod twins;

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
            Some("speed") => speed::run(arguments),
            Some("audit") => audit::run(arguments),
            Some("growth") => growth::run(arguments),
            Some("extraction") => extraction::run(arguments),
            Some("intent") => intent::run(arguments),
            Some("injection") => injection::run(arguments),
            Some("provenance") => provenance::run(arguments),
            Some("recording") => recording::run(arguments),
            Some("simulation") => simulation::run(arguments),
            Some("support") => support::run(arguments),
            Some("lexical") => lexical::run(arguments),
            _ => bail!("there is no command {}\n\n{USAGE}", command.display()),
        },
        None | Some(Long("help") | Short('h')) => {
            println!("{USAGE}");
            Ok(())
        }
        Some(other) => bail!("{}\n\n{USAGE}", other.unexpected()),
    }
}
