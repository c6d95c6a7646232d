//! The report of `lexical`, as Markdown.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Result;

use super::filters::{FilterRow, PARTS, QUERIES};
use super::pairs::{PAIRS, PairRow};
use super::timing::{CLIENTS, LONG_LIST};
use crate::database::machine::Fact;
use crate::statistics::times::{median, ms};

/// Sorted times by number of words; empty if not measured.
pub type Times = Vec<Vec<Duration>>;

/// Selects the times of a row.
type Of = fn(&Row) -> &Times;

/// The measurements of one competitor.
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// Whether a query includes a round trip to the server.
    pub round_trips: bool,
    /// Time of CREATE INDEX.
    pub built: Duration,
    /// Bytes of the index.
    pub bytes: i64,
    /// Times with the fresh index.
    pub fresh: Times,
    /// Times of long lists with the fresh index.
    pub long: Times,
    /// Times after an update of a tenth of the rows.
    pub updated: Times,
    /// Times after VACUUM.
    pub vacuumed: Times,
    /// Time of the inserts.
    pub insert: Option<Duration>,
    /// Queries per second of [`CLIENTS`] clients.
    pub rate: Option<f64>,
}

impl Default for Row {
    fn default() -> Self {
        Self {
            name: "",
            round_trips: true,
            built: Duration::ZERO,
            bytes: 0,
            fresh: Vec::new(),
            long: Vec::new(),
            updated: Vec::new(),
            vacuumed: Vec::new(),
            insert: None,
            rate: None,
        }
    }
}

/// All measurements.
pub struct Report {
    /// Machine and server.
    pub machine: Vec<Fact>,
    /// Number of passages.
    pub passages: usize,
    /// SHA-256 of the passages.
    pub digest: String,
    /// Rows per query.
    pub limit: usize,
    /// Number of inserts.
    pub inserts: usize,
    /// Number of queries by number of words.
    pub queries: Vec<usize>,
    /// Time of `SELECT 1`.
    pub round_trip: Duration,
    /// The competitors, ours first.
    pub rows: Vec<Row>,
    /// Searches within a part of the rows.
    pub filters: Vec<FilterRow>,
    /// Searches for two adjacent words.
    pub pairs: Vec<PairRow>,
}

impl Report {
    /// The report.
    ///
    /// # Errors
    /// None in practice; formatting into a string cannot fail.
    pub fn markdown(&self) -> Result<String> {
        let mut text = String::new();
        writeln!(text, "# Indexes for ranked full-text search\n")?;
        for (name, value) in &self.machine {
            writeln!(text, "- {name}: {value}")?;
        }
        writeln!(
            text,
            "- data: {} passages of about 56 words, each of whole sentences of MTRAG, chosen at random with a fixed seed (SHA-256 {:.16}…)\n\
             - queries: MTRAG's last turns and their rewrites, grouped by distinct words; top {}; prepared, warm, shortest of three runs, alternating between the indexes\n\
             - times: median milliseconds, minus that of `SELECT 1` ({:.3})\n",
            self.passages,
            self.digest,
            self.limit,
            ms(self.round_trip)
        )?;
        self.sizes(&mut text)?;
        let long = format!("Time for the top {LONG_LIST}");
        let tables: [(&str, Of); 4] = [
            ("Time by number of words", |row| &row.fresh),
            (&long, |row| &row.long),
            ("After an update of a tenth of the rows", |row| &row.updated),
            ("After VACUUM", |row| &row.vacuumed),
        ];
        for (title, of) in tables {
            self.times(&mut text, title, of)?;
        }
        self.filters(&mut text)?;
        self.pairs(&mut text)?;
        Ok(text)
    }

    fn sizes(&self, text: &mut String) -> Result<()> {
        writeln!(
            text,
            "| | built, s | index, MB | queries/s, {CLIENTS} clients | ms per insert |\n|---|---:|---:|---:|---:|"
        )?;
        for row in &self.rows {
            writeln!(
                text,
                "| {} | {:.1} | {:.1} | {} | {} |",
                row.name,
                row.built.as_secs_f64(),
                row.bytes as f64 / 1e6,
                row.rate
                    .map_or_else(String::new, |rate| format!("{rate:.0}")),
                row.insert.map_or_else(String::new, |took| format!(
                    "{:.3}",
                    ms(took) / self.inserts as f64
                ))
            )?;
        }
        writeln!(text)?;
        if self.rows.iter().any(|row| row.insert.is_some()) {
            writeln!(
                text,
                "Inserts are {} single statements, each in its own transaction with synchronous_commit off, into an empty table with only \
                 this index.\n",
                self.inserts
            )?;
        }
        Ok(())
    }

