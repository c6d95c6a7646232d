//! What the command line asks for.

use std::path::PathBuf;

use anyhow::{Result, bail};
use lexopt::prelude::Long;

/// How the command is called.
pub const USAGE: &str = "usage: reground-bench simulation [OPTION]…

  --measured FILE  what replays measured, a line of JSON for each strategy and turn: strategy, turn, conversations,
                   context_recall, context_precision, history_share, tokens";

/// What the command line asks for.
#[derive(Default)]
pub struct Options {
    /// What replays measured.
    pub measured: Option<PathBuf>,
}

impl Options {
    /// Reads them; `None` where only help is asked for.
    ///
    /// # Errors
    /// Arguments that are none.
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
