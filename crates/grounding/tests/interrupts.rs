//! Long computations over megabytes of text check for interrupts.

use reground_citations::Grammar;
use reground_grounding::begin::facts;
use reground_grounding::history::{
    CitedSource, HistoryCitation, HistoryRules, HistoryTurn, Ledger, history,
};
use reground_grounding::passage::Passage;
use reground_grounding::passage::near_twins::ComparedText;
use reground_grounding::prompt::escape::escape;
use reground_grounding::query::cues::Cues;
use reground_grounding::query::entities;
use reground_grounding::query::intent::{PastTurn, classify};
use reground_grounding::query::plan::SubQuery;
use reground_grounding::query::query_words::QueryWords;
use reground_grounding::settings::MarkerStyle;
use reground_interrupt::test_support::{assert_checked, text_of};
use reground_interrupt::{CHECK_INTERVAL, test_support};
use serde_json::json;

#[test]
fn intent_checks_for_interrupts() {
    let earlier = PastTurn {
        query: "Where do guinea pigs sleep?".to_owned(),
        ..PastTurn::default()
    };
    assert_checked("classify", 2, |query| {
        classify(query, std::slice::from_ref(&earlier), None)
    });
    let query = text_of("quick fox ", 8 * CHECK_INTERVAL);
    let checks = test_support::measure(|| entities::comparison(&query, Cues::built_in()));
    assert!(checks.count >= 8, "{checks:?}");
}

#[test]
fn passage_functions_check_for_interrupts() {
    assert_checked("escape", 1, |text| {
        escape(text, MarkerStyle::Lettered).len()
    });
    assert_checked("facts", 1, |text| {
        facts::extract_facts(text, "the quick fox", None, 2, Cues::built_in())
    });
    let query = text_of("quick fox ", 8 * CHECK_INTERVAL);
    let checks = test_support::measure(|| {
        facts::extract_facts("It is so.", &query, None, 2, Cues::built_in())
    });
    assert!(checks.count >= 8, "{checks:?}");
}

#[test]
fn windows_check_for_interrupts() {
    let query = SubQuery {
        text: "the quick fox".to_owned(),
        ..SubQuery::default()
    };
    let words = QueryWords::of(&[query]);
    let passage = |text: &str| -> Passage {
        let passage = json!({"corpus": "c", "doc_id": "d", "chunk_id": "k", "content": text, "content_hash": "", "tokens": 0});
        serde_json::from_value(passage).unwrap()
    };
    // The text is divided into sentences and searched for the words.
    assert_checked("window", 1, |text| passage(text).fitted(&words, 128));
    assert_checked("near twins", 1, |text| {
        ComparedText::of(text).near_twin(&ComparedText::of("It is so."), &words)
    });
}

#[test]
fn history_checks_for_interrupts() {
    let under = |max_tokens| HistoryRules {
        max_tokens: Some(max_tokens),
        ..HistoryRules::default()
    };
    let grammar = Grammar::default();
    // The text is counted, parsed, cut, parsed and counted again.
    assert_checked("history", 3, |answer| {
        let turn = HistoryTurn {
            answer: answer.to_owned(),
            answer_tokens: Some(usize::MAX),
            citations: vec![HistoryCitation {
                bytes: 0..answer.len(),
                holds: Some(true),
            }],
            ..HistoryTurn::default()
        };
        history(&[turn], Ledger::default(), &under(usize::MAX - 1), &grammar)
    });
    let cited: Vec<CitedSource> = (0..2 * CHECK_INTERVAL)
        .map(|number| CitedSource {
            marker: format!("A{number}"),
            ..CitedSource::default()
        })
        .collect();
    let checks = test_support::measure(|| Ledger::of(&cited, &under(0)));
    assert!(checks.count >= 2, "{checks:?}");
}
