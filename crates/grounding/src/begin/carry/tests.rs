use super::*;
use crate::fixtures::{candidate, carry_widely, document, list, passage};
use crate::passage::{Branch, Metric};
use proptest::prelude::*;

fn remembered_source(key: &str, carry_score: f64) -> RememberedSource {
    RememberedSource {
        corpus: "manual".into(),
        doc_id: "d".into(),
        chunk_id: key.into(),
        carry_score,
        inactive_turns: 1,
        pinned: false,
        pin_order: None,
        cited: false,
        content_hash: None,
    }
}

fn text(key: &str) -> Passage {
    let place: u32 = key.bytes().map(u32::from).sum();
    passage("d", key, 0, place * 1000, &format!("text of {key}"))
}

/// A carried source with this relevance under [`scale`].
fn input(key: &str, carry_score: f64, relevance: f64) -> CarriedInput {
    let option = CarriedOption {
        handle: Some(key.to_owned()),
        passage: text(key),
        lexical_score: Some(20.0 * relevance),
        vector_distance: None,
    };
    CarriedInput {
        source: remembered_source(key, carry_score),
        options: vec![option],
        age: None,
        asked: None,
    }
}

fn marker_of(passage: &Passage) -> BoundMarker {
    crate::begin::assign_markers::bind(passage, "A1".into())
}

fn pinned(mut input: CarriedInput, order: i64) -> CarriedInput {
    input.source.pinned = true;
    input.source.pin_order = Some(order);
    input
}

/// The best fresh BM25 score is 20.
fn scale() -> Scale {
    Scale::of(&[list(Branch::Lexical, &["best"])], Metric::Cosine)
}

fn judged(intent: Intent, dependency: Dependency) -> JudgedIntent {
    JudgedIntent {
        intent,
        confidence: 1.0,
        signals: vec![],
        entities: vec![],
        dependency,
    }
}

fn run(
    fresh: &mut Vec<Candidate>,
    inputs: Vec<CarriedInput>,
    intent: Intent,
    settings: &Settings,
) -> Carried {
    carry(
        fresh,
        &mut vec![],
        inputs,
        &scale(),
        Effect::of(&judged(intent, Dependency::Soft), settings),
        settings,
    )
}

fn keys(list: &[Candidate]) -> Vec<&str> {
    list.iter().map(|c| c.passage.chunk_id.as_str()).collect()
}

fn reasons(out: &Carried) -> Vec<(&str, Reason)> {
    out.dropped
        .iter()
        .map(|d| (d.candidate.passage.chunk_id.as_str(), d.reason))
        .collect()
}

#[test]
fn decay_affects_the_order_but_not_the_threshold() {
    let settings = carry_widely();
    // b is less relevant but has a higher carry score: 0.6 × 1 > 0.8 × 0.49.
    let inputs = vec![
        input("a", 0.49, 0.8),
        input("b", 1.0, 0.6),
        input("c", 1.0, 0.49),
        input("e", 0.1, 0.5),
    ];
    let out = run(&mut vec![], inputs, Intent::DrillDown, &settings);
    assert_eq!(keys(&out.carried), ["b", "a", "e"]);
    assert_eq!(reasons(&out), [("c", Reason::BelowCarryThreshold)]);
}

#[test]
fn a_dependent_turn_keeps_the_last_citation() {
    let settings = carry_widely();
    let cited = |key, relevance, inactive_turns| {
        let mut input = input(key, 1.0, relevance);
        input.source.cited = true;
        input.source.inactive_turns = inactive_turns;
        input
    };
    // c was cited before the last turn, u is active without being cited.
    let mut inputs = vec![cited("a", 0.1, 0), cited("b", 0.2, 0), cited("c", 0.3, 1)];
    inputs.push(input("u", 1.0, 0.4));
    let run = |intent, dependency, inputs: &[CarriedInput], fresh: &mut Vec<Candidate>| {
        let effect = Effect::of(&judged(intent, dependency), &settings);
        carry(
            fresh,
            &mut vec![],
            inputs.to_vec(),
            &scale(),
            effect,
            &settings,
        )
    };
    let out = run(Intent::DrillDown, Dependency::Hard, &inputs, &mut vec![]);
    assert_eq!(keys(&out.carried), ["b"]);
    assert!(out.carried[0].anchors);
    // Found by retrieval, it competes for the slots as a fresh candidate.
    let mut fresh = vec![candidate(text("b"), 0.0)];
    let out = run(Intent::DrillDown, Dependency::Hard, &inputs, &mut fresh);
    assert!(out.carried.is_empty() && fresh[0].anchors);
    let effect = Effect::of(&judged(Intent::DrillDown, Dependency::Hard), &settings);
    assert!(eligible(&fresh[0], effect, &settings));
    for (intent, dependency) in [
        (Intent::DrillDown, Dependency::Soft),
        (Intent::NewTopic, Dependency::Hard),
    ] {
        let out = run(intent, dependency, &inputs, &mut vec![]);
        assert!(out.carried.is_empty(), "{intent:?}");
    }
}

