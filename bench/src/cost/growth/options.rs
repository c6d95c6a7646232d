//! The command line of `growth`.

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use lexopt::prelude::{Long, ValueExt};

use crate::arguments::required;

/// Text of `--help`.
pub const USAGE: &str = "usage: reground-bench growth --uri URI --many URI --data FOLDER [OPTION]…

  --uri URI      database with the extension, for conversations of each length
  --many URI     another database of the same server, which the command fills with conversations
  --data FOLDER  folder that contains mtrag/
  --turns N,…    first measured turn of each row (default 5,50,500)
  --least N      remembered sources of other conversations in the first database (default 1000)
  --most N       the same in the second database (default 1000000)
  --rounds N     measured turns per row (default 24)";

/// Parsed arguments.
pub struct Options {
    /// Database with few conversations.
    pub few: String,
    /// Database with many conversations.
    pub many: String,
    /// Folder that contains mtrag/.
    pub data: PathBuf,
    /// Turns that are measured.
    pub turns: Vec<usize>,
    /// Remembered sources in the first database.
    pub least: usize,
    /// Remembered sources in the second.
    pub most: usize,
    /// Measured turns per row.
    pub rounds: usize,
}

impl Options {
    /// Reads the arguments; `None` for help.
    ///
    /// # Errors
    /// Unknown options, missing required options, numbers out of range.
    pub fn read(mut parser: lexopt::Parser) -> Result<Option<Self>> {
        let (mut few, mut many, mut data) = (None, None, None);
        let mut turns = vec![5, 50, 500];
        let (mut least, mut most, mut rounds) = (1_000, 1_000_000, 24);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("help") => return Ok(None),
                Long("uri") => few = Some(parser.value()?.string()?),
                Long("many") => many = Some(parser.value()?.string()?),
                Long("data") => data = Some(PathBuf::from(parser.value()?)),
                Long("turns") => {
                    let text = parser.value()?.string()?;
                    turns = text.split(',').map(str::parse).collect::<Result<_, _>>()?;
                }
                Long("least") => least = parser.value()?.parse()?,
                Long("most") => most = parser.value()?.parse()?,
                Long("rounds") => rounds = parser.value()?.parse()?,
                other => bail!("{}\n\n{USAGE}", other.unexpected()),
            }
        }
        ensure!(
            rounds > 0 && turns.iter().all(|&turn| turn > 0) && !turns.is_empty(),
            "--turns and --rounds must be at least 1"
        );
        Ok(Some(Self {
            few: required(few, "--uri", USAGE)?,
            many: required(many, "--many", USAGE)?,
            data: required(data, "--data", USAGE)?,
            turns,
            least,
            most,
            rounds,
        }))
    }
}
