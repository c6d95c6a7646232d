//! The command line of `lexical`.

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use lexopt::prelude::{Long, ValueExt};

use crate::arguments::required;

/// Text of `--help`.
pub const USAGE: &str = "usage: reground-bench lexical --uri URI --data FOLDER [OPTION]…

  --uri URI        server with the extension; the command replaces the schema `lexical` of the database
  --data FOLDER    folder that contains mtrag/
  --passages N     number of generated passages (default 100000)
  --queries N      most queries per number of words (default 60)
  --limit N        rows per query (default 10)
  --only NAMES     competitors, separated by commas (default: all that the server has; ours is always included)
  --searches-only  builds and searches, without changed rows, filters and pairs of words
  --out FILE       also write the report to this file";

/// Parsed arguments.
pub struct Options {
    /// Server with the extension.
    pub uri: String,
    /// Folder of the data.
    pub data: PathBuf,
    /// Number of generated passages.
    pub passages: usize,
    /// Most queries per number of words.
    pub queries: usize,
    /// Rows per query.
    pub limit: usize,
    /// Names of competitors; empty for all.
    pub only: Vec<String>,
    /// Whether only builds and searches are measured.
    pub searches_only: bool,
    /// File for the report.
    pub out: Option<PathBuf>,
}

impl Options {
    /// Reads the arguments; `None` for help.
    ///
    /// # Errors
    /// Unknown options, missing required options.
    pub fn read(mut parser: lexopt::Parser) -> Result<Option<Self>> {
        let (mut uri, mut data, mut out) = (None, None, None);
        let mut only = Vec::new();
        let (mut passages, mut queries, mut limit) = (100_000, 60, 10);
        let mut searches_only = false;
        while let Some(argument) = parser.next()? {
            match argument {
                Long("help") => return Ok(None),
                Long("uri") => uri = Some(parser.value()?.string()?),
                Long("data") => data = Some(PathBuf::from(parser.value()?)),
                Long("passages") => passages = parser.value()?.parse()?,
                Long("queries") => queries = parser.value()?.parse()?,
                Long("limit") => limit = parser.value()?.parse()?,
                Long("only") => {
                    let names = parser.value()?.string()?;
                    only = names
                        .split(',')
                        .map(|name| name.trim().to_owned())
                        .collect();
                }
                Long("searches-only") => searches_only = true,
                Long("out") => out = Some(PathBuf::from(parser.value()?)),
                other => bail!("{}\n\n{USAGE}", other.unexpected()),
            }
        }
        ensure!(
            passages > 0 && queries > 0 && limit > 0,
            "--passages, --queries and --limit must be at least 1"
        );
        Ok(Some(Self {
            uri: required(uri, "--uri", USAGE)?,
            data: required(data, "--data", USAGE)?,
            passages,
            queries,
            limit,
            only,
            searches_only,
            out,
        }))
    }
}
