//! The settings of a turn as one typed struct.

use reground_citations::{GrammarRules, RepairMode};
use serde::{Deserialize, Serialize};

use super::choices::{
    CarryActivation, Fusion, KeepCandidates, LexicalSearch, LexicalStatistics, MarkerStyle,
    PassageOrder, Provenance, QueryFrom, StoreAnswers, VectorSearch,
};
use super::strategy::{Preset, Refresh, RetrieveAt, Strategy};
use crate::attention_model::{AttentionModel, DomainSpecificity};
use crate::error::GroundingError;

/// Everything that shapes a turn. [`SETTINGS`](super::SETTINGS) has unit, range and meaning of each setting for users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Passages requested from each branch, 1–1000, default 40.
    pub candidates: usize,
    /// Fused candidates for the reranker, 1–1000, default 40.
    pub rerank_top: usize,
    /// Maximum sources in the final context, 1–100, default 10.
    pub max_sources: usize,
    /// Token budget for the block of the sources in o200k_base tokens, 1–1,000,000, default 5000.
    pub max_tokens: usize,
    /// Slots reserved for carried sources, pins first, 0–100, default 1.
    pub reserved_slots: usize,
    /// Whether earlier sources are carried; pins always are. Default true.
    pub carry_over: bool,
    /// Minimum relevance τ, 0–1, of a carried source, default 1.
    pub carry_threshold: f64,
    /// Factor, 0–1, on the carry score for each ended turn, default 0.7.
    pub carry_decay: f64,
    /// Inactive turns after which a source is forgotten, 1–1000, default 3.
    pub carry_ttl_turns: u32,
    /// Seconds since its last use after which a source is not carried; `None` is off, the default.
    pub carry_max_age: Option<f64>,
    /// The condition for activity, default `cited`.
    pub carry_activation: CarryActivation,
    /// Maximum pins in a context, 0–100, default 3.
    pub max_pinned: usize,
    /// Whether twins count as one, default true.
    pub collapse_twins: bool,
    /// Whether adjacent passages are merged, default true.
    pub merge_adjacent: bool,
    /// Maximum o200k_base tokens of a merged passage, 1–100,000, default 512.
    pub max_merged_tokens: usize,
    /// Maximum o200k_base tokens of a passage in the context, 128–100,000, default 1024. A longer one gets a window.
    pub max_passage_tokens: usize,
    /// k of reciprocal rank fusion, 1–10,000, default 60.
    pub rrf_k: f64,
    /// Seconds in which a document loses half of what age takes from its score; `None` is off, the default.
    #[serde(default)]
    pub recency_half_life: Option<f64>,
    /// Whether graph neighbours of repeated nodes are looked up. Default false.
    pub graph: bool,
    /// Weight of the list of neighbours, 0–100, default 1.
    pub graph_weight: f64,
    /// How the lists are combined, default `scores`.
    pub fusion: Fusion,
    /// Share, 0–1, of the vector branch in the fusion, by default [`Fusion::vector_share`].
    pub vector_share: f64,
    /// The text of the query, default `contextual`.
    pub query_from: QueryFrom,
    /// Factor, 0–10, on the query expansion, default 1.
    pub history_weight: f64,
    /// `deferred`, or a function's signature; `None` keeps the fused order.
    pub reranker: Option<String>,
    /// A function's signature; `None` judges the intent by cues.
    pub intent_function: Option<String>,
    /// Facts extracted from each source, 0–10, default 2.
    pub facts_per_source: usize,
    /// Whether a turn without an embedding is an error. Default false.
    pub require_embedding: bool,
    /// Answerability, 0–1, below which a turn gets a warning, default 0.25.
    pub min_answerability: f64,
    /// How the lexical branch searches, default `auto`.
    pub lexical_search: LexicalSearch,
    /// The passages that the figures of BM25 count, default `all`. `visible` in any layer applies.
    pub lexical_statistics: LexicalStatistics,
    /// How the vector branch searches, default `auto`.
    pub vector_search: VectorSearch,
    /// Order of the passages in the prompt, default `score`.
    pub passage_order: PassageOrder,
    /// Form of the markers, default `A1`.
    pub marker_style: MarkerStyle,
    /// Candidates kept in the trace, default `all`.
    pub keep_candidates: KeepCandidates,
    /// Versions of the application's components.
    pub component_versions: Option<String>,
    /// The evidence stored for the origin of a citation, default `metadata`.
    pub provenance: Provenance,
    /// The stored part of an answer, default `full`.
    pub store_answers: StoreAnswers,
    /// The corrected copy of an answer that is stored; `None` is none, the default.
    pub repair: Option<RepairMode>,
    /// Additional citation forms; `None` is none, the default.
    pub citation_forms: Option<GrammarRules>,
    /// Language of the texts (`en`); `None` is that of the text search configuration, the default.
    pub language: Option<String>,
    /// Minimum support, 0–1, for a claim to count as supported, default 0.4.
    pub support_threshold: f64,
    /// How much more, 0–1, another source must support a claim for the citation to be wrong, default 0.2.
    pub other_source_margin: f64,
    /// Minimum share, 0–1, of the citations that hold, for an answer to be accepted, default 0.5.
    pub min_support_rate: f64,
    /// Minimum CFS, 0–1, for an answer to be accepted; `None` is off, the default.
    pub min_cfs: Option<f64>,
    /// Minimum mean of score × support, 0–1, for an answer to be accepted; `None` is off, the default.
    pub min_grounded_cfs: Option<f64>,
    /// Whether an answer without citations is refused. Default false.
    pub require_citations: bool,
    /// Earlier turns that the intent and the query use, 0–100, default 4.
    pub query_history: usize,
    /// The strategy for history, default `reground`: the preset of the next three settings.
    pub strategy: Strategy,
    /// The turns that may retrieve, by default as the strategy says.
    pub retrieve_at: RetrieveAt,
    /// When they replace the existing sources, by default as the strategy says.
    pub refresh: Refresh,
    /// Whether the history is limited to what the target allows, by default as the strategy says.
    pub compress: bool,
    /// Last question–answer pairs that are complete in every history, 0–100, default 2.
    pub history_exchanges: usize,
    /// Target accuracy of citations, 0–1, which limits the history, default 0.85; below `accuracy_baseline`.
    pub accuracy_target: f64,
    /// acc(0): accuracy of citations, 0–1, without any history, default 0.91.
    pub accuracy_baseline: f64,
    /// δ of the domain, default that of sections, 0.5.
    pub domain_specificity: DomainSpecificity,
    /// Whether the prompt has a note about contradictions in the history. Default false.
    pub history_note: bool,
    /// Whether the prompt names sources that contradict each other, and an answer that cites only one of them is refused. Default false.
    pub source_conflicts: bool,
    /// Whether answers to a first question can be returned again. Default false.
    pub reuse_answers: bool,
}

