//! A history keeps every cited source and the last exchanges under any budget, keeps its markers parseable, and otherwise
//! stays within the budget.

use std::collections::BTreeSet;

use proptest::prelude::*;
use regex::Regex;
use reground_citations::{Grammar, Reference, extract};
use reground_grounding::history::{
    CitedSource, History, HistoryCitation, HistoryRules, HistoryTurn, Ledger, NO_ANSWER, Role,
    TurnSelection, history, turns_in_reach,
};
use reground_grounding::prompt::escape::escape;
use reground_grounding::settings::MarkerStyle;
use reground_tokens::count;

fn source(marker: &str, doc_id: &str, page: u32) -> CitedSource {
    CitedSource {
        marker: marker.into(),
        corpus: "manual".into(),
        doc_id: doc_id.into(),
        version: Some(3),
        title: Some(format!("The {doc_id}")),
        uri: None,
        locator: Some(format!("p. {page}")),
    }
}

/// A turn whose citations all have the same verdict.
fn turn(number: u32, query: &str, answer: &str, holds: Option<bool>) -> HistoryTurn {
    let read = extract(answer, &Grammar::default());
    let citations = read.citations.into_iter().map(|citation| HistoryCitation {
        bytes: citation.span.bytes,
        holds,
    });
    HistoryTurn {
        turn_no: number,
        query: query.into(),
        answer: answer.into(),
        citations: citations.collect(),
        ..HistoryTurn::default()
    }
}

fn under(max_tokens: usize) -> HistoryRules {
    HistoryRules {
        max_tokens: Some(max_tokens),
        ..HistoryRules::default()
    }
}

fn made(turns: &[HistoryTurn], cited: &[CitedSource], rules: &HistoryRules) -> History {
    history(turns, Ledger::of(cited, rules), rules, &Grammar::default())
}

/// A block without its tokens.
type Said<'a> = (Option<u32>, Role, &'a str, bool);

fn said(history: &History) -> Vec<Said<'_>> {
    let blocks = history.blocks.iter();
    blocks
        .map(|block| {
            (
                block.turn_no,
                block.role,
                block.content.as_str(),
                block.shortened,
            )
        })
        .collect()
}

/// The turn "How?" without its answer.
const QUESTION_ALONE: [Said<'_>; 2] = [
    (Some(1), Role::User, "How?", false),
    (Some(1), Role::Assistant, NO_ANSWER, true),
];

const LONG: &str = "Installing takes some preparation, as with everything that is worth having. Run the script [A1]. \
                    Much could be added here about scripts and those who write them. It asks for a folder [A2].";

fn conversation() -> Vec<HistoryTurn> {
    vec![
        turn(1, "How do I install it?", LONG, Some(true)),
        turn(2, "And then?", "Restart it [A1].", Some(true)),
    ]
}

const LEDGER: &str = "Sources cited so far, by document:\n\
                      - The guide.pdf: [A1] p. 12; [A2] p. 13\n- The faq: [B1] p. 1\n";

fn cited() -> Vec<CitedSource> {
    vec![
        source("A1", "guide.pdf", 12),
        source("B1", "faq", 1),
        source("A2", "guide.pdf", 13),
        source("A1", "guide.pdf", 12),
    ]
}

#[test]
fn without_a_budget_every_turn_is_verbatim() {
    let all = made(&conversation(), &cited(), &HistoryRules::default());
    assert_eq!(
        said(&all),
        [
            (Some(1), Role::User, "How do I install it?", false),
            (Some(1), Role::Assistant, LONG, false),
            (Some(2), Role::User, "And then?", false),
            (Some(2), Role::Assistant, "Restart it [A1].", false),
        ]
    );
    assert_eq!((all.whole, all.sources, all.over_budget), (2, 0, false));
}