    fn times(&self, text: &mut String, title: &str, of: Of) -> Result<()> {
        if self.rows.iter().all(|row| of(row).is_empty()) {
            return Ok(());
        }
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
            .map_or_else(Vec::new, |row| self.medians(row, of(row)));
        for (number, row) in self.rows.iter().enumerate() {
            if of(row).is_empty() {
                continue;
            }
            let medians = self.medians(row, of(row));
            let cells: Vec<String> = medians
                .iter()
                .map(|median| format!("{median:.3}"))
                .collect();
            writeln!(text, "| {} | {} |", row.name, cells.join(" | "))?;
            if number > 0 {
                let ratios = medians
                    .iter()
                    .zip(&ours)
                    .map(|(theirs, ours)| ratio(ours / theirs));
                writeln!(
                    text,
                    "| ours / it | {} |",
                    ratios.collect::<Vec<_>>().join(" | ")
                )?;
            }
        }
        writeln!(text)?;
        Ok(())
    }

    /// The table of the searches within parts.
    fn filters(&self, text: &mut String) -> Result<()> {
        let Some(ours) = self.filters.first() else {
            return Ok(());
        };
        let shares = PARTS.map(|parts| format!("{} % of the rows", 100.0 / f64::from(parts)));
        writeln!(
            text,
            "## A part of the rows\n\n\
             `WHERE part = … ORDER BY … LIMIT`, median milliseconds of {QUERIES} queries of each number of words, and the mean number of rows \
             that a query returned.\n\n| | {} |\n|---|{}",
            shares.join(" | "),
            "---:|".repeat(shares.len())
        )?;
        let time = |time: Duration| ms(time.saturating_sub(self.round_trip));
        for (number, row) in self.filters.iter().enumerate() {
            let parts = row.parts.iter();
            let cells: Vec<String> = parts
                .map(|&(took, found)| format!("{:.3} ({found:.1} rows)", time(took)))
                .collect();
            writeln!(text, "| {} | {} |", row.name, cells.join(" | "))?;
            if number > 0 {
                let pairs = ours.parts.iter().zip(&row.parts);
                let ratios: Vec<String> = pairs
                    .map(|(ours, theirs)| ratio(time(ours.0) / time(theirs.0)))
                    .collect();
                writeln!(text, "| filter column / it | {} |", ratios.join(" | "))?;
            }
        }
        writeln!(text)?;
        Ok(())
    }

    /// The table of the searches for two adjacent words.
    fn pairs(&self, text: &mut String) -> Result<()> {
        if self.pairs.is_empty() {
            return Ok(());
        }
        writeln!(
            text,
            "## Two words\n\n\
             {PAIRS} pairs of adjacent words of a passage, searched with `reground_bm25`. The index stores no positions, so the texts of rows \
             with both words are read for a phrase.\n\n\
             | | median ms | longest ms | mean rows |\n|---|---:|---:|---:|"
        )?;
        let time = |time: Duration| ms(time.saturating_sub(self.round_trip));
        for row in &self.pairs {
            writeln!(
                text,
                "| {} | {:.3} | {:.3} | {:.1} |",
                row.name,
                time(row.time),
                time(row.longest),
                row.rows
            )?;
        }
        writeln!(text)?;
        Ok(())
    }

    fn medians(&self, row: &Row, groups: &[Vec<Duration>]) -> Vec<f64> {
        let round_trips = if row.round_trips {
            self.round_trip
        } else {
            Duration::ZERO
        };
        let median = |times: &Vec<Duration>| ms(median(times.clone()).saturating_sub(round_trips));
        groups.iter().map(median).collect()
    }
}

/// Formats a ratio with two significant digits.
fn ratio(value: f64) -> String {
    match value {
        0.1.. => format!("{value:.2}"),
        0.01..0.1 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}
