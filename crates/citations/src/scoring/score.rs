//! The scores of an answer from the statuses of its citations.

use serde::{Deserialize, Serialize};

use crate::{Error, Judgement, Status};

/// The stages of a turn that the cited passage passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageFacts {
    /// The passage has coordinates.
    pub coordinates: bool,
    /// The passage was a candidate of this turn, or carried.
    pub retrieved: bool,
    /// The reranker returned the passage under its own id.
    pub reranked: bool,
    /// The passage was in the final context.
    pub in_context: bool,
}

impl StageFacts {
    /// The facts of a source of the context if nothing else is known.
    pub const IN_CONTEXT: Self = Self {
        coordinates: true,
        retrieved: true,
        reranked: true,
        in_context: true,
    };
    /// The facts of a passage that exists but was not retrieved.
    pub const NOT_RETRIEVED: Self = Self {
        coordinates: true,
        retrieved: false,
        reranked: false,
        in_context: false,
    };
}

/// The stage that a citation was lost at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossStage {
    /// The passage has no coordinates.
    Coordinates,
    /// The passage was not retrieved.
    Retrieval,
    /// The reranker dropped it.
    Rerank,
    /// It did not fit into the context.
    Context,
    /// The model wrote a citation that cannot be resolved, or cited the wrong source.
    Generation,
}

impl LossStage {
    /// The stages in their order.
    pub const ALL: [Self; 5] = [
        Self::Coordinates,
        Self::Retrieval,
        Self::Rerank,
        Self::Context,
        Self::Generation,
    ];

    /// The stable name that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Coordinates => "coordinates",
            Self::Retrieval => "retrieval",
            Self::Rerank => "rerank",
            Self::Context => "context",
            Self::Generation => "generation",
        }
    }
}

/// The five factors of a citation, in the order of [`LossStage::ALL`]: kept, lost, or `None` if the stage was not
/// reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Factors(pub [Option<bool>; 5]);

impl Factors {
    /// Returns the factors of a citation. All factors after the first loss are `None`. A place that exists
    /// nowhere is lost in generation and has no earlier factors. A malformed string has no factors.
    ///
    /// `facts` belong to the cited passage; `None` if they are unknown.
    pub fn of(status: Status, facts: Option<StageFacts>) -> Self {
        let generated = match status {
            Status::Malformed | Status::Unresolvable => return Self::default(),
            Status::UnknownId | Status::OutOfBounds => {
                return Self([None, None, None, None, Some(false)]);
            }
            status => !matches!(status, Status::WrongSource | Status::Unsupported),
        };
        let missed = matches!(
            status,
            Status::Unretrieved | Status::InvalidPage | Status::StaleTurn
        );
        let facts = facts.unwrap_or(if missed {
            StageFacts::NOT_RETRIEVED
        } else {
            StageFacts::IN_CONTEXT
        });
        let kept = [
            facts.coordinates,
            facts.retrieved,
            facts.reranked,
            facts.in_context && !missed,
            generated,
        ];
        let reached = kept.iter().take_while(|kept| **kept).count();
        let mut factors = [None; 5];
        for (factor, kept) in factors.iter_mut().zip(kept).take(reached + 1) {
            *factor = Some(kept);
        }
        Self(factors)
    }

    /// Returns the stage that the citation was lost at.
    pub fn lost_stage(&self) -> Option<LossStage> {
        let lost = self.0.iter().position(|factor| *factor == Some(false))?;
        Some(LossStage::ALL[lost])
    }

    /// Returns the product of the factors, 0 or 1; `None` if there are none.
    pub fn product(&self) -> Option<f64> {
        let reached = self.0.iter().any(Option::is_some);
        reached.then(|| {
            if self.lost_stage().is_some() {
                0.0
            } else {
                1.0
            }
        })
    }
}

/// The diagnostic of a message without a citation that has a score.
pub const NO_CITATIONS_FOUND: &str = "no_citations_found";

/// The scores of a message. The mean of no values is `None`, not 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MessageScores {
    /// Number of citation-like strings.
    pub citations: usize,
    /// Number of those with a score.
    pub scored: usize,
    /// Number of those that hold.
    pub holding: usize,
    /// Number of those that are malformed.
    pub malformed: usize,
    /// Number of those with author and year.
    pub unresolvable: usize,
    /// Weighted mean of the scores, in [0, 1].
    pub cfs: Option<f64>,
    /// Weighted mean of the products of the five factors, in [0, 1].
    pub stage_cfs: Option<f64>,
    /// Weighted mean of score × support, in [0, 1]. A citation with a score above 0 and unknown support is excluded.
    pub grounded_cfs: Option<f64>,
}

impl MessageScores {
    /// Returns [`NO_CITATIONS_FOUND`] if no citation has a score.
    pub fn diagnostic(&self) -> Option<&'static str> {
        (self.scored == 0).then_some(NO_CITATIONS_FOUND)
    }
}

/// Computes the scores of a message. `facts` has one entry for each judgement. `weight` returns the weight of a
/// judgement, 1 for equal weights.
///
/// # Errors
/// [`Error::StageFacts`] if the two lists differ in length.
pub fn score(
    judgements: &[Judgement],
    facts: &[Option<StageFacts>],
    weight: impl Fn(&Judgement) -> f64,
) -> Result<(MessageScores, Vec<Factors>), Error> {
    if judgements.len() != facts.len() {
        return Err(Error::StageFacts {
            citations: judgements.len(),
            given: facts.len(),
        });
    }
    let mut scores = MessageScores {
        citations: judgements.len(),
        ..MessageScores::default()
    };
    let mut factors = Vec::with_capacity(judgements.len());
    let (mut cfs, mut stage, mut grounded) = (Mean::default(), Mean::default(), Mean::default());
    for (judgement, facts) in judgements.iter().zip(facts) {
        let of_this = Factors::of(judgement.status, *facts);
        let weight = weight(judgement);
        scores.holding += usize::from(judgement.status.holds() == Some(true));
        scores.malformed += usize::from(judgement.status == Status::Malformed);
        scores.unresolvable += usize::from(judgement.status == Status::Unresolvable);
        if let Some(score) = judgement.status.score() {
            scores.scored += 1;
            cfs.add(score, weight);
            // A citation without a valid place has no support.
            let support = if score == 0.0 {
                Some(0.0)
            } else {
                judgement.support
            };
            if let Some(support) = support {
                grounded.add(score * support, weight);
            }
        }
        if let Some(product) = of_this.product() {
            stage.add(product, weight);
        }
        factors.push(of_this);
    }
    scores.cfs = cfs.value();
    scores.stage_cfs = stage.value();
    scores.grounded_cfs = grounded.value();
    Ok((scores, factors))
}

#[derive(Default)]
struct Mean {
    sum: f64,
    weight: f64,
}

impl Mean {
    fn add(&mut self, value: f64, weight: f64) {
        self.sum += value * weight;
        self.weight += weight;
    }

    fn value(&self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.weight)
    }
}
