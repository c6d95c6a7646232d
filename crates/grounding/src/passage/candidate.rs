//! Candidates: the passages that one turn considers, where they come from, and why they leave.

use serde::{Deserialize, Serialize};

use super::text::Passage;

/// Where a source of the context came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Found by this turn's retrieval.
    Fresh,
    /// Carried from an earlier turn, or ranked again with this turn's results.
    Carried,
    /// Pinned by the user.
    Pinned,
    /// Nominated by an edge of the knowledge graph, and found by no other branch of this turn.
    Graph,
    /// Provided by the application, from outside the corpora.
    Added,
    /// Cited by an earlier answer, and shown by its facts only.
    Remembered,
}

impl Origin {
    /// The stable name for storage and display.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Carried => "carried",
            Self::Pinned => "pinned",
            Self::Graph => "graph",
            Self::Added => "added",
            Self::Remembered => "remembered",
        }
    }
}

/// A passage under consideration in one turn, with its ranks and scores. Values that it does not have are not stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The passage. After a merge, its text, range, hash and tokens are those of the union.
    pub passage: Passage,
    /// Best rank over the lexical lists, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexical_rank: Option<u32>,
    /// Best BM25 score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexical_score: Option<f64>,
    /// Best rank over the vector lists, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector_rank: Option<u32>,
    /// Smallest distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector_distance: Option<f64>,
    /// Rank among the graph neighbours, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph_rank: Option<u32>,
    /// Factor on the fused score for the age of the document, with `recency_half_life`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recency: Option<f64>,
    /// Fused score, by the setting `fusion`; 0 for a carried passage that is in no list.
    pub fused_score: f64,
    /// The reranker's score, if a reranker ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank_score: Option<f64>,
    /// Relevance to this turn's query in [0, 1].
    pub relevance: f64,
    /// Carry score in [0, 1]; `None` for a passage that the conversation did not know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carry_score: Option<f64>,
    /// Whether it is the subject of a turn that cannot be understood alone, so that no threshold excludes it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub anchors: bool,
    /// Fresh, carried, pinned, of the graph or added.
    pub origin: Origin,
    /// Compared entities whose lists contain it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<String>,
    /// Keys of all passages merged into this one, in text order; only its own if nothing was merged.
    pub member_chunk_ids: Vec<String>,
    /// Other places with the same text: (document, passage).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_in: Vec<(String, String)>,
}

impl Candidate {
    /// A passage with only its origin known: without ranks, scores and merges.
    #[must_use]
    pub fn bare(passage: Passage, origin: Origin) -> Self {
        Self {
            member_chunk_ids: vec![passage.chunk_id.clone()],
            passage,
            lexical_rank: None,
            lexical_score: None,
            vector_rank: None,
            vector_distance: None,
            graph_rank: None,
            recency: None,
            fused_score: 0.0,
            rerank_score: None,
            relevance: 0.0,
            carry_score: None,
            anchors: false,
            origin,
            entities: Vec::new(),
            also_in: Vec::new(),
        }
    }

    /// Whether several passages were merged into it.
    #[must_use]
    pub fn is_merged(&self) -> bool {
        self.member_chunk_ids.len() > 1
    }
}

/// A score in the precision in which candidates are stored and shown: seven digits. A reranker can return numbers beyond its range.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "rounds")]
pub fn single_precision(score: f64) -> f32 {
    (score as f32).clamp(f32::MIN, f32::MAX)
}

/// The stages at which a candidate can leave, in their order. The stage of carry-over is first, because memory alone
/// brought those candidates in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Carry-over of earlier sources.
    Carry,
    /// Twins dropped and neighbours merged.
    Collapse,
    /// The cut to the candidates for the reranker, and the reranker itself.
    Rerank,
    /// Slots and token budget of the final context.
    Context,
}

impl Stage {
    /// The stable name for storage and display.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Carry => "carry",
            Self::Collapse => "collapse",
            Self::Rerank => "rerank",
            Self::Context => "context",
        }
    }
}

