use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{DecayRules, SourceKey, after_turn, with_pins_of};
use crate::memory::{ContextSource, RememberedSource};
use crate::passage::{Candidate, Origin, Passage};
use crate::settings::CarryActivation;

const RULES: DecayRules = DecayRules {
    decay: 0.7,
    ttl_turns: 3,
    activation: CarryActivation::Context,
};

pub(crate) fn shown(marker: &str, key: &str, origin: Origin, text: &str) -> ContextSource {
    ContextSource {
        marker: marker.to_owned(),
        position: 1,
        candidate: Candidate {
            relevance: 1.0,
            ..Candidate::bare(
                Passage {
                    corpus: "manual".to_owned(),
                    doc_id: "doc".to_owned(),
                    chunk_id: key.to_owned(),
                    version: None,
                    ordinal: None,
                    pages: None,
                    chars: None,
                    content: text.to_owned(),
                    content_hash: format!("hash of {text}"),
                    tokens: 1,
                    title: None,
                    uri: None,
                    published: None,
                    modified: None,
                    structured_locator: None,
                    text_config: None,
                    metadata: serde_json::Value::Null,
                    window_of: None,
                },
                origin,
            )
        },
        facts: Vec::new(),
        retrieval_no: 0,
    }
}

fn key(passage: &str) -> SourceKey {
    SourceKey {
        corpus: "manual".to_owned(),
        doc_id: "doc".to_owned(),
        chunk_id: passage.to_owned(),
    }
}

fn scores(memory: &[RememberedSource]) -> Vec<(&str, f64)> {
    memory
        .iter()
        .map(|source| (source.chunk_id.as_str(), source.carry_score))
        .collect()
}

#[test]
fn a_source_decays_and_is_forgotten_in_the_fourth_turn() {
    let mut memory = after_turn(
        &[],
        &[shown("A1", "p", Origin::Fresh, "t")],
        &BTreeSet::new(),
        &RULES,
    );
    // The scores at the turns t + 1, t + 2 and t + 3.
    for expected in [0.7, 0.49, 0.343] {
        assert_eq!(memory.len(), 1);
        assert!((memory[0].carry_score - expected).abs() < 1e-12);
        // Being carried into the context is not activity.
        memory = after_turn(
            &memory,
            &[shown("A1", "p", Origin::Carried, "t")],
            &BTreeSet::new(),
            &RULES,
        );
    }
    assert!(memory.is_empty());
}

#[test]
fn a_citation_reactivates_a_source() {
    let fresh = after_turn(
        &[],
        &[shown("A1", "p", Origin::Fresh, "t")],
        &BTreeSet::new(),
        &RULES,
    );
    let faded = after_turn(&fresh, &[], &BTreeSet::new(), &RULES);
    let cited = after_turn(&faded, &[], &BTreeSet::from([key("p")]), &RULES);
    assert_eq!(scores(&cited), [("p", 0.7)]);
    assert!(cited[0].cited && cited[0].inactive_turns == 0);
}

#[test]
fn a_source_that_was_unpinned_decays_from_now_on() {
    let pinned = RememberedSource {
        corpus: "manual".to_owned(),
        doc_id: "doc".to_owned(),
        chunk_id: "1".to_owned(),
        carry_score: 1.0,
        inactive_turns: 7,
        pinned: true,
        pin_order: Some(1),
        cited: false,
        content_hash: None,
    };
    let pins = [pinned.clone()];
    assert_eq!(with_pins_of(&pins, &pins), pins);
    let unpinned = RememberedSource {
        inactive_turns: 0,
        pinned: false,
        pin_order: None,
        ..pinned
    };
    assert_eq!(with_pins_of(&pins, &[]), std::slice::from_ref(&unpinned));
    // One that was not pinned keeps its age.
    let aged = [RememberedSource {
        inactive_turns: 2,
        ..unpinned
    }];
    assert_eq!(with_pins_of(&aged, &[]), aged);
}

