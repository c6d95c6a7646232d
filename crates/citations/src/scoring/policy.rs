//! Advice on whether to show an answer. The answer and its citations are stored in either case.

use serde::{Deserialize, Serialize};

use crate::{Judgement, MessageScores, Status, SupportParts};

/// The requirements for an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PolicyRules {
    /// Smallest share of the citations that hold, in [0, 1], of those that can be decided.
    pub min_support_rate: f64,
    /// Smallest citation fidelity, in [0, 1].
    pub min_cfs: Option<f64>,
    /// Smallest mean of score × support, in [0, 1].
    pub min_grounded_cfs: Option<f64>,
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
    /// A claim differs from the cited source in a number or a denial, and repeats it otherwise.
    Contradicted,
    /// The share of the citations that hold is below `min_support_rate`.
    FewHold,
    /// A citation cannot be read, and none holds.
    Malformed,
    /// Citation fidelity is below `min_cfs`.
    LowCfs,
    /// Mean of score × support is below `min_grounded_cfs`.
    LowGroundedCfs,
    /// The answer has no citations, and they are required.
    NoCitations,
    /// The answer relies on a source that another source of the context contradicts, and does not cite that one.
    OneSided,
}

impl RefusalReason {
    /// The stable name that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownId => "unknown_id",
            Self::OutOfBounds => "out_of_bounds",
            Self::Contradicted => "contradicted",
            Self::FewHold => "few_hold",
            Self::Malformed => "malformed",
            Self::LowCfs => "low_cfs",
            Self::LowGroundedCfs => "low_grounded_cfs",
            Self::NoCitations => "no_citations",
            Self::OneSided => "one_sided",
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

/// Decides whether to show an answer. A place that does not exist and a contradicted claim are always reasons against it. A single
/// citation without support among others is not: support is computed from words alone, which should not cost a second call
/// of a model. `one_sided` tells whether the answer cites only one side of a conflict of its sources.
pub fn decide(
    judgements: &[Judgement],
    scores: &MessageScores,
    one_sided: bool,
    rules: &PolicyRules,
) -> Decision {
    let any = |status| {
        judgements
            .iter()
            .any(|judgement| judgement.status == status)
    };
    let contradicted = judgements.iter().any(|judgement| {
        let parts = judgement.parts.as_ref();
        judgement.status.holds() == Some(false) && parts.is_some_and(SupportParts::contradicts)
    });
    let held = judgements.iter().map(|judgement| judgement.status.holds());
    let decided: Vec<bool> = held.flatten().collect();
    let holding = decided.iter().filter(|holds| **holds).count();
    let few = (holding as f64) < rules.min_support_rate * decided.len() as f64;
    let below = |value: Option<f64>, least: Option<f64>| matches!((value, least), (Some(value), Some(least)) if value < least);
    let reasons = [
        (any(Status::UnknownId), RefusalReason::UnknownId),
        (any(Status::OutOfBounds), RefusalReason::OutOfBounds),
        (contradicted, RefusalReason::Contradicted),
        (few, RefusalReason::FewHold),
        (
            any(Status::Malformed) && holding == 0,
            RefusalReason::Malformed,
        ),
        (below(scores.cfs, rules.min_cfs), RefusalReason::LowCfs),
        (
            below(scores.grounded_cfs, rules.min_grounded_cfs),
            RefusalReason::LowGroundedCfs,
        ),
        (
            rules.require_citations && scores.scored == 0,
            RefusalReason::NoCitations,
        ),
        (one_sided, RefusalReason::OneSided),
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
