//! The command line of `intent`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use lexopt::prelude::Long;

use crate::arguments::required;

/// Text of `--help`.
pub const USAGE: &str = "usage: reground-bench intent --data FOLDER

  --data FOLDER    folder that contains mtrag/
  --check          fail if a figure is below its floor
  --weights        print the weights fitted to all examples, in the notation of the crate";

/// Parsed arguments.
pub struct Options {
    /// Folder of the data.
    pub data: PathBuf,
    /// Whether a figure below its floor is an error.
    pub check: bool,
    /// Whether to print the fitted weights.
    pub weights: bool,
}

impl Options {
    /// Reads the arguments; `None` for help.
    ///
    /// # Errors
    /// Unknown options, missing required options.
    pub fn read(mut parser: lexopt::Parser) -> Result<Option<Self>> {
        let (mut data, mut check, mut weights) = (None, false, false);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("help") => return Ok(None),
                Long("check") => check = true,
                Long("weights") => weights = true,
                Long("data") => data = Some(PathBuf::from(parser.value()?)),
                other => bail!("{}\n\n{USAGE}", other.unexpected()),
            }
        }
        Ok(Some(Self {
            data: required(data, "--data", USAGE)?,
            check,
            weights,
        }))
    }
}