#[test]
fn pins_do_not_decay() {
    let pin = RememberedSource {
        corpus: "manual".to_owned(),
        doc_id: "doc".to_owned(),
        chunk_id: String::new(),
        carry_score: 1.0,
        inactive_turns: 0,
        pinned: true,
        pin_order: Some(1),
        cited: false,
        content_hash: None,
    };
    let mut memory = vec![pin];
    for turn in 1..=10 {
        memory = after_turn(
            &memory,
            &[shown("A1", "p", Origin::Pinned, "t")],
            &BTreeSet::new(),
            &RULES,
        );
        assert_eq!(
            scores(&memory),
            [("", 1.0)],
            "a pinned passage alone does not enter memory"
        );
        assert_eq!(memory[0].inactive_turns, turn);
    }
}

#[test]
fn with_activation_cited_only_citations_count() {
    let rules = DecayRules {
        activation: CarryActivation::Cited,
        ..RULES
    };
    let context = [
        shown("A1", "p", Origin::Fresh, "t"),
        shown("A2", "q", Origin::Fresh, "u"),
    ];
    let memory = after_turn(&[], &context, &BTreeSet::from([key("q")]), &rules);
    assert_eq!(scores(&memory), [("q", 0.7)]);
    assert_eq!(memory[0].content_hash.as_deref(), Some("hash of u"));
}

/// A turn: the ones of eight passages that retrieval and memory showed, and the cited ones.
type Turn = (Vec<(u8, bool)>, BTreeSet<u8>);

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let shown = prop::collection::btree_map(0..8_u8, any::<bool>(), 0..6)
        .prop_map(|map| map.into_iter().collect());
    prop::collection::vec((shown, prop::collection::btree_set(0..8_u8, 0..3)), 0..12)
}

proptest! {
    /// The definition, backwards: the score of a passage is decay to the power of the turns since it was last active.
    #[test]
    fn carry_scores_follow_the_age_of_the_last_activity(turns in turns(), reverse in any::<bool>(), ttl in 0..6_u32, cited_only in any::<bool>()) {
        let rules = DecayRules {
            decay: 0.7,
            ttl_turns: ttl,
            activation: if cited_only { CarryActivation::Cited } else { CarryActivation::Context },
        };
        let mut memory = Vec::new();
        for (shown_now, cited) in &turns {
            let mut context: Vec<_> = shown_now
                .iter()
                .map(|(p, fresh)| shown("A1", &p.to_string(), if *fresh { Origin::Fresh } else { Origin::Carried }, "t"))
                .collect();
            if reverse {
                context.reverse();
                memory.reverse();
            }
            let cited = cited.iter().map(|p| key(&p.to_string())).collect();
            memory = after_turn(&memory, &context, &cited, &rules);
        }
        let mut expected = Vec::new();
        for p in 0..8_u8 {
            // Walk forward only to find out whether a cited source was still remembered.
            let mut last: Option<usize> = None;
            for (number, (shown_now, cited)) in turns.iter().enumerate() {
                let known = last.is_some_and(|last| ((number - 1 - last) as u32) < ttl);
                let fresh = shown_now.contains(&(p, true)) && !cited_only;
                let in_context = shown_now.iter().any(|(q, _)| *q == p);
                if fresh || (cited.contains(&p) && (in_context || known)) {
                    last = Some(number);
                }
            }
            if let Some(age) = last.map(|last| turns.len() - 1 - last).filter(|age| (*age as u32) < ttl) {
                expected.push((p.to_string(), 0.7_f64.powi(age as i32 + 1)));
            }
        }
        prop_assert_eq!(memory.len(), expected.len());
        for (source, (passage, carry_score)) in memory.iter().zip(&expected) {
            prop_assert_eq!(&source.chunk_id, passage);
            prop_assert!((source.carry_score - carry_score).abs() < 1e-12);
        }
    }
}
