//! The command line of `judge`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use lexopt::prelude::{Long, ValueExt};

use crate::arguments::required;

/// Text of `--help`.
pub const USAGE: &str = "usage: reground-bench judge --uri URI --data FOLDER [OPTION]…

  --uri URI        server with the extension, as a superuser; all writes are rolled back
  --data FOLDER    folder that contains attributionbench/, wice/ and citecheck_zh/
  --worker URL     address of a reground-worker without a token; without it, only the judge of words is measured
  --model NAME     model of the worker that embeds (default minilm)
  --sample N       cases of each set (default 400)
  --seed N         seed of the samples (default 1)";

/// Parsed arguments.
pub struct Options {
    /// Server with the extension.
    pub uri: String,
    /// Folder of the data.
    pub data: PathBuf,
    /// Address of the worker that embeds.
    pub worker: Option<String>,
    /// Model of the worker.
    pub model: String,
    /// Cases of each set.
    pub sample: usize,
    /// Seed of the samples.
    pub seed: u64,
}

impl Options {
    /// Reads the arguments; `None` for help.
    ///
    /// # Errors
    /// Unknown options, missing required options.
    pub fn read(mut parser: lexopt::Parser) -> Result<Option<Self>> {
        let (mut uri, mut data, mut worker) = (None, None, None);
        let (mut model, mut sample, mut seed) = ("minilm".to_owned(), 400, 1);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("help") => return Ok(None),
                Long("uri") => uri = Some(parser.value()?.string()?),
                Long("data") => data = Some(PathBuf::from(parser.value()?)),
                Long("worker") => worker = Some(parser.value()?.string()?),
                Long("model") => model = parser.value()?.string()?,
                Long("sample") => sample = parser.value()?.parse()?,
                Long("seed") => seed = parser.value()?.parse()?,
                other => bail!("{}\n\n{USAGE}", other.unexpected()),
            }
        }
        Ok(Some(Self {
            uri: required(uri, "--uri", USAGE)?,
            data: required(data, "--data", USAGE)?,
            worker,
            model,
            sample,
            seed,
        }))
    }
}
