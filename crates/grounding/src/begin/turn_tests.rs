use std::collections::BTreeSet;

use super::*;
use crate::begin::carry::CarriedOption;
use crate::begin::fuse::BranchScores;
use crate::fixtures::{arbitrary_passages, carry_widely, list, passage};
use crate::memory::RememberedSource;
use crate::passage::Passage;
use crate::query::intent::classify;
use crate::query::plan::SubQuery;
use proptest::prelude::*;

fn remember(passage: &Passage, carry_score: f64, pinned: bool) -> CarriedInput {
    CarriedInput {
        source: RememberedSource {
            corpus: passage.corpus.clone(),
            doc_id: passage.doc_id.clone(),
            chunk_id: passage.chunk_id.clone(),
            carry_score,
            inactive_turns: 0,
            pinned,
            pin_order: pinned.then_some(1),
            cited: true,
            content_hash: Some(passage.content_hash.clone()),
        },
        options: vec![CarriedOption {
            handle: Some(passage.chunk_id.clone()),
            passage: passage.clone(),
            lexical_score: Some(15.0),
            vector_distance: None,
        }],
        age: None,
        asked: None,
    }
}

fn turn(
    passages: Vec<Passage>,
    lists: Vec<RankedList>,
    carried: Vec<CarriedInput>,
    query: &str,
) -> GatherInput {
    let earlier = [crate::query::intent::PastTurn {
        query: "before".into(),
        ..Default::default()
    }];
    // All passages have vectors, and the other hits are farther away than those of the vector list.
    let hits = lists.iter().flat_map(|list| &list.hits);
    let near: BTreeSet<&String> = lists
        .iter()
        .filter(|list| list.branch == Branch::Vector)
        .flat_map(|list| &list.hits)
        .map(|hit| &hit.chunk_id)
        .collect();
    let far = hits.filter(|hit| !near.is_empty() && !near.contains(&hit.chunk_id));
    let distances = far.map(|hit| (hit.chunk_id.clone(), 0.6)).collect();
    GatherInput {
        results: SearchResults {
            scores: BranchScores {
                distances,
                ..BranchScores::default()
            },
            lists,
            passages: passages
                .into_iter()
                .map(|p| (p.chunk_id.clone(), p))
                .collect(),
            ..SearchResults::default()
        },
        carried,
        had: Default::default(),
        judged: classify(query, &earlier, None),
        words: Default::default(),
        missing_words: 0,
    }
}

fn spread(n: usize) -> Vec<Passage> {
    (0..n)
        .map(|i| {
            passage(
                &format!("d{i}"),
                &format!("k{i:02}"),
                0,
                0,
                &format!("Passage number {i} of many. It is right here today."),
            )
        })
        .collect()
}

/// A gathered turn with 40 candidates. Memory contains k58, the pin k59, and k15, which retrieval finds too.
fn gathered_turn(settings: &Settings) -> Gathered {
    let passages = spread(60);
    let keys: Vec<_> = passages.iter().map(|p| p.chunk_id.clone()).collect();
    let keys: Vec<_> = keys.iter().map(String::as_str).collect();
    let lists = vec![
        list(Branch::Lexical, &keys[..40]),
        list(Branch::Vector, &keys[15..55]),
    ];
    let carried = vec![
        remember(&passages[58], 0.7, false),
        remember(&passages[59], 0.49, true),
        remember(&passages[15], 1.0, false),
    ];
    let gathered = gather(turn(passages, lists, carried, "and for it?"), settings);
    assert_eq!(gathered.candidates.len(), 40);
    assert!(gathered.warnings.is_empty());
    gathered
}