#[test]
fn intents_and_carry_over_control_carrying() {
    let settings = carry_widely();
    let inputs = vec![input("a", 1.0, 1.0), pinned(input("p", 0.1, 0.0), 1)];
    let out = run(&mut vec![], inputs.clone(), Intent::NewTopic, &settings);
    assert_eq!((keys(&out.pins), keys(&out.carried)), (vec!["p"], vec![]));
    assert_eq!(reasons(&out), [("a", Reason::IntentDropsCarried)]);
    assert_eq!(
        Effect::of(&judged(Intent::SameSources, Dependency::Soft), &settings).reserved_slots,
        6
    );
    let off = Settings {
        carry_over: false,
        ..settings
    };
    let out = run(&mut vec![], inputs, Intent::DrillDown, &off);
    assert_eq!(reasons(&out), [("a", Reason::CarryOff)]);
    assert_eq!(keys(&out.pins), ["p"]);
}

#[test]
fn pins_keep_their_order_up_to_the_limit() {
    let settings = carry_widely();
    let inputs = (0..5)
        .map(|i| pinned(input(&"pqrst"[i..=i], 0.0, 0.0), 10 - i as i64))
        .collect();
    let out = run(&mut vec![], inputs, Intent::DrillDown, &settings);
    assert_eq!(keys(&out.pins), ["t", "s", "r"]);
    assert_eq!(
        reasons(&out),
        [("q", Reason::PinOverCap), ("p", Reason::PinOverCap)]
    );
}

#[test]
fn a_pinned_document_is_shown_by_its_best_passage() {
    let mut document = pinned(input("a", 1.0, 0.2), 1);
    document.source.chunk_id = String::new();
    document.options.extend(input("bb", 1.0, 0.7).options);
    document.options.extend(input("ccc", 1.0, 0.3).options);
    let out = run(
        &mut vec![],
        vec![document],
        Intent::NewTopic,
        &carry_widely(),
    );
    assert_eq!(keys(&out.pins), ["bb"]);
}

#[test]
fn retrieved_sources_are_fresh_and_retrieved_pins_are_pins() {
    let settings = carry_widely();
    let mut fresh = vec![candidate(text("a"), 0.03), candidate(text("pp"), 0.02)];
    let inputs = vec![input("a", 0.7, 0.9), pinned(input("pp", 0.3, 0.9), 1)];
    let out = run(&mut fresh, inputs, Intent::DrillDown, &settings);
    assert_eq!(keys(&fresh), ["a"]);
    assert_eq!(
        (fresh[0].carry_score, fresh[0].origin),
        (Some(0.7), Origin::Fresh)
    );
    assert_eq!(keys(&out.pins), ["pp"]);
    assert_eq!(
        (out.pins[0].fused_score, out.pins[0].origin),
        (0.02, Origin::Pinned)
    );
    assert_eq!(
        reasons(&out),
        [("pp", Reason::FoundFresh), ("a", Reason::FoundFresh)]
    );
}

#[test]
fn a_source_beyond_the_cut_keeps_its_ranks() {
    let settings = carry_widely();
    let mut beyond = vec![Candidate {
        lexical_rank: Some(44),
        ..candidate(text("a"), 0.009)
    }];
    let effect = Effect::of(&judged(Intent::DrillDown, Dependency::Soft), &settings);
    let out = carry(
        &mut vec![],
        &mut beyond,
        vec![input("a", 1.0, 0.6)],
        &scale(),
        effect,
        &settings,
    );
    assert!(beyond.is_empty());
    assert_eq!(
        (out.carried[0].lexical_rank, out.carried[0].origin),
        (Some(44), Origin::Carried)
    );
}

