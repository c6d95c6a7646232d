//! The figures as Markdown.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Result;

use super::ask::CLIENTS;
use super::competitor::Competitor;
use crate::machine::Fact;

/// Which times of a competitor: by number of words, rising.
type Times = fn(&Row) -> &Vec<Vec<Duration>>;

/// What was measured of one competitor.
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// Time of CREATE INDEX.
    pub built: Duration,
    /// Bytes of the index.
    pub bytes: i64,
    /// Times by number of words, rising: of the fresh index,
    pub fresh: Vec<Vec<Duration>>,
    /// with a tenth of the rows updated,
    pub updated: Vec<Vec<Duration>>,
    /// and vacuumed.
    pub vacuumed: Vec<Vec<Duration>>,
    /// Time of the inserts.
    pub insert: Duration,
    /// Queries a second of [`CLIENTS`] clients.
    pub rate: f64,
    /// How it is asked.
    pub competitor: Competitor,
}

/// All that was measured.
pub struct Report {
    /// What it was measured on.
    pub machine: Vec<Fact>,
    /// Passages.
    pub passages: usize,
    /// Of the passages.
    pub digest: String,
    /// Rows asked for.
    pub limit: usize,
    /// Rows inserted one by one.
    pub inserts: usize,
    /// Queries by number of words.
    pub queries: Vec<usize>,
    /// Time of `SELECT 1`.
    pub nothing: Duration,
    /// The competitors, ours first.
    pub rows: Vec<Row>,
}

impl Report {
    /// The report.
    ///
    /// # Errors
    /// None that can come up.
    pub fn markdown(&self) -> Result<String> {
        let mut text = String::new();
        writeln!(text, "# Ranked full-text search, index beside index\n")?;
        for (name, value) in &self.machine {
            writeln!(text, "- {name}: {value}")?;
        }
        writeln!(
            text,
            "- data: {} passages of some 56 words, each of whole sentences of MTRAG drawn by chance with a fixed seed (SHA-256 {:.16}…)\n\
             - queries: MTRAG's last turns and their rewrites, by distinct words; top {}; prepared, warm, least of three, asked of all in turn\n\
             - times: median milliseconds, less those of `SELECT 1` ({:.3})\n",
            self.passages,
            self.digest,
            self.limit,
            ms(self.nothing)
        )?;
        self.sizes(&mut text)?;
        let tables: [(&str, Times); 3] = [
            ("Time by number of words", |row| &row.fresh),
            ("After an update of a tenth of the rows", |row| &row.updated),
            ("And a VACUUM", |row| &row.vacuumed),
        ];
        for (title, of) in tables {
            self.times(&mut text, title, of)?;
        }
        Ok(text)
    }

    fn sizes(&self, text: &mut String) -> Result<()> {
        writeln!(
            text,
            "| | built, s | index, MB | queries/s, {CLIENTS} clients | ms an insert |\n|---|---:|---:|---:|---:|"
        )?;
        for row in &self.rows {
            writeln!(
                text,
                "| {} | {:.1} | {:.1} | {:.0} | {:.3} |",
                row.name,
                row.built.as_secs_f64(),
                row.bytes as f64 / 1e6,
                row.rate,
                ms(row.insert) / self.inserts as f64
            )?;
        }
        writeln!(
            text,
            "\nInserts are {} single statements, committed one by one without waiting for the disk, into an empty table with that index alone.\n",
            self.inserts
        )?;
        Ok(())
    }

    fn times(&self, text: &mut String, title: &str, of: Times) -> Result<()> {
        writeln!(text, "## {title}\n")?;
        let groups = self.queries.iter().enumerate();
        let names: Vec<String> = groups
            .map(|(at, queries)| {
                let more = if at + 1 == self.queries.len() {
                    "+"
                } else {
                    ""
                };
                format!("{}{more} ({queries})", at + 1)
            })
            .collect();
        writeln!(text, "| words (queries) | {} |", names.join(" | "))?;
        writeln!(text, "|---|{}", "---:|".repeat(names.len()))?;
        let ours: Vec<f64> = self
            .rows
            .first()
            .map_or_else(Vec::new, |row| self.medians(of(row)));
        for (number, row) in self.rows.iter().enumerate() {
            let medians = self.medians(of(row));
            let cells: Vec<String> = medians
                .iter()
                .map(|median| format!("{median:.3}"))
                .collect();
            writeln!(text, "| {} | {} |", row.name, cells.join(" | "))?;
            if number > 0 {
                let ratios = medians
                    .iter()
                    .zip(&ours)
                    .map(|(theirs, ours)| format!("{:.2}", ours / theirs));
                writeln!(
                    text,
                    "| ours of it | {} |",
                    ratios.collect::<Vec<_>>().join(" | ")
                )?;
            }
        }
        writeln!(text)?;
        Ok(())
    }

    fn medians(&self, groups: &[Vec<Duration>]) -> Vec<f64> {
        let median = |times: &Vec<Duration>| {
            let middle = times.get(times.len() / 2).copied().unwrap_or_default();
            ms(middle.saturating_sub(self.nothing))
        };
        groups.iter().map(median).collect()
    }
}

/// Milliseconds.
fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
