//! Whether an answer may stand (I20). Advice to the application: nothing is lost either way.

use serde::{Deserialize, Serialize};

use crate::{Judgement, MessageScores, Status};

/// What an answer has to fulfil.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PolicyRules {
    /// Least citation fidelity, in [0, 1].
    pub min_cfs: Option<f64>,
    /// Whether an answer must cite at all.
    pub require_citations: bool,
}

/// What the application is advised to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Show the answer.
    Accept,
    /// Ask the model again.
    Regenerate,
}

impl Action {
    /// The stable text that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Regenerate => "regenerate",
        }
    }
}

/// Why an answer should not stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Objection {
    /// A citation names what exists nowhere.
    UnknownId,
    /// A citation names a page that its document does not have.
    OutOfBounds,
    /// Citation fidelity is below `min_cfs`.
    LowCfs,
    /// Nothing is cited, and something has to be.
    NoCitations,
}

impl Objection {
    /// The stable text that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownId => "unknown_id",
            Self::OutOfBounds => "out_of_bounds",
            Self::LowCfs => "low_cfs",
            Self::NoCitations => "no_citations",
        }
    }
}

/// The advice, and its reasons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// What to do.
    pub action: Action,
    /// Why, in a fixed order; empty when accepted.
    pub reasons: Vec<Objection>,
}

/// Decides. Made-up places always count against an answer. Support does not by itself: its first version goes by words,
/// and a verdict by words alone should not cost a second call of a model.
pub fn decide(judgements: &[Judgement], scores: &MessageScores, rules: &PolicyRules) -> Decision {
    let any = |status| {
        judgements
            .iter()
            .any(|judgement| judgement.status == status)
    };
    let low = matches!((scores.cfs, rules.min_cfs), (Some(cfs), Some(least)) if cfs < least);
    let objections = [
        (any(Status::UnknownId), Objection::UnknownId),
        (any(Status::OutOfBounds), Objection::OutOfBounds),
        (low, Objection::LowCfs),
        (
            rules.require_citations && scores.scored == 0,
            Objection::NoCitations,
        ),
    ];
    let reasons: Vec<_> = objections
        .into_iter()
        .filter_map(|(applies, objection)| applies.then_some(objection))
        .collect();
    Decision {
        action: if reasons.is_empty() {
            Action::Accept
        } else {
            Action::Regenerate
        },
        reasons,
    }
}
