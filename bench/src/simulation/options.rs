//! The command line of `simulation`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use lexopt::prelude::Long;

/// Text of `--help`.
pub const USAGE: &str = "usage: reground-bench simulation [OPTION]…

  --measured FILE  measured replays, a line of JSON per strategy and turn: strategy, turn, conversations,
                   context_recall, context_precision, history_share, tokens";

/// Parsed arguments.
#[derive(Default)]
pub struct Options {
    /// File with the measurements.
    pub measured: Option<PathBuf>,
}

impl Options {
    /// Reads the arguments; `None` for help.
    ///
    /// # Errors
    /// Unknown options, missing required options.
    pub fn read(mut parser: lexopt::Parser) -> Result<Option<Self>> {
        let mut options = Self::default();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("help") => return Ok(None),
                Long("measured") => options.measured = Some(PathBuf::from(parser.value()?)),
                other => bail!("{}\n\n{USAGE}", other.unexpected()),
            }
        }
        Ok(Some(options))
    }
}
