use super::*;
use crate::fixtures::{candidate, carry_widely, passage};
use crate::query::plan::SubQuery;
use proptest::prelude::*;

/// Selects with the tokens of the texts as the tokens of the sources.
fn select(pool: Pool, effect: Effect, settings: &Settings) -> Selection {
    let budget = Budget {
        tokens: settings.max_tokens,
        of: &mut |candidate| candidate.passage.tokens as usize,
    };
    super::select(pool, effect, settings, budget)
}

fn tokens(selection: &Selection) -> usize {
    let sources = selection.sources.iter();
    sources.map(|c| c.passage.tokens as usize).sum()
}

fn one(key: &str, score: f64, tokens: u32) -> Candidate {
    let mut c = candidate(passage("d", key, 0, 0, key), score);
    c.passage.tokens = tokens;
    c
}

fn known(key: &str, relevance: f64, carry: f64) -> Candidate {
    Candidate {
        relevance,
        carry_score: Some(carry),
        origin: Origin::Carried,
        ..one(key, 0.0, 10)
    }
}

fn many(prefix: &str, n: usize) -> Vec<Candidate> {
    (0..n)
        .map(|i| one(&format!("{prefix}{i:02}"), 1.0 / (61 + i) as f64, 10))
        .collect()
}

fn effect(reserved_slots: usize) -> Effect {
    Effect {
        carries: true,
        reserved_slots,
        anchors: false,
    }
}

fn keys(selection: &Selection) -> Vec<&str> {
    selection
        .sources
        .iter()
        .map(|c| c.passage.chunk_id.as_str())
        .collect()
}

#[test]
fn unused_reserved_slots_go_to_fresh_candidates() {
    let settings = carry_widely();
    let carried = vec![
        known("c1", 0.6, 1.0),
        known("c2", 0.9, 1.0),
        known("c3", 0.9, 0.5),
        known("c4", 0.5, 0.7),
    ];
    let pool = Pool {
        fresh: many("f", 20),
        carried,
        ..Pool::default()
    };
    let selection = select(pool, effect(3), &settings);
    assert_eq!(
        keys(&selection)[..7],
        ["f00", "f01", "f02", "f03", "f04", "f05", "f06"]
    );
    assert_eq!(keys(&selection)[7..], ["c2", "c1", "c3"]);
    let c4 = selection
        .dropped
        .iter()
        .find(|d| d.candidate.passage.chunk_id == "c4")
        .unwrap();
    assert_eq!(c4.reason, Reason::OverReservedSlots);

    let pool = Pool {
        fresh: many("f", 20),
        carried: vec![known("c1", 0.6, 1.0)],
        ..Pool::default()
    };
    let selection = select(pool, effect(3), &settings);
    assert_eq!((keys(&selection).len(), keys(&selection)[9]), (10, "c1"));
    let few = Pool {
        fresh: many("f", 2),
        carried: (0..5).map(|i| known(&format!("c{i}"), 0.9, 1.0)).collect(),
        ..Pool::default()
    };
    assert_eq!(
        keys(&select(few, effect(3), &settings)),
        ["f00", "f01", "c0", "c1", "c2"]
    );
}

#[test]
fn pins_take_reserved_slots_first() {
    let pins = vec![
        Candidate {
            origin: Origin::Pinned,
            ..one("p1", 0.0, 10)
        },
        Candidate {
            origin: Origin::Pinned,
            ..one("p0", 0.0, 10)
        },
    ];
    let carried = vec![known("c1", 0.6, 1.0), known("c2", 0.9, 1.0)];
    let pool = Pool {
        pins,
        fresh: many("f", 20),
        carried,
        ..Pool::default()
    };
    let selection = select(pool, effect(3), &carry_widely());
    assert_eq!(
        (&keys(&selection)[..3], keys(&selection)[9]),
        (&["p1", "p0", "f00"][..], "c2")
    );
    assert_eq!(selection.sources.len(), 10);
}

