//! The files of the MTRAG benchmark (passages, queries, judgements, conversations, vectors) and sets of labelled claims. Nothing here
//! uses the database.

pub mod claims;
pub mod corpus;
pub mod embedder;
pub mod queries;
pub mod tasks;
pub mod titles;
pub mod vectors;

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use flate2::read::MultiGzDecoder;
use serde::de::DeserializeOwned;

/// A domain of the benchmark: a corpus with its queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Domain {
    /// Wikipedia.
    Clapnq,
    /// Documentation of a cloud provider.
    Cloud,
    /// A forum about personal finance. Its documents have no titles.
    Fiqa,
}

impl Domain {
    /// All domains, in the order of the reports.
    pub const ALL: [Self; 3] = [Self::Clapnq, Self::Cloud, Self::Fiqa];
    /// The domains of the first evaluations. Pooled figures, their floors and fitted weights of that time are over these two.
    pub const ORIGINAL: [Self; 2] = [Self::Clapnq, Self::Cloud];

    /// The domains other than this one, to choose on them and report on this one.
    pub fn others(self) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |other| *other != self)
    }

    /// The name in file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clapnq => "clapnq",
            Self::Cloud => "cloud",
            Self::Fiqa => "fiqa",
        }
    }

    /// The name of the corpus in the database.
    pub fn corpus(self) -> String {
        format!("mtrag_{}", self.name())
    }
}

/// The folder of the benchmark.
#[derive(Debug, Clone)]
pub struct Folder(PathBuf);

impl Folder {
    /// The folder `mtrag` of `data`.
    ///
    /// # Errors
    /// `data` has no folder `mtrag`.
    pub fn below(data: &Path) -> Result<Self> {
        let folder = data.join("mtrag");
        anyhow::ensure!(
            folder.is_dir(),
            "{} is not a folder: DATA must be the folder that contains mtrag/",
            folder.display()
        );
        Ok(Self(folder))
    }

    /// Path of a file in the folder.
    pub fn file(&self, relative: &str) -> PathBuf {
        self.0.join(relative)
    }
}

/// Reads a file with one JSON value per line, gzipped if its name ends in gz.
pub fn json_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    BufReader::new(open(path)?)
        .lines()
        .zip(1..)
        .filter(|(line, _)| !matches!(line, Ok(line) if line.trim().is_empty()))
        .map(|(line, number)| {
            let line = line.with_context(|| format!("{} cannot be read", path.display()))?;
            serde_json::from_str(&line).with_context(|| format!("{}:{number}", path.display()))
        })
        .collect()
}

fn open(path: &Path) -> Result<Box<dyn Read>> {
    let file = File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(if path.extension().is_some_and(|end| end == "gz") {
        Box::new(MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    })
}
