//! Tests of matching and of scores.

use std::collections::BTreeSet;

use super::*;
use crate::begin::warnings::Warning;
use crate::fixtures::{arbitrary_passages, candidate, passage};
use crate::passage::{Candidate, Reason};
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

fn item(key: Option<&str>, index: Option<i64>, text: Option<&str>, score: Option<f64>) -> Reranked {
    Reranked {
        corpus: None,
        chunk_id: key.map(Into::into),
        index,
        content: text.map(Into::into),
        score,
    }
}

fn matched_with(items: &[Reranked], candidates: &[Candidate]) -> Matched {
    match_reranked(items, candidates, &BTreeSet::new())
}

#[test]
fn a_shared_key_needs_its_corpus_or_its_index() {
    let mut candidates = three();
    for (candidate, corpus) in candidates.iter_mut().zip(["farm", "town", "farm"]) {
        candidate.passage.corpus = corpus.into();
    }
    candidates[1].passage.chunk_id = "k0".into();
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
    // The index of another passage does not help.
    let neither = [
        item(Some("k0"), None, None, Some(0.9)),
        item(Some("k0"), Some(2), None, Some(0.1)),
    ];
    let matched = matched_with(&neither, &candidates);
    assert_eq!(matched.scores, [None, None, None]);
    assert_eq!(matched.warnings.len(), 2);
}

#[test]
fn indexes_include_withdrawn_candidates() {
    let left = three().split_off(1);
    let items = [(0, 0.1), (1, 0.9), (2, 0.2)];
    let items = items.map(|(index, score)| item(None, Some(index), None, Some(score)));
    let matched = match_reranked(&items, &left, &BTreeSet::from([0]));
    assert_eq!(matched.scores, [Some(0.9), Some(0.2)]);
    assert_eq!(matched.warnings, [Warning::RerankUnmatched { item: 0 }]);
}

#[test]
fn items_match_by_key_index_and_similar_words() {
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
            chunk_id: "k1".into()
        }]
    );
    assert_eq!(matched.drift.len(), 1);
    assert_eq!(matched.drift[0].severity, Severity::Minor);
}

#[test]
fn rewritten_texts_drift_but_white_space_does_not() {
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
        .map(|d| (d.chunk_id.as_str(), d.severity))
        .collect();
    assert_eq!(severities, [("k1", Severity::Critical)]);
    assert_eq!(matched.warnings.len(), 3);
}

#[test]
fn equal_texts_match_candidates_in_order() {
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
fn items_without_scores_are_scored_by_position() {
    let items = [
        item(Some("k2"), None, None, None),
        item(Some("k0"), None, None, None),
    ];
    let matched = matched_with(&items, &three());
    assert_eq!(matched.scores, [Some(0.5), None, Some(1.0)]);
}

#[test]
fn candidates_without_scores_are_dropped_unless_all_lack_one() {
    let scored = apply_scores(three(), &[Some(0.1), None, Some(0.9)]).unwrap();
    let keys: Vec<_> = scored
        .candidates
        .iter()
        .map(|c| c.passage.chunk_id.as_str())
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

    let lost = |scored: Scored| -> Vec<(String, Severity)> {
        let lost = scored.rerank.unwrap().lost.into_iter();
        lost.map(|one| (one.chunk_id, one.severity)).collect()
    };
    assert_eq!(lost(scored), [("k1".into(), Severity::Major)]);
    let none = apply_scores(three(), &[None, Some(f64::NAN), None]).unwrap();
    assert_eq!(none.candidates, three());
    assert_eq!(
        none.warnings,
        [Warning::RerankMissing {
            missing: 3,
            candidates: 3
        }]
    );
    let critical = ["k0", "k1", "k2"].map(|key| (key.into(), Severity::Critical));
    assert_eq!(lost(none), critical);
    assert!(apply_scores(three(), &[None]).is_err());
}

proptest! {
    #[test]
    fn shuffled_texts_match_every_candidate(passages in arbitrary_passages(12), turn in 0usize..12) {
        let candidates: Vec<_> = passages.into_iter().map(|p| candidate(p, 0.1)).collect();
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        order.rotate_left(turn % candidates.len());
        let items: Vec<_> = order.iter().map(|&i| item(None, None, Some(&candidates[i].passage.content), Some(i as f64))).collect();
        let matched = matched_with(&items, &candidates);
        prop_assert!(matched.drift.is_empty() && matched.warnings.is_empty());
        for (candidate, score) in candidates.iter().zip(&matched.scores) {
            let scored = &candidates[score.unwrap() as usize];
            prop_assert_eq!(&scored.passage.content_hash, &candidate.passage.content_hash);
        }
    }
}
