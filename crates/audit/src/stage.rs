//! The stages of the pipeline at which a citation can be lost (I1).

use reground_citations::{LossStage, Status};
use serde::{Deserialize, Serialize};

/// A stage, in the order in which a source passes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The original changed or went.
    Document,
    /// It was split wrongly: a place that the passage does not have, or none at all.
    Chunk,
    /// It was not found.
    Retrieval,
    /// The reranker did not give it back.
    Rerank,
    /// It did not come into the context.
    Context,
    /// The model named nothing that there is, or the wrong source.
    Generation,
    /// What the model wrote cannot be read.
    Citation,
}

impl Stage {
    /// All, in their order: the number of a stage is its place.
    pub const ALL: [Self; 7] = [
        Self::Document,
        Self::Chunk,
        Self::Retrieval,
        Self::Rerank,
        Self::Context,
        Self::Generation,
        Self::Citation,
    ];

    /// The stable text that is stored and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Chunk => "chunk",
            Self::Retrieval => "retrieval",
            Self::Rerank => "rerank",
            Self::Context => "context",
            Self::Generation => "generation",
            Self::Citation => "citation",
        }
    }

    /// Where a citation of that verdict was lost; `None` where it was not.
    ///
    /// A place that the document has and the passage lacks is the chunker's doing, whatever factor it failed by.
    #[must_use]
    pub const fn of(status: Status, lost_at: Option<LossStage>) -> Option<Self> {
        match (status, lost_at) {
            (Status::Malformed, _) => Some(Self::Citation),
            (Status::InvalidPage, _) | (_, Some(LossStage::Coordinates)) => Some(Self::Chunk),
            (_, Some(LossStage::Retrieval)) => Some(Self::Retrieval),
            (_, Some(LossStage::Rerank)) => Some(Self::Rerank),
            (_, Some(LossStage::Context)) => Some(Self::Context),
            (_, Some(LossStage::Generation)) => Some(Self::Generation),
            (_, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_factor_has_its_stage() {
        let lost = |status, at| Stage::of(status, at).map(Stage::name);
        assert_eq!(lost(Status::ResolvedCurrent, None), None);
        assert_eq!(lost(Status::Malformed, None), Some("citation"));
        assert_eq!(lost(Status::Unresolvable, None), None);
        let page = lost(Status::InvalidPage, Some(LossStage::Context));
        assert_eq!(page, Some("chunk"));
        for (factor, stage) in LossStage::ALL.into_iter().zip(&Stage::ALL[1..]) {
            assert_eq!(lost(Status::Unretrieved, Some(factor)), Some(stage.name()));
        }
    }
}