/// Weights of both branches in the fusion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BranchWeights {
    /// Of each lexical list.
    pub lexical: f64,
    /// Of the vector list.
    pub vector: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            candidates: 40,
            rerank_top: 40,
            max_sources: 10,
            max_tokens: 5000,
            reserved_slots: 1,
            carry_over: true,
            carry_threshold: 1.0,
            carry_decay: 0.7,
            carry_ttl_turns: 3,
            carry_max_age: None,
            carry_activation: CarryActivation::Cited,
            max_pinned: 3,
            collapse_twins: true,
            merge_adjacent: true,
            max_merged_tokens: 512,
            max_passage_tokens: 1024,
            rrf_k: 60.0,
            recency_half_life: None,
            graph: false,
            graph_weight: 1.0,
            fusion: Fusion::Scores,
            vector_share: Fusion::Scores.vector_share(),
            query_from: QueryFrom::Contextual,
            history_weight: 1.0,
            reranker: None,
            intent_function: None,
            facts_per_source: 2,
            require_embedding: false,
            min_answerability: 0.25,
            lexical_search: LexicalSearch::Auto,
            lexical_statistics: LexicalStatistics::All,
            vector_search: VectorSearch::Auto,
            passage_order: PassageOrder::Score,
            marker_style: MarkerStyle::Lettered,
            keep_candidates: KeepCandidates::All,
            component_versions: None,
            provenance: Provenance::Metadata,
            store_answers: StoreAnswers::Full,
            repair: None,
            citation_forms: None,
            language: None,
            support_threshold: 0.4,
            other_source_margin: 0.2,
            min_support_rate: 0.5,
            min_cfs: None,
            min_grounded_cfs: None,
            require_citations: false,
            query_history: 4,
            strategy: Strategy::Reground,
            retrieve_at: RetrieveAt::EveryTurn,
            refresh: Refresh::Always,
            compress: true,
            history_exchanges: 2,
            accuracy_target: 0.85,
            accuracy_baseline: 0.91,
            domain_specificity: DomainSpecificity::default(),
            history_note: false,
            source_conflicts: false,
            reuse_answers: false,
        }
    }
}

impl Settings {
    /// The settings that decide whether a turn retrieves.
    #[must_use]
    pub fn preset(&self) -> Preset {
        Preset {
            retrieve_at: self.retrieve_at,
            refresh: self.refresh,
            compress: self.compress,
        }
    }

    /// The attention model with the domain's figures.
    ///
    /// # Errors
    /// [`GroundingError::OutOfRange`] for a baseline or an exponent of 0.
    pub fn model(&self) -> Result<AttentionModel, GroundingError> {
        AttentionModel::new(self.accuracy_baseline, self.domain_specificity.delta())
    }

    /// Whether the texts are hashed, even if the relations contain hashes.
    #[must_use]
    pub fn hashes_texts(&self) -> bool {
        self.provenance >= Provenance::Hash
    }

    /// Whether the sources of the context are compared by their embeddings.
    #[must_use]
    pub fn compares_sources(&self) -> bool {
        self.provenance >= Provenance::Semantic
    }

    /// Whether the turn is a link in the hash chain of its conversation.
    #[must_use]
    pub fn chains(&self) -> bool {
        self.provenance >= Provenance::Merkle
    }

    /// Whether the text of an answer is stored.
    #[must_use]
    pub fn stores_answers(&self) -> bool {
        self.store_answers == StoreAnswers::Full
    }

    /// Whether the vector branch has a share in the fusion. A missing embedding is worth a warning only then.
    #[must_use]
    pub fn uses_embeddings(&self) -> bool {
        self.vector_share > 0.0
    }

    /// Weights of the branches in the fusion. Those of `rrf` are 1 for equal shares, as in the published formula.
    #[must_use]
    pub fn branch_weights(&self) -> BranchWeights {
        let scale = match self.fusion {
            Fusion::Rrf => 2.0,
            Fusion::Scores | Fusion::Integrated => 1.0,
        };
        BranchWeights {
            lexical: scale * (1.0 - self.vector_share),
            vector: scale * self.vector_share,
        }
    }
}
