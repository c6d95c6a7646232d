//! The command line of `k1`.

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use lexopt::prelude::{Long, ValueExt};

use crate::arguments::required;

/// Text of `--help`.
pub const USAGE: &str = "usage: reground-bench k1 --uri URI --data FOLDER [OPTION]…
       reground-bench k1 --verdicts FILE [--out FILE]

Contexts of the last questions of dialogues, in the four settings of KnowMT-Bench and with our default query:

  --uri URI               server with the extension
  --data FOLDER           folder that contains mtrag/
  --connections N         concurrent sessions (default 2)
  --sample                only a fixed quarter of the conversations
  --prompts               put context, history and question into the file of --out, for models that answer
  --out FILE              one JSON object per setting and question

Factuality of the answers of models, compared with the published table:

  --verdicts FILE         one JSON object per setting and question:
                          {\"setting\": \"rounds\", \"question\": \"…\", \"statements\": [\"entailed\", …], \"facts\": [\"neutral\", …], \"tokens\": 210}
                          with entailed, contradicted, neutral or null (the judge failed); null for a list that could not be made
  --out FILE              one JSON object per setting";

/// Parsed arguments.
#[derive(Debug)]
pub struct Options {
    /// What to do.
    pub task: Task,
    /// File for the rows.
    pub out: Option<PathBuf>,
}

/// What to do.
#[derive(Debug)]
pub enum Task {
    /// Compare contexts.
    Contexts(Contexts),
    /// Measure the answers of this file.
    Verdicts(PathBuf),
}

/// Arguments of the contexts.
#[derive(Debug)]
pub struct Contexts {
    /// Server with the extension.
    pub uri: String,
    /// Folder that contains mtrag/.
    pub data: PathBuf,
    /// Number of sessions, at least 1.
    pub connections: usize,
    /// Whether to take only the sample.
    pub sample: bool,
    /// Whether to write prompts.
    pub prompts: bool,
}

impl Options {
    /// Reads the arguments; `None` for help.
    ///
    /// # Errors
    /// Unknown options, missing required options, numbers out of range.
    pub fn read(mut parser: lexopt::Parser) -> Result<Option<Self>> {
        let (mut uri, mut data, mut verdicts, mut out) = (None, None, None, None);
        let (mut connections, mut sample, mut prompts) = (2, false, false);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("help") => return Ok(None),
                Long("uri") => uri = Some(parser.value()?.string()?),
                Long("data") => data = Some(PathBuf::from(parser.value()?)),
                Long("connections") => connections = parser.value()?.parse()?,
                Long("sample") => sample = true,
                Long("prompts") => prompts = true,
                Long("verdicts") => verdicts = Some(PathBuf::from(parser.value()?)),
                Long("out") => out = Some(PathBuf::from(parser.value()?)),
                other => bail!("{}\n\n{USAGE}", other.unexpected()),
            }
        }
        ensure!(connections > 0, "--connections must be at least 1");
        if let Some(path) = verdicts {
            ensure!(
                uri.is_none() && data.is_none() && !sample && !prompts,
                "--verdicts needs no server and no data: leave out the other options"
            );
            return Ok(Some(Self {
                task: Task::Verdicts(path),
                out,
            }));
        }
        ensure!(!prompts || out.is_some(), "--prompts needs --out");
        Ok(Some(Self {
            task: Task::Contexts(Contexts {
                uri: required(uri, "--uri", USAGE)?,
                data: required(data, "--data", USAGE)?,
                connections,
                sample,
                prompts,
            }),
            out,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Option<Options>> {
        Options::read(lexopt::Parser::from_args(arguments))
    }

    #[test]
    fn contexts_need_a_server_and_verdicts_do_not() {
        let options = read(&["--uri", "u", "--data", "d", "--sample"])
            .unwrap()
            .unwrap();
        assert!(
            matches!(options.task, Task::Contexts(task) if task.sample && task.connections == 2)
        );
        let options = read(&["--verdicts", "v", "--out", "o"]).unwrap().unwrap();
        assert!(matches!(options.task, Task::Verdicts(_)) && options.out.is_some());
        for (arguments, message) in [
            (&["--uri", "u"][..], "--data is missing"),
            (
                &["--verdicts", "v", "--uri", "u"],
                "leave out the other options",
            ),
            (
                &["--uri", "u", "--data", "d", "--prompts"],
                "--prompts needs --out",
            ),
            (&["--connections", "0"], "at least 1"),
        ] {
            let error = read(arguments).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