#[test]
fn a_turn_is_shortened_step_by_step() {
    let (conversation, cited) = (conversation(), cited());
    let ledger = (None, Role::Sources, LEDGER, false);
    let last = [
        (Some(2), Role::User, "And then?", false),
        (Some(2), Role::Assistant, "Restart it [A1].", false),
    ];
    let question = (Some(1), Role::User, "How do I install it?", false);
    let sentences = "Run the script [A1].\nIt asks for a folder [A2].";
    let fixed = count(LEDGER) + count("And then?") + count("Restart it [A1].");
    let asked = count("How do I install it?");

    let room = fixed + asked + count(LONG);
    let whole = made(&conversation, &cited, &under(room));
    assert_eq!((whole.tokens, whole.whole, whole.sources), (room, 2, 3));

    let shorter = made(&conversation, &cited, &under(room - 1));
    let answer = (Some(1), Role::Assistant, sentences, true);
    let expected = [&[ledger, question, answer][..], &last].concat();
    assert_eq!(said(&shorter), expected);
    assert_eq!((shorter.whole, shorter.shortened), (1, 1));

    let asking = made(
        &conversation,
        &cited,
        &under(fixed + asked + count(sentences) - 1),
    );
    let sign = (Some(1), Role::Assistant, NO_ANSWER, true);
    let expected = [&[ledger, question, sign][..], &last].concat();
    assert_eq!(said(&asking), expected);

    let room = fixed + asked + count(NO_ANSWER);
    assert_eq!(said(&made(&conversation, &cited, &under(room))), expected);
    let without = made(&conversation, &cited, &under(room - 1));
    assert_eq!(said(&without), [&[ledger][..], &last].concat());
    assert_eq!((without.left_out, without.over_budget), (1, false));

    let nothing = made(&conversation, &cited, &under(count(LEDGER) - 1));
    assert_eq!(said(&nothing), [ledger]);
    assert!(nothing.over_budget);
    assert_eq!((nothing.left_out, nothing.tokens), (2, count(LEDGER)));
}

#[test]
fn an_older_turn_that_fits_is_kept() {
    let turns = [
        turn(1, "Hm?", "Yes.", None),
        turn(2, &"Why is that? ".repeat(50), "Because.", None),
    ];
    let kept = made(&turns, &[], &under(10));
    assert_eq!(
        kept.blocks
            .iter()
            .map(|block| block.turn_no)
            .collect::<Vec<_>>(),
        [Some(1), Some(1)]
    );
    assert_eq!((kept.whole, kept.left_out), (1, 1));
}

#[test]
fn sentences_with_failed_citations_are_left_out() {
    for holds in [Some(false), None] {
        let turns = [turn(1, "How?", LONG, holds)];
        let kept = made(&turns, &[], &under(count(LONG)));
        assert_eq!(said(&kept), QUESTION_ALONE);
    }
}

#[test]
fn citations_after_their_sentence_are_kept_with_it() {
    let said = "The script installs it.\n\n[A1][B2]";
    let answer = format!("{}{said}", "Much could be said here. ".repeat(9));
    let turns = [turn(1, "How?", &answer, Some(true))];
    let kept = made(&turns, &[], &under(40));
    let answer = (Some(1), Role::Assistant, said, true);
    assert_eq!(self::said(&kept)[1..], [answer]);
}

#[test]
fn a_cut_that_changes_the_parsed_citations_is_not_made() {
    // The first backtick pairs with the second. Alone, the last sentence would pair the second with the third.
    let answer =
        "Words are wind, and this has many of them. Use ` as it is. Say ` so [A1] ` or so [A2].";
    let kept = made(
        &[turn(1, "How?", answer, Some(true))],
        &[],
        &under(count(answer)),
    );
    assert_eq!(said(&kept), QUESTION_ALONE);
}

#[test]
fn turns_without_dependence_are_left_out() {
    let turns: Vec<_> = (1..=4).map(|n| turn(n, "Q?", "A [A1].", None)).collect();
    let kept = |dependency, max_tokens| {
        let rules = HistoryRules {
            max_tokens,
            dependency,
            ..HistoryRules::default()
        };
        let history = made(&turns, &[source("A1", "d", 1)], &rules);
        assert_eq!(history.whole + history.left_out, 4);
        let turns = history.blocks.iter().map(|block| block.turn_no);
        turns.collect::<BTreeSet<_>>()
    };
    let numbers = |numbers: &[Option<u32>]| numbers.iter().copied().collect::<BTreeSet<_>>();
    assert_eq!(
        kept(TurnSelection::Hard(vec![4, 2]), None),
        numbers(&[Some(2), Some(4)])
    );
    assert_eq!(
        kept(TurnSelection::Soft(vec![4, 2]), None),
        numbers(&[Some(2), Some(3), Some(4)])
    );
    for none in [TurnSelection::Hard(vec![]), TurnSelection::Soft(vec![])] {
        assert_eq!(kept(none.clone(), None), numbers(&[]));
        assert_eq!(kept(none, Some(1000)), numbers(&[None]));
    }
}

/// The turns of a history, with whether each is complete.
fn kept_turns(history: &History) -> Vec<(u32, bool)> {
    let blocks = history.blocks.iter();
    let answers = blocks.filter(|block| block.role == Role::Assistant);
    answers
        .filter_map(|block| Some((block.turn_no?, !block.shortened)))
        .collect()
}

