//! The report of `speed`, as Markdown.

use std::fmt::Write as _;

use anyhow::{Context, Result};

use super::answer;
use super::options::Options;
use super::rounds::{Rounds, Turn};
use super::size::Sizes;
use super::throughput::Throughput;
use crate::database::load::Load;
use crate::database::machine::Fact;
use crate::statistics::times::ms;

/// All measurements.
pub struct Report<'a> {
    /// Arguments of the run.
    pub options: &'a Options,
    /// Machine and server.
    pub machine: Vec<Fact>,
    /// The corpus.
    pub loaded: Load,
    /// The turns.
    pub rounds: Rounds,
    /// Bytes.
    pub sizes: Sizes,
    /// Turns per second.
    pub throughput: Throughput,
}

/// Median and quartiles of a figure over the turns.
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

impl Report<'_> {
    /// Prints the report, and writes it to the folder of `--out`.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn write(&self) -> Result<()> {
        let text = self.markdown()?;
        print!("{text}");
        if let Some(folder) = &self.options.out {
            std::fs::write(folder.join("benchmarks.md"), &text)
                .with_context(|| format!("{} cannot be written", folder.display()))?;
        }
        Ok(())
    }

    fn spread(&self, value: impl Fn(&Turn) -> Option<f64>) -> Option<Spread> {
        Spread::of(self.rounds.turns.iter().filter_map(value))
    }

    fn markdown(&self) -> Result<String> {
        let mut text = String::new();
        self.conditions(&mut text)?;
        self.turn(&mut text)?;
        self.hybrid(&mut text)?;
        self.stages(&mut text)?;
        self.load(&mut text)?;
        self.bytes(&mut text)?;
        Ok(text)
    }

    fn conditions(&self, text: &mut String) -> Result<()> {
        writeln!(text, "# Benchmarks: what a turn costs\n")?;
        writeln!(
            text,
            "This page is the output of `make bench DATA=folder`, which ran `{}`. All figures are of one run. The ratios compare measurements of \
             the same turn, so they depend less on the machine than the milliseconds do.\n",
            self.options.command()
        )?;
        for (name, value) in &self.machine {
            writeln!(text, "- {name}: {value}")?;
        }
        writeln!(
            text,
            "- data: MTRAG, {} passages of two domains in one corpus (SHA-256 {:.16}…), all-MiniLM-L6-v2 embeddings of 384 dimensions, HNSW \
             index; the questions are the users' own words\n- turns: {}, in the order of their conversations, default settings, after one \
             conversation to warm up; the order of the measurements changes from turn to turn\n- answers: ten sentences of about 30 words, each \
             with a citation, copied from the sources of the context\n",
            self.loaded.passages,
            self.loaded.digest,
            self.rounds.turns.len(),
        )?;
        Ok(())
    }

    fn turn(&self, text: &mut String) -> Result<()> {
        writeln!(text, "## A turn and its parts\n")?;
        writeln!(
            text,
            "Time of the client over one connection, from BEGIN to the last row, without COMMIT: median and middle half. The *two candidate \
             queries* are BM25 (`reground.search` without an embedding) and pgvector's nearest neighbours, 40 rows each, prepared. The *floor of \
             end_turn* runs the text-search parser over the answer and the cited passages, and inserts and updates the same rows from temporary \
             tables.\n"
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
            "\nThe ratio of begin_turn is to the candidate queries, that of end_turn to its floor: the median of the turns' ratios. The floor \
             repeats the turn before. Citations per answer: {}.\n",
            answer::CITATIONS
        )?;
        Ok(())
    }

    fn hybrid(&self, text: &mut String) -> Result<()> {
        writeln!(
            text,
            "## A search, a turn, and hybrid search in plain SQL\n"
        )?;
        writeln!(
            text,
            "Each is one prepared statement, with 40 rows of a text search and 40 of pgvector's HNSW index, ten passages returned, JIT off. Each runs once \
             untimed before. Plain \
             SQL fuses by reciprocal rank; it reads no conversation, stores no turn and checks no citation. `search` and `reground_bm25` are on \
             the corpus, the others are on a copy of its passages.\n"
        )?;
        writeln!(
            text,
            "| | median ms | middle half | begin_turn / it | search / it |\n|---|---:|---|---:|---:|"
        )?;
        let time = |turn: &Turn, place: usize| turn.hybrid.get(place).copied().map(ms);
        for (place, name) in self.rounds.searches.iter().enumerate() {
            let median = |ratio: &dyn Fn(&Turn) -> Option<f64>| {
                let spread = self.spread(ratio);
                spread.map_or_else(String::new, |spread| format!("**{:.2}**", spread.median))
            };
            let of_begin = median(&|turn| Some(ms(turn.begin.took) / time(turn, place)?));
            let of_search = median(&|turn| Some(time(turn, 0)? / time(turn, place)?));
            let spread = self.spread(|turn| time(turn, place));
            let cells = times(spread);
            writeln!(text, "| {name} | {cells} | {of_begin} | {of_search} |")?;
        }
        writeln!(text)?;
        Ok(())
    }

    fn stages(&self, text: &mut String) -> Result<()> {
        writeln!(text, "## Stages of a turn\n")?;
        writeln!(
            text,
            "Measured by `reground.profile()`, inside the server: medians, in milliseconds.\n"
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
            "{clients} concurrent clients: **{turns:.1} turns per second**, with both COMMITs, and {candidates:.1} pairs of candidate queries per \
             second (ratio {:.2}). Each was measured in two periods, {} s in total.\n",
            turns / candidates,
            self.options.seconds.as_secs()
        )?;
        Ok(())
    }

    fn bytes(&self, text: &mut String) -> Result<()> {
        writeln!(text, "## Bytes per turn\n")?;
        writeln!(
            text,
            "Growth over {} turns, with indexes and TOAST: **{:.0} bytes per turn**, and {:.0} bytes of write-ahead log.\n",
            self.sizes.turns,
            self.sizes.total(),
            self.sizes.wal
        )?;
        writeln!(text, "| table | bytes per turn |\n|---|---:|")?;
        for (table, bytes) in &self.sizes.tables {
            writeln!(text, "| {table} | {bytes:.0} |")?;
        }
        Ok(())
    }
}

fn row(text: &mut String, name: &str, spread: Option<Spread>, ratio: Option<Spread>) -> Result<()> {
    let ratio = ratio.map_or_else(String::new, |ratio| format!("**{:.2}**", ratio.median));
    writeln!(text, "| {name} | {} | {ratio} |", times(spread))?;
    Ok(())
}

/// The cells with the median and the middle half.
fn times(spread: Option<Spread>) -> String {
    match spread {
        Some(Spread { median, low, high }) => format!("{median:.2} | {low:.2} to {high:.2}"),
        None => "– | –".to_owned(),
    }
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