#[test]
fn unusable_sources_are_dropped_with_a_reason() {
    let settings = Settings {
        carry_max_age: Some(60.0),
        ..carry_widely()
    };
    let gone = CarriedInput {
        options: vec![],
        ..pinned(input("g", 1.0, 1.0), 1)
    };
    let mut changed = input("c", 1.0, 1.0);
    changed.source.content_hash = Some("another".into());
    let mut recycled = input("rr", 1.0, 1.0);
    recycled.options[0].passage.doc_id = "elsewhere".into();
    let old = CarriedInput {
        age: Some(61.0),
        ..input("ooo", 1.0, 1.0)
    };
    let out = run(
        &mut vec![],
        vec![gone, changed, recycled, old],
        Intent::DrillDown,
        &settings,
    );
    assert_eq!(keys(&out.carried), ["c"]);
    assert_eq!(
        reasons(&out),
        [
            ("g", Reason::Gone),
            ("ooo", Reason::Expired),
            ("rr", Reason::Changed)
        ]
    );
    let names: Vec<_> = out.warnings.iter().map(Warning::name).collect();
    assert_eq!(names, ["pin_gone", "source_changed"]);
}

/// A source that the question names by a marker of this text, and whose row has another one now.
fn named(row: &Passage, shown: &Passage) -> CarriedInput {
    let mut input = input("r", 0.5, 0.5);
    input.options[0].passage = row.clone();
    input.asked = Some(marker_of(shown));
    input
}

#[test]
fn named_windows_of_one_row_keep_their_texts() {
    let row = Passage {
        chars: None,
        ..passage("d", "r", 0, 0, "Tea is hot. Milk is cold. Salt is dry.")
    };
    let windows = [row.window_at(0, 11), row.window_at(12, 13)].map(Option::unwrap);
    let settings = Settings::default();
    let named_both = || windows.iter().map(|window| named(&row, window)).collect();
    let mut fresh = vec![candidate(row.clone(), 0.5)];
    let out = run(&mut fresh, named_both(), Intent::SameSources, &settings);
    let texts: Vec<&str> = out
        .pins
        .iter()
        .map(|pin| pin.passage.content.as_str())
        .collect();
    assert_eq!(texts, ["Tea is hot.", "Milk is cold."]);
    assert!(fresh.is_empty() && out.warnings.is_empty());
    // Named twice, a window is there once.
    let twice = vec![named(&row, &windows[0]), named(&row, &windows[0])];
    let out = run(&mut vec![], twice, Intent::SameSources, &settings);
    assert_eq!(out.pins.len(), 1);
}

#[test]
fn a_named_source_with_another_text_gives_a_warning() {
    let old = passage("d", "r", 0, 0, "Tea is hot.");
    let settings = Settings::default();
    let warnings = |input: CarriedInput| {
        let out = run(&mut vec![], vec![input], Intent::SameSources, &settings);
        out.warnings.iter().map(Warning::name).collect::<Vec<_>>()
    };
    let now = passage("d", "r", 0, 0, "Tea is old.");
    assert_eq!(warnings(named(&now, &old)), ["source_changed"]);
    assert!(warnings(named(&old, &old)).is_empty());
    let gone = CarriedInput {
        options: vec![],
        ..named(&old, &old)
    };
    assert_eq!(warnings(gone), ["named_gone"]);
    // The marker of a merged text begins or ends outside the passage.
    let merged = passage("d", "r", 0, 0, "Tea is hot. Milk is cold.");
    assert!(warnings(named(&old, &merged)).is_empty());
}

#[test]
fn a_merge_does_not_replace_a_named_passage() {
    let row = passage("d", "r", 0, 0, "Tea is hot.");
    let merge = Candidate {
        member_chunk_ids: vec!["r".into(), "s".into()],
        ..candidate(passage("d", "r", 0, 0, "Tea is hot. Milk is cold."), 0.9)
    };
    let settings = Settings::default();
    let mut fresh = vec![merge.clone()];
    let out = run(
        &mut fresh,
        vec![named(&row, &row)],
        Intent::SameSources,
        &settings,
    );
    assert_eq!(out.pins[0].passage.content, "Tea is hot.");
    assert_eq!(fresh.len(), 1);
    // Unless the marker is that of the merged text.
    let out = run(
        &mut fresh,
        vec![named(&row, &merge.passage)],
        Intent::SameSources,
        &settings,
    );
    assert_eq!(out.pins[0].passage.content, merge.passage.content);
    assert!(fresh.is_empty());
}

