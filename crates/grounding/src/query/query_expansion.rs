//! The contextual query: a follow-up made to stand alone without a model, a stand-alone question left as it is.
//!
//! *Lexical side*: historical query expansion (Lin et al. 2021) as one weighted query. Words of earlier user turns and answers
//! are expansion_terms, each turn of age halving them; how many of them count is decided by their document frequencies, where these
//! are known (`reground_bm25::asked`). *Vector side*: the query is moved towards the passages that earlier answers cited, which
//! say better what the conversation is about than its questions do. How far both go is the [`lean`]. The constants come from
//! trials on MTRAG, cross-validated over conversations; they are flat around their values (docs/evaluation.md).

use std::collections::{BTreeMap, BTreeSet};

use super::turn_features::TurnFeatures;
use crate::passage::vectors::{cosine, directed, shifted};
use crate::query::intent::{Dependency, Intent, Judged};

/// What a turn of age keeps of the weight of the turn after it.
const FADE: f64 = 0.5;
/// Weight of a word of the last user turn, where a word of the query's own has 1.
const USER_WEIGHT: f64 = 0.1;
/// Weight of a word that the last answer has endlessly often; of one that it has once, half of it.
const ANSWER_WEIGHT: f64 = 0.15;
/// Words that are borrowed at most; of these the engine takes those that weigh most.
const MOST_BORROWED: usize = 150;
/// Length of what the vector is moved by towards the passages of the last turn, where the query's own has 1.
const CITED_WEIGHT: f64 = 0.2;
/// Turns whose words and passages tell how far a query leans on them.
const NEAR: usize = 3;
/// Likeness to the conversation up to which a query stands alone, and from which on it leans fully.
const LIKENESS: (f64, f64) = (0.1, 0.3);
/// Confidence from which on a new subject borrows nothing: someone said so.
const SURE: f64 = 0.9;

/// An answer without its citations, which are no words of it: `citations` are their bytes, in any order.
#[must_use]
pub fn without_citations(answer: &str, citations: &[(usize, usize)]) -> String {
    let mut rest = String::with_capacity(answer.len());
    let mut citations: Vec<(usize, usize)> = citations.to_vec();
    citations.sort_unstable();
    let mut from = 0;
    for (start, end) in citations {
        // Bytes of an answer that has been edited since say nothing: what is no boundary is left alone.
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

/// How far a query leans on the conversation, in [0, 1]; `earlier` newest last.
///
/// Fully if it cannot be understood alone, not at all if someone said that the subject is new. Else by its likeness: the
/// largest of its cosine to an earlier user turn, that to a passage cited in the last three turns, and the share of its words
/// that these turns have.
#[must_use]
pub fn history_dependence(
    query: &BTreeMap<String, u32>,
    embedding: Option<&[f32]>,
    judged: &Judged,
    earlier: &[TurnFeatures],
) -> f64 {
    if earlier.is_empty() || (judged.intent == Intent::NewTopic && judged.confidence >= SURE) {
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
    let mut likeness = shared as f64 / query.len() as f64;
    if let Some(own) = embedding {
        let turns = earlier.iter().filter_map(|turn| turn.embedding.as_ref());
        let passages = near().flat_map(|turn| &turn.cited);
        likeness = turns
            .chain(passages)
            .filter_map(|other| cosine(own, other))
            .fold(likeness, f64::max);
    }
    let (least, most) = LIKENESS;
    ((likeness - least) / (most - least)).clamp(0.0, 1.0)
}

/// The words to borrow with their weights, `strength` times the sum over the earlier turns of 0.5^(age − 1) · (0.1 for a word
/// of the user's + 0.15 · tf / (tf + 1) for one that the answer has `tf` times); none weighs 0.
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
        .take(MOST_BORROWED)
        .map(|(lexeme, weight)| (lexeme.to_owned(), weight))
        .collect()
}

/// The query's vector moved towards the passages that earlier answers cited: a turn's passages pull by the mean of their
/// directions, 0.2 · `strength` · 0.5^(age − 1) times the query's own length. Its length stays what it was.
#[must_use]
pub fn shift_embedding(query: &[f32], earlier: &[TurnFeatures], strength: f64) -> Vec<f32> {
    let pulls = faded(earlier).flat_map(|(turn, fade)| {
        let alike = |cited: &&[f32]| cited.len() == query.len() && directed(cited);
        let cited: Vec<&[f32]> = turn.cited.iter().map(Vec::as_slice).filter(alike).collect();
        let pull = strength * CITED_WEIGHT * fade / cited.len().max(1) as f64;
        cited.into_iter().map(move |cited| (pull, cited))
    });
    shifted(query, pulls)
}

/// The mean of the embeddings of a dialogue, as long as the last one: what all of it is nearest to.
#[must_use]
pub fn mean_embedding(query: &[f32], earlier: &[TurnFeatures]) -> Vec<f32> {
    let turns = earlier.iter().filter_map(|turn| turn.embedding.as_deref());
    shifted(query, turns.map(|turn| (1.0, turn)))
}

/// Earlier turns, newest first, with what is left of their weight.
fn faded(earlier: &[TurnFeatures]) -> impl Iterator<Item = (&TurnFeatures, f64)> {
    let fades = std::iter::successors(Some(1.0), |fade| Some(fade * FADE));
    earlier.iter().rev().zip(fades)
}

#[cfg(test)]
#[path = "query_expansion_tests.rs"]
mod tests;
