//! What the citations of an answer add up to (I4).

use serde::{Deserialize, Serialize};

use crate::{Error, Judgement, Status};

/// How far the passage that a citation names came in this turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageFacts {
    /// It has coordinates.
    pub coordinates: bool,
    /// It was among this turn's candidates, or carried.
    pub retrieved: bool,
    /// It left the reranker under its own key.
    pub reranked: bool,
    /// It was in the final context.
    pub in_context: bool,
}

impl StageFacts {
    /// A source of the context of which nothing else is known.
    pub const IN_CONTEXT: Self = Self {
        coordinates: true,
        retrieved: true,
        reranked: true,
        in_context: true,
    };
    /// A passage that exists and that this turn never saw.
    pub const NOT_RETRIEVED: Self = Self {
        coordinates: true,
        retrieved: false,
        reranked: false,
        in_context: false,
    };
}

/// The stage that lost a citation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossStage {
    /// The passage has no coordinates.
    Coordinates,
    /// It was not found.
    Retrieval,
    /// The reranker dropped it.
    Rerank,
    /// It did not fit into the context.
    Context,
    /// The model wrote what does not resolve, or cited the wrong thing.
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

    /// The stable text that is stored and shown.
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

/// The five factors of a citation, in the order of [`LossStage::ALL`]: kept, lost, or not reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Factors(pub [Option<bool>; 5]);

impl Factors {
    /// The factors of a citation (I4). After the first loss the rest is `None`; a place that exists nowhere is lost in
    /// generation and has no earlier factors; a string that could not be read has none at all.
    ///
    /// `facts` are those of the passage that it names, where the caller knows them.
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

    /// The stage that lost the citation.
    pub fn lost_at(&self) -> Option<LossStage> {
        let lost = self.0.iter().position(|factor| *factor == Some(false))?;
        Some(LossStage::ALL[lost])
    }

    /// The product of the factors, 0 or 1; `None` when there are none.
    pub fn product(&self) -> Option<f64> {
        let reached = self.0.iter().any(Option::is_some);
        reached.then(|| if self.lost_at().is_some() { 0.0 } else { 1.0 })
    }
}

/// What is said of a message when it cites nothing that can be scored.
pub const NO_CITATIONS_FOUND: &str = "no_citations_found";

/// The scores of a message. Means over nothing are `None`, never 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MessageScores {
    /// Citation-like strings.
    pub citations: usize,
    /// Those that have a score.
    pub scored: usize,
    /// Those that held.
    pub held: usize,
    /// Those that could not be read.
    pub malformed: usize,
    /// Those that give author and year.
    pub unresolvable: usize,
    /// Weighted mean of the scores, in [0, 1].
    pub cfs: Option<f64>,
    /// Weighted mean of the products of the five factors, in [0, 1].
    pub stage_cfs: Option<f64>,
    /// Weighted mean of score × support, in [0, 1]; a citation of unknown support and a score above 0 stays outside.
    pub grounded_cfs: Option<f64>,
}

impl MessageScores {
    /// [`NO_CITATIONS_FOUND`] when nothing could be scored.
    pub fn diagnostic(&self) -> Option<&'static str> {
        (self.scored == 0).then_some(NO_CITATIONS_FOUND)
    }

    /// Share of citation-like strings that could not be read (I6); with `author_year_expected`, author–year counts among
    /// them.
    pub fn parse_failure_rate(&self, author_year_expected: bool) -> Option<f64> {
        let failed = self.malformed
            + if author_year_expected {
                self.unresolvable
            } else {
                0
            };
        (self.citations > 0).then(|| failed as f64 / self.citations as f64)
    }
}

/// Adds up a message. `facts` has one entry for each judgement; `weight` says how much one counts (1 where all are equal).
///
/// # Errors
/// [`Error::StageFacts`] when the two lists differ in length.
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
        scores.held += usize::from(judgement.status.holds() == Some(true));
        scores.malformed += usize::from(judgement.status == Status::Malformed);
        scores.unresolvable += usize::from(judgement.status == Status::Unresolvable);
        if let Some(score) = judgement.status.score() {
            scores.scored += 1;
            cfs.add(score, weight);
            // Without a valid place there is nothing that support could be of.
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
