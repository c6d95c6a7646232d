use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::json;
use unicode_segmentation::UnicodeSegmentation;

use super::*;
use crate::passage::Hit;
use crate::settings::Settings;

fn entities(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| normal_name(name)).collect()
}

/// The entities that a text names.
fn named(text: &str, names: &[&str]) -> Vec<String> {
    let all: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    // Each entity is in an earlier turn, so every entity that the text names repeats.
    let earlier = all.iter().map(|name| vec![name.as_str()]);
    let mut found = ConversationText::new([text], earlier).repeated(&entities(names), false);
    found.sort();
    found
}

#[test]
fn names_match_whole_words_in_any_script() {
    for (text, name) in [
        ("Who was ADA  Lovelace?", "Ada Lovelace"),
        ("what is Ada's method", "ada"),
        ("what is Ada\u{2019}s method", "ada"),
        ("Is C++ faster than C?", "C++"),
        ("does .NET run there", ".net"),
        ("L'Allemagne est grande", "Allemagne"),
        ("who wrote O'Brien\u{2019}s song", "o'brien"),
        ("北京大学在哪里", "北京大学"),
        ("где живёт Анна Каренина?", "анна каренина"),
        ("ποιος είναι ο ΟΔΥΣΣΕΥΣ", "Οδυσσευς"),
        ("cafe\u{301} or tea", "Café"),
        ("أين تقع القاهرة الآن", "القاهرة"),
    ] {
        assert_eq!(named(text, &[name]), [normal_name(name)], "{text}");
    }
    for (text, name) in [
        ("Adam was here", "Ada"),
        ("concatenate", "cat"),
        ("New Yorkers", "New York"),
        ("new-york", "new york"),
    ] {
        assert!(named(text, &[name]).is_empty(), "{text}");
    }
}

#[test]
fn of_overlapping_names_the_longest_counts() {
    let names = ["New York", "New York Times", "Times Square", "York"];
    assert_eq!(
        named("the New York Times of 1900", &names),
        ["new york times"]
    );
    assert_eq!(
        named("New York, Times Square", &names),
        ["new york", "times square"]
    );
    assert_eq!(named("New York Times Square", &names), ["new york times"]);
}

#[test]
fn a_node_repeats_in_two_turns() {
    let known = entities(&["Ada", "Byron", "Babbage"]);
    let spoken = |now: &str| {
        let first = vec!["Who was Ada?", "Ada was Byron's daughter. Ada, Ada."];
        let second = vec!["And who worked with Ada?", "Babbage did."];
        ConversationText::new([now], [first, second].map(|turn| turn.to_vec()))
            .keys()
            .into_iter()
            .map(str::to_owned)
            .collect::<BTreeSet<_>>()
    };
    assert!(known.iter().all(|name| spoken("x").contains(name)));
    let repeated = |now: &str, continues| {
        let first = vec!["Who was Ada?", "Ada was Byron's daughter. Ada, Ada."];
        let second = vec!["And who worked with Ada?", "Babbage did."];
        ConversationText::new([now], [first, second]).repeated(&known, continues)
    };
    assert_eq!(repeated("When did they meet?", true), ["ada"]);
    assert!(repeated("When did they meet?", false).is_empty());
    assert_eq!(repeated("When did Byron die?", false), ["byron"]);
    assert_eq!(repeated("When did Byron die?", true), ["byron", "ada"]);
    assert_eq!(repeated("Ada or Babbage?", false), ["ada", "babbage"]);
    // In a first turn nothing can repeat, and nothing is looked up.
    let alone = ConversationText::new(["Ada and Ada"], []);
    assert!(alone.keys().is_empty() && alone.repeated(&known, true).is_empty());
}

#[test]
fn neighbours_are_sorted_by_weight_nodes_and_key() {
    let edge = |entity: &str, weight, passage: &str| Neighbour {
        entity: entity.to_owned(),
        weight,
        chunk_id: passage.to_owned(),
    };
    let edges = [
        edge("a", 1.0, "p3"),
        edge("a", 1.0, "p2"),
        edge("b", 0.5, "p2"),
        edge("a", 1.0, "p1"),
        edge("a", 0.1, "p1"),
        edge("b", 2.0, "p4"),
    ];
    let order = nominate(&edges);
    let keys: Vec<&str> = order.iter().map(|hit| hit.chunk_id.as_str()).collect();
    assert_eq!(keys, ["p4", "p2", "p1", "p3"]);
    assert_eq!(
        neighbour_list(order, &BTreeSet::new(), &Settings::default()),
        None
    );
}

#[test]
fn hidden_neighbours_take_no_place_in_the_list() {
    let nominated: Vec<Hit> = (0..9)
        .map(|i| Hit {
            chunk_id: format!("p{i}"),
            value: 1.0,
        })
        .collect();
    let visible = (0..9).filter(|i| i % 3 > 0).map(|i| format!("p{i}"));
    let list = neighbour_list(nominated, &visible.collect(), &Settings::default()).unwrap();
    let keys: Vec<&str> = list.hits.iter().map(|hit| hit.chunk_id.as_str()).collect();
    assert_eq!(keys, ["p1", "p2", "p4", "p5", "p7"]);
}

