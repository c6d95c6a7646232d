//! The command line of `extraction`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use lexopt::prelude::{Long, ValueExt};

use crate::arguments::required;

/// Text of `--help`.
pub const USAGE: &str = "usage: reground-bench extraction --data FOLDER [OPTION]…

  --data FOLDER     folder that contains extraction/ and raw_answers/
  --show N          print N citations of the raw answers with their context (default 0)
  --seed N          seed of this sample (default 1)
  --check           fail unless exactly the labelled citations of the claims are extracted
  --python PROGRAM  also run the same forms as regular expressions of this interpreter's `re`
  --rounds N        rounds of the speed measurement (default 5)";

/// Parsed arguments.
pub struct Options {
    /// Folder of the data.
    pub data: PathBuf,
    /// Number of citations to print.
    pub show: usize,
    /// Seed of the sample.
    pub seed: u64,
    /// Python interpreter to compare with.
    pub python: Option<PathBuf>,
    /// Whether a missed citation is an error.
    pub check: bool,
    /// Rounds of the speed measurement.
    pub rounds: usize,
}

impl Options {
    /// Reads the arguments; `None` for help.
    ///
    /// # Errors
    /// Unknown options, missing required options.
    pub fn read(mut parser: lexopt::Parser) -> Result<Option<Self>> {
        let (mut data, mut python) = (None, None);
        let mut check = false;
        let (mut show, mut seed, mut rounds) = (0, 1, 5);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("help") => return Ok(None),
                Long("data") => data = Some(PathBuf::from(parser.value()?)),
                Long("check") => check = true,
                Long("show") => show = parser.value()?.parse()?,
                Long("seed") => seed = parser.value()?.parse()?,
                Long("python") => python = Some(PathBuf::from(parser.value()?)),
                Long("rounds") => rounds = parser.value()?.parse()?,
                other => bail!("{}\n\n{USAGE}", other.unexpected()),
            }
        }
        Ok(Some(Self {
            data: required(data, "--data", USAGE)?,
            check,
            show,
            seed,
            python,
            rounds: 1.max(rounds),
        }))
    }
}
