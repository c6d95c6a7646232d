//! The command line of `eval`.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use lexopt::prelude::{Long, ValueExt};

use super::floors::file::{FloorActions, Floors};
use crate::arguments::required;
use crate::data::queries::Form;

/// Text of `--help`.
pub const USAGE: &str = "usage: reground-bench eval --uri URI --data FOLDER [OPTION]…

  --uri URI               server with the extension
  --data FOLDER           folder that contains mtrag/
  --connections N         concurrent sessions (default 2)
  --sample                only a fixed quarter of the conversations, in two arms
  --only PART             only this part: retrieval, query, replay, strategies, answerability, titles (needs --model),
                          near_twins, partly_embedded or graph; the last two run only with this option
  --strategies FILE       write the measurements of each strategy to this file, for the command simulation (default: standard output)
  --model FOLDER          the local embedding model, for texts without a given vector
  --cache FOLDER          folder for the vectors that the model computes
  --forms FORM,…          forms of the queries: lastturn, rewrite, questions (default: all)
  --floors FILE           the floors for --check and --ratchet
  --check                 fail if a figure is below its floor or a relation does not hold
  --ratchet               raise the floors to the measured values; floors are never lowered
  --show CONVERSATION     only replay this conversation (or `longest`), store it, and print it turn by turn";

/// A part of the evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Ranked lists of `reground.search`.
    Retrieval,
    /// Ways to make the query of a turn.
    Query,
    /// Whole turns.
    Replay,
    /// History strategies.
    Strategies,
    /// Search with and without titles.
    Titles,
    /// Contexts with and without near twins.
    NearTwins,
    /// The knowledge graph.
    Graph,
    /// Answerability of the turns.
    Answerability,
    /// Search in partly embedded corpora.
    PartlyEmbedded,
}

/// Parsed arguments.
pub struct Options {
    /// Server with the extension.
    pub uri: String,
    /// Folder that contains mtrag/.
    pub data: PathBuf,
    /// Forms of the queries.
    pub forms: Vec<Form>,
    /// Number of sessions, at least 1.
    pub connections: usize,
    /// Whether to evaluate only the sample.
    pub sample: bool,
    /// Floors, and what to do with them.
    pub floors: Option<Floors>,
    /// Id of the one conversation to show.
    pub show: Option<String>,
    /// File for the measurements of each strategy.
    pub strategies: Option<PathBuf>,
    /// The local embedding model and the folder of its cache.
    pub model: Option<ModelFolders>,
    only: Option<Part>,
}

/// Folders of the local embedding model.
pub struct ModelFolders {
    /// Weights and tokenizer.
    pub model: PathBuf,
    /// Computed vectors.
    pub cache: PathBuf,
}

