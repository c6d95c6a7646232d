//! What a reranker says about the candidates (I7), whatever it gives back: scores, ids, indexes, or only texts.
//!
//! The context always gets the text from before the rerank; a text that comes back changed is a drift event.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

use crate::error::GroundingError;
use crate::passage::{Candidate, Dropped, Reason, Stage};
use crate::relevance::from_rerank;
use crate::warnings::Warning;

/// Least share of words in common (Jaccard) for a text to be taken for a candidate's.
const FUZZY_LEAST: f64 = 0.6;
/// By how much the best candidate must fit better than the second.
const FUZZY_MARGIN: f64 = 0.1;
/// Similarity from which a changed text is a minor drift.
const MINOR_DRIFT: f64 = 0.9;
/// Similarity from which a changed text is a major drift; under it, critical.
const MAJOR_DRIFT: f64 = 0.5;

/// An item of a reranker's answer; any of the fields may be missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reranked {
    /// Key of the passage.
    #[serde(default)]
    pub key: Option<String>,
    /// Its corpus, where candidates of several go by one key.
    #[serde(default)]
    pub corpus: Option<String>,
    /// Position in the list that was handed over, from 0.
    #[serde(default)]
    pub index: Option<i64>,
    /// The text as the reranker returned it.
    #[serde(default)]
    pub text: Option<String>,
    /// Its score, higher is better; where no item has one, the order of the items counts.
    #[serde(default)]
    pub score: Option<f64>,
}

/// How far a returned text is from the one that was handed over, by words in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// At least nine words in ten in common.
    Minor,
    /// At least half.
    Major,
    /// Less, so that the score may be about something else.
    Critical,
}

/// A text that a reranker changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriftEvent {
    /// Corpus of the passage.
    pub corpus: String,
    /// Key of the passage that the item was matched to.
    pub key: String,
    /// How far it changed.
    pub severity: Severity,
    /// Content hash of the passage (hex).
    pub original_hash: String,
    /// Content hash of what came back (hex).
    pub returned_hash: String,
}

/// A reranker's answer, in the candidates' order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Matched {
    /// The score of each candidate; `None` where none came back.
    pub scores: Vec<Option<f64>>,
    /// Texts that came back changed.
    pub drift: Vec<DriftEvent>,
    /// Items matched by similarity, or not at all.
    pub warnings: Vec<Warning>,
}

/// Maps a reranker's items back to the candidates: by key, by index, by content hash (of equal hashes the n-th item to
/// the n-th candidate), then by similar words where clearly one candidate fits, with a warning.
///
/// Exact matches are made first for all items, so that a fuzzy one never takes a candidate that a later item names.
/// Where items share a candidate the first one counts. A key that several candidates go by is none without their corpus or their
/// index. Of the candidates that were handed over, those at the places `withdrawn` are no longer among them.
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
    // An honest reranker returns no more items than it got: beyond that, similarity is not worth the time.
    let patience = candidates.len();
    for (nth, &item) in open.iter().enumerate() {
        let text = items
            .get(item)
            .and_then(|reranked| reranked.text.as_deref());
        let fits = text
            .filter(|_| nth < patience)
            .and_then(|text| matching.by_words(item, text));
        warnings.push(match fits {
            Some(key) => Warning::RerankFuzzy { item, key },
            None => Warning::RerankUnmatched { item },
        });
    }
    let scores = matching
        .taken
        .iter()
        .map(|item| score(items, (*item)?))
        .collect();
    let drift = matching.drift(items);
    Matched {
        scores,
        drift,
        warnings,
    }
}

/// Score of an item: its own, or its place where no item has a score (1 for the first, falling to 1/n).
fn score(items: &[Reranked], item: usize) -> Option<f64> {
    if items.iter().all(|reranked| reranked.score.is_none()) {
        return Some((items.len() - item) as f64 / items.len() as f64);
    }
    items.get(item)?.score.filter(|score| score.is_finite())
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
                .entry(candidate.passage.key.as_str())
                .or_default()
                .push(index);
            by_hash
                .entry(&candidate.passage.hash)
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
        let of_key = reranked.key.as_deref().and_then(|key| self.by_key.get(key));
        let of_key: Vec<usize> = of_key
            .into_iter()
            .flatten()
            .filter(corpus)
            .copied()
            .collect();
        let candidate = match (&of_key[..], index) {
            (&[only], _) => Some(only),
            // A key that names nobody is an id of the reranker's own; the index still counts.
            ([], index) => index,
            (several, index) => index.filter(|index| several.contains(index)),
        };
        candidate.is_some_and(|candidate| self.take(candidate, item))
    }

    fn by_hash(&mut self, item: usize, reranked: &Reranked) -> bool {
        let Some(text) = &reranked.text else {
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
                .map(|c| word_set(&c.passage.text))
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
            .map(|c| c.passage.key.clone())
    }

    fn drift(&self, items: &[Reranked]) -> Vec<DriftEvent> {
        let pairs = self.candidates.iter().zip(&self.taken);
        pairs
            .filter_map(|(candidate, item)| {
                let text = items.get((*item)?)?.text.as_deref()?;
                let returned_hash = reground_documents::content_hash_hex(text);
                let passage = &candidate.passage;
                (returned_hash != passage.hash).then(|| DriftEvent {
                    corpus: passage.corpus.clone(),
                    key: passage.key.clone(),
                    severity: severity(similarity(&word_set(&passage.text), &word_set(text))),
                    original_hash: passage.hash.clone(),
                    returned_hash,
                })
            })
            .collect()
    }
}

