//! The command line of `speed`.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use lexopt::prelude::{Long, ValueExt};

/// What `--help` prints.
pub const USAGE: &str = "usage: reground-bench speed --uri URI --data FOLDER [OPTION]…

  --uri URI          server with the extension, near or far
  --data FOLDER      folder that holds mtrag/
  --turns N          turns that are measured, after one conversation to warm up (default 120)
  --python PROGRAM   interpreter with bench/python/requirements.txt; without it that competitor is left out
  --clients N        sessions at a time in the throughput part (default 2)
  --seconds N        how long each throughput arm runs (default 30)
  --out FOLDER       write benchmarks.md and benchmarks.svg there, besides standard output";

/// What the command line asks for.
pub struct Options {
    /// Server with the extension.
    pub uri: String,
    /// Folder that holds mtrag/.
    pub data: PathBuf,
    /// Turns that are measured.
    pub turns: usize,
    /// Interpreter of the Python competitor.
    pub python: Option<PathBuf>,
    /// Sessions at a time.
    pub clients: usize,
    /// Length of a throughput arm.
    pub seconds: Duration,
    /// Where the report goes.
    pub out: Option<PathBuf>,
}

impl Options {
    /// The command line, without the paths and the address of this machine.
    pub fn command(&self) -> String {
        let python = self.python.as_ref().map_or("", |_| " --python PROGRAM");
        format!(
            "reground-bench speed --uri URI --data FOLDER --turns {} --clients {} --seconds {}{python}",
            self.turns,
            self.clients,
            self.seconds.as_secs()
        )
    }

    /// Reads the arguments; `None` for help.
    ///
    /// # Errors
    /// What is no option, options without what they need.
    pub fn read(mut parser: lexopt::Parser) -> Result<Option<Self>> {
        let (mut uri, mut data, mut python, mut out) = (None, None, None, None);
        let (mut turns, mut clients, mut seconds) = (120, 2, 30);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("help") => return Ok(None),
                Long("uri") => uri = Some(parser.value()?.string()?),
                Long("data") => data = Some(PathBuf::from(parser.value()?)),
                Long("turns") => turns = parser.value()?.parse()?,
                Long("python") => python = Some(PathBuf::from(parser.value()?)),
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
            uri: uri.with_context(|| format!("no --uri\n\n{USAGE}"))?,
            data: data.with_context(|| format!("no --data\n\n{USAGE}"))?,
            turns,
            python,
            clients,
            seconds: Duration::from_secs(seconds),
            out,
        }))
    }
}
