//! What the command line asks for.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use lexopt::prelude::{Long, ValueExt};

/// How the command is called.
pub const USAGE: &str = "usage: reground-bench injection --data FOLDER --uri URI [OPTION]…

  --data FOLDER     folder that holds mtrag/
  --uri URI         a server with the extension; what is written is rolled back
  --scripture FILE  the King James Version as `bible -f` prints it, whose places are then cited too
  --seed N          which faults are put where (default 1)
  --check           fail where a figure is below its floor";

/// What the command line asks for.
pub struct Options {
    /// Folder of the data.
    pub data: PathBuf,
    /// The server.
    pub uri: String,
    /// The text whose places are cited.
    pub scripture: Option<PathBuf>,
    /// Which faults are put where.
    pub seed: u64,
    /// Whether a figure below its floor is a failure.
    pub check: bool,
}

impl Options {
    /// Reads them; `None` where only help is asked for.
    ///
    /// # Errors
    /// Arguments that are none.
    pub fn read(mut parser: lexopt::Parser) -> Result<Option<Self>> {
        let (mut data, mut uri, mut scripture) = (None, None, None);
        let (mut seed, mut check) = (1, false);
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
            data: data.with_context(|| format!("no --data\n\n{USAGE}"))?,
            uri: uri.with_context(|| format!("no --uri\n\n{USAGE}"))?,
            scripture,
            seed,
            check,
        }))
    }
}
