//! Sentence segmentation for any language.
//!
//! The rules are those of UAX #29: a sentence ends at a terminator, its closing quotes and white space, unless a lower-case
//! letter follows. Additional rules cover cases that the language-independent tables of UAX #29 cannot know: abbreviations,
//! initials, enumerators, citation markers after a full stop, and the lines of plain text and Markdown. The iterator of
//! `unicode-segmentation` is not used because it looks ahead again at each character after a full stop. It took minutes for a
//! full stop before 200 kB of spaces. Here each look-ahead is bounded.

mod blocks;
mod terminators;

use std::ops::Range;

use reground_interrupt::{CHECK_INTERVAL, check_interrupt, checked};

use blocks::blocks;
pub use blocks::is_heading;
use terminators::sentence_ends;

/// Returns the sentences of a text as byte ranges, without white space at their ends.
///
/// The ranges ascend and do not overlap, and every character that is not white space is in exactly one of them. Blank lines,
/// list items, headings, table rows and form feeds separate sentences. Line ends of wrapped text do not. A citation marker
/// after a full stop (`… it is. [A1] Next`) belongs to the sentence before it.
///
/// ```
/// let text = "Dr. Smith paid 3.50 dollars. [A1] \"Really?\" he asked.\n\n- One item\n- 第二。第三。";
/// let sentences: Vec<&str> = reground_documents::sentence_spans(text).into_iter().map(|span| &text[span]).collect();
/// assert_eq!(
///     sentences,
///     ["Dr. Smith paid 3.50 dollars. [A1]", "\"Really?\" he asked.", "- One item", "- 第二。", "第三。"]
/// );
/// ```
///
/// Linear in the text.
pub fn sentence_spans(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut ends = Vec::new();
    for block in blocks(text) {
        let content = &text[block.clone()];
        check_interrupt(content.len().min(CHECK_INTERVAL));
        let mut start = 0;
        // A heading is one sentence, whatever punctuation it contains.
        if is_heading(content) {
            ends.clear();
        } else {
            sentence_ends(content, &mut ends);
        }
        for end in checked(ends.iter().copied().chain([content.len()])) {
            let sentence = &content[start..end];
            let first = start + (sentence.len() - sentence.trim_start().len());
            let last = start + sentence.trim_end().len();
            if first < last {
                spans.push(block.start + first..block.start + last);
            }
            start = end;
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    use super::*;

    fn sentences(text: &str) -> Vec<&str> {
        sentence_spans(text)
            .into_iter()
            .map(|span| &text[span])
            .collect()
    }

    /// `|` marks the sentence boundaries.
    #[test]
    fn prose_is_split_into_sentences() {
        for marked in [
            "It is so.| Is it?| It is!| Well…| Yes",
            "Mr. J. R. R. Tolkien met Prof. Lewis, e.g. Fig. 3, vs. 3.14 at No. 7.| Then he left.",
            "John F. Kennedy spoke.| He took vitamin C.| It helped.",
            "The U.S. Army came.| We saw example.com. and left.",
            "She said \"Stop!\" and left.| \"Why?\" he asked.| \"So.\"| Next.",
            "**Bold end.**| Next (in brackets.)| And more.",
            "It holds. [A1]| It also holds.[12][B3]| It ends. 【4†source】",
            "It holds [A1].| The rest. [see A2] goes on.| [Link](http://a.b) starts.",
            "Fact.¹| Next fact.",
            "これは文です。|次の文！|「終わり。」|最後",
            "这是一句话。|这是第二句？！|第三",
            "他说。|“好。”|她走了。",
            "Er sagte „Nein.“| Dann ging er.| Gut !️| Ja",
            "यह वाक्य है।| दूसरा वाक्य।",
            "هل هذا سؤال؟| نعم.",
            "1. Install it.| Then run it.",
            "He arrived at 5 p.m. and slept.| Wait... what?| No. 5 is alive.",
            "No.| We do not.",
            "It happened, cf. Fig. 3 and No. 5, in vol. 2, vs. Smith et al. Nothing else.| So e.g. Paris.",
            "Am 3. Oktober 1990 kam Dr. Müller, z. B. Berlin, u. a. Bonn, d. h. Köln.| Dann ging er.",
            "Im 19. Jahrhundert war Nr. 5 frei, bzw. Nr. 6, i. d. R. Montag.| Es kostet ca. 5 Euro.",
            "Der 2. Weltkrieg endete.| Es waren 12.| Danach kam nichts.| Er bekam Note 3.| Im Mai war es vorbei.",
            "Sie starb am 3. März.| Max. 5 Gäste, vgl. Abb. 3 und Kap. 12, s. 5, p. 7.| Nun gut.",
            "He scored 3.| Then he left.| It was plan b.| Everyone agreed.",
            "It takes `PG=16`.| `make stop` stops it, e.g. `x` too.",
        ] {
            let expected: Vec<&str> = marked.split('|').map(str::trim).collect();
            assert_eq!(sentences(&marked.replace('|', "")), expected);
        }
    }

    #[test]
    fn lines_of_lists_tables_and_headings_are_sentences() {
        assert_eq!(
            sentences(
                "# 1. Title. With stop\nText that is\nwrapped here. More\nof it.\n\n- one\n- two\n  goes on\n1) three"
            ),
            [
                "# 1. Title. With stop",
                "Text that is\nwrapped here.",
                "More\nof it.",
                "- one",
                "- two\n  goes on",
                "1) three"
            ]
        );
        assert_eq!(
            sentences("| a | b |\n| c. D | d |\n> quote\n\u{c}page"),
            ["| a | b |", "| c.", "D | d |", "> quote", "page"]
        );
        assert_eq!(
            sentences("Name: Ann\nTown: Oslo, which lies far in the north of the world\nAge: 7"),
            [
                "Name: Ann",
                "Town: Oslo, which lies far in the north of the world\nAge: 7"
            ]
        );
        assert_eq!(sentences(" \n\r\n\u{c}"), [""; 0]);
    }

    #[test]
    fn adversarial_texts_take_linear_time() {
        for unit in [
            " ", "]", ". ", ".", "\n", "[", "。", "\u{301}", "1", ".[A", "a.", "\n\n", "? ", "- \n",
        ] {
            let text = format!("A.{}1", unit.repeat(1_000_000 / unit.len()));
            assert!(!sentence_spans(&text).is_empty());
        }
        let far_in = " ".repeat(1_000_000) + &"A. ".repeat(300_000);
        assert!(!sentence_spans(&far_in).is_empty());
    }

    proptest! {
        #[test]
        fn spans_cover_all_text_except_white_space(text in prop_oneof![any::<String>(), "[aA .!\n\r。#\\-\u{301}\\[\\]1\"]{0,60}"]) {
            let mut end = 0;
            for span in sentence_spans(&text) {
                prop_assert!(text[end..span.start].trim().is_empty());
                let sentence = &text[span.clone()];
                prop_assert!(!sentence.is_empty());
                prop_assert_eq!(sentence.trim(), sentence);
                end = span.end;
            }
            prop_assert!(text[end..].trim().is_empty());
        }

        /// For plain prose the sentences are those of UAX #29.
        #[test]
        fn plain_prose_equals_uax_29(text in "([A-Z][a-z]{2,6}( [a-z]{4,7}){1,6}[.!?] ){1,8}") {
            let expected: Vec<&str> = text.unicode_sentences().map(str::trim).collect();
            prop_assert_eq!(sentences(&text), expected);
        }
    }
}
