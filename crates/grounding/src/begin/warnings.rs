//! Warnings of a turn: every fallback is reported. The names are stored in `turns.warnings` and do not change after a
//! release.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::passage::{Branch, Reason};

/// A warning of a turn, with its details.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "warning", rename_all = "snake_case")]
pub enum Warning {
    /// No embedding was given, so the vector branch was not searched.
    NoEmbedding,
    /// The lexical branch had no index and read the table.
    NoLexicalIndex,
    /// The lexical branch read many passages instead of an index.
    LexicalScan {
        /// Passages read.
        passages: u64,
    },
    /// A branch returned fewer passages than requested, although more exist.
    ShortBranch {
        /// The branch.
        branch: Branch,
        /// Passages returned.
        returned: usize,
        /// Passages asked for.
        asked: usize,
    },
    /// Neither branch found anything.
    NothingFound,
    /// The search found passages, but the corpus seems to have no answer.
    NothingFits {
        /// The answerability, below the setting `min_answerability`.
        answerability: f64,
    },
    /// The reranker left out some candidates, or all of them. In the latter case the fused order stays.
    RerankMissing {
        /// Number of candidates without a score.
        missing: usize,
        /// Number of candidates.
        candidates: usize,
    },
    /// A reranked item was matched only by similar text.
    RerankFuzzy {
        /// Position of the item in the reranker's result, from 0.
        item: usize,
        /// Key of the matched candidate.
        chunk_id: String,
    },
    /// A reranked item matches no candidate, or one that an earlier item has taken.
    RerankUnmatched {
        /// Position of the item in the reranker's result, from 0.
        item: usize,
    },
    /// The text of a carried source has changed since its last use.
    SourceChanged {
        /// The document's key.
        doc_id: String,
        /// The passage's key.
        chunk_id: String,
    },
    /// A pinned source cannot be read any more: it was deleted, or is not visible to this role.
    PinGone {
        /// The document's key.
        doc_id: String,
        /// The passage's key; empty for a pin on the document.
        chunk_id: String,
    },
    /// A source that the question names by its marker cannot be read any more: it was deleted or replaced, or is not
    /// visible to this role.
    NamedGone {
        /// The marker.
        marker: String,
    },
    /// The candidate that ranked first is not in the context.
    FirstDropped {
        /// The passage's key.
        chunk_id: String,
        /// Why it is not.
        reason: Reason,
    },
    /// No passage fits into the token budget, so the context is empty.
    BudgetTooSmall {
        /// The budget in tokens.
        max_tokens: usize,
    },
}

/// Number of passages from which reading them is slow enough for a warning.
const LARGE_SCAN: u64 = 10_000;

/// Whether reading this number of passages for a search is worth a warning.
#[must_use]
pub fn is_large_scan(passages: u64) -> bool {
    passages >= LARGE_SCAN
}

impl Warning {
    /// The stable name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::NoEmbedding => "no_embedding",
            Self::NoLexicalIndex => "no_lexical_index",
            Self::LexicalScan { .. } => "lexical_scan",
            Self::ShortBranch { .. } => "short_branch",
            Self::NothingFound => "nothing_found",
            Self::NothingFits { .. } => "nothing_fits",
            Self::RerankMissing { .. } => "rerank_missing",
            Self::RerankFuzzy { .. } => "rerank_fuzzy",
            Self::RerankUnmatched { .. } => "rerank_unmatched",
            Self::SourceChanged { .. } => "source_changed",
            Self::PinGone { .. } => "pin_gone",
            Self::NamedGone { .. } => "named_gone",
            Self::FirstDropped { .. } => "first_dropped",
            Self::BudgetTooSmall { .. } => "budget_too_small",
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEmbedding => f.write_str("no embedding was given: lexical search only"),
            Self::NoLexicalIndex => f.write_str("no lexical index: the table was read"),
            Self::LexicalScan { passages } => {
                write!(f, "the lexical branch read all {passages} visible passages")
            }
            Self::ShortBranch {
                branch,
                returned,
                asked,
            } => {
                let branch = branch.name();
                write!(
                    f,
                    "the {branch} branch returned {returned} of {asked} passages"
                )
            }
            Self::NothingFound => f.write_str("neither branch found a passage"),
            Self::NothingFits { answerability } => write!(
                f,
                "no passage seems to answer the question (answerability {answerability:.2})"
            ),
            Self::RerankMissing {
                missing,
                candidates,
            } => {
                write!(
                    f,
                    "the reranker left out {missing} of {candidates} candidates"
                )
            }
            Self::RerankFuzzy { item, chunk_id } => {
                write!(
                    f,
                    "reranked item {item} was taken for passage \"{chunk_id}\" by similar text"
                )
            }
            Self::RerankUnmatched { item } => {
                write!(f, "reranked item {item} matches no candidate")
            }
            Self::SourceChanged { doc_id, chunk_id } => {
                write!(
                    f,
                    "passage \"{chunk_id}\" of \"{doc_id}\" has changed since it was last used"
                )
            }
            Self::PinGone { doc_id, chunk_id } if chunk_id.is_empty() => {
                write!(f, "the pinned document \"{doc_id}\" cannot be read")
            }
            Self::PinGone { doc_id, chunk_id } => {
                write!(
                    f,
                    "the pinned passage \"{chunk_id}\" of \"{doc_id}\" cannot be read"
                )
            }
            Self::NamedGone { marker } => {
                write!(f, "the source [{marker}] of the question cannot be read")
            }
            Self::FirstDropped { chunk_id, reason } => {
                let reason = reason.name();
                write!(f, "the first passage, \"{chunk_id}\", left: {reason}")
            }
            Self::BudgetTooSmall { max_tokens } => {
                write!(f, "no passage fits into {max_tokens} tokens")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_name_equals_the_name() {
        let warnings = [
            Warning::NoEmbedding,
            Warning::NoLexicalIndex,
            Warning::LexicalScan { passages: 100_000 },
            Warning::ShortBranch {
                branch: Branch::Vector,
                returned: 3,
                asked: 40,
            },
            Warning::NothingFound,
            Warning::RerankMissing {
                missing: 1,
                candidates: 2,
            },
            Warning::RerankFuzzy {
                item: 0,
                chunk_id: "k".into(),
            },
            Warning::RerankUnmatched { item: 0 },
            Warning::SourceChanged {
                doc_id: "d".into(),
                chunk_id: "k".into(),
            },
            Warning::PinGone {
                doc_id: "d".into(),
                chunk_id: String::new(),
            },
            Warning::NamedGone {
                marker: "A1".into(),
            },
            Warning::FirstDropped {
                chunk_id: "k".into(),
                reason: Reason::OverTokenBudget,
            },
            Warning::BudgetTooSmall { max_tokens: 1 },
        ];
        for warning in warnings {
            let stored = serde_json::to_value(&warning).unwrap();
            assert_eq!(stored["warning"], warning.name());
            assert_eq!(serde_json::from_value::<Warning>(stored).unwrap(), warning);
            assert!(!warning.to_string().is_empty());
        }
    }
}
