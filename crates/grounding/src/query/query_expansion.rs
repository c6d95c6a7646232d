//! Query expansion: a follow-up is expanded with terms of the conversation, without a model. A stand-alone question
//! stays unchanged.
//!
//! *Lexical side*: historical query expansion (Lin et al. 2021) as one weighted query. Terms of earlier user turns and
//! answers are added, halved in weight for each turn of age. Their document frequencies, if known, decide how many
//! count (`reground_bm25`). *Vector side*: the query vector is shifted towards the passages that earlier answers cited,
//! which describe the subject better than the questions do. [`history_dependence`] sets the strength of both. A context
//! embedding of the caller replaces the shift ([`add_context`]), whatever the dependence. The
//! constants come from experiments on MTRAG, cross-validated over conversations. Results change little around these
//! values (docs/evaluation.md).

use std::collections::{BTreeMap, BTreeSet};

use super::turn_features::TurnFeatures;
use crate::passage::vectors::{cosine, has_direction, shifted};
use crate::query::intent::{Dependency, Intent, JudgedIntent};

/// Factor on the weight for each turn of age.
const FADE: f64 = 0.5;
/// Smallest support with which a cited source tells the subject of a conversation. It does not follow the setting `support_threshold`: a
/// lower threshold of verdicts must not change which passages a follow-up finds.
pub const CLEAR_SUPPORT: f64 = 0.43;
/// Weight of a term of the last user turn; the query's own terms have 1.
const USER_WEIGHT: f64 = 0.1;
/// Limit of the weight of a term that the last answer repeats. A term that occurs once has half of it.
const ANSWER_WEIGHT: f64 = 0.15;
/// Maximum number of added terms. The search engine uses the terms with the highest weights.
const MAX_TERMS: usize = 150;
/// Length of the shift towards the passages of the last turn; the query vector has 1.
const CITED_WEIGHT: f64 = 0.2;
/// Length of the context embedding that is added to the embedding of a question; the question has 1.
const CONTEXT_WEIGHT: f64 = 0.5;
/// The same for a rewrite, which names most of the context itself.
const REWRITE_CONTEXT_WEIGHT: f64 = 0.25;
/// Recent turns whose terms and passages measure the history dependence.
const NEAR: usize = 3;
/// Similarity to the conversation at or below which a query stands alone, and from which on it depends fully.
const SIMILARITY_RANGE: (f64, f64) = (0.1, 0.3);
/// Confidence from which on a new topic adds no terms.
const SURE: f64 = 0.9;

/// An answer without its citations. `citations` are byte ranges of the answer, in any order.
#[must_use]
pub fn without_citations(answer: &str, citations: &[(usize, usize)]) -> String {
    let mut rest = String::with_capacity(answer.len());
    let mut citations: Vec<(usize, usize)> = citations.to_vec();
    citations.sort_unstable();
    let mut from = 0;
    for (start, end) in citations {
        // If the answer was edited later, a range may not fall on character boundaries. Such a range is ignored.
        if let Some(between) = answer.get(from..start)
            && answer.is_char_boundary(end)
        {
            rest.push_str(between);
            rest.push(' ');
            from = end;
        }
    }
    rest.push_str(answer.get(from..).unwrap_or_default());
    rest
}

/// How far a query depends on the conversation, in [0, 1]; `earlier` has the newest turn last.
///
/// 1 if the query cannot be understood alone, 0 if it is a new topic with high confidence. Otherwise it is scaled from
/// the similarity to the conversation: the largest of the cosines to earlier user turns, the cosines to passages cited
/// in the last three turns, and the share of the query's words that occur in these three turns.
#[must_use]
pub fn history_dependence(
    query: &BTreeMap<String, u32>,
    embedding: Option<&[f32]>,
    judged: &JudgedIntent,
    earlier: &[TurnFeatures],
) -> f64 {
    if earlier.is_empty() || starts_over(judged) {
        return 0.0;
    }
    if judged.dependency == Dependency::Hard || query.len() <= 1 {
        return 1.0;
    }
    let near = || earlier.iter().rev().take(NEAR);
    let said: BTreeSet<&String> = near()
        .flat_map(|turn| turn.query.keys().chain(turn.answer.keys()))
        .collect();
    let shared = query.keys().filter(|lexeme| said.contains(lexeme)).count();
    let mut similarity = shared as f64 / query.len() as f64;
    if let Some(own) = embedding {
        let turns = earlier.iter().filter_map(|turn| turn.embedding.as_ref());
        let passages = near().flat_map(|turn| &turn.cited);
        similarity = turns
            .chain(passages)
            .filter_map(|other| cosine(own, other))
            .fold(similarity, f64::max);
    }
    let (least, most) = SIMILARITY_RANGE;
    ((similarity - least) / (most - least)).clamp(0.0, 1.0)
}

