//! The command line of `support`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use lexopt::prelude::{Long, ValueExt};

use crate::arguments::required;

/// Text of `--help`.
pub const USAGE: &str = "usage: reground-bench support --uri URI --data FOLDER

  --uri URI        any PostgreSQL server; the command reads lexemes and writes nothing
  --data FOLDER    folder that contains attributionbench/, wice/ and citecheck_zh/
  --check          fail if a figure is below its floor";

/// Parsed arguments.
pub struct Options {
    /// Any PostgreSQL server.
    pub uri: String,
    /// Folder of the data.
    pub data: PathBuf,
    /// Whether a figure below its floor is an error.
    pub check: bool,
}

impl Options {
    /// Reads the arguments; `None` for help.
    ///
    /// # Errors
    /// Unknown options, missing required options.
    pub fn read(mut parser: lexopt::Parser) -> Result<Option<Self>> {
        let (mut uri, mut data, mut check) = (None, None, false);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("help") => return Ok(None),
                Long("uri") => uri = Some(parser.value()?.string()?),
                Long("check") => check = true,
                Long("data") => data = Some(PathBuf::from(parser.value()?)),
                other => bail!("{}\n\n{USAGE}", other.unexpected()),
            }
        }
        Ok(Some(Self {
            uri: required(uri, "--uri", USAGE)?,
            data: required(data, "--data", USAGE)?,
            check,
        }))
    }
}