#[test]
fn a_withdrawn_document_is_removed_everywhere() {
    let gathered = gathered_turn(&carry_widely());
    let mut withdrawn = gathered.clone();
    let of_it = |candidate: &Candidate| candidate.passage.doc_id == "d15";
    assert!(
        gathered
            .candidates
            .iter()
            .chain(&gathered.carried)
            .any(of_it)
    );
    assert!(!withdrawn.withdraw("elsewhere", "d15"));
    assert_eq!(withdrawn, gathered);
    assert!(withdrawn.withdraw(&gathered.candidates[0].passage.corpus, "d15"));
    assert!(
        !serde_json::to_string(&withdrawn)
            .unwrap()
            .contains("number 15 of")
    );
    let mut others = gathered.clone();
    let places = others.candidates.iter().map(of_it);
    others.withdrawn = (0..)
        .zip(places)
        .filter(|(_, of)| *of)
        .map(|(place, _)| place)
        .collect();
    others.candidates.retain(|c| !of_it(c));
    others.carried.retain(|c| !of_it(c));
    others.dropped.retain(|d| !of_it(&d.candidate));
    assert_eq!(withdrawn, others);
    // Positions refer to the original list, whatever was withdrawn before.
    let last = gathered.candidates.len() - 1;
    let passage = &gathered.candidates[last].passage;
    assert!(withdrawn.withdraw(&passage.corpus, &passage.doc_id));
    assert!(withdrawn.withdrawn.contains(&last));
}

#[test]
fn facts_of_earlier_turns_follow_the_selection() {
    let settings = carry_widely();
    let earlier = passage("earlier", "e1", 0, 0, "It rained all day.");
    let source = ContextSource {
        marker: "Z1".into(),
        position: 3,
        candidate: Candidate::bare(earlier.clone(), Origin::Fresh),
        facts: vec![crate::memory::Fact {
            text: "It rained all day.".into(),
            chars: None,
        }],
        retrieval_no: 0,
    };
    let readable = [(crate::passage::identity::PassageId::of(&earlier), earlier)];
    let without = gathered_turn(&settings);
    let mut with = without.clone();
    let cited = remembered_facts::QuotedSource {
        source,
        quotes: Vec::new(),
    };
    with.remembered = remembered_facts::remembered_facts(
        vec![cited],
        &readable.into_iter().collect(),
        false,
        &settings,
    );
    let composed = |gathered: &Gathered, settings: &Settings| {
        let register = MarkerRegister::default();
        compose(gathered.clone(), None, &register, "and for it?", settings).unwrap()
    };
    let mut shown = 0;
    // Whatever the budget, they displace no passage and fit into it.
    for max_tokens in (0..1000).step_by(20) {
        let settings = Settings {
            max_tokens,
            ..settings.clone()
        };
        let (mut with, without) = (composed(&with, &settings), composed(&without, &settings));
        assert!(with.tokens <= max_tokens);
        let tokens = crate::prompt::block_tokens(&with.context, (&settings).into());
        assert_eq!(with.tokens, tokens);
        assert_eq!(with.new_markers, without.new_markers);
        if let Some(last) = with.context.pop_if(|last| last.is_remembered()) {
            shown += 1;
            let place = without.context.len() as u32 + 1;
            assert_eq!((last.marker.as_str(), last.position), ("Z1", place));
        }
        assert_eq!(with.context, without.context);
    }
    assert!(shown > 0);
    assert!(with.withdraw("manual", "earlier"));
    assert_eq!(with, without);
}

#[test]
fn a_turn_from_lists_to_markers() {
    let settings = carry_widely();
    let gathered = gathered_turn(&settings);
    // A deferred turn stores it and continues later.
    let stored = serde_json::to_string(&gathered).unwrap();
    let gathered: Gathered = serde_json::from_str(&stored).unwrap();
    let composed = compose(
        gathered,
        None,
        &MarkerRegister::default(),
        "and for it?",
        &settings,
    )
    .unwrap();
    let shown: Vec<_> = composed
        .context
        .iter()
        .map(|s| (s.marker.as_str(), s.candidate.passage.chunk_id.as_str()))
        .collect();
    assert_eq!(shown[0], ("A1", "k59"));
    assert_eq!(shown[1], ("B1", "k15"));
    assert_eq!(shown[9], ("J1", "k58"));
    assert_eq!(composed.context[1].candidate.carry_score, Some(1.0));
    assert_eq!(composed.context[1].candidate.origin, Origin::Fresh);
    assert_eq!(composed.context[0].facts.len(), 2);
    assert_eq!(composed.new_markers.len(), 10);
}