#[test]
fn a_known_source_is_not_hurt_by_retrieval() {
    let mut fresh = many("f", 20);
    fresh[15].carry_score = Some(0.7);
    fresh[15].relevance = 0.8;
    fresh[2].carry_score = Some(0.7);
    fresh[2].relevance = 0.9;
    let selection = select(
        Pool {
            fresh,
            ..Pool::default()
        },
        effect(3),
        &carry_widely(),
    );
    let found = selection
        .sources
        .iter()
        .find(|c| c.passage.chunk_id == "f15")
        .unwrap();
    assert_eq!(found.origin, Origin::Carried);
    let other = selection
        .sources
        .iter()
        .find(|c| c.passage.chunk_id == "f02")
        .unwrap();
    assert_eq!(other.origin, Origin::Fresh);
    assert_eq!(selection.sources.len(), 10);
}

#[test]
fn a_small_budget_admits_fresh_and_carried() {
    let settings = Settings {
        max_tokens: 50,
        ..carry_widely()
    };
    let carried = (0..3).map(|i| known(&format!("c{i}"), 0.9, 1.0)).collect();
    let selection = select(
        Pool {
            fresh: many("f", 20),
            carried,
            ..Pool::default()
        },
        effect(3),
        &settings,
    );
    assert_eq!(keys(&selection), ["f00", "f01", "f02", "f03", "c0"]);
}

#[test]
fn smaller_passages_fill_up_to_min_sources() {
    let fill = |max_sources| {
        let settings = Settings {
            max_tokens: 200,
            max_sources,
            ..carry_widely()
        };
        let mut fresh = vec![one("a", 0.9, 60), one("big", 0.8, 150)];
        fresh.extend(many("small", 9));
        let pool = Pool {
            fresh,
            ..Pool::default()
        };
        select(pool, effect(0), &settings)
    };
    // 60 + 7 · 10 tokens: the budget has room for more, but there are enough sources.
    let selection = fill(10);
    let small: Vec<String> = (0..7).map(|i| format!("small{i:02}")).collect();
    assert_eq!(keys(&selection)[0], "a");
    assert_eq!(keys(&selection)[1..], small);
    assert_eq!(
        (selection.sources.len(), tokens(&selection)),
        (MIN_SOURCES, 130)
    );
    let reasons: Vec<Reason> = selection.dropped.iter().map(|d| d.reason).collect();
    assert_eq!(reasons, [Reason::OverTokenBudget; 3]);
    // max_sources may be lower.
    assert_eq!(keys(&fill(3)), ["a", "small00", "small01"]);
    // Without a passage that exceeds the budget the context may be larger.
    let pool = Pool {
        fresh: many("small", 10),
        ..Pool::default()
    };
    let selection = select(pool, effect(0), &carry_widely());
    assert_eq!(selection.sources.len(), 10);
}

#[test]
fn the_budget_limits_what_a_source_adds() {
    let mut asked = Vec::new();
    let budget = Budget {
        tokens: 100,
        of: &mut |candidate| {
            asked.push(candidate.passage.chunk_id.clone());
            candidate.passage.tokens as usize + 30
        },
    };
    let pool = Pool {
        fresh: vec![
            one("a", 0.9, 20),
            one("long", 0.8, 51),
            one("b", 0.7, 20),
            one("c", 0.6, 1),
        ],
        ..Pool::default()
    };
    let selection = super::select(pool, effect(0), &carry_widely(), budget);
    assert_eq!(keys(&selection), ["a", "b"]);
    // The text of "long" alone is too long, so it is not rendered. Nor is "c", for which no token is left.
    asked.dedup();
    assert_eq!(asked, ["a", "b"]);
}

#[test]
fn compared_entities_share_the_slots() {
    let mut fresh = many("f", 9);
    for (i, entity) in [(0, "x"), (1, "x"), (2, "x"), (5, "y"), (6, "y")] {
        fresh[i].entities = vec![entity.into()];
    }
    let settings = Settings {
        max_sources: 6,
        ..carry_widely()
    };
    let pool = Pool {
        fresh,
        entities: vec!["x".into(), "y".into()],
        ..Pool::default()
    };
    assert_eq!(
        keys(&select(pool, effect(0), &settings)),
        ["f00", "f05", "f03", "f01", "f06", "f04"]
    );
}

#[test]
fn edges_order_puts_the_weakest_in_the_middle() {
    let settings = Settings {
        passage_order: PassageOrder::Edges,
        ..carry_widely()
    };
    let selection = select(
        Pool {
            fresh: many("f", 5),
            ..Pool::default()
        },
        effect(0),
        &settings,
    );
    assert_eq!(keys(&selection), ["f00", "f02", "f04", "f03", "f01"]);
}

