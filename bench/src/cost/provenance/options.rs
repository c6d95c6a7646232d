//! The command line of `provenance`.

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use lexopt::prelude::{Long, ValueExt};

use crate::arguments::required;

/// Text of `--help`.
pub const USAGE: &str = "usage: reground-bench provenance --uri URI --data FOLDER [OPTION]…

  --uri URI      database with the extension
  --data FOLDER  folder that contains mtrag/
  --rounds N     turns at each level (default 60)";

/// Parsed arguments.
pub struct Options {
    /// Database with the extension.
    pub uri: String,
    /// Folder that contains mtrag/.
    pub data: PathBuf,
    /// Turns at each level.
    pub rounds: usize,
}

impl Options {
    /// Reads the arguments; `None` for help.
    ///
    /// # Errors
    /// Unknown options, missing required options, numbers out of range.
    pub fn read(mut parser: lexopt::Parser) -> Result<Option<Self>> {
        let (mut uri, mut data, mut rounds) = (None, None, 60);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("help") => return Ok(None),
                Long("uri") => uri = Some(parser.value()?.string()?),
                Long("data") => data = Some(PathBuf::from(parser.value()?)),
                Long("rounds") => rounds = parser.value()?.parse()?,
                other => bail!("{}\n\n{USAGE}", other.unexpected()),
            }
        }
        ensure!(rounds > 0, "--rounds must be at least 1");
        Ok(Some(Self {
            uri: required(uri, "--uri", USAGE)?,
            data: required(data, "--data", USAGE)?,
            rounds,
        }))
    }
}
