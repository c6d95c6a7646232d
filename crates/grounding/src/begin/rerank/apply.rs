//! Rerank scores applied to the candidates.

use serde::{Deserialize, Serialize};

use crate::begin::relevance::from_rerank;
use crate::begin::rerank::severity::Severity;
use crate::begin::warnings::Warning;
use crate::error::GroundingError;
use crate::passage::{Candidate, Dropped, Reason, Stage};

/// The candidates after the rerank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scored {
    /// Best first: by rerank score, then fused score, then key; in fused order if there are no scores.
    pub candidates: Vec<Candidate>,
    /// Candidates that the reranker did not return.
    pub dropped: Vec<Dropped>,
    /// `rerank_missing` if any candidate has no score.
    pub warnings: Vec<Warning>,
    /// What the reranker received and lost; `None` without a rerank.
    pub rerank: Option<RerankLosses>,
}

/// The candidates that a reranker received, and those that it did not return.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RerankLosses {
    /// Number of candidates that it received.
    pub candidates: usize,
    /// The candidates without a score.
    pub lost: Vec<LostPassage>,
}

/// A passage that a reranker did not return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostPassage {
    /// Its corpus.
    pub corpus: String,
    /// Its key.
    pub chunk_id: String,
    /// Critical if all passages were lost.
    pub severity: Severity,
    /// Its content hash (hex).
    pub original_hash: String,
}

/// Applies the rerank scores and sorts the candidates. Candidates without a score are dropped as `rerank_missing`.
/// Without any score, the fused order stays, with the warning.
///
/// # Errors
/// [`GroundingError::RerankLength`] if the number of scores differs from the number of candidates.
pub fn apply_scores(
    mut candidates: Vec<Candidate>,
    scores: &[Option<f64>],
) -> Result<Scored, GroundingError> {
    if scores.len() != candidates.len() {
        let (returned, candidates) = (scores.len(), candidates.len());
        return Err(GroundingError::RerankLength {
            returned,
            candidates,
        });
    }
    let total = candidates.len();
    for (candidate, score) in candidates.iter_mut().zip(scores) {
        candidate.rerank_score = score.filter(|score| score.is_finite());
    }
    let without_score = || candidates.iter().filter(|c| c.rerank_score.is_none());
    let missing = without_score().count();
    let lost: Vec<LostPassage> = without_score()
        .map(|candidate| LostPassage {
            corpus: candidate.passage.corpus.clone(),
            chunk_id: candidate.passage.chunk_id.clone(),
            severity: Severity::of_loss(missing, total),
            original_hash: candidate.passage.content_hash.clone(),
        })
        .collect();
    let rerank = (total > 0).then_some(RerankLosses {
        candidates: total,
        lost,
    });
    let warnings = match missing {
        0 => Vec::new(),
        missing => vec![Warning::RerankMissing {
            missing,
            candidates: total,
        }],
    };
    if missing == total {
        return Ok(Scored {
            candidates,
            dropped: Vec::new(),
            warnings,
            rerank,
        });
    }
    from_rerank(&mut candidates);
    let (mut candidates, lost): (Vec<_>, Vec<_>) = candidates
        .into_iter()
        .partition(|c| c.rerank_score.is_some());
    candidates.sort_by(|a, b| {
        let score = |c: &Candidate| c.rerank_score.unwrap_or(f64::NEG_INFINITY);
        score(b)
            .total_cmp(&score(a))
            .then(b.fused_score.total_cmp(&a.fused_score))
            .then_with(|| a.passage.chunk_id.cmp(&b.passage.chunk_id))
    });
    let dropped = lost
        .into_iter()
        .map(|candidate| Dropped {
            candidate,
            stage: Stage::Rerank,
            reason: Reason::RerankMissing,
            into: None,
        })
        .collect();
    Ok(Scored {
        candidates,
        dropped,
        warnings,
        rerank,
    })
}