impl Options {
    /// Reads the arguments; `None` for help.
    ///
    /// # Errors
    /// Unknown options, missing required options, numbers out of range.
    pub fn read(mut parser: lexopt::Parser) -> Result<Option<Self>> {
        let (mut uri, mut data, mut forms) = (None, None, None);
        let (mut connections, mut sample, mut only, mut show) = (2, false, None, None);
        let (mut floors, mut check, mut ratchet, mut strategies) = (None, false, false, None);
        let (mut model, mut cache) = (None, None);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("help") => return Ok(None),
                Long("uri") => uri = Some(parser.value()?.string()?),
                Long("data") => data = Some(PathBuf::from(parser.value()?)),
                Long("connections") => connections = parser.value()?.parse()?,
                Long("sample") => sample = true,
                Long("only") => only = Some(parser.value()?.parse_with(parse_part)?),
                Long("forms") => forms = Some(parser.value()?.parse_with(parse_forms)?),
                Long("floors") => floors = Some(PathBuf::from(parser.value()?)),
                Long("check") => check = true,
                Long("ratchet") => ratchet = true,
                Long("strategies") => strategies = Some(PathBuf::from(parser.value()?)),
                Long("model") => model = Some(PathBuf::from(parser.value()?)),
                Long("cache") => cache = Some(PathBuf::from(parser.value()?)),
                Long("show") => show = Some(parser.value()?.string()?),
                other => bail!("{}\n\n{USAGE}", other.unexpected()),
            }
        }
        ensure!(connections > 0, "--connections must be at least 1");
        let whole = only.is_none() && forms.is_none() && show.is_none();
        ensure!(
            whole || !(check || ratchet),
            "--check and --ratchet need all figures: leave out --only, --forms and --show"
        );
        ensure!(
            model.is_some() == cache.is_some(),
            "--model and --cache belong together"
        );
        let model = model.zip(cache);
        let floors = match (check, ratchet) {
            (false, false) => None,
            _ => Some(Floors::read(
                floors.context("--check and --ratchet need --floors")?,
                FloorActions { check, ratchet },
            )?),
        };
        Ok(Some(Self {
            uri: required(uri, "--uri", USAGE)?,
            data: required(data, "--data", USAGE)?,
            forms: forms.unwrap_or_else(|| Form::ALL.to_vec()),
            connections,
            sample,
            floors,
            show,
            strategies,
            model: model.map(|(model, cache)| ModelFolders { model, cache }),
            only,
        }))
    }

    /// Whether to run a part.
    pub fn runs(&self, part: Part) -> bool {
        self.only.is_none_or(|only| only == part)
    }

    /// Whether the options name this part.
    pub fn only(&self, part: Part) -> bool {
        self.only == Some(part)
    }
}

fn parse_part(name: &str) -> Result<Part> {
    match name {
        "retrieval" => Ok(Part::Retrieval),
        "query" => Ok(Part::Query),
        "replay" => Ok(Part::Replay),
        "strategies" => Ok(Part::Strategies),
        "titles" => Ok(Part::Titles),
        "near_twins" => Ok(Part::NearTwins),
        "graph" => Ok(Part::Graph),
        "answerability" => Ok(Part::Answerability),
        "partly_embedded" => Ok(Part::PartlyEmbedded),
        _ => bail!(
            "--only must be retrieval, query, replay, strategies, answerability, titles, near_twins, partly_embedded or graph, not {name}"
        ),
    }
}

fn parse_forms(names: &str) -> Result<Vec<Form>> {
    names.split(',').map(form).collect()
}

fn form(name: &str) -> Result<Form> {
    let known = Form::ALL.into_iter().find(|form| form.name() == name);
    known.with_context(|| format!("--forms must be lastturn, rewrite or questions, not {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(arguments: &[&str]) -> Result<Option<Options>> {
        let needed = ["--uri", "u", "--data", "d"];
        Options::read(lexopt::Parser::from_args(needed.iter().chain(arguments)))
    }

    #[test]
    fn all_forms_and_parts_run_by_default() {
        let all = options(&[]).unwrap().unwrap();
        assert_eq!(all.forms, Form::ALL);
        assert!(all.runs(Part::Retrieval) && all.runs(Part::Replay));
        let less = options(&["--forms", "rewrite,lastturn", "--only", "replay"])
            .unwrap()
            .unwrap();
        assert_eq!(less.forms, [Form::Rewrite, Form::LastTurn]);
        assert!(!less.runs(Part::Retrieval) && less.runs(Part::Replay));
        assert!(options(&["--forms", "rewrites"]).is_err());
        assert!(options(&["--connections", "0"]).is_err());
    }

    #[test]
    fn check_refuses_options_that_leave_figures_out() {
        for less in [
            ["--only", "replay"],
            ["--forms", "rewrite"],
            ["--show", "longest"],
        ] {
            let arguments = [&less[..], &["--floors", "f", "--check"]].concat();
            let error = options(&arguments).err().unwrap().to_string();
            assert!(error.contains("leave out"), "{error}");
        }
        assert!(options(&["--check"]).is_err());
    }
}