#[test]
fn a_source_that_the_question_names_stands_behind_the_pins() {
    let settings = Settings {
        carry_over: false,
        carry_max_age: Some(60.0),
        max_pinned: 1,
        ..Settings::default()
    };
    let asked = |key| CarriedInput {
        age: Some(61.0),
        asked: Some(marker_of(&text(key))),
        ..input(key, 0.1, 0.0)
    };
    let inputs = vec![
        asked("a"),
        asked("b"),
        pinned(input("p", 0.1, 0.0), 1),
        pinned(input("q", 0.1, 0.0), 2),
        input("u", 1.0, 1.0),
    ];
    // b is found too; it moves in front of the other fresh candidates.
    let mut fresh = vec![candidate(text("x"), 1.0), candidate(text("b"), 0.5)];
    let out = run(&mut fresh, inputs, Intent::SameSources, &settings);
    assert_eq!(keys(&out.pins), ["p", "a", "b"]);
    let origins: Vec<Origin> = out.pins.iter().map(|pin| pin.origin).collect();
    assert_eq!(origins, [Origin::Pinned, Origin::Carried, Origin::Carried]);
    assert_eq!(keys(&fresh), ["x"]);
    assert_eq!(
        reasons(&out),
        [
            ("q", Reason::PinOverCap),
            ("b", Reason::FoundFresh),
            ("u", Reason::CarryOff)
        ]
    );
}

proptest! {
    #[test]
    fn every_source_is_carried_pinned_or_dropped_once_in_any_order(
        sources in proptest::collection::vec((0usize..12, 0.0f64..1.0, 0.0f64..1.2, 0u8..4), 0..12),
        found in proptest::collection::btree_set(0usize..12, 0..6),
        swap in any::<bool>(),
    ) {
        let settings = carry_widely();
        let text = document(0, 800);
        let cut = |i: usize| passage("d", &format!("k{i}"), i as i32, i as u32 * 100, text.get(i * 100..i * 100 + 100).unwrap());
        let mut seen = std::collections::BTreeSet::new();
        let mut inputs: Vec<_> = sources.into_iter().filter(|s| seen.insert(s.0)).map(|(i, carry, relevance, pin)| {
            let mut one = input(&format!("k{i}"), carry, relevance);
            one.options[0].passage = cut(i);
            if pin == 0 { pinned(one, i as i64) } else { one }
        }).collect();
        let fresh: Vec<_> = found.iter().map(|&i| candidate(cut(i), 1.0 / (i + 1) as f64)).collect();
        let mut a = fresh.clone();
        let first = run(&mut a, inputs.clone(), Intent::DrillDown, &settings);
        let by = inputs.len().min(1);
        if swap { inputs.reverse() } else { inputs.rotate_left(by) }
        let mut b = fresh.clone();
        let second = run(&mut b, inputs.clone(), Intent::DrillDown, &settings);
        prop_assert_eq!(&first, &second);
        prop_assert_eq!(&a, &b);

        // No fresh candidate is lost, and every input is dropped, kept or covered by another.
        let mut left = keys(&a);
        left.extend(first.pins.iter().filter(|p| p.fused_score > 0.0).map(|p| p.passage.chunk_id.as_str()));
        left.sort_unstable();
        let mut were = keys(&fresh);
        were.sort_unstable();
        prop_assert_eq!(left, were);
        for one in &inputs {
            let key = one.source.chunk_id.as_str();
            let dropped = first.dropped.iter().filter(|d| d.candidate.passage.chunk_id == key).count();
            let stays = [&first.pins, &first.carried].iter()
                .map(|l| l.iter().filter(|c| c.passage.chunk_id == key && c.fused_score == 0.0).count()).sum::<usize>();
            prop_assert_eq!(dropped + stays, 1);
        }
        prop_assert!(first.pins.len() <= settings.max_pinned);
        prop_assert!(first.carried.iter().all(|c| c.relevance >= settings.carry_threshold));
    }
}

/// Keys are unique only within a corpus. A source of another corpus must not get the relevance of a passage with the
/// same key.
#[test]
fn a_key_of_another_corpus_gives_no_relevance() {
    let scale = scale();
    let mut option = input("best", 1.0, 0.0).options.remove(0);
    assert_eq!(relevance(&option, &scale), 1.0);
    option.handle = None;
    assert_eq!(relevance(&option, &scale), 0.0);
}