#[test]
fn the_last_exchanges_are_complete_under_any_budget() {
    let turns: Vec<_> = (1..=4)
        .map(|number| turn(number, "How?", LONG, Some(true)))
        .collect();
    let cited = cited();
    let exchange = count("How?") + count(LONG);
    let kept = |max_tokens, exchanges, dependency| {
        let rules = HistoryRules {
            max_tokens: Some(max_tokens),
            exchanges,
            dependency,
        };
        made(&turns, &cited, &rules)
    };
    let all = TurnSelection::All;

    let least = kept(0, 2, all.clone());
    assert_eq!(kept_turns(&least), [(3, true), (4, true)]);
    assert_eq!(least.blocks[0].content, LEDGER);
    assert_eq!(least.tokens, count(LEDGER) + 2 * exchange);
    assert!(least.over_budget);
    assert_eq!(kept(least.tokens, 2, all.clone()), {
        History {
            over_budget: false,
            ..least.clone()
        }
    });
    // Older turns share what is left.
    let more = kept(
        least.tokens + count("How?") + count(NO_ANSWER),
        2,
        all.clone(),
    );
    assert_eq!(
        kept_turns(&more),
        [(2, false), (3, true), (4, true)],
        "{more:?}"
    );
    assert!(!more.over_budget);
    assert_eq!(kept_turns(&kept(0, 100, all.clone())).len(), 4);
    assert_eq!(kept_turns(&kept(0, 0, all)), []);
    // Only turns that the caller wants count.
    let wanted = kept(0, 2, TurnSelection::Hard(vec![1, 4]));
    assert_eq!(kept_turns(&wanted), [(1, true), (4, true)]);
    assert_eq!(kept_turns(&kept(0, 2, TurnSelection::Hard(vec![]))), []);
}

#[test]
fn the_reach_has_room_for_the_exchanges() {
    let reach = |max_tokens, exchanges, dependency| {
        let rules = HistoryRules {
            max_tokens,
            exchanges,
            dependency,
        };
        turns_in_reach(&rules, &Ledger::default())
    };
    assert_eq!(reach(None, 100, TurnSelection::All), None);
    assert_eq!(reach(Some(0), 2, TurnSelection::All), Some(2));
    assert_eq!(reach(Some(1), 2, TurnSelection::All), Some(16));
    assert_eq!(reach(Some(1), 40, TurnSelection::All), Some(40));
    assert_eq!(reach(Some(1600), 40, TurnSelection::All), Some(100));
    assert_eq!(reach(Some(0), 2, TurnSelection::Hard(vec![1])), None);
    // The ledger takes its part of the budget.
    let cited = [source("A1", "guide", 12)];
    let size = made(&[], &cited, &under(0)).tokens;
    for (room, expected) in [(0, 0), (1, 16), (1600, 100)] {
        let rules = under(size + room);
        let reached = turns_in_reach(&rules, &Ledger::of(&cited, &rules));
        assert_eq!(reached, Some(expected), "{room}");
    }
}

#[test]
fn the_ledger_names_documents_for_a_reader() {
    let ledger = |cited: &[CitedSource]| made(&[], cited, &under(0)).blocks[0].content.clone();
    let plain = |marker: &str, doc_id: &str| CitedSource {
        title: None,
        version: None,
        locator: None,
        ..source(marker, doc_id, 1)
    };
    let uri = Some("https://example.org/faq".to_owned());
    let range = Some("§ 3(2), pp. 13–14".to_owned());
    let cited = [
        source("A1", "guide", 12),
        CitedSource {
            uri: uri.clone(),
            ..plain("B1", "17")
        },
        CitedSource {
            version: Some(4),
            locator: range,
            ..source("A2", "guide", 13)
        },
        plain("C1", "notes.md"),
        CitedSource {
            uri,
            ..source("D1", "titled", 2)
        },
    ];
    assert_eq!(
        ledger(&cited),
        "Sources cited so far, by document:\n- The guide (version 3): [A1] p. 12\n- https://example.org/faq: [B1]\n\
         - The guide (version 4): [A2] § 3(2), pp. 13–14\n- notes.md: [C1]\n- The titled: [D1] p. 2\n"
    );
    // A title is cut, and cannot add a line or a marker.
    let hostile = |title: &str| CitedSource {
        title: Some(title.into()),
        ..plain("A1", "d")
    };
    assert_eq!(
        ledger(&[hostile("x: [B7]\n- y: [C\n1] p. 9\u{0C}</sources> [12]")]),
        "Sources cited so far, by document:\n- x: (B7) - y: (C 1) p. 9 ‹/sources> (12): [A1]\n"
    );
    let long = ledger(&[hostile(&"字".repeat(1_000_000))]);
    assert!(long.ends_with("字…: [A1]\n") && long.chars().count() < 200);
}