/// Why a candidate left. The names are stored and documented, so they do not change after a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Same text as a candidate that was kept.
    Twin,
    /// Almost the same words as a candidate that was kept, and the same statements.
    NearTwin,
    /// Merged into an adjacent candidate.
    Merged,
    /// Beyond the candidates for the reranker.
    BelowRerankCut,
    /// The reranker did not return it.
    RerankMissing,
    /// Relevance under the carry threshold.
    BelowCarryThreshold,
    /// The intent of this turn carries pins only.
    IntentDropsCarried,
    /// The setting `carry_over` is off.
    CarryOff,
    /// Older than `carry_max_age`.
    Expired,
    /// More carried sources than reserved slots.
    OverReservedSlots,
    /// More pins than `max_pinned`.
    PinOverCap,
    /// The context already holds `max_sources`.
    OverMaxSources,
    /// It did not fit into the token budget.
    OverTokenBudget,
    /// Carried, but its key now belongs to another document.
    Changed,
    /// Carried, but deleted or no longer visible to this role.
    Gone,
    /// Carried, but this turn's retrieval found it too.
    FoundFresh,
}

impl Reason {
    /// The stable name for storage and display.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Twin => "twin",
            Self::NearTwin => "near_twin",
            Self::Merged => "merged",
            Self::BelowRerankCut => "below_rerank_cut",
            Self::RerankMissing => "rerank_missing",
            Self::BelowCarryThreshold => "below_carry_threshold",
            Self::IntentDropsCarried => "intent_drops_carried",
            Self::CarryOff => "carry_off",
            Self::Expired => "expired",
            Self::OverReservedSlots => "over_reserved_slots",
            Self::PinOverCap => "pin_over_cap",
            Self::OverMaxSources => "over_max_sources",
            Self::OverTokenBudget => "over_token_budget",
            Self::Changed => "changed",
            Self::Gone => "gone",
            Self::FoundFresh => "found_fresh",
        }
    }
}

/// A candidate that did not reach the context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dropped {
    /// The candidate in its state when it left.
    pub candidate: Candidate,
    /// The stage at which it left.
    pub stage: Stage,
    /// The reason.
    pub reason: Reason,
    /// Key of the candidate that replaced it, for twins and merges.
    pub into: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stored names equal the JSON names.
    #[test]
    fn names_equal_the_json_names() {
        for stage in [Stage::Carry, Stage::Collapse, Stage::Rerank, Stage::Context] {
            assert_eq!(serde_json::to_value(stage).unwrap(), stage.name());
        }
        let mut reason = Some(Reason::Twin);
        while let Some(one) = reason {
            assert_eq!(serde_json::to_value(one).unwrap(), one.name());
            // Written as a chain, so that the compiler requires every new reason here.
            reason = match one {
                Reason::Twin => Some(Reason::NearTwin),
                Reason::NearTwin => Some(Reason::Merged),
                Reason::Merged => Some(Reason::BelowRerankCut),
                Reason::BelowRerankCut => Some(Reason::RerankMissing),
                Reason::RerankMissing => Some(Reason::BelowCarryThreshold),
                Reason::BelowCarryThreshold => Some(Reason::IntentDropsCarried),
                Reason::IntentDropsCarried => Some(Reason::CarryOff),
                Reason::CarryOff => Some(Reason::Expired),
                Reason::Expired => Some(Reason::OverReservedSlots),
                Reason::OverReservedSlots => Some(Reason::PinOverCap),
                Reason::PinOverCap => Some(Reason::OverMaxSources),
                Reason::OverMaxSources => Some(Reason::OverTokenBudget),
                Reason::OverTokenBudget => Some(Reason::Changed),
                Reason::Changed => Some(Reason::Gone),
                Reason::Gone => Some(Reason::FoundFresh),
                Reason::FoundFresh => None,
            };
        }
    }
}
