//! Advice on whether to show an answer. The answer and its citations are stored in either case.

use serde::{Deserialize, Serialize};

use crate::{Judgement, MessageScores, Status};

/// The requirements for an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PolicyRules {
    /// Smallest citation fidelity, in [0, 1].
    pub min_cfs: Option<f64>,
    /// Whether an answer must have citations.
    pub require_citations: bool,
}

/// The advice to the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Show the answer.
    Accept,
    /// Ask the model again.
    Regenerate,
}

impl Action {
    /// The stable name that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Regenerate => "regenerate",
        }
    }
}

/// A reason against an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalReason {
    /// A citation names an id that exists nowhere.
    UnknownId,
    /// A citation names a page that the document does not have.
    OutOfBounds,
    /// Citation fidelity is below `min_cfs`.
    LowCfs,
    /// The answer has no citations, and they are required.
    NoCitations,
}

impl RefusalReason {
    /// The stable name that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownId => "unknown_id",
            Self::OutOfBounds => "out_of_bounds",
            Self::LowCfs => "low_cfs",
            Self::NoCitations => "no_citations",
        }
    }
}

/// The advice and its reasons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// The advice.
    pub action: Action,
    /// The reasons in a fixed order; empty if the answer is accepted.
    pub reasons: Vec<RefusalReason>,
}

/// Decides whether to show an answer. A place that does not exist is always a reason against it. Missing support is
/// not: it is computed from words alone, which should not cost a second call of a model.
pub fn decide(judgements: &[Judgement], scores: &MessageScores, rules: &PolicyRules) -> Decision {
    let any = |status| {
        judgements
            .iter()
            .any(|judgement| judgement.status == status)
    };
    let low = matches!((scores.cfs, rules.min_cfs), (Some(cfs), Some(least)) if cfs < least);
    let reasons = [
        (any(Status::UnknownId), RefusalReason::UnknownId),
        (any(Status::OutOfBounds), RefusalReason::OutOfBounds),
        (low, RefusalReason::LowCfs),
        (
            rules.require_citations && scores.scored == 0,
            RefusalReason::NoCitations,
        ),
    ];
    let reasons: Vec<_> = reasons
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