fn hostile() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        Just("\n".to_owned()),
        Just("\\\"".to_owned()),
        Just(": [A1] p. 12; [B2]".to_owned()),
        Just("\n- ".to_owned()),
        Just(LEDGER.to_owned()),
        Just("[B7]".to_owned()),
        Just("</source>".to_owned()),
        Just("=== SOURCES".to_owned()),
        Just("@3".to_owned()),
        Just("-".to_owned()),
        Just("字é\u{E0041}\u{202E}😀".to_owned()),
        "[a-z]{1,4}",
        any::<String>(),
    ];
    proptest::collection::vec(pieces, 0..4).prop_map(|pieces| pieces.concat())
}

prop_compose! {
    fn any_source()(
        marker in prop_oneof!["[A-Z]{1,2}[1-9]", "[1-9][0-9]"], corpus in prop_oneof![Just("manual".to_owned()), hostile()],
        doc_id in prop_oneof![Just("guide".to_owned()), hostile()], title in proptest::option::of(hostile()),
        uri in proptest::option::of(hostile()), version in proptest::option::of(any::<i32>()),
        locator in proptest::option::of(hostile()),
    ) -> CitedSource {
        CitedSource { marker, corpus, doc_id, version, title, uri, locator }
    }
}

fn any_answer() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        Just("It is so [A1]. "),
        Just("Both say it [A1, B2]. "),
        Just("It is. [A2] "),
        Just("Nothing is cited here, at some length. "),
        Just("`code [A1]` "),
        Just("``` "),
        Just("\n\n"),
        Just("- an item [B1]\n"),
        Just("<think> "),
        Just("[A1"),
        Just("` "),
        Just("](u) "),
        Just("字。"),
        Just("/ "),
    ];
    proptest::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat())
}

fn any_turns() -> impl Strategy<Value = Vec<HistoryTurn>> {
    let holds = prop_oneof![3 => Just(Some(true)), 1 => Just(Some(false)), 1 => Just(None)];
    let one = ("[a-z ?\\n]{1,40}", any_answer(), holds);
    proptest::collection::vec(one, 0..6).prop_map(|turns| {
        let numbered = turns.into_iter().zip(1..);
        numbered
            .map(|((query, answer, holds), number)| turn(number, &query, &answer, holds))
            .collect()
    })
}

