//! The items that a reranker returns, matched to the candidates.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

use crate::begin::rerank::severity::Severity;
use crate::begin::warnings::Warning;
use crate::passage::Candidate;

/// Minimum share of common words (Jaccard) for a match by text.
const FUZZY_LEAST: f64 = 0.6;

/// Minimum lead of the best candidate over the second.
const FUZZY_MARGIN: f64 = 0.1;

/// An item of a reranker's result. Any field may be missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reranked {
    /// Key of the passage.
    #[serde(default)]
    pub chunk_id: Option<String>,
    /// Its corpus, if candidates of several corpora share a key.
    #[serde(default)]
    pub corpus: Option<String>,
    /// Position in the list given to the reranker, from 0.
    #[serde(default)]
    pub index: Option<i64>,
    /// The text as the reranker returned it.
    #[serde(default)]
    pub content: Option<String>,
    /// Its score, higher is better. If no item has one, the order of the items counts.
    #[serde(default)]
    pub score: Option<f64>,
}

/// A text that a reranker changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriftEvent {
    /// Corpus of the passage.
    pub corpus: String,
    /// Key of the passage that the item was matched to.
    pub chunk_id: String,
    /// How far it changed.
    pub severity: Severity,
    /// Content hash of the passage (hex).
    pub original_hash: String,
    /// Content hash of the returned text (hex).
    pub returned_hash: String,
}

/// A reranker's result, in the candidates' order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Matched {
    /// The score of each candidate; `None` if there is none.
    pub scores: Vec<Option<f64>>,
    /// Texts that were changed.
    pub drift: Vec<DriftEvent>,
    /// Items that were matched by similarity, or not at all.
    pub warnings: Vec<Warning>,
}

/// Matches a reranker's items to the candidates: by key, by index, by content hash (of equal hashes the n-th item to
/// the n-th candidate), then by similar words if one candidate clearly fits best, with a warning.
///
/// Exact matches of all items come first, so that a fuzzy match never takes a candidate that a later item names. If
/// several items match a candidate, the first counts. A key shared by several candidates needs their corpus or their
/// index. `withdrawn` lists the positions of candidates that were removed after the reranker received the list.
#[must_use]
pub fn match_reranked(
    items: &[Reranked],
    candidates: &[Candidate],
    withdrawn: &BTreeSet<usize>,
) -> Matched {
    let mut matching = Matching::new(candidates, withdrawn);
    let mut open: Vec<usize> = Vec::new();
    for (item, reranked) in items.iter().enumerate() {
        if !matching.by_name(item, reranked) {
            open.push(item);
        }
    }
    open.retain(|&item| {
        !items
            .get(item)
            .is_some_and(|reranked| matching.by_hash(item, reranked))
    });
    let mut warnings = Vec::new();
    // A correct reranker returns no more items than candidates. Further items are not compared by similarity, to save
    // time.
    let patience = candidates.len();
    for (nth, &item) in open.iter().enumerate() {
        let text = items
            .get(item)
            .and_then(|reranked| reranked.content.as_deref());
        let fits = text
            .filter(|_| nth < patience)
            .and_then(|text| matching.by_words(item, text));
        warnings.push(match fits {
            Some(chunk_id) => Warning::RerankFuzzy { item, chunk_id },
            None => Warning::RerankUnmatched { item },
        });
    }
    let has_scores = items.iter().any(|reranked| reranked.score.is_some());
    let score = |item: usize| match has_scores {
        true => items.get(item)?.score.filter(|score| score.is_finite()),
        // By position: 1 for the first item, down to 1/n.
        false => Some((items.len() - item) as f64 / items.len() as f64),
    };
    let scores = matching.taken.iter().map(|item| score((*item)?)).collect();
    let drift = matching.drift(items);
    Matched {
        scores,
        drift,
        warnings,
    }
}

struct Matching<'a> {
    candidates: &'a [Candidate],
    by_key: BTreeMap<&'a str, Vec<usize>>,
    by_place: BTreeMap<usize, usize>,
    by_hash: BTreeMap<&'a str, Vec<usize>>,
    taken: Vec<Option<usize>>,
    words: Option<Vec<BTreeSet<String>>>,
}

