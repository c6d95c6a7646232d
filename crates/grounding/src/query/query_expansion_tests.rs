use super::*;
use crate::passage::vectors::norm;
use crate::query::intent::{PastTurn, classify};
use proptest::prelude::*;

fn counts(words: &[(&str, u32)]) -> BTreeMap<String, u32> {
    let each = words.iter();
    each.map(|(word, count)| ((*word).to_owned(), *count))
        .collect()
}

fn turn(query: &[(&str, u32)], answer: &[(&str, u32)]) -> TurnFeatures {
    TurnFeatures {
        query: counts(query),
        answer: counts(answer),
        ..TurnFeatures::default()
    }
}

fn judged(query: &str) -> JudgedIntent {
    let earlier = [PastTurn {
        query: "how do I reset my password".into(),
        ..PastTurn::default()
    }];
    classify(query, &earlier, None)
}

#[test]
fn weights_follow_the_formula() {
    let earlier = [
        turn(&[("password", 1)], &[("setting", 3)]),
        turn(&[("admin", 1), ("password", 2)], &[("role", 1)]),
    ];
    let terms = expansion_terms(&earlier, 0.5);
    let expected = [
        ("admin", 0.5 * 0.1),
        ("password", 0.5 * (0.1 + 0.5 * 0.1)),
        ("role", 0.5 * 0.15 / 2.0),
        ("setting", 0.5 * 0.5 * 0.15 * 3.0 / 4.0),
    ];
    assert_eq!(terms.len(), expected.len());
    for (lexeme, weight) in expected {
        assert!((terms[lexeme] - weight).abs() < 1e-15, "{lexeme}");
    }
    assert!(super::expansion_terms(&earlier, 0.0).is_empty());
}

#[test]
fn history_dependence_follows_shared_words() {
    let earlier = [turn(&[("password", 1), ("reset", 1)], &[("set", 1)])];
    let words = |words: &[&str]| counts(&words.iter().map(|word| (*word, 1)).collect::<Vec<_>>());
    let dependence =
        |query: &str, words| super::history_dependence(&words, None, &judged(query), &earlier);
    let unknown = words(&["gigabyt", "storag", "standard", "plan", "includ"]);
    let alone = "how many gigabytes of storage does the standard plan include";
    assert_eq!(dependence(alone, unknown.clone()), 0.0);
    let fifth = words(&["gigabyt", "storag", "standard", "plan", "password"]);
    assert!((dependence(alone, fifth) - 0.5).abs() < 1e-12);
    assert_eq!(dependence("and for admins?", words(&["admin"])), 1.0);
    assert_eq!(
        dependence("how long is it valid", words(&["long", "valid"])),
        1.0
    );
    assert_eq!(dependence("new topic: password", words(&["password"])), 0.0);
    assert_eq!(
        super::history_dependence(&unknown, None, &judged(alone), &[]),
        0.0
    );
}

#[test]
fn history_dependence_uses_the_nearest_embedding() {
    let mut earlier = [TurnFeatures::default(), TurnFeatures::default()];
    let words = counts(&[("storag", 1), ("plan", 1)]);
    let alone = judged("how many gigabytes of storage does the standard plan include");
    let dependence = |earlier: &[TurnFeatures]| {
        super::history_dependence(&words, Some(&[1.0, 0.0]), &alone, earlier)
    };
    assert_eq!(dependence(&earlier), 0.0);
    earlier[0].embedding = Some(vec![0.2, 0.96_f32.sqrt()]);
    assert!((dependence(&earlier) - 0.5).abs() < 1e-6);
    earlier[1].cited = vec![vec![0.0, 1.0], vec![3.0, 0.0], vec![1.0]];
    assert_eq!(dependence(&earlier), 1.0);
}

#[test]
fn the_vector_is_shifted_towards_cited_passages() {
    let mut earlier = [TurnFeatures::default(), TurnFeatures::default()];
    earlier[0].cited = vec![vec![0.0, 5.0], vec![0.0, 0.1]];
    let shifted = |strength| super::shift_embedding(&[3.0, 0.0], &earlier, strength);
    assert_eq!(shifted(0.0), [3.0, 0.0]);
    // One turn back: 0.2 · 0.5 of its own length, in the direction of both passages.
    let (x, y) = (1.0, 0.1_f64);
    let length = (x + y * y).sqrt();
    let expected = [3.0 / length, 3.0 * y / length];
    for (moved, expected) in shifted(1.0).iter().zip(expected) {
        assert!((f64::from(*moved) - expected).abs() < 1e-6);
    }
}

#[test]
fn citations_are_removed_from_an_answer() {
    let answer = "It is so [A1], é [B2][A1].";
    let places = |marker| {
        answer
            .match_indices(marker)
            .map(|(at, text)| (at, at + text.len()))
    };
    let citations: Vec<_> = places("[B2]").chain(places("[A1]")).collect();
    let plain = without_citations(answer, &citations);
    let words: Vec<&str> = plain.split_whitespace().collect();
    assert_eq!(words, ["It", "is", "so", ",", "é", "."]);
    // Not on a boundary, overlapping, beyond the end.
    for wrong in [[(15, 16)], [(0, 900)], [(900, 901)]] {
        assert_eq!(without_citations(answer, &wrong), answer);
    }
    assert_eq!(without_citations("abcdef", &[(0, 4), (2, 5)]), " ef");
}

fn vector() -> impl Strategy<Value = Vec<f32>> {
    proptest::collection::vec(-10.0_f32..10.0, 3)
}

proptest! {
    #[test]
    fn history_dependence_is_within_bounds_and_vectors_keep_their_length(
        query in "\\PC{0,60}", own in vector(), cited in proptest::collection::vec(vector(), 0..4),
        asked in proptest::option::of(vector()), words in proptest::collection::btree_map("[a-d]", 1_u32..4, 0..4),
        strength in 0.0..10.0_f64,
    ) {
        let earlier = [TurnFeatures { query: words.clone(), answer: words.clone(), embedding: asked, cited, ..TurnFeatures::default() }];
        let dependence = super::history_dependence(&words, Some(&own), &judged(&query), &earlier);
        prop_assert!((0.0..=1.0).contains(&dependence));
        for vector in [super::shift_embedding(&own, &earlier, strength), mean_embedding(&own, &earlier)] {
            prop_assert!((norm(&vector) - norm(&own)).abs() <= 1e-4 * norm(&own));
        }
        for (_, weight) in expansion_terms(&earlier, strength) {
            prop_assert!(weight > 0.0 && weight <= strength * (USER_WEIGHT + ANSWER_WEIGHT));
        }
        prop_assert_eq!(super::shift_embedding(&own, &[], strength), own);
    }

    #[test]
    fn any_vector_can_be_shifted(
        own in proptest::collection::vec(proptest::num::f32::ANY, 0..4), other in proptest::collection::vec(proptest::num::f32::ANY, 0..4),
    ) {
        let earlier = [TurnFeatures { cited: vec![other.clone()], embedding: Some(other.clone()), ..TurnFeatures::default() }];
        prop_assert_eq!(super::shift_embedding(&own, &earlier, 1.0).len(), own.len());
        prop_assert_eq!(mean_embedding(&own, &earlier).len(), own.len());
        prop_assert!(cosine(&own, &other).is_none_or(f64::is_finite));
    }
}
