//! The command line of `injection`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use lexopt::prelude::{Long, ValueExt};

use crate::arguments::required;

/// Text of `--help`.
pub const USAGE: &str = "usage: reground-bench injection --data FOLDER --uri URI [OPTION]…

  --data FOLDER     folder that contains mtrag/, and attributionbench/ for the answers of models
  --uri URI         server with the extension; all writes are rolled back
  --scripture FILE  the King James Version as `bible -f` prints it, to cite its places too
  --seed N          seed of the faults (default 2; rules and thresholds were chosen with seed 1)
  --check           fail if a figure is below its floor";

/// Parsed arguments.
pub struct Options {
    /// Folder of the data.
    pub data: PathBuf,
    /// Server with the extension.
    pub uri: String,
    /// Text whose places are cited.
    pub scripture: Option<PathBuf>,
    /// Seed of the faults.
    pub seed: u64,
    /// Whether a figure below its floor is an error.
    pub check: bool,
}

impl Options {
    /// Whether the data has the answers of models.
    pub fn has_models(&self) -> bool {
        self.data.join("attributionbench").is_dir()
    }

    /// Reads the arguments; `None` for help.
    ///
    /// # Errors
    /// Unknown options, missing required options.
    pub fn read(mut parser: lexopt::Parser) -> Result<Option<Self>> {
        let (mut data, mut uri, mut scripture) = (None, None, None);
        let (mut seed, mut check) = (2, false);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("help") => return Ok(None),
                Long("data") => data = Some(PathBuf::from(parser.value()?)),
                Long("uri") => uri = Some(parser.value()?.string()?),
                Long("scripture") => scripture = Some(PathBuf::from(parser.value()?)),
                Long("seed") => seed = parser.value()?.parse()?,
                Long("check") => check = true,
                other => bail!("{}\n\n{USAGE}", other.unexpected()),
            }
        }
        Ok(Some(Self {
            data: required(data, "--data", USAGE)?,
            uri: required(uri, "--uri", USAGE)?,
            scripture,
            seed,
            check,
        }))
    }
}