/// Whether a query is a new topic with high confidence, so that the conversation adds nothing to it.
#[must_use]
pub fn starts_over(judged: &JudgedIntent) -> bool {
    judged.intent == Intent::NewTopic && judged.confidence >= SURE
}

/// The terms to add with their weights: `strength` times the sum over the earlier turns of 0.5^(age − 1) · (0.1 for a
/// term of the user + 0.15 · tf / (tf + 1) for a term that the answer contains `tf` times). Terms of weight 0 are left
/// out.
#[must_use]
pub fn expansion_terms(earlier: &[TurnFeatures], strength: f64) -> BTreeMap<String, f64> {
    let mut weights: BTreeMap<&str, f64> = BTreeMap::new();
    for (turn, fade) in faded(earlier) {
        for lexeme in turn.query.keys() {
            *weights.entry(lexeme).or_default() += fade * USER_WEIGHT;
        }
        for (lexeme, &count) in &turn.answer {
            let count = f64::from(count);
            *weights.entry(lexeme).or_default() += fade * ANSWER_WEIGHT * count / (count + 1.0);
        }
    }
    let mut ranked: Vec<(&str, f64)> = weights
        .into_iter()
        .map(|(lexeme, weight)| (lexeme, weight * strength))
        .filter(|(_, weight)| *weight > 0.0)
        .collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    ranked
        .into_iter()
        .take(MAX_TERMS)
        .map(|(lexeme, weight)| (lexeme.to_owned(), weight))
        .collect()
}

/// The query's vector shifted towards the passages that earlier answers cited. The passages of a turn pull by the mean
/// of their directions, 0.2 · `strength` · 0.5^(age − 1) times the length of the query. The length stays the same.
#[must_use]
pub fn shift_embedding(query: &[f32], earlier: &[TurnFeatures], strength: f64) -> Vec<f32> {
    let pulls = faded(earlier).flat_map(|(turn, fade)| {
        let alike = |cited: &&[f32]| cited.len() == query.len() && has_direction(cited);
        let cited: Vec<&[f32]> = turn.cited.iter().map(Vec::as_slice).filter(alike).collect();
        let pull = strength * CITED_WEIGHT * fade / cited.len().max(1) as f64;
        cited.into_iter().map(move |cited| (pull, cited))
    });
    shifted(query, pulls)
}

/// The query's vector with the context embedding added to its direction. The context has `strength` times half the length of a
/// question, or a quarter of that of a rewrite. The length of the query stays the same.
#[must_use]
pub fn add_context(query: &[f32], context: &[f32], is_rewritten: bool, strength: f64) -> Vec<f32> {
    let weight = if is_rewritten {
        REWRITE_CONTEXT_WEIGHT
    } else {
        CONTEXT_WEIGHT
    };
    shifted(query, [(strength * weight, context)])
}

/// The mean of the embeddings of a dialogue, at the length of the last one.
#[must_use]
pub fn mean_embedding(query: &[f32], earlier: &[TurnFeatures]) -> Vec<f32> {
    let turns = earlier.iter().filter_map(|turn| turn.embedding.as_deref());
    shifted(query, turns.map(|turn| (1.0, turn)))
}

/// Earlier turns, newest first, with the weights for their age.
fn faded(earlier: &[TurnFeatures]) -> impl Iterator<Item = (&TurnFeatures, f64)> {
    let fades = std::iter::successors(Some(1.0), |fade| Some(fade * FADE));
    earlier.iter().rev().zip(fades)
}

#[cfg(test)]
#[path = "query_expansion_tests.rs"]
mod tests;