/// The reranker reverses the order and drops the source under discussion, which memory restores.
#[test]
fn memory_restores_a_source_that_the_reranker_drops() {
    let settings = carry_widely();
    let gathered = gathered_turn(&settings);
    let unranked = compose(
        gathered.clone(),
        None,
        &MarkerRegister::default(),
        "and for it?",
        &settings,
    )
    .unwrap();
    let scores: Vec<_> = gathered
        .candidates
        .iter()
        .enumerate()
        .map(|(i, c)| (c.passage.chunk_id != "k15").then_some(i as f64))
        .collect();
    let last = gathered.candidates.last().unwrap().passage.chunk_id.clone();
    let reranked = compose(
        gathered,
        Some(&scores),
        &MarkerRegister {
            markers: unranked.new_markers,
            ..MarkerRegister::default()
        },
        "and for it?",
        &settings,
    )
    .unwrap();
    assert_eq!(reranked.context[1].candidate.passage.chunk_id, last);
    let found = reranked
        .context
        .iter()
        .find(|s| s.candidate.passage.chunk_id == "k15")
        .unwrap();
    assert_eq!(
        (found.marker.as_str(), found.candidate.origin),
        ("B1", Origin::Carried)
    );
    assert_eq!(
        reranked.warnings,
        [Warning::RerankMissing {
            missing: 1,
            candidates: 40
        }]
    );
}

#[test]
fn missing_and_short_branches_give_warnings() {
    let found = |lists: Vec<RankedList>| SearchResults {
        lists,
        ..SearchResults::default()
    };
    let names = |lists: Vec<RankedList>| -> Vec<_> {
        branch_warnings(&found(lists), &carry_widely())
            .iter()
            .map(Warning::name)
            .collect()
    };
    assert_eq!(names(vec![list(Branch::Lexical, &["a"])]), ["no_embedding"]);
    let without_embeddings = SearchResults {
        lacks_embeddings: true,
        ..found(vec![list(Branch::Lexical, &["a"])])
    };
    assert_eq!(branch_warnings(&without_embeddings, &carry_widely()), []);
    let lexical_only = Settings {
        vector_share: 0.0,
        ..carry_widely()
    };
    let without_index = SearchResults {
        lacks_index: true,
        ..found(vec![list(Branch::Lexical, &["a"])])
    };
    assert_eq!(
        branch_warnings(&without_index, &lexical_only),
        [Warning::NoLexicalIndex]
    );
    for (passages, warns) in [(9_999, false), (10_000, true)] {
        let scanned = SearchResults {
            passages_read: passages,
            ..found(vec![list(Branch::Lexical, &["a"])])
        };
        let warnings = branch_warnings(&scanned, &lexical_only);
        assert_eq!(warnings == [Warning::LexicalScan { passages }], warns);
    }
    assert_eq!(
        names(vec![
            list(Branch::Lexical, &["a"]),
            list(Branch::Vector, &["b"])
        ]),
        ["short_branch"]
    );
    assert!(
        names(vec![
            list(Branch::Lexical, &["a"]),
            list(Branch::Vector, &["b", "a"])
        ])
        .is_empty(),
        "a small corpus"
    );
    assert_eq!(
        names(vec![list(Branch::Lexical, &[]), list(Branch::Vector, &[])]),
        ["nothing_found"]
    );
}

#[test]
fn prior_results_need_fresh_results() {
    let settings = Settings {
        fusion: crate::settings::Fusion::Integrated,
        ..carry_widely()
    };
    let gathered = |found: &[&str]| {
        let history = RankedList {
            branch: Branch::History,
            ..list(Branch::Lexical, &["k00", "k01"])
        };
        let lists = vec![
            list(Branch::Lexical, found),
            list(Branch::Vector, &[]),
            history,
        ];
        gather(turn(spread(3), lists, vec![], "zeppelins"), &settings)
    };
    let nothing = gathered(&[]);
    assert!(nothing.candidates.is_empty(), "{:?}", nothing.candidates);
    assert!(nothing.warnings.contains(&Warning::NothingFound));
    let some = gathered(&["k02"]);
    assert_eq!(some.candidates.len(), 3);
    assert!(!some.warnings.contains(&Warning::NothingFound));
}

