//! The figures as Markdown.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context, Result};

use super::answer;
use super::options::Options;
use super::plot::{self, Bar};
use super::rounds::{PythonTurn, Rounds, Turn};
use super::size::Sizes;
use super::throughput::Throughput;
use crate::load::Load;
use crate::machine::Fact;

/// All that was measured.
pub struct Report<'a> {
    /// What was asked for.
    pub options: &'a Options,
    /// What it was measured on.
    pub machine: Vec<Fact>,
    /// What was searched.
    pub loaded: Load,
    /// Turn after turn.
    pub rounds: Rounds,
    /// Bytes.
    pub sizes: Sizes,
    /// Turns a second.
    pub throughput: Throughput,
}

/// A figure over the turns: its median and where the middle half of them lies.
#[derive(Clone, Copy)]
struct Spread {
    median: f64,
    low: f64,
    high: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.collect();
        values.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| {
            let place = share * (values.len().checked_sub(1)?) as f64;
            values.get(place.round() as usize).copied()
        };
        Some(Self {
            median: at(0.5)?,
            low: at(0.25)?,
            high: at(0.75)?,
        })
    }
}

/// Milliseconds.
fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

impl Report<'_> {
    /// Prints the report and writes it where it was asked for.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn write(&self) -> Result<()> {
        let text = self.markdown()?;
        print!("{text}");
        if let Some(folder) = &self.options.out {
            let place = |name: &str| folder.join(name);
            std::fs::write(place("benchmarks.md"), &text)
                .with_context(|| format!("{} cannot be written", folder.display()))?;
            std::fs::write(place("benchmarks.svg"), self.plot()?)?;
        }
        Ok(())
    }

    fn spread(&self, value: impl Fn(&Turn) -> Option<f64>) -> Option<Spread> {
        Spread::of(self.rounds.turns.iter().filter_map(value))
    }

    fn python(&self, value: impl Fn(&PythonTurn) -> f64) -> Option<Spread> {
        self.spread(|turn| turn.python.as_ref().map(&value))
    }

    fn markdown(&self) -> Result<String> {
        let mut text = String::new();
        self.conditions(&mut text)?;
        self.turn(&mut text)?;
        self.added(&mut text)?;
        self.stages(&mut text)?;
        self.load(&mut text)?;
        self.bytes(&mut text)?;
        Ok(text)
    }

    fn conditions(&self, text: &mut String) -> Result<()> {
        writeln!(text, "# Benchmarks: what a turn costs\n")?;
        writeln!(
            text,
            "Written by `make bench DATA=folder`, which ran `{}`; every figure is of one run. Machines are noisy: trust the ratios, which pair \
             what was measured within the same turn, more than the milliseconds.\n",
            self.options.command()
        )?;
        for (name, value) in &self.machine {
            writeln!(text, "- {name}: {value}")?;
        }
        writeln!(
            text,
            "- data: MTRAG, {} passages of two domains in one corpus (SHA-256 {:.16}…), all-MiniLM-L6-v2 embeddings of 384 dimensions, HNSW index; the questions \
             in the words of MTRAG's rewrites, which stand alone\n- turns: {}, in the order of their conversations, after one conversation to warm up; the order of the competitors \
             changes from turn to turn\n- answers: ten sentences of some 30 words, each with a citation, taken from the sources of the context\n",
            self.loaded.passages,
            self.loaded.digest,
            self.rounds.turns.len(),
        )?;
        Ok(())
    }

    fn turn(&self, text: &mut String) -> Result<()> {
        writeln!(text, "## A turn beside what it cannot do without\n")?;
        writeln!(
            text,
            "Client's time over one connection, from BEGIN to the last row, without COMMIT: median, and the middle half. The *two candidate queries* \
             are BM25 (`reground.search` without an embedding) and pgvector's nearest neighbours, 40 each, prepared. The *floor of end_turn* is the \
             text-search parser over the answer and the cited passages, and inserts and updates of the same rows, copied from temporary tables.\n"
        )?;
        writeln!(
            text,
            "| | median ms | middle half | ratio |\n|---|---:|---|---:|"
        )?;
        let candidates = self.spread(|turn| Some(ms(turn.candidates)));
        let begin = self.spread(|turn| Some(ms(turn.begin.took)));
        let begin_ratio = self.spread(|turn| Some(ms(turn.begin.took) / ms(turn.candidates)));
        let floor = self.spread(|turn| turn.floor.map(ms));
        let end = self.spread(|turn| turn.floor.map(|_| ms(turn.end.took)));
        let end_ratio = self.spread(|turn| Some(ms(turn.end.took) / ms(turn.floor?)));
        let begin_commit = self.spread(|turn| Some(ms(turn.begin.commit)));
        let end_commit = self.spread(|turn| Some(ms(turn.end.commit)));
        for (name, spread, ratio) in [
            ("the two candidate queries", candidates, None),
            ("**begin_turn**", begin, begin_ratio),
            ("COMMIT of begin_turn", begin_commit, None),
            ("floor of end_turn", floor, None),
            ("**end_turn**", end, end_ratio),
            ("COMMIT of end_turn", end_commit, None),
        ] {
            row(text, name, spread, ratio)?;
        }
        writeln!(
            text,
            "\nA ratio is the median of the turns' ratios; the floor of a turn is that of the turn before it. Citations an answer: {}.\n",
            answer::CITATIONS
        )?;
        Ok(())
    }

    fn added(&self, text: &mut String) -> Result<()> {
        if self.rounds.turns.iter().all(|turn| turn.python.is_none()) {
            return Ok(());
        }
        writeln!(
            text,
            "## What a turn adds, beside the same pipeline in Python\n"
        )?;
        writeln!(
            text,
            "The Python competitor (`bench/python`) does the same over psycopg 3: one connection, prepared statements, pipelined into five round \
             trips a turn (six where a carried passage may rank beyond the first 1,000), bulk inserts into tables of its own with the same columns and indexes. Both returned the same {} rows, compared column by \
             column but for the extracted facts and what support decides. It leaves out what the workload never asks for, and so does less: no \
             judgement of intent nor the earlier turns that it goes by, no measure of what history takes from the sources, no settings of corpora and conversations, no look-up of the corpus, no foreign keys, no row-level security; and it \
             weighs support by the share of words alone, without windows, numbers, names, quotations and denials. What is *added* is the time of the \
             beginning less that of the same side's candidate queries alone in the same turn, and all of the end.\n",
            self.rounds.rows_compared
        )?;
        writeln!(
            text,
            "| | added by begin, ms | end, ms | together, ms |\n|---|---:|---:|---:|"
        )?;
        let ours = [
            self.spread(|turn| Some(ms(turn.begin.took) - ms(turn.candidates))),
            self.spread(|turn| Some(ms(turn.end.took))),
            self.spread(|turn| Some(ours_added(turn))),
        ];
        let theirs = [
            self.python(|python| ms(python.begin.took) - ms(python.candidates)),
            self.python(|python| ms(python.end.took)),
            self.python(python_added),
        ];
        for (name, spreads) in [("**reground**", ours), ("Python", theirs)] {
            let cells = spreads.map(|spread| cell(spread.map(|spread| spread.median)));
            writeln!(text, "| {name} | {} |", cells.join(" | "))?;
        }
        let ratio = |one: Option<Spread>, other: Option<Spread>| Some(other?.median / one?.median);
        let ratios = [0, 1, 2].map(|index| cell(ratio(ours[index], theirs[index])));
        writeln!(text, "| Python / reground | {} |\n", ratios.join(" | "))?;
        let lists = ["lexical list", "vector list"];
        let stages = self.rounds.stages(|turn| &turn.begin);
        let own: f64 = stages
            .iter()
            .filter(|(stage, _)| !lists.contains(&stage.as_str()))
            .map(|(_, time)| ms(*time))
            .sum();
        writeln!(
            text,
            "By the server's own stopwatch begin_turn takes {own:.2} ms besides its two lists; the candidate queries alone also fetch and return \
             passages, which it does once, after fusion.\n"
        )?;
        let commits = [
            self.python(|python| ms(python.begin.commit)),
            self.python(|python| ms(python.end.commit)),
        ];
        let [begin, end] = commits.map(|spread| cell(spread.map(|spread| spread.median)));
        writeln!(
            text,
            "Apart from that, Python's COMMITs take {begin} ms and {end} ms.\n"
        )?;
        writeln!(text, "![milliseconds added to a turn](benchmarks.svg)\n")?;
        Ok(())
    }

    fn stages(&self, text: &mut String) -> Result<()> {
        writeln!(text, "## Where a turn's time goes\n")?;
        writeln!(
            text,
            "By `reground.profile()`, inside the server; medians, milliseconds.\n"
        )?;
        for (name, stages) in [
            ("begin_turn", self.rounds.stages(|turn| &turn.begin)),
            ("end_turn", self.rounds.stages(|turn| &turn.end)),
        ] {
            let all: f64 = stages.iter().map(|(_, time)| ms(*time)).sum();
            writeln!(text, "| {name} | ms | share |\n|---|---:|---:|")?;
            for (stage, time) in stages {
                let share = 100.0 * ms(time) / all;
                writeln!(text, "| {stage} | {:.2} | {share:.0} % |", ms(time))?;
            }
            writeln!(text)?;
        }
        Ok(())
    }

    fn load(&self, text: &mut String) -> Result<()> {
        let Throughput {
            clients,
            candidates,
            turns,
        } = self.throughput;
        writeln!(text, "## Throughput\n")?;
        writeln!(
            text,
            "{clients} clients at a time: **{turns:.1} turns a second** with both COMMITs, beside {candidates:.1} pairs of candidate queries a second \
             ({:.2} of them). Each arm ran twice, {} s in all.\n",
            turns / candidates,
            self.options.seconds.as_secs()
        )?;
        Ok(())
    }

    fn bytes(&self, text: &mut String) -> Result<()> {
        writeln!(text, "## Bytes a turn\n")?;
        writeln!(
            text,
            "Growth over {} turns, indexes and TOAST included: **{:.0} bytes a turn**, and {:.0} bytes of write-ahead log.\n",
            self.sizes.turns,
            self.sizes.total(),
            self.sizes.wal
        )?;
        writeln!(text, "| table | bytes a turn |\n|---|---:|")?;
        for (table, bytes) in &self.sizes.tables {
            writeln!(text, "| {table} | {bytes:.0} |")?;
        }
        Ok(())
    }

    fn plot(&self) -> Result<String> {
        let part = |spread: Option<Spread>| spread.map_or(0.0, |spread| spread.median.max(0.0));
        let mut bars = vec![Bar {
            name: "reground".into(),
            parts: vec![
                (
                    "added by begin",
                    part(self.spread(|turn| Some(ms(turn.begin.took) - ms(turn.candidates)))),
                ),
                ("end", part(self.spread(|turn| Some(ms(turn.end.took))))),
            ],
        }];
        if let Some(end) = self.python(|python| ms(python.end.took)) {
            let begin = self.python(|python| ms(python.begin.took) - ms(python.candidates));
            bars.push(Bar {
                name: "Python, psycopg 3".into(),
                parts: vec![("added by begin", part(begin)), ("end", end.median)],
            });
        }
        plot::svg("A turn beyond its two candidate queries (median)", &bars)
    }
}

/// What a turn adds to its candidate queries, in milliseconds.
fn ours_added(turn: &Turn) -> f64 {
    ms(turn.begin.took) - ms(turn.candidates) + ms(turn.end.took)
}

/// The same in Python.
fn python_added(turn: &PythonTurn) -> f64 {
    ms(turn.begin.took) - ms(turn.candidates) + ms(turn.end.took)
}

fn cell(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.2}"))
}

fn row(text: &mut String, name: &str, spread: Option<Spread>, ratio: Option<Spread>) -> Result<()> {
    let half = spread.map_or_else(
        || "–".to_owned(),
        |spread| format!("{:.2} to {:.2}", spread.low, spread.high),
    );
    let ratio = ratio.map_or_else(String::new, |ratio| format!("**{:.2}**", ratio.median));
    let median = cell(spread.map(|spread| spread.median));
    writeln!(text, "| {name} | {median} | {half} | {ratio} |")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_the_median_and_the_middle_half() {
        let spread = Spread::of([9.0, 1.0, 5.0, 3.0, 7.0].into_iter()).unwrap();
        assert_eq!((spread.low, spread.median, spread.high), (3.0, 5.0, 7.0));
        assert!(Spread::of(std::iter::empty()).is_none());
    }
}
