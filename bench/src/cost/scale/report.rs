//! The report of `scale`, as Markdown.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Result;

use crate::cost::speed::hybrid::HybridSearch;
use crate::database::machine::Fact;
use crate::statistics::times::{ms, percentile};

/// A built index.
pub struct Built {
    /// Its name.
    pub name: &'static str,
    /// Time of CREATE INDEX.
    pub took: Duration,
    /// Its size.
    pub bytes: i64,
}

/// All measurements.
pub struct Report {
    /// Machine and server.
    pub machine: Vec<Fact>,
    /// `maintenance_work_mem` of the builds.
    pub memory: &'static str,
    /// Number of passages.
    pub passages: usize,
    /// SHA-256 of the texts.
    pub digest: String,
    /// The indexes.
    pub built: Vec<Built>,
    /// The searches, `search` first.
    pub searches: Vec<HybridSearch>,
    /// For each question, the time of each search.
    pub times: Vec<Vec<Duration>>,
}

impl Report {
    /// The report.
    ///
    /// # Errors
    /// None in practice; formatting into a string cannot fail.
    pub fn markdown(&self) -> Result<String> {
        let mut text = String::new();
        writeln!(text, "# Hybrid search over many passages\n")?;
        for (name, value) in &self.machine {
            writeln!(text, "- {name}: {value}")?;
        }
        writeln!(
            text,
            "- data: {} passages of about 56 words, each of whole sentences of MTRAG, chosen at random with a fixed seed (SHA-256 {:.16}…)\n\
             - vectors: derived from the embeddings of MTRAG (all-MiniLM-L6-v2, 384 dimensions): for each passage the normalised sum of three \
             times one of them and another one\n\
             - questions: {} of MTRAG's users with their embeddings; 40 rows of each index, ten passages returned, `hnsw.ef_search` 100, JIT off; \
             prepared; each search runs once untimed before, in changing order\n\
             - builds: one after the other, `maintenance_work_mem` {}\n",
            self.passages,
            self.digest,
            self.times.len(),
            self.memory
        )?;
        writeln!(text, "| index | built, s | MB |\n|---|---:|---:|")?;
        for Built { name, took, bytes } in &self.built {
            writeln!(
                text,
                "| {name} | {:.1} | {:.1} |",
                took.as_secs_f64(),
                *bytes as f64 / 1e6
            )?;
        }
        writeln!(
            text,
            "\n| | median ms | 90th percentile | search / it |\n|---|---:|---:|---:|"
        )?;
        for (place, search) in self.searches.iter().enumerate() {
            let of = |value: fn(f64, f64) -> f64| -> Vec<f64> {
                let pairs = self
                    .times
                    .iter()
                    .filter_map(|times| Some((ms(*times.first()?), ms(*times.get(place)?))));
                pairs.map(|(first, own)| value(first, own)).collect()
            };
            let own = of(|_, own| own);
            writeln!(
                text,
                "| {} | {:.2} | {:.2} | {:.2} |",
                search.name,
                percentile(&own, 0.5),
                percentile(&own, 0.9),
                percentile(&of(|first, own| first / own), 0.5)
            )?;
        }
        Ok(text)
    }
}
