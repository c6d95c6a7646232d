//! The command line of `recording`.

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use lexopt::prelude::{Long, ValueExt};

use crate::arguments::required;

/// Text of `--help`.
pub const USAGE: &str = "usage: reground-bench recording --uri URI --data FOLDER [OPTION]…

  --uri URI      database with the extension
  --data FOLDER  folder that contains mtrag/
  --turns N      turns per session and round (default 2000)
  --rounds N     rounds (default 5)
  --sessions N   concurrent sessions (default 2)
  --load N       turns of the load into empty tables (default 50000)";

/// Parsed arguments.
pub struct Options {
    /// Database with the extension.
    pub uri: String,
    /// Folder that contains mtrag/.
    pub data: PathBuf,
    /// Turns per session and round.
    pub turns: usize,
    /// Rounds.
    pub rounds: usize,
    /// Concurrent sessions.
    pub sessions: usize,
    /// Turns of the load into empty tables.
    pub load: usize,
}

impl Options {
    /// Reads the arguments; `None` for help.
    ///
    /// # Errors
    /// Unknown options, missing required options, numbers out of range.
    pub fn read(mut parser: lexopt::Parser) -> Result<Option<Self>> {
        let (mut uri, mut data) = (None, None);
        let (mut turns, mut rounds, mut sessions, mut load) = (2000, 5, 2, 50_000);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("help") => return Ok(None),
                Long("uri") => uri = Some(parser.value()?.string()?),
                Long("data") => data = Some(PathBuf::from(parser.value()?)),
                Long("turns") => turns = parser.value()?.parse()?,
                Long("rounds") => rounds = parser.value()?.parse()?,
                Long("sessions") => sessions = parser.value()?.parse()?,
                Long("load") => load = parser.value()?.parse()?,
                other => bail!("{}\n\n{USAGE}", other.unexpected()),
            }
        }
        ensure!(
            turns > 0 && rounds > 0 && sessions > 0,
            "--turns, --rounds and --sessions must be at least 1"
        );
        Ok(Some(Self {
            uri: required(uri, "--uri", USAGE)?,
            data: required(data, "--data", USAGE)?,
            turns,
            rounds,
            sessions,
            load,
        }))
    }
}