#[test]
fn edges_are_parsed_and_errors_name_the_edge() {
    let read = edges(&json!([
        {"source": " Ada ", "relation": "daughter of", "target": "Byron", "chunk_id": 7, "doc_id": "lives", "weight": 2},
        {"source": "ADA", "target": "Babbage", "chunk_id": "8"},
        {"source": "ada", "relation": "daughter of", "target": "BYRON", "chunk_id": "7", "weight": 3},
    ]))
    .unwrap();
    let rows: Vec<_> = read
        .iter()
        .map(|e| {
            (
                e.source.as_str(),
                e.source_entity.as_str(),
                e.relation.as_str(),
                e.chunk_id.as_str(),
                e.weight,
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("ada", "ada", "daughter of", "7", 3.0),
            ("ADA", "ada", "related", "8", 1.0)
        ]
    );
    for (given, fault) in [
        (json!({}), "not a JSON array"),
        (
            json!([{"source": "a", "target": "b"}]),
            "edge 1: missing field `chunk_id`",
        ),
        (
            json!([{"source": " ", "target": "b", "chunk_id": "1"}]),
            "source is empty",
        ),
        (
            json!([{"source": "A", "target": "a", "chunk_id": "1"}]),
            "same entity",
        ),
        (
            json!([{"source": "a", "target": "b", "chunk_id": "1", "weight": 0}]),
            "weight is 0",
        ),
        (
            json!([{"source": "a", "target": "b", "chunk_id": "1", "colour": 0}]),
            "unknown field",
        ),
        (
            json!([{"source": "a".repeat(201), "target": "b", "chunk_id": "1"}]),
            "longer than 200",
        ),
        (
            json!([{"source": "a\u{0}", "target": "b", "chunk_id": "1"}]),
            "U+0000",
        ),
    ] {
        let error = edges(&given).unwrap_err();
        assert!(error.to_string().contains(fault), "{error}");
        assert!(!error.hint().is_empty());
    }
}

/// Word boundaries and apostrophes of a normalised text.
fn boundaries(text: &str) -> BTreeSet<usize> {
    let words = text.split_word_bound_indices().map(|(at, _)| at);
    let marks = text.match_indices('\'').flat_map(|(at, _)| [at, at + 1]);
    words.chain(marks).chain([text.len()]).collect()
}

/// The entities that a short text names, by brute force over entities and positions.
fn brute_force(text: &str, known: &BTreeSet<String>) -> BTreeSet<String> {
    let text = normal_name(text);
    let ends = boundaries(&text);
    let mut found: Vec<(usize, usize, &String)> = Vec::new();
    for name in known {
        for (at, _) in text.char_indices() {
            let end = at + name.len();
            if text[at..].starts_with(name.as_str()) && ends.contains(&at) && ends.contains(&end) {
                found.push((at, end, name));
            }
        }
    }
    found.sort_by_key(|(at, end, _)| (usize::MAX - (end - at), *at));
    let mut kept: Vec<(usize, usize, &String)> = Vec::new();
    for one in found {
        if kept
            .iter()
            .all(|other| one.1 <= other.0 || other.1 <= one.0)
        {
            kept.push(one);
        }
    }
    kept.into_iter().map(|(_, _, name)| name.clone()).collect()
}

/// Words, marks and scripts that touch, `fewest` to `most` of them.
fn wording(fewest: usize, most: usize) -> impl Strategy<Value = String> {
    let word = "(ab|B|c\\+\\+|é|京|大|d'e|O’n|F-g|\\.|ΣΑΣ)";
    let regex = format!("({word} ?){{{fewest},{most}}}");
    proptest::string::string_regex(&regex).unwrap()
}

proptest! {
    #[test]
    fn normal_names_are_idempotent(name in "\\PC{0,40}") {
        let once = normal_name(&name);
        prop_assert_eq!(normal_name(&once), once);
    }

    #[test]
    fn mentions_equal_a_search_for_every_node(
        text in wording(1, 10),
        names in proptest::collection::vec(wording(1, 4), 1..12),
    ) {
        let known: BTreeSet<String> = names.iter().map(|name| normal_name(name)).collect();
        let earlier: Vec<&str> = known.iter().map(String::as_str).collect();
        let spoken = ConversationText::new([text.as_str()], earlier.iter().map(|name| vec![*name]));
        let expected = brute_force(&text, &known);
        // The look-up keys contain every named entity.
        let keys: BTreeSet<&str> = spoken.keys().into_iter().collect();
        prop_assert!(expected.iter().all(|name| keys.contains(name.as_str())));
        let found = known.iter().filter(|name| keys.contains(name.as_str())).cloned().collect();
        let repeated: BTreeSet<String> = spoken.repeated(&found, false).into_iter().collect();
        prop_assert_eq!(repeated, expected);
    }

    #[test]
    fn any_text_is_accepted(now in "\\PC{0,300}", earlier in "\\PC{0,300}") {
        let spoken = ConversationText::new([now.as_str()], [vec![earlier.as_str()]]);
        let known: BTreeSet<String> = spoken.keys().into_iter().map(str::to_owned).collect();
        for name in spoken.repeated(&known, true) {
            prop_assert!(normal_name(&now).contains(&name) && normal_name(&earlier).contains(&name));
        }
    }

    #[test]
    fn nomination_is_a_total_order(edges in proptest::collection::vec((0..4_u8, 1..4_u8, 0..6_u8), 0..30)) {
        let mut edges: Vec<Neighbour> = edges
            .into_iter()
            .map(|(entity, weight, passage)| Neighbour {
                entity: entity.to_string(),
                weight: f64::from(weight),
                chunk_id: passage.to_string(),
            })
            .collect();
        let order = nominate(&edges);
        edges.reverse();
        prop_assert_eq!(&nominate(&edges), &order);
        let strongest: BTreeMap<&str, f64> = order.iter().map(|hit| (hit.chunk_id.as_str(), hit.value)).collect();
        prop_assert_eq!(strongest.len(), order.len());
        for edge in &edges {
            prop_assert!(strongest[edge.chunk_id.as_str()] >= edge.weight);
        }
        prop_assert!(order.windows(2).all(|two| two[0].value >= two[1].value));
    }
}