fn severity(similarity: f64) -> Severity {
    if similarity >= MINOR_DRIFT {
        Severity::Minor
    } else if similarity >= MAJOR_DRIFT {
        Severity::Major
    } else {
        Severity::Critical
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

/// The candidates after the rerank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scored {
    /// Best first: by rerank score, then fused score, then key; the fused order where nothing came back.
    pub candidates: Vec<Candidate>,
    /// Candidates that the reranker did not return.
    pub dropped: Vec<Dropped>,
    /// `rerank_missing` where any did not come back.
    pub warnings: Vec<Warning>,
}

/// Gives the candidates their rerank scores and orders them. Candidates without a score leave as `rerank_missing`; if
/// no score came back at all, everything stays in fused order, with the warning.
///
/// # Errors
/// [`GroundingError::RerankLength`] unless there is exactly one entry for each candidate.
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
        candidate.rerank = score.filter(|score| score.is_finite());
    }
    let missing = candidates.iter().filter(|c| c.rerank.is_none()).count();
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
        });
    }
    from_rerank(&mut candidates);
    let (mut candidates, lost): (Vec<_>, Vec<_>) =
        candidates.into_iter().partition(|c| c.rerank.is_some());
    candidates.sort_by(|a, b| {
        let score = |c: &Candidate| c.rerank.unwrap_or(f64::NEG_INFINITY);
        score(b)
            .total_cmp(&score(a))
            .then(b.fused.total_cmp(&a.fused))
            .then_with(|| a.passage.key.cmp(&b.passage.key))
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
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{arbitrary_passages, candidate, passage};
    use proptest::prelude::*;

    fn three() -> Vec<Candidate> {
        [
            "the cat sat on the mat today",
            "dogs bark at night in the yard",
            "birds sing early every morning",
        ]
        .iter()
        .enumerate()
        .map(|(i, text)| {
            candidate(
                passage("d", &format!("k{i}"), 9 * i as i32, 0, text),
                0.1 - i as f64 / 100.0,
            )
        })
        .collect()
    }

    fn item(
        key: Option<&str>,
        index: Option<i64>,
        text: Option<&str>,
        score: Option<f64>,
    ) -> Reranked {
        Reranked {
            corpus: None,
            key: key.map(Into::into),
            index,
            text: text.map(Into::into),
            score,
        }
    }

    fn matched_with(items: &[Reranked], candidates: &[Candidate]) -> Matched {
        match_reranked(items, candidates, &BTreeSet::new())
    }

    #[test]
    fn one_key_of_several_corpora_needs_its_corpus_or_its_index() {
        let mut candidates = three();
        for (candidate, corpus) in candidates.iter_mut().zip(["farm", "town", "farm"]) {
            candidate.passage.corpus = corpus.into();
        }
        candidates[1].passage.key = "k0".into();
        let of = |corpus: &str, score| Reranked {
            corpus: Some(corpus.into()),
            ..item(Some("k0"), None, None, Some(score))
        };
        let matched = matched_with(&[of("town", 0.9), of("farm", 0.1)], &candidates);
        assert_eq!(matched.scores, [Some(0.1), Some(0.9), None]);
        let by_index = [
            item(Some("k0"), Some(1), None, Some(0.9)),
            item(Some("k0"), Some(0), None, Some(0.1)),
        ];
        let matched = matched_with(&by_index, &candidates);
        assert_eq!(matched.scores, [Some(0.1), Some(0.9), None]);
        // The index of another passage settles nothing.
        let neither = [
            item(Some("k0"), None, None, Some(0.9)),
            item(Some("k0"), Some(2), None, Some(0.1)),
        ];
        let matched = matched_with(&neither, &candidates);
        assert_eq!(matched.scores, [None, None, None]);
        assert_eq!(matched.warnings.len(), 2);
    }

    #[test]
    fn indexes_count_what_was_withdrawn() {
        let left = three().split_off(1);
        let items = [(0, 0.1), (1, 0.9), (2, 0.2)];
        let items = items.map(|(index, score)| item(None, Some(index), None, Some(score)));
        let matched = match_reranked(&items, &left, &BTreeSet::from([0]));
        assert_eq!(matched.scores, [Some(0.9), Some(0.2)]);
        assert_eq!(matched.warnings, [Warning::RerankUnmatched { item: 0 }]);
    }

    #[test]
    fn key_index_hash_and_similar_words() {
        let items = [
            item(Some("k2"), None, None, Some(0.9)),
            item(Some("their-own-id"), Some(0), None, Some(0.5)),
            item(
                None,
                None,
                Some("Dogs bark at night in the yard!"),
                Some(0.1),
            ),
        ];
        let matched = matched_with(&items, &three());
        assert_eq!(matched.scores, [Some(0.5), Some(0.1), Some(0.9)]);
        assert_eq!(
            matched.warnings,
            [Warning::RerankFuzzy {
                item: 2,
                key: "k1".into()
            }]
        );
        assert_eq!(matched.drift.len(), 1);
        assert_eq!(matched.drift[0].severity, Severity::Minor);
    }

    #[test]
    fn white_space_is_no_drift_and_a_rewrite_is() {
        let items = [
            item(
                None,
                None,
                Some("the cat  sat on\nthe mat today"),
                Some(1.0),
            ),
            item(
                Some("k1"),
                None,
                Some("Cats, in short, are animals"),
                Some(2.0),
            ),
            item(None, None, Some("nothing alike"), Some(3.0)),
            item(None, Some(-1), None, Some(3.0)),
            item(None, Some(77), None, Some(3.0)),
        ];
        let matched = matched_with(&items, &three());
        assert_eq!(matched.scores, [Some(1.0), Some(2.0), None]);
        let severities: Vec<_> = matched
            .drift
            .iter()
            .map(|d| (d.key.as_str(), d.severity))
            .collect();
        assert_eq!(severities, [("k1", Severity::Critical)]);
        assert_eq!(matched.warnings.len(), 3);
    }

    #[test]
    fn equal_texts_go_to_candidates_in_order() {
        let twins: Vec<_> = (0..3)
            .map(|i| candidate(passage("d", &i.to_string(), i, 0, "same"), 0.1))
            .collect();
        let items: Vec<_> = [0.3, 0.2]
            .iter()
            .map(|s| item(None, None, Some("same"), Some(*s)))
            .collect();
        assert_eq!(
            matched_with(&items, &twins).scores,
            [Some(0.3), Some(0.2), None]
        );
    }

    #[test]
    fn an_order_without_scores_is_a_score() {
        let items = [
            item(Some("k2"), None, None, None),
            item(Some("k0"), None, None, None),
        ];
        let matched = matched_with(&items, &three());
        assert_eq!(matched.scores, [Some(0.5), None, Some(1.0)]);
    }

    #[test]
    fn missing_scores_leave_and_no_scores_change_nothing() {
        let scored = apply_scores(three(), &[Some(0.1), None, Some(0.9)]).unwrap();
        let keys: Vec<_> = scored
            .candidates
            .iter()
            .map(|c| c.passage.key.as_str())
            .collect();
        assert_eq!(keys, ["k2", "k0"]);
        assert_eq!(scored.dropped[0].reason, Reason::RerankMissing);
        assert_eq!(
            scored.warnings,
            [Warning::RerankMissing {
                missing: 1,
                candidates: 3
            }]
        );
        assert_eq!(scored.candidates[0].relevance, 1.0);

        let none = apply_scores(three(), &[None, Some(f64::NAN), None]).unwrap();
        assert_eq!(none.candidates, three());
        assert_eq!(
            none.warnings,
            [Warning::RerankMissing {
                missing: 3,
                candidates: 3
            }]
        );
        assert!(apply_scores(three(), &[None]).is_err());
    }

    proptest! {
        #[test]
        fn any_shuffle_with_texts_alone_finds_every_candidate(passages in arbitrary_passages(12), turn in 0usize..12) {
            let candidates: Vec<_> = passages.into_iter().map(|p| candidate(p, 0.1)).collect();
            let mut order: Vec<usize> = (0..candidates.len()).collect();
            order.rotate_left(turn % candidates.len());
            let items: Vec<_> = order.iter().map(|&i| item(None, None, Some(&candidates[i].passage.text), Some(i as f64))).collect();
            let matched = matched_with(&items, &candidates);
            prop_assert!(matched.drift.is_empty() && matched.warnings.is_empty());
            for (candidate, score) in candidates.iter().zip(&matched.scores) {
                let scored = &candidates[score.unwrap() as usize];
                prop_assert_eq!(&scored.passage.hash, &candidate.passage.hash);
            }
        }
    }
}