#[test]
fn the_first_candidate_is_shortened_to_the_rest_of_the_budget() {
    let text: String = (0..40)
        .map(|i| format!("The gate number {i} is opened at noon. "))
        .collect();
    let fresh = vec![
        candidate(passage("d", "long", 0, 0, &text), 0.2),
        candidate(passage("d", "second", 0, 0, &text), 0.1),
    ];
    let query = SubQuery {
        text: "number 33".into(),
        ..SubQuery::default()
    };
    let pool = |tokens| Pool {
        pins: vec![one("pin", 0.0, tokens)],
        fresh: fresh.clone(),
        words: QueryWords::of(std::slice::from_ref(&query)),
        ..Pool::default()
    };
    let settings = Settings {
        max_tokens: 60,
        ..carry_widely()
    };
    let selection = select(pool(40), effect(0), &settings);
    assert_eq!(keys(&selection), ["pin", "long"]);
    let shown = &selection.sources[1].passage;
    assert!(shown.content.contains("number 33") && shown.tokens <= 20);
    assert_eq!(tokens(&selection), 40 + shown.tokens as usize);
    let second = &selection.dropped[0];
    assert_eq!(second.candidate.passage.content, text);
    assert_eq!(second.reason, Reason::OverTokenBudget);
    // Not even a sentence fits.
    let selection = select(pool(58), effect(0), &settings);
    assert_eq!(keys(&selection), ["pin"]);
    // What the prompt adds to the text counts too.
    let budget = Budget {
        tokens: 60,
        of: &mut |candidate| candidate.passage.tokens as usize + 9,
    };
    let selection = super::select(pool(20), effect(0), &settings, budget);
    assert_eq!(keys(&selection), ["pin", "long"]);
    assert!(tokens(&selection) <= 60 - 2 * 9);
}

proptest! {
    #[test]
    fn limits_hold_and_no_candidate_is_lost(
        pins in 0usize..5,
        fresh in proptest::collection::vec((1u32..400, proptest::option::of(0.0f64..1.0), 0.0f64..1.0), 0..30),
        carried in proptest::collection::vec((1u32..400, 0.0f64..1.0, 0.5f64..1.0), 0..10),
        max_sources in 1usize..15,
        max_tokens in 1usize..2000,
        reserved in 0usize..8,
        edges in any::<bool>(),
    ) {
        let settings = Settings {
            max_sources, max_tokens,
            passage_order: if edges { PassageOrder::Edges } else { PassageOrder::Score },
            ..carry_widely()
        };
        let pool = Pool {
            pins: (0..pins).map(|i| Candidate { origin: Origin::Pinned, ..one(&format!("p{i}"), 0.0, 50) }).collect(),
            fresh: fresh.iter().enumerate().map(|(i, (tokens, carry, relevance))| Candidate {
                carry_score: *carry, relevance: *relevance, ..one(&format!("f{i:02}"), 1.0 / (61 + i) as f64, *tokens)
            }).collect(),
            carried: carried.iter().enumerate().map(|(i, (tokens, carry, relevance))| {
                let mut c = known(&format!("c{i:02}"), *relevance, *carry);
                c.passage.tokens = *tokens;
                c
            }).collect(),
            entities: vec![],
            words: Default::default(),
        };
        let total = pool.pins.len() + pool.fresh.len() + pool.carried.len();
        let selection = select(pool, effect(reserved), &settings);
        prop_assert!(tokens(&selection) <= max_tokens);
        prop_assert!(selection.sources.len() <= max_sources);
        let by = |origin| selection.sources.iter().filter(|c| c.origin == origin).count();
        prop_assert!(by(Origin::Carried) <= reserved.saturating_sub(by(Origin::Pinned)));
        let mut seen: Vec<_> = selection.sources.iter().map(|c| &c.passage.chunk_id)
            .chain(selection.dropped.iter().map(|d| &d.candidate.passage.chunk_id)).collect();
        seen.sort();
        seen.dedup();
        prop_assert_eq!(seen.len(), total);
        prop_assert_eq!(selection.sources.len() + selection.dropped.len(), total);
    }
}
