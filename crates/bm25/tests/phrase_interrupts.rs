//! The comparison of a text with a long phrase checks for interrupts, and ends at once if a word is missing.

use reground_bm25::query::phrase::{Phrase, TextPositions};
use reground_interrupt::{CHECK_INTERVAL, test_support};

/// Number of words of the text.
const WORDS: u32 = 4_000;

/// The word at a position of a text in which two words alternate.
fn alternating(position: u32) -> &'static [u8] {
    if position.is_multiple_of(2) {
        b"a"
    } else {
        b"b"
    }
}

/// A phrase of `words` alternating words and a last one.
fn phrase(words: u32, last: &[u8]) -> Option<Phrase> {
    let first = (0..words).map(|position| (alternating(position).to_vec(), position));
    Phrase::new(first.chain([(last.to_vec(), words)]))
}

#[test]
fn a_long_comparison_checks_for_interrupts() {
    let mut text = TextPositions::default();
    for position in 0..WORDS {
        text.add(alternating(position), position);
    }
    // Its last word breaks the alternation, so each occurrence is compared to the end.
    let late = phrase(WORDS / 2, b"b");
    let compared = test_support::measure(|| {
        assert!(late.is_some_and(|phrase| !text.contain(&phrase)));
    });
    let lookups = (WORDS / 4) as usize * (WORDS / 2) as usize;
    assert!(compared.count >= lookups / CHECK_INTERVAL, "{compared:?}");

    let missing = phrase(WORDS / 2, b"c");
    let compared = test_support::measure(|| {
        assert!(missing.is_some_and(|phrase| !text.contain(&phrase)));
    });
    assert!(
        compared.count <= 64 * WORDS as usize / CHECK_INTERVAL,
        "{compared:?}"
    );
}
