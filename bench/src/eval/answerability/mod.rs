//! Answerability: does its value separate the questions that humans labelled answerable from the unanswerable ones?

pub mod judged;
pub mod run;

use reground_grounding::begin::answerability::Features;

use crate::data::Domain;
use crate::data::tasks::Answerability;

/// A turn with its label and the figures of its search.
#[derive(Debug, Clone)]
pub struct LabelledTurn {
    /// Its domain.
    pub domain: Domain,
    /// Conversation.
    pub conversation: String,
    /// What humans judged.
    pub label: Answerability,
    /// The features, computed again from the stored candidates.
    pub features: Features,
    /// The answerability that `begin_turn` returned.
    pub shipped: f64,
    /// Whether the turn has the warning `nothing_fits`.
    pub warned: bool,
    /// Largest cosine of the user's words alone with a passage.
    pub best_similarity: f64,
    /// Largest BM25 score of the user's words alone.
    pub best_bm25: f64,
}

/// A first question of another domain, asked to a corpus that has no answer to it.
#[derive(Debug, Clone)]
pub struct ForeignQuestion {
    /// The corpus.
    pub corpus: Domain,
    /// Whether the turn has the warning `nothing_fits`.
    pub warned: bool,
    /// The answerability that `begin_turn` returned.
    pub shipped: f64,
}

/// Everything that was measured.
#[derive(Debug, Default)]
pub struct Measured {
    /// All turns of the conversations.
    pub turns: Vec<LabelledTurn>,
    /// First questions asked to the other corpora.
    pub foreign: Vec<ForeignQuestion>,
}
