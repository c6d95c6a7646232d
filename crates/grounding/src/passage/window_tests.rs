use proptest::prelude::*;
use reground_tokens::count;

use super::*;
use crate::fixtures::passage;
use crate::query::plan::SubQuery;

fn words(query: &str) -> QueryWords {
    QueryWords::of(&[SubQuery {
        text: query.into(),
        ..SubQuery::default()
    }])
}

/// Sentences about distinct towns, each with the words "town" and "trade".
fn article(sentences: usize) -> String {
    let sentence = |i: usize| {
        format!("The town Örtchen{i} lives on trade with goods number {i} of the region. ")
    };
    (0..sentences).map(sentence).collect()
}

/// The text of the row at the place of the window.
fn there(row: &Passage, window: &Passage) -> String {
    let (start, chars) = (window.start_in_row() as usize, window.chars.unwrap());
    let length = (chars.end - chars.start) as usize;
    row.content.chars().skip(start).take(length).collect()
}

#[test]
fn a_window_contains_the_sentences_about_the_query_wherever_they_are() {
    for place in [0, 1, 333, 998, 999] {
        let mut sentences: Vec<String> = article(1000)
            .split_inclusive(". ")
            .map(Into::into)
            .collect();
        sentences[place] = "The mayor is elected by the guild of müllers. ".into();
        let row = passage("d", "k", 0, 500, &sentences.concat());
        let found = row
            .clone()
            .fitted(&words("Who elects the mayor of the town?"), 200);
        assert!(found.content.contains("The mayor is elected"), "{place}");
        assert_eq!(found.content, there(&row, &found));
        assert_eq!(found.chars.unwrap().start, 500 + found.start_in_row());
        assert!(
            found.tokens > 150 && found.tokens <= 200,
            "{}",
            found.tokens
        );
        assert_eq!(found.tokens as usize, count(&found.content));
        assert_eq!(found.row_hash(), row.content_hash);
        assert_eq!(found.content_hash, content_hash_hex(&found.content));
        assert_eq!(found.window_of.unwrap().chars, row.chars);
    }
}

#[test]
fn words_that_are_close_together_win_over_scattered_ones() {
    let mut sentences: Vec<String> = article(400).split_inclusive(". ").map(Into::into).collect();
    sentences[40] = "The harbour is old. ".into();
    sentences[42] = "The harbour is large. ".into();
    sentences[46] = "The customs are strict. ".into();
    sentences[300] = "The customs of the harbour are collected twice. ".into();
    let row = passage("d", "k", 0, 0, &sentences.concat());
    let found = row.fitted(&words("customs of the harbour"), 150);
    assert!(found.content.contains("collected twice"));
}

#[test]
fn the_beginning_is_shown_if_no_word_occurs() {
    let row = passage("d", "k", 0, 0, &article(300));
    for query in ["", "why?", "quantum chromodynamics"] {
        let found = row.clone().fitted(&words(query), 100);
        assert!(found.content.starts_with("The town Örtchen0 "), "{query}");
        assert_eq!(found.start_in_row(), 0);
    }
}

#[test]
fn short_passages_stay_as_they_are() {
    let row = passage("d", "k", 0, 0, &article(3));
    assert_eq!(row.clone().fitted(&words("trade"), 100), row);
    let uncounted = Passage {
        tokens: 0,
        ..row.clone()
    };
    assert_eq!(uncounted.fitted(&words("trade"), 100), row);
}

/// Without ranges in the corpus, characters count from the beginning of the row.
#[test]
fn ranges_without_coordinates() {
    let row = Passage {
        chars: None,
        ..passage("d", "k", 0, 0, &article(300))
    };
    let found = row.clone().fitted(&words("number 200"), 100);
    assert_eq!(found.content, there(&row, &found));
    assert_eq!(found.chars.unwrap().start, found.start_in_row());
    assert_eq!(found.window_of.as_ref().unwrap().chars, None);
    // A window of a window still refers to the row.
    let part = found.window(&words("number 200"), 40).unwrap();
    assert!(part.content.contains("number 200 "));
    assert_eq!(part.content, there(&row, &part));
    assert_eq!(part.row_hash(), row.content_hash);
}

#[test]
fn texts_without_sentences_are_cut() {
    let signs = "=".repeat(300_000);
    let lines: String = (0..3000)
        .map(|i| format!("| cell {i} | value {i} |\n"))
        .collect();
    let words_only = "word ".repeat(60_000);
    let characters = "語".repeat(30_000);
    for text in [signs, lines, words_only, characters] {
        let row = passage("d", "k", 0, 0, &text);
        let found = row.clone().fitted(&words("cell 1777"), 128);
        assert!(found.tokens > 20 && found.tokens <= 128, "{}", found.tokens);
        assert_eq!(found.content, there(&row, &found));
    }
    // Below that, only whole sentences are shown.
    let row = passage("d", "k", 0, 0, &article(1));
    assert_eq!(row.clone().fitted(&words("town"), 5), row);
}

proptest! {
    #[test]
    fn windows_are_parts_of_the_row_within_the_limit(
        text in "(\\PC{0,30}[.!?。\n|] ?|word |Straße 5\\. |trade ){0,60}",
        query in "\\PC{0,20}|trade|Straße|word trade",
        most in 1usize..200,
        base in 0u32..1000,
    ) {
        let row = passage("d", "k", 0, base, &text);
        let fits = count(&text) <= most;
        let found = row.clone().fitted(&words(&query), most);
        if fits || found.window_of.is_none() {
            prop_assert_eq!(&found, &row);
            // A window is missing only if no sentence fits, or the text has none.
            let sentences = sentence_spans(&text);
            prop_assert!(fits || most < LEAST_CUT || sentences.is_empty());
            let few = sentences.len() <= TRIES;
            prop_assert!(fits || !few || sentences.into_iter().all(|span| count(&text[span]) > most));
        } else {
            prop_assert!(!found.content.is_empty());
            prop_assert!(count(&found.content) <= most);
            prop_assert_eq!(found.tokens as usize, count(&found.content));
            prop_assert_eq!(&found.content, &there(&row, &found));
            prop_assert_eq!(found.chars.unwrap().start, base + found.start_in_row());
            let chars = found.chars.unwrap();
            let again = row.window_at(found.start_in_row(), chars.end - chars.start);
            prop_assert_eq!(again, Some(found));
        }
    }
}
