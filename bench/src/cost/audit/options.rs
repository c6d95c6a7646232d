//! The command line of `audit`.

use anyhow::{Result, bail, ensure};
use lexopt::prelude::{Long, ValueExt};

use crate::arguments::required;

/// Text of `--help`.
pub const USAGE: &str = "usage: reground-bench audit --uri URI [OPTION]…

  --uri URI      database with the extension, which the command fills with answers
  --citations N  number of citations (default 10000000), ten per answer, over ninety days
  --rounds N     runs of each query (default 5)";

/// Parsed arguments.
pub struct Options {
    /// Database with the extension.
    pub uri: String,
    /// Citations in it.
    pub citations: i64,
    /// Runs of each query.
    pub rounds: usize,
}

impl Options {
    /// Reads the arguments; `None` for help.
    ///
    /// # Errors
    /// Unknown options, missing required options, numbers out of range.
    pub fn read(mut parser: lexopt::Parser) -> Result<Option<Self>> {
        let (mut uri, mut citations, mut rounds) = (None, 10_000_000, 5);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("help") => return Ok(None),
                Long("uri") => uri = Some(parser.value()?.string()?),
                Long("citations") => citations = parser.value()?.parse()?,
                Long("rounds") => rounds = parser.value()?.parse()?,
                other => bail!("{}\n\n{USAGE}", other.unexpected()),
            }
        }
        ensure!(
            rounds > 0 && citations > 0,
            "--citations and --rounds must be at least 1"
        );
        Ok(Some(Self {
            uri: required(uri, "--uri", USAGE)?,
            citations,
            rounds,
        }))
    }
}
