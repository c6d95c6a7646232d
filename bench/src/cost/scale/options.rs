//! The command line of `scale`.

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use lexopt::prelude::{Long, ValueExt};

use crate::arguments::required;

/// Text of `--help`.
pub const USAGE: &str = "usage: reground-bench scale --uri URI --data FOLDER [OPTION]…

  --uri URI        server with the extension; the command replaces the schema `lexical` of the database
  --data FOLDER    folder that contains mtrag/
  --passages N     number of generated passages (default 1000000)";

/// Parsed arguments.
pub struct Options {
    /// Server with the extension.
    pub uri: String,
    /// Folder of the data.
    pub data: PathBuf,
    /// Number of generated passages.
    pub passages: usize,
}

impl Options {
    /// Reads the arguments; `None` for help.
    ///
    /// # Errors
    /// Unknown options, missing required options.
    pub fn read(mut parser: lexopt::Parser) -> Result<Option<Self>> {
        let (mut uri, mut data, mut passages) = (None, None, 1_000_000);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("help") => return Ok(None),
                Long("uri") => uri = Some(parser.value()?.string()?),
                Long("data") => data = Some(PathBuf::from(parser.value()?)),
                Long("passages") => passages = parser.value()?.parse()?,
                other => bail!("{}\n\n{USAGE}", other.unexpected()),
            }
        }
        ensure!(passages > 0, "--passages must be at least 1");
        Ok(Some(Self {
            uri: required(uri, "--uri", USAGE)?,
            data: required(data, "--data", USAGE)?,
            passages,
        }))
    }
}
