//! The state of an evaluation whose verdicts arrive one by one.

use reground_interrupt::checked;
use serde::Serialize;

use super::measures::{Measures, measure};
use super::verdicts::{AnswerVerdicts, Entailment, Unmeasured};

/// Counts of one side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Statements or facts.
    pub all: u64,
    /// Those with the verdict entailed.
    pub entailed: u64,
    /// Those with the verdict contradicted.
    pub contradicted: u64,
    /// Those without a verdict.
    pub missing: u64,
}

impl Tally {
    /// Counts the verdicts of one side.
    pub fn of(verdicts: &[Option<Entailment>]) -> Self {
        checked(verdicts).fold(Self::default(), |tally, verdict| Self {
            all: tally.all + 1,
            entailed: tally.entailed + u64::from(*verdict == Some(Entailment::Entailed)),
            contradicted: tally.contradicted
                + u64::from(*verdict == Some(Entailment::Contradicted)),
            missing: tally.missing + u64::from(verdict.is_none()),
        })
    }
}

/// What is known of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// Verdicts are missing, and all of them are queued.
    Pending,
    /// All verdicts are there.
    Done(Measures),
    /// The answer has no measures.
    Unmeasured(Unmeasured),
}

impl Outcome {
    /// The outcome of an answer with this many queued tasks: one for the decomposition, then one for each missing verdict. A task
    /// that was given up is not queued.
    pub fn of(answer: &AnswerVerdicts, queued: u64) -> Self {
        let missing = |side: &Option<Vec<Option<Entailment>>>| {
            side.as_deref().map_or(0, |side| Tally::of(side).missing)
        };
        let needed = match answer.statements {
            None => 1,
            Some(_) => missing(&answer.statements) + missing(&answer.facts),
        };
        match measure(answer) {
            Ok(measures) => Self::Done(measures),
            Err(Unmeasured::JudgeFailed) if queued >= needed => Self::Pending,
            Err(why) => Self::Unmeasured(why),
        }
    }

    /// The name in SQL.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Done(_) => "done",
            Self::Unmeasured(why) => why.name(),
        }
    }

    /// The measures of an answer with all verdicts.
    pub fn measures(&self) -> Option<&Measures> {
        match self {
            Self::Done(measures) => Some(measures),
            Self::Pending | Self::Unmeasured(_) => None,
        }
    }

    /// The outcome of this name. `None` for an unknown name, and for `done` without measures.
    pub fn parse(name: &str, measures: Option<Measures>) -> Option<Self> {
        let is_named = |why: &Unmeasured| why.name() == name;
        match (name, measures) {
            ("pending", _) => Some(Self::Pending),
            ("done", Some(measures)) => Some(Self::Done(measures)),
            _ => Unmeasured::ALL
                .into_iter()
                .find(is_named)
                .map(Self::Unmeasured),
        }
    }
}