#[test]
fn a_budget_that_is_too_small_gives_a_warning() {
    let settings = Settings {
        max_tokens: 1,
        ..carry_widely()
    };
    let gathered = gather(
        turn(
            spread(3),
            vec![list(Branch::Lexical, &["k00", "k01"])],
            vec![],
            "x",
        ),
        &settings,
    );
    let composed = compose(gathered, None, &MarkerRegister::default(), "x", &settings).unwrap();
    assert!(composed.context.is_empty());
    assert!(
        composed
            .warnings
            .contains(&Warning::BudgetTooSmall { max_tokens: 1 })
    );
}

proptest! {
    #[test]
    fn every_passage_is_a_source_or_dropped(
        passages in arbitrary_passages(30),
        lexical in proptest::collection::vec(0usize..30, 0..30),
        vector in proptest::collection::vec(0usize..30, 0..30),
        memory in proptest::collection::btree_map(0usize..30, (0.0f64..1.0, any::<bool>()), 0..8),
        scores in proptest::option::of(proptest::collection::vec(proptest::option::of(-5.0f64..5.0), 30)),
        query in prop_oneof!["and it\\?", "compare alpha with beta", "entirely different words in this long question here"],
        top in 1usize..20, max_tokens in 20usize..600,
        twins in any::<bool>(), merge in any::<bool>(),
    ) {
        let settings = Settings { rerank_top: top, max_tokens, collapse_twins: twins, merge_adjacent: merge, max_merged_tokens: 150, ..carry_widely() };
        let named = |order: &[usize]| -> Vec<String> {
            let mut seen = BTreeSet::new();
            order.iter().filter_map(|&i| passages.get(i)).map(|p| p.chunk_id.clone()).filter(|k| seen.insert(k.clone())).collect()
        };
        let (lexical, vector) = (named(&lexical), named(&vector));
        fn strs(v: &[String]) -> Vec<&str> { v.iter().map(String::as_str).collect() }
        let lists = vec![list(Branch::Lexical, &strs(&lexical)), list(Branch::Vector, &strs(&vector))];
        let carried: Vec<_> = memory.iter().filter_map(|(i, (carry, pin))| Some(remember(passages.get(*i)?, *carry, *pin))).collect();
        let fresh: BTreeSet<String> = lexical.iter().chain(&vector).cloned().collect();
        let sources: Vec<String> = carried.iter().map(|c| c.source.chunk_id.clone()).collect();
        let gathered = gather(turn(passages, lists, carried, &query), &settings);
        prop_assert!(gathered.candidates.len() <= top);
        let scores = scores.map(|mut s| { s.truncate(gathered.candidates.len()); s });
        let composed = compose(gathered, scores.as_deref(), &MarkerRegister::default(), &query, &settings).unwrap();

        // Every found or remembered passage is the key of a source or of a dropped candidate, at most once as found
        // and once as remembered.
        for key in fresh.iter().chain(&sources) {
            let entered = usize::from(fresh.contains(key)) + usize::from(sources.contains(key));
            let shown = composed.context.iter().filter(|s| s.candidate.passage.chunk_id == *key).count();
            let left = composed.dropped.iter().filter(|d| d.candidate.passage.chunk_id == *key).count();
            prop_assert!(shown <= 1);
            prop_assert_eq!(shown + left, entered, "{}", key);
        }
        // The other members are exactly the candidates dropped as merged into it.
        for source in &composed.context {
            for member in &source.candidate.member_chunk_ids {
                let merged = composed.dropped.iter().any(|d| d.reason == Reason::Merged
                    && d.candidate.passage.chunk_id == *member && d.into.as_ref() == Some(&source.candidate.passage.chunk_id));
                prop_assert_eq!(merged, *member != source.candidate.passage.chunk_id);
            }
        }
        let block = crate::prompt::render(&composed.context, crate::prompt::Format::Text, (&settings).into());
        prop_assert_eq!(composed.tokens, reground_tokens::count(&block));
        prop_assert!(composed.tokens <= max_tokens);
        let markers: BTreeSet<_> = composed.context.iter().map(|s| &s.marker).collect();
        prop_assert_eq!(markers.len(), composed.context.len());
    }
}

