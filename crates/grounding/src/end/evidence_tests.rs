use proptest::prelude::*;

use super::*;
use crate::fixtures::{candidate, passage};
use crate::passage::{CharRange, Origin};
use crate::query::query_words::QueryWords;

fn source(passage: Passage, members: &[&str]) -> ContextSource {
    let mut candidate = candidate(passage, 0.5);
    if !members.is_empty() {
        candidate.member_chunk_ids = members.iter().map(|id| (*id).to_owned()).collect();
    }
    ContextSource {
        marker: "A1".to_owned(),
        position: 1,
        candidate,
        facts: Vec::new(),
        retrieval_no: 0,
    }
}

fn chars(text: &str, range: &Range<usize>) -> String {
    text.chars().skip(range.start).take(range.len()).collect()
}

const DOCUMENT: &str = "Ü first paragraph.\n\nCows 🐄 give milk. Sheep give wool.\n \nPigs oink.\u{c}On page two. Hens lay eggs.";

/// A passage of [`DOCUMENT`].
fn cut(key: &str, ordinal: i32, range: Range<usize>) -> Passage {
    passage(
        "d",
        key,
        ordinal,
        range.start as u32,
        &chars(DOCUMENT, &range),
    )
}

/// Characters of a part of a text.
fn find(text: &str, part: &str) -> Range<usize> {
    let start = text[..text.find(part).unwrap()].chars().count();
    start..start + part.chars().count()
}

#[test]
fn a_quote_has_its_place_and_its_paragraph() {
    let row = cut("k", 0, 10..70);
    let shown = source(row.clone(), &[]);
    let quote = find(&row.content, "Sheep give wool.");
    let cited = CitedText {
        source: Some(&shown),
        rows: vec![&row],
        quote: Some("Sheep give wool."),
        chars: Some(quote.clone()),
        content_hash: None,
        ..CitedText::default()
    };
    let mut evidence = cited.locate();
    assert_eq!(evidence.passage, Some(quote));
    assert_eq!(evidence.document, Some(find(DOCUMENT, "Sheep give wool.")));
    assert_eq!(evidence.before.as_deref(), Some("Cows 🐄 give milk. "));
    assert_eq!(evidence.after.as_deref(), Some(""));
    assert_eq!(evidence.state, Some(RowState::Current));
    let part = evidence.wanted().unwrap();
    evidence.check(&chars(DOCUMENT, &(part.start..part.end)));
    assert_eq!(evidence.before.as_deref(), Some("Cows 🐄 give milk. "));
    assert!(evidence.document.is_some());
    evidence.check("Another text");
    assert_eq!(evidence.document, None);
}

#[test]
fn a_changed_row_is_recognised_and_the_shown_text_is_used() {
    let old = cut("k", 0, 0..53);
    let shown = source(old.clone(), &[]);
    let new = passage("d", "k", 0, 0, "Something else.");
    let cited = CitedText {
        source: Some(&shown),
        rows: vec![&new],
        quote: Some("Cows 🐄 give milk."),
        chars: Some(find(&old.content, "Cows 🐄 give milk.")),
        content_hash: None,
        ..CitedText::default()
    };
    let evidence = cited.locate();
    assert_eq!(evidence.quote.as_deref(), Some("Cows 🐄 give milk."));
    assert_eq!(
        evidence.document,
        Some(find(DOCUMENT, "Cows 🐄 give milk."))
    );
    assert_eq!(evidence.state, Some(RowState::Changed));
    // Without a stored quote, only a row with the cited text is used.
    let unquoted = CitedText {
        quote: None,
        source: None,
        content_hash: Some(&old.content_hash),
        ..cited.clone()
    };
    assert_eq!(unquoted.locate().quote, None);
    let unquoted = CitedText {
        rows: vec![&old],
        ..unquoted
    };
    assert_eq!(
        unquoted.locate().quote.as_deref(),
        Some("Cows 🐄 give milk.")
    );
}

#[test]
fn a_merged_passage_names_the_part_with_the_quote() {
    let (one, two) = (cut("k0", 0, 0..40), cut("k1", 1, 30..70));
    let union = Passage {
        chunk_id: "k0".to_owned(),
        ..cut("k0", 0, 0..70)
    };
    let shown = source(union.clone(), &["k0", "k1"]);
    let cited = |quote: &'static str| CitedText {
        source: Some(&shown),
        rows: vec![&one, &two],
        quote: Some(quote),
        chars: Some(find(&union.content, quote)),
        content_hash: None,
        ..CitedText::default()
    };
    let evidence = cited("Sheep give wool.").locate();
    assert_eq!(evidence.chunk_id.as_deref(), Some("k1"));
    assert_eq!(
        chars(&two.content, &evidence.passage.unwrap()),
        "Sheep give wool."
    );
    assert_eq!(evidence.state, Some(RowState::Current));
    // No single row contains this quote.
    let both = cited("Cows 🐄 give milk. Sheep give wool.").locate();
    assert_eq!((both.chunk_id, both.passage), (None, None));
    assert_eq!(
        both.document,
        Some(find(DOCUMENT, "Cows 🐄 give milk. Sheep give wool."))
    );
}

#[test]
fn pages_are_counted_by_form_feeds() {
    let mut row = cut("k", 0, 0..DOCUMENT.chars().count());
    row.pages = Some(PageRange::new(3, 4));
    let pages = |row: &Passage, quote: &str| {
        let shown = source(row.clone(), &[]);
        let cited = CitedText {
            source: Some(&shown),
            chars: Some(find(&row.content, quote)),
            ..CitedText::default()
        };
        cited.locate().pages
    };
    assert_eq!(pages(&row, "Sheep give wool."), Some(PageRange::new(3, 3)));
    assert_eq!(pages(&row, "Hens lay eggs."), Some(PageRange::new(4, 4)));
    assert_eq!(
        pages(&row, "Pigs oink.\u{c}On page two."),
        Some(PageRange::new(3, 4))
    );
    // Pages that form feeds do not explain are those of the passage.
    row.pages = Some(PageRange::new(3, 9));
    assert_eq!(pages(&row, "Sheep give wool."), Some(PageRange::new(3, 9)));
}

