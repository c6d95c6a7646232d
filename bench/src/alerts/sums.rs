//! Sums of simulated answers, as the cells that the rules read.

use std::collections::BTreeMap;

use reground_audit::counts::{CountCell, Kind};
use reground_audit::hours::{AnswerCell, Cells, CitationCell};
use reground_citations::{LossStage, Status};

use super::profiles::PROFILES;

/// Corpus, kind of events, document type and model.
type CountKey = (usize, Kind, Option<&'static str>, &'static str);

/// The cells of an hour, or of a part of it.
#[derive(Clone, Default)]
pub struct Sums {
    pub answers: BTreeMap<(usize, Option<u16>), u64>,
    pub citations: BTreeMap<(usize, &'static str, usize, Option<usize>), u64>,
    pub counts: BTreeMap<CountKey, (f64, f64)>,
}

impl Sums {
    /// Counts events.
    pub fn count(&mut self, key: CountKey, events: f64, trials: f64) {
        let sums = self.counts.entry(key).or_default();
        sums.0 += events;
        sums.1 += trials;
    }

    /// Adds the cells of another part of the hour.
    pub fn add(&mut self, other: &Self) {
        for (key, answers) in &other.answers {
            *self.answers.entry(*key).or_default() += answers;
        }
        for (key, citations) in &other.citations {
            *self.citations.entry(*key).or_default() += citations;
        }
        for (key, (events, trials)) in &other.counts {
            self.count(*key, *events, *trials);
        }
    }

    /// Answers of a corpus.
    pub fn answers_of(&self, corpus: usize) -> u64 {
        let own = self.answers.iter().filter(|((own, _), _)| *own == corpus);
        own.map(|(_, answers)| answers).sum()
    }

    /// Cells for the rules on the latest hours.
    pub fn cells(&self, hour: i64) -> Cells {
        let answers = self
            .answers
            .iter()
            .map(|((corpus, cfs_bin), answers)| AnswerCell {
                hour,
                corpus: PROFILES[*corpus].name.into(),
                cfs_bin: *cfs_bin,
                answers: *answers,
            });
        let citations = self
            .citations
            .iter()
            .map(|((corpus, kind, status, lost), citations)| CitationCell {
                hour,
                corpus: PROFILES[*corpus].name.into(),
                document_type: Some((*kind).to_owned()),
                status: Status::ALL[*status],
                lost_stage: lost.map(|lost| LossStage::ALL[lost]),
                citations: *citations,
            });
        Cells {
            answers: answers.collect(),
            citations: citations.collect(),
            ..Cells::default()
        }
    }

    /// Cells for the accumulating rules.
    pub fn count_cells(&self, hour: i64) -> impl Iterator<Item = CountCell> {
        self.counts.iter().map(
            move |((corpus, kind, document_type, model), (events, trials))| CountCell {
                hour,
                corpus: PROFILES[*corpus].name.into(),
                kind: *kind,
                document_type: document_type.map(str::to_owned),
                model: Some((*model).to_owned()),
                events: *events,
                trials: *trials,
            },
        )
    }
}

/// The usual figures of a part, over the hours before.
#[derive(Clone, Default)]
pub struct Usual {
    pub hours: f64,
    pub events: f64,
    pub trials: f64,
    pub squares: [f64; 3],
    /// Events and trials by day.
    days: BTreeMap<i64, (f64, f64)>,
}

impl Usual {
    pub fn add(&mut self, day: i64, sign: f64, events: f64, trials: f64) {
        self.hours += sign;
        self.events += sign * events;
        self.trials += sign * trials;
        self.squares[0] += sign * events * events;
        self.squares[1] += sign * events * trials;
        self.squares[2] += sign * trials * trials;
        let of_day = self.days.entry(day).or_default();
        of_day.0 += sign * events;
        of_day.1 += sign * trials;
    }

    /// Sum over the days.
    pub fn of_days(&self, product: fn(f64, f64) -> f64) -> f64 {
        self.days
            .values()
            .map(|(events, trials)| product(*events, *trials))
            .sum()
    }
}