impl<'a> Matching<'a> {
    fn new(candidates: &'a [Candidate], withdrawn: &BTreeSet<usize>) -> Self {
        let places = (0..).filter(|place| !withdrawn.contains(place));
        let mut by_key: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut by_hash: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, candidate) in candidates.iter().enumerate() {
            by_key
                .entry(candidate.passage.chunk_id.as_str())
                .or_default()
                .push(index);
            by_hash
                .entry(&candidate.passage.content_hash)
                .or_default()
                .push(index);
        }
        Self {
            candidates,
            by_key,
            by_place: places.zip(0..candidates.len()).collect(),
            by_hash,
            taken: vec![None; candidates.len()],
            words: None,
        }
    }

    fn take(&mut self, candidate: usize, item: usize) -> bool {
        match self.taken.get_mut(candidate) {
            Some(slot @ None) => {
                *slot = Some(item);
                true
            }
            _ => false,
        }
    }

    fn by_name(&mut self, item: usize, reranked: &Reranked) -> bool {
        let index = reranked.index.and_then(|place| usize::try_from(place).ok());
        let index = index.and_then(|place| self.by_place.get(&place).copied());
        let corpus = |candidate: &&usize| {
            let own = self.candidates.get(**candidate).map(|c| &c.passage.corpus);
            reranked.corpus.is_none() || own == reranked.corpus.as_ref()
        };
        let of_key = reranked
            .chunk_id
            .as_deref()
            .and_then(|key| self.by_key.get(key));
        let of_key: Vec<usize> = of_key
            .into_iter()
            .flatten()
            .filter(corpus)
            .copied()
            .collect();
        let candidate = match (&of_key[..], index) {
            (&[only], _) => Some(only),
            // An unknown key is an id of the reranker's own. The index still counts.
            ([], index) => index,
            (several, index) => index.filter(|index| several.contains(index)),
        };
        candidate.is_some_and(|candidate| self.take(candidate, item))
    }

    fn by_hash(&mut self, item: usize, reranked: &Reranked) -> bool {
        let Some(text) = &reranked.content else {
            return false;
        };
        let hash = reground_documents::content_hash_hex(text);
        let free = self.by_hash.get(hash.as_str()).and_then(|same| {
            same.iter()
                .copied()
                .find(|&i| self.taken.get(i).is_some_and(Option::is_none))
        });
        free.is_some_and(|candidate| self.take(candidate, item))
    }

    fn by_words(&mut self, item: usize, text: &str) -> Option<String> {
        let candidates = self.candidates;
        let sets = self.words.get_or_insert_with(|| {
            candidates
                .iter()
                .map(|c| word_set(&c.passage.content))
                .collect()
        });
        let words = word_set(text);
        let mut fits: Vec<(f64, usize)> = sets
            .iter()
            .enumerate()
            .filter(|(i, _)| self.taken.get(*i).is_some_and(Option::is_none))
            .map(|(i, set)| (similarity(set, &words), i))
            .collect();
        fits.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let (best, candidate) = *fits.first()?;
        let second = fits.get(1).map_or(0.0, |fit| fit.0);
        if best < FUZZY_LEAST || best - second < FUZZY_MARGIN || !self.take(candidate, item) {
            return None;
        }
        self.candidates
            .get(candidate)
            .map(|c| c.passage.chunk_id.clone())
    }

    fn drift(&self, items: &[Reranked]) -> Vec<DriftEvent> {
        let pairs = self.candidates.iter().zip(&self.taken);
        pairs
            .filter_map(|(candidate, item)| {
                let text = items.get((*item)?)?.content.as_deref()?;
                let returned_hash = reground_documents::content_hash_hex(text);
                let passage = &candidate.passage;
                (returned_hash != passage.content_hash).then(|| DriftEvent {
                    corpus: passage.corpus.clone(),
                    chunk_id: passage.chunk_id.clone(),
                    severity: Severity::of_change(similarity(
                        &word_set(&passage.content),
                        &word_set(text),
                    )),
                    original_hash: passage.content_hash.clone(),
                    returned_hash,
                })
            })
            .collect()
    }
}

fn word_set(text: &str) -> BTreeSet<String> {
    text.unicode_words().map(str::to_lowercase).collect()
}

/// Jaccard similarity of two word sets; 0 for two empty ones.
fn similarity(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let common = a.intersection(b).count();
    let all = a.len() + b.len() - common;
    if all == 0 {
        0.0
    } else {
        common as f64 / all as f64
    }
}