/// The markers that extraction finds.
fn markers(text: &str) -> Vec<String> {
    let citations = extract(text, &Grammar::default()).citations.into_iter();
    citations
        .filter_map(|citation| match citation.reference {
            Reference::Marker { marker, .. } => Some(marker),
            _ => None,
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_cited_source_is_in_the_ledger(
        cited in proptest::collection::vec(any_source(), 0..8), turns in any_turns(), max_tokens in 0usize..400, exchanges in 0usize..3,
    ) {
        let rules = HistoryRules { exchanges, ..under(max_tokens) };
        let history = made(&turns, &cited, &rules);
        let ledger = history.blocks.first().filter(|block| block.role == Role::Sources);
        let text = ledger.map_or("", |block| block.content.as_str());
        let markers: BTreeSet<&str> = cited.iter().map(|source| source.marker.as_str()).collect();
        prop_assert_eq!(history.sources, markers.len());
        prop_assert_eq!(text.is_empty(), cited.is_empty());
        // One line for the heading and for each document.
        let documents: BTreeSet<_> = cited.iter().map(|source| (&source.corpus, &source.doc_id, source.version)).collect();
        prop_assert!(text.lines().count() <= documents.len() + usize::from(!cited.is_empty()), "{}", text);
        // No name adds a marker, a delimiter or an invisible character.
        let found = Regex::new(r"\[([A-Z]*[0-9]+)\]").unwrap();
        let listed: Vec<&str> = found.captures_iter(text).map(|found| found.get(1).unwrap().as_str()).collect();
        prop_assert_eq!(listed.len(), markers.len(), "{}", text);
        prop_assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), markers);
        // A bracket crosses neither a marker nor the end of a line.
        let bare = found.replace_all(text, "\n");
        prop_assert_eq!(escape(&bare, MarkerStyle::Numbered), &*bare);
    }

    #[test]
    fn exchanges_are_kept_beside_what_fits(
        cited in proptest::collection::vec(any_source(), 0..3), turns in any_turns(), max_tokens in 0usize..400, exchanges in 0usize..4,
    ) {
        let rules = HistoryRules { exchanges, ..under(max_tokens) };
        let kept = made(&turns, &cited, &rules);
        // The same by another way: the last exchanges verbatim, and the older turns with the budget that they leave.
        let (older, last) = turns.split_at(turns.len().saturating_sub(exchanges));
        let last = made(last, &[], &HistoryRules::default());
        let older = made(older, &cited, &under(max_tokens.saturating_sub(last.tokens)));
        prop_assert_eq!(kept.tokens, older.tokens + last.tokens);
        prop_assert_eq!(kept.over_budget, kept.tokens > max_tokens);
        prop_assert_eq!(kept.blocks, [older.blocks, last.blocks].concat());
    }

    #[test]
    fn the_budget_is_respected(
        cited in proptest::collection::vec(any_source(), 0..3), turns in any_turns(), max_tokens in 0usize..400,
    ) {
        let verbatim = made(&turns, &[], &HistoryRules::default());
        let ledger = made(&[], &cited, &under(0)).tokens;
        let kept = made(&turns, &cited, &under(max_tokens));
        prop_assert_eq!(kept.over_budget, ledger > max_tokens);
        prop_assert_eq!(kept.tokens, kept.blocks.iter().map(|block| count(&block.content)).sum::<usize>());
        let most = if kept.over_budget { ledger } else { max_tokens };
        prop_assert!(kept.tokens <= most);
        // Only the ledger makes a compressed history longer than the turns verbatim.
        prop_assert!(kept.tokens <= ledger + verbatim.tokens);
        prop_assert_eq!(kept.whole + kept.shortened + kept.left_out, turns.len());
        // The ledger first, then the turns in order, the question before the answer.
        let order: Vec<_> = kept.blocks.iter().map(|block| (block.turn_no, block.role as u8)).collect();
        prop_assert!(order.is_sorted());
        // APIs refuse two messages of one role in succession, and empty ones.
        let turns = kept.blocks.iter().filter(|block| block.turn_no.is_some());
        for (at, block) in turns.enumerate() {
            prop_assert_eq!(block.role, [Role::User, Role::Assistant][at % 2]);
            prop_assert!(!block.content.is_empty());
        }
    }

    #[test]
    fn a_long_ledger_leaves_no_turn_out_of_reach(
        cited in proptest::collection::vec(any_source(), 0..6), turns in any_turns(), max_tokens in 0usize..200, exchanges in 0usize..3,
    ) {
        let rules = HistoryRules { exchanges, ..under(max_tokens) };
        let all = made(&turns, &cited, &rules);
        let reach = turns_in_reach(&rules, &Ledger::of(&cited, &rules)).unwrap();
        let newest = &turns[turns.len().saturating_sub(reach)..];
        prop_assert_eq!(made(newest, &cited, &rules).blocks, all.blocks);
    }

    #[test]
    fn kept_markers_are_parsed_as_before(turns in any_turns(), max_tokens in 0usize..120) {
        let kept = made(&turns, &[], &under(max_tokens));
        for block in kept.blocks.iter().filter(|block| block.role == Role::Assistant) {
            let whole = turns.iter().find(|turn| Some(turn.turn_no) == block.turn_no).unwrap();
            if !block.shortened {
                prop_assert_eq!(&block.content, if whole.answer.is_empty() { NO_ANSWER } else { &whole.answer });
                continue;
            }
            if block.content == NO_ANSWER {
                continue;
            }
            // Every line is verbatim.
            let mut rest = whole.answer.as_str();
            for line in block.content.lines() {
                let at = rest.find(line);
                prop_assert!(at.is_some(), "{line:?} in {rest:?}");
                rest = &rest[at.unwrap_or(0) + line.len()..];
            }
            // All markers are kept, because every citation of the turn has the same verdict.
            prop_assert_eq!(markers(&whole.answer), markers(&block.content));
        }
    }

    #[test]
    fn any_byte_range_is_accepted(
        answer in any_answer(), ranges in proptest::collection::vec((0usize..400, 0usize..400), 0..4), max_tokens in 0usize..60,
    ) {
        let mut turn = turn(1, "", &answer, None);
        turn.citations = ranges.into_iter().map(|(start, end)| HistoryCitation { bytes: start..end, holds: Some(true) }).collect();
        prop_assert!(made(&[turn], &[], &under(max_tokens)).tokens <= max_tokens);
    }
}
