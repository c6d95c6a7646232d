//! Runs turns with different settings in rounds, and reads the command line of the commands that do.

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use lexopt::prelude::{Long, ValueExt};

use crate::arguments::required;
use crate::data::corpus::Corpus;
use crate::data::{Domain, Folder};
use crate::database::turn_session::{TurnSession, TurnTimes};
use crate::database::{load, machine, server};

/// Domain of the passages.
const DOMAIN: Domain = Domain::Clapnq;

const USAGE: &str = "--uri URI --data FOLDER [OPTION]…

  --uri URI      database with the extension
  --data FOLDER  folder that contains mtrag/
  --rounds N     turns with each of the settings (default 60)";

/// Parsed arguments.
pub struct Options {
    /// Database with the extension.
    pub uri: String,
    /// Folder that contains mtrag/.
    pub data: PathBuf,
    /// Turns with each of the settings.
    pub rounds: usize,
}

impl Options {
    /// Reads the arguments of a command. For help it prints the usage and returns `None`.
    ///
    /// # Errors
    /// Unknown options, missing required options, numbers out of range.
    pub fn read(command: &str, mut parser: lexopt::Parser) -> Result<Option<Self>> {
        let usage = format!("usage: reground-bench {command} {USAGE}");
        let (mut uri, mut data, mut rounds) = (None, None, 60);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("help") => {
                    println!("{usage}");
                    return Ok(None);
                }
                Long("uri") => uri = Some(parser.value()?.string()?),
                Long("data") => data = Some(PathBuf::from(parser.value()?)),
                Long("rounds") => rounds = parser.value()?.parse()?,
                other => bail!("{}\n\n{usage}", other.unexpected()),
            }
        }
        ensure!(rounds > 0, "--rounds must be at least 1");
        Ok(Some(Self {
            uri: required(uri, "--uri", &usage)?,
            data: required(data, "--data", &usage)?,
            rounds,
        }))
    }
}

/// The times of turns with different settings.
pub struct Rounds {
    /// The session of the turns.
    pub session: TurnSession,
    /// The machine, as names and values.
    pub machine: Vec<(&'static str, String)>,
    /// The conversation of each of the settings.
    pub conversations: Vec<String>,
    /// For each of the settings, the time of its turn in each round.
    pub times: Vec<Vec<TurnTimes>>,
}

impl Rounds {
    /// Loads the passages, and runs a turn with each of the settings per round, so that other load affects all alike. The first round is the
    /// warm-up. `ending` is the last sentence of each answer.
    ///
    /// # Errors
    /// Unreadable data, errors of the server.
    pub fn run(options: &Options, settings: &[String], ending: &str) -> Result<Self> {
        let corpus = Corpus::read(&Folder::below(&options.data)?, DOMAIN)?;
        let address = server::resolve(&options.uri)?;
        let mut client = server::connect(&address)?;
        load::load(&mut client, &corpus)?;
        drop(corpus);
        let mut session = TurnSession::new(client, &DOMAIN.corpus())?;
        let mut conversations = Vec::new();
        for (number, settings) in settings.iter().enumerate() {
            conversations.push(session.start_with_settings(&number.to_string(), settings)?);
        }
        let mut times = vec![Vec::new(); settings.len()];
        for round in 0..=options.rounds {
            for (conversation, times) in conversations.iter().zip(&mut times) {
                let took = session.turn_with(conversation, round, ending)?;
                if round > 0 {
                    times.push(took);
                }
            }
        }
        Ok(Self {
            machine: machine::describe(&mut session.client, &address)?,
            session,
            conversations,
            times,
        })
    }
}