/// Very long texts pass every stage that reads text. Anything slower than n log n would not finish.
#[test]
fn a_megabyte_without_line_breaks() {
    let settings = Settings {
        max_tokens: 1_000_000,
        ..carry_widely()
    };
    for unit in [
        "[B7",
        "</source",
        "it or ",
        ". ",
        "compare a and ",
        "a, ",
        "密",
        "\u{200D}é",
        "[[",
        "vs ",
    ] {
        let text = unit.repeat(1_000_000 / unit.len());
        let mut long = passage("d", "k", 0, 0, "short");
        long.content = text.clone();
        let input = turn(
            vec![long],
            vec![list(Branch::Lexical, &["k"])],
            vec![],
            &text,
        );
        let composed = compose(
            gather(input, &settings),
            None,
            &MarkerRegister::default(),
            &text,
            &settings,
        )
        .unwrap();
        let block = crate::prompt::render(
            &composed.context,
            crate::prompt::Format::Xml,
            (&settings).into(),
        );
        assert_eq!(block.matches("</source>").count(), 1);
    }
}

/// A passage of another corpus takes the budget of the first one.
#[test]
fn the_first_passage_leaves_with_a_warning() {
    let settings = Settings {
        max_tokens: 60,
        facts_per_source: 0,
        ..Settings::default()
    };
    let first = crate::fixtures::candidate(passage("d", "first", 0, 0, &"word ".repeat(60)), 0.2);
    let mut gathered = gathered_turn(&settings);
    gathered.carried.clear();
    gathered.pins = vec![crate::fixtures::candidate(
        passage("d", "pin", 0, 0, "A pin with a text of its own."),
        0.1,
    )];
    gathered.candidates = vec![first];
    let register = MarkerRegister::default();
    let composed = compose(gathered.clone(), None, &register, "word", &settings).unwrap();
    let warning = Warning::FirstDropped {
        chunk_id: "first".into(),
        reason: Reason::OverTokenBudget,
    };
    assert!(composed.warnings.contains(&warning));
    gathered.pins.clear();
    let composed = compose(gathered, None, &register, "word", &settings).unwrap();
    assert!(composed.context.is_empty());
    let warning = Warning::BudgetTooSmall { max_tokens: 60 };
    assert!(composed.warnings.contains(&warning));
}

/// A row without a number of tokens, as the glue reads it.
#[test]
fn a_long_row_gets_a_window_and_keeps_the_hash_of_its_row() {
    let text: String = (0..200)
        .map(|i| format!("The gate number {i} is opened at noon by the guard. "))
        .collect();
    let row = Passage {
        tokens: 0,
        ordinal: None,
        ..passage("d", "row", 0, 0, &text)
    };
    let lists = vec![list(Branch::Lexical, &["row"])];
    let mut input = turn(vec![row.clone()], lists, Vec::new(), "gate number 133");
    input.words = QueryWords::of(&[SubQuery {
        text: "gate number 133".into(),
        ..SubQuery::default()
    }]);
    let settings = Settings::default();
    let gathered = gather(input, &settings);
    let shown = &gathered.candidates[0].passage;
    assert!(shown.content.contains("number 133 "));
    assert!(
        shown.tokens > 900 && shown.tokens <= 1024,
        "{}",
        shown.tokens
    );
    assert_eq!(shown.row_hash(), row.content_hash);
    assert_ne!(shown.content_hash, row.content_hash);
}
