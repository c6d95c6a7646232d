//! Quotations in a claim, and their search in a source.

use reground_interrupt::Steps;
use std::ops::Range;

/// Longest quotation, in characters. The rest is ignored.
const LONGEST: usize = 2000;

/// Smallest number of letters and digits of a quotation. A shorter one is a term.
const SHORTEST: usize = 8;

/// Largest number of quotations of one claim.
const MAX_QUOTATIONS: usize = 32;

/// A range of a claim in quotation marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QuotedSpan {
    /// The range without the marks.
    pub bytes: Range<usize>,
    pub chars: Range<usize>,
    /// Its letters and digits, in lower case.
    pub folded: Vec<char>,
}

/// Returns the marks that close a quotation opened by `c`.
fn closing(c: char) -> Option<&'static [char]> {
    Some(match c {
        '"' => &['"'],
        '“' => &['”', '“'],
        '„' => &['“', '”'],
        '”' => &['”'],
        '«' => &['»'],
        '»' => &['«'],
        '「' => &['」'],
        '『' => &['』'],
        _ => return None,
    })
}

/// Returns the quotations of a claim.
pub(crate) fn quoted_spans(text: &str) -> Vec<QuotedSpan> {
    let mut found = Vec::new();
    let mut open: Option<(&[char], usize, usize)> = None;
    let mut steps = Steps::default();
    for (at, (byte, c)) in text.char_indices().enumerate() {
        steps.step();
        match open {
            Some((closers, ..)) if !closers.contains(&c) => {}
            Some((_, start, first)) => {
                open = None;
                let folded: Vec<char> = folded(&text[start..byte]).take(LONGEST).collect();
                if folded.len() >= SHORTEST && found.len() < MAX_QUOTATIONS {
                    found.push(QuotedSpan {
                        bytes: start..byte,
                        chars: first..at,
                        folded,
                    });
                }
            }
            None => open = closing(c).map(|closers| (closers, byte + c.len_utf8(), at + 1)),
        }
    }
    found
}

/// Returns the letters and digits in lower case. Quotation marks, dashes, spaces and case are ignored in comparisons.
fn folded(text: &str) -> impl Iterator<Item = char> + Clone {
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
}

/// Returns whether a source contains a quote. Quotation marks, dashes, spaces and case are ignored.
pub(crate) fn contains_quote(source: &str, quote: &str) -> bool {
    let quoted = QuotedSpan {
        bytes: 0..quote.len(),
        chars: 0..0,
        folded: folded(quote).collect(),
    };
    quoted.folded.is_empty() || FoldedText::of(source).find(&quoted).is_some()
}

/// The letters and digits of a source and their positions, computed once for all quotations.
pub(crate) struct FoldedText {
    chars: Vec<char>,
    /// The position of each in the text, in characters.
    places: Vec<usize>,
}

impl FoldedText {
    pub fn of(text: &str) -> Self {
        let mut steps = Steps::default();
        let (mut chars, mut places) = (Vec::new(), Vec::new());
        for (place, c) in text.chars().enumerate() {
            steps.step();
            if c.is_alphanumeric() {
                for lower in c.to_lowercase() {
                    chars.push(lower);
                    places.push(place);
                }
            }
        }
        Self { chars, places }
    }

    /// Returns the first position of a quotation, in characters. The algorithm of Knuth, Morris and Pratt is linear
    /// for any input.
    pub fn find(&self, quoted: &QuotedSpan) -> Option<Range<usize>> {
        let wanted = &quoted.folded;
        let mut borders = vec![0; wanted.len()];
        let mut border = 0;
        for at in 1..wanted.len() {
            while border > 0 && wanted[at] != wanted[border] {
                border = borders[border - 1];
            }
            border += usize::from(wanted[at] == wanted[border]);
            borders[at] = border;
        }
        let mut held = 0;
        let mut steps = Steps::default();
        for (at, c) in self.chars.iter().enumerate() {
            steps.step();
            while held > 0 && wanted.get(held) != Some(c) {
                held = borders[held - 1];
            }
            held += usize::from(wanted.get(held) == Some(c));
            if held == wanted.len() && held > 0 {
                return Some(self.places[at + 1 - held]..self.places[at] + 1);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{FoldedText, quoted_spans};
    use proptest::prelude::*;

    #[test]
    fn quotations_of_a_claim() {
        let claim = "He said “never again, ever”, or «jamais de la vie», not \"so\".";
        let spans: Vec<&str> = quoted_spans(claim)
            .into_iter()
            .map(|quoted| &claim[quoted.bytes])
            .collect();
        assert_eq!(spans, ["never again, ever", "jamais de la vie"]);
        let source = "And so: ‘Never  again – EVER!’ he cried.";
        let at = FoldedText::of(source)
            .find(&quoted_spans(claim)[0])
            .unwrap();
        let found: String = source.chars().skip(at.start).take(at.len()).collect();
        assert_eq!(found, "Never  again – EVER");
    }

    proptest! {
        #[test]
        fn find_equals_a_string_search(source in "[ab]{0,60}", wanted in "[ab]{8,12}") {
            let claim = format!("\"{wanted}\"");
            let found = FoldedText::of(&source).find(&quoted_spans(&claim)[0]).map(|at| at.start);
            prop_assert_eq!(found, source.find(&wanted));
        }
    }
}
