//! Pipeline stages at which a citation can be lost.

use reground_citations::{LossStage, Status};
use serde::{Deserialize, Serialize};

/// A stage. Variants are in the order in which a source passes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The original document changed or was removed.
    Document,
    /// Chunking was wrong: the cited position does not exist, or is not in the passage.
    Chunk,
    /// The passage was not retrieved.
    Retrieval,
    /// The reranker did not return the passage.
    Rerank,
    /// The passage was not put into the context.
    Context,
    /// The model cited an unknown source or the wrong source.
    Generation,
    /// The citation cannot be parsed.
    Citation,
}

impl Stage {
    /// All stages in order. The number of a stage is its index.
    pub const ALL: [Self; 7] = [
        Self::Document,
        Self::Chunk,
        Self::Retrieval,
        Self::Rerank,
        Self::Context,
        Self::Generation,
        Self::Citation,
    ];

    /// Returns the stable name that is stored and shown.
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

    /// Returns the stage at which a citation with this verdict was lost, or `None` when it was not lost.
    ///
    /// A position that the document has and the passage lacks is an error of the chunker, independent of the failed factor.
    #[must_use]
    pub const fn of(status: Status, lost_stage: Option<LossStage>) -> Option<Self> {
        match (status, lost_stage) {
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
    fn every_factor_has_a_stage() {
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