#[test]
fn without_a_quote_the_passage_is_returned() {
    let shown = source(cut("k", 0, 0..18), &[]);
    let cited = CitedText {
        source: Some(&shown),
        ..CitedText::default()
    };
    let evidence = cited.locate();
    assert_eq!(evidence.before.as_deref(), Some("Ü first paragraph."));
    assert_eq!(
        (evidence.quote, evidence.after, evidence.passage),
        (None, None, None)
    );
}

#[test]
fn a_remembered_source_has_the_position_of_its_passage() {
    let row = cut("k", 0, 10..70);
    let mut shown = source(row.clone(), &[]);
    shown.candidate.origin = Origin::Remembered;
    shown.candidate.passage.content = "Sheep give wool.".to_owned();
    let quote = find(&row.content, "Sheep give wool.");
    let cited = CitedText {
        source: Some(&shown),
        rows: vec![&row],
        quote: Some("Sheep give wool."),
        chars: Some(quote),
        content_hash: None,
        ..CitedText::default()
    };
    let evidence = cited.locate();
    assert_eq!(evidence.document, Some(find(DOCUMENT, "Sheep give wool.")));
    assert_eq!(evidence.before.as_deref(), Some("Cows 🐄 give milk. "));
    let gone = CitedText {
        rows: Vec::new(),
        ..cited
    }
    .locate();
    assert_eq!(gone.document, Some(find(DOCUMENT, "Sheep give wool.")));
    // No row has the quote: only the text of the document can confirm the positions.
    let part = gone.wanted().unwrap();
    let mut checked = gone.clone();
    checked.check(&chars(DOCUMENT, &(part.start..part.end)));
    let confirmed = checked.confirmed();
    assert_eq!(confirmed.document, gone.document);
    assert_eq!(confirmed.passage, gone.passage);
    let mut checked = gone.clone();
    checked.check("Another text");
    for unconfirmed in [checked.confirmed(), gone.confirmed()] {
        assert_eq!((unconfirmed.document, unconfirmed.passage), (None, None));
        assert_eq!(unconfirmed.quote.as_deref(), Some("Sheep give wool."));
    }
}

#[test]
fn deleted_rows_are_recognised() {
    let shown = source(cut("k", 0, 0..53), &[]);
    let cited = CitedText {
        source: Some(&shown),
        ..CitedText::default()
    };
    assert_eq!(cited.locate().state, None);
    let deleted = CitedText {
        is_deleted: true,
        ..cited
    };
    assert_eq!(deleted.locate().state, Some(RowState::Deleted));
}

proptest! {
    /// For any row, window and range, the offsets select the quote in the row and in the document, and the surrounding text
    /// adjoins the quote.
    #[test]
    fn the_offsets_select_the_quote(
        document in "([aé字🐄 .\n\u{c}]{0,12}|[a-z]{1,9} ){1,90}", from in 0usize..200, length in 1usize..600, first in 0usize..300, count in 1usize..3000,
        windowed: bool, maps: bool,
    ) {
        let size = document.chars().count();
        let row_range = from.min(size)..(from + length).min(size);
        let content = chars(&document, &row_range);
        let size = content.chars().count();
        prop_assume!(size > 0);
        let mut row = passage("d", "k", 0, row_range.start as u32, &content);
        if !maps {
            row.chars = None;
        }
        let quote = first.min(size - 1)..(first + count).min(size);
        prop_assume!(!quote.is_empty());
        let shown = match windowed {
            true => row.window(&QueryWords::default(), 40).filter(|window| {
                let start = window.start_in_row() as usize;
                start <= quote.start && quote.end <= start + window.content.chars().count()
            }),
            false => None,
        };
        let shown = source(shown.unwrap_or_else(|| row.clone()), &[]);
        let text = chars(&content, &quote);
        let stored = excerpt(&text).into_owned();
        for rows in [vec![], vec![&row]] {
            let cited = CitedText {
                source: Some(&shown), rows, quote: Some(&stored), chars: Some(quote.clone()), ..CitedText::default()
            };
            let mut evidence = cited.locate();
            for _ in 0..2 {
                let shown_quote = evidence.quote.clone().unwrap();
                prop_assert!(text.starts_with(&shown_quote));
                prop_assert_eq!(&chars(&content, evidence.passage.as_ref().unwrap()), &shown_quote);
                prop_assert_eq!(evidence.document.is_some(), maps);
                let around = [evidence.before.as_deref().unwrap(), &shown_quote, evidence.after.as_deref().unwrap()].concat();
                prop_assert!(document.contains(&around));
                let Some(range) = &evidence.document else { break };
                prop_assert_eq!(&chars(&document, range), &shown_quote);
                let part = evidence.wanted().unwrap();
                evidence.check(&chars(&document, &(part.start..part.end)));
            }
        }
    }
}

#[test]
fn offsets_that_lie_give_no_position_in_the_document() {
    let mut row = cut("k", 0, 0..18);
    row.chars = Some(CharRange { start: 0, end: 900 });
    let shown = source(row, &[]);
    let cited = CitedText {
        source: Some(&shown),
        chars: Some(2..7),
        ..CitedText::default()
    };
    let evidence = cited.locate();
    assert_eq!(evidence.quote.as_deref(), Some("first"));
    assert_eq!(evidence.document, None);
}
