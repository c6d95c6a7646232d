//! The command line of `speed`.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use lexopt::prelude::{Long, ValueExt};

use crate::arguments::required;

/// Text of `--help`.
pub const USAGE: &str = "usage: reground-bench speed --uri URI --data FOLDER [OPTION]…

  --uri URI          server with the extension, local or remote
  --data FOLDER      folder that contains mtrag/
  --turns N          measured turns, after one conversation to warm up (default 120)
  --clients N        concurrent sessions in the throughput part (default 2)
  --seconds N        duration of each throughput measurement (default 30)
  --out FOLDER       also write the report to benchmarks.md in this folder";

/// Parsed arguments.
pub struct Options {
    /// Server with the extension.
    pub uri: String,
    /// Folder that contains mtrag/.
    pub data: PathBuf,
    /// Measured turns.
    pub turns: usize,
    /// Concurrent sessions.
    pub clients: usize,
    /// Duration of a throughput measurement.
    pub seconds: Duration,
    /// Folder for the report.
    pub out: Option<PathBuf>,
}

impl Options {
    /// The command line, without the paths and the address of this machine.
    pub fn command(&self) -> String {
        format!(
            "reground-bench speed --uri URI --data FOLDER --turns {} --clients {} --seconds {}",
            self.turns,
            self.clients,
            self.seconds.as_secs()
        )
    }

    /// Reads the arguments; `None` for help.
    ///
    /// # Errors
    /// Unknown options, missing required options, numbers out of range.
    pub fn read(mut parser: lexopt::Parser) -> Result<Option<Self>> {
        let (mut uri, mut data, mut out) = (None, None, None);
        let (mut turns, mut clients, mut seconds) = (120, 2, 30);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("help") => return Ok(None),
                Long("uri") => uri = Some(parser.value()?.string()?),
                Long("data") => data = Some(PathBuf::from(parser.value()?)),
                Long("turns") => turns = parser.value()?.parse()?,
                Long("clients") => clients = parser.value()?.parse()?,
                Long("seconds") => seconds = parser.value()?.parse()?,
                Long("out") => out = Some(PathBuf::from(parser.value()?)),
                other => bail!("{}\n\n{USAGE}", other.unexpected()),
            }
        }
        ensure!(
            turns > 0 && clients > 0 && seconds > 0,
            "--turns, --clients and --seconds must be at least 1"
        );
        Ok(Some(Self {
            uri: required(uri, "--uri", USAGE)?,
            data: required(data, "--data", USAGE)?,
            turns,
            clients,
            seconds: Duration::from_secs(seconds),
            out,
        }))
    }
}
