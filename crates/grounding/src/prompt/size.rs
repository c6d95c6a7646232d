//! Tokens of the block of the sources in its default format, counted by parts, so that a selection can count each passage
//! once and before it has a marker.
//!
//! The parts begin at boundaries of o200k_base's pre-tokenisation, over which tokens never merge: after a line break
//! before a bracket, dash or equals sign, between a closing bracket and a space, and between a word and a space before a
//! bracket. So the sum over the parts is exactly the number of tokens of the block.

use reground_tokens::count;

use super::block::{
    BlockRules, END, FACTS, SOURCES, fact_marker, notes, parts, preface, render, sheet_line,
    source_marker,
};
use crate::memory::{ContextSource, Fact};
use crate::passage::Passage;
use crate::settings::{MarkerStyle, Settings};

use super::{CONFLICT_NOTE_TOKENS, Format};

/// o200k_base tokens of the block of a context as [`render`] writes it as text, without a line about conflicts.
#[must_use]
pub fn block_tokens(context: &[ContextSource], rules: BlockRules) -> usize {
    count(&render(context, Format::Text, rules))
}

/// Tokens that the budget reserves for the line about conflicts.
#[must_use]
pub fn reserved_tokens(settings: &Settings) -> usize {
    match settings.source_conflicts {
        true => CONFLICT_NOTE_TOKENS,
        false => 0,
    }
}

/// Tokens of what a passage and its facts add to the block, without their markers.
#[must_use]
pub fn source_tokens(passage: &Passage, facts: &[Fact], style: MarkerStyle) -> usize {
    let parts = parts(passage, facts, style);
    parts.iter().map(|part| count(part)).sum()
}

/// Tokens of a source's marker, at its passage and after each of its facts.
#[must_use]
pub fn marker_tokens(marker: &str, facts: usize) -> usize {
    count(&source_marker(marker)) + facts * count(&fact_marker(marker))
}

/// A bound of [`marker_tokens`] for a marker of so many bytes: each byte is a token at most, as are the brackets with the
/// space or line end beside them.
#[must_use]
pub fn most_marker_tokens(bytes: usize, facts: usize) -> usize {
    (bytes + 2) * (1 + facts)
}

/// Tokens of the line of a source that is shown by its facts only, with its marker.
#[must_use]
pub fn remembered_tokens(source: &ContextSource, style: MarkerStyle) -> usize {
    let line = sheet_line(&source.candidate.passage, &source.facts, style);
    count(&line) + count(&fact_marker(&source.marker))
}

/// Tokens of the block around its sources: delimiters and notes.
#[must_use]
pub fn frame_tokens(rules: BlockRules, has_facts: bool) -> usize {
    // The empty line after the facts merges with the line end before it.
    let merged = || count("]\n\n") - count("]\n");
    let facts = if has_facts {
        count(FACTS) + merged()
    } else {
        0
    };
    count(&preface(&notes(rules, None))) + facts + count(SOURCES) + count(END)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{candidate, passage};
    use crate::passage::Origin;
    use crate::prompt::Detail;
    use proptest::prelude::*;

    fn any_text() -> impl Strategy<Value = String> {
        let pieces = prop_oneof![
            Just("\n"),
            Just("/"),
            Just("//\n"),
            Just(" "),
            Just("  "),
            Just("\t"),
            Just("["),
            Just("[B7]"),
            Just("]"),
            Just("- "),
            Just("=== SOURCES"),
            Just("."),
            Just("…"),
            Just("12"),
            Just("Rye"),
            Just("字"),
            Just("\u{301}"),
            Just("é"),
            Just("'s"),
            Just("\u{0C}"),
            Just("\u{a0}"),
            Just("\u{2028}"),
            Just("🦀"),
            Just("\u{E0042}"),
        ];
        proptest::collection::vec(pieces, 0..10).prop_map(|pieces| pieces.concat())
    }

    prop_compose! {
        fn any_source()(
            marker in prop_oneof!["[A-Z]{1,3}[1-9][0-9]{0,4}", "[1-9][0-9]{0,2}"], title in proptest::option::of(any_text()),
            doc_id in any_text(), published in proptest::option::of(any_text()), content in any_text(),
            facts in proptest::collection::vec(any_text(), 0..3), placed in any::<bool>(), remembered in any::<bool>(),
        ) -> ContextSource {
            let mut candidate = candidate(passage(&doc_id, "1", 0, 0, &content), 0.5);
            candidate.passage.title = title;
            candidate.passage.published = published;
            candidate.passage.chars = candidate.passage.chars.filter(|_| placed);
            if remembered && !facts.is_empty() {
                candidate.origin = Origin::Remembered;
            }
            let facts = facts.into_iter().map(|text| Fact { text, chars: None });
            ContextSource { marker, position: 1, candidate, facts: facts.collect(), retrieval_no: 0 }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn the_parts_have_the_tokens_of_the_block(
            context in proptest::collection::vec(any_source(), 1..4), history_note in any::<bool>(), numbered in any::<bool>(),
        ) {
            let style = if numbered { MarkerStyle::Numbered } else { MarkerStyle::Lettered };
            let rules = BlockRules { style, detail: Detail::Both, history_note };
            let has_facts = context.iter().any(|source| !source.facts.is_empty());
            let mut tokens = frame_tokens(rules, has_facts);
            for source in &context {
                if source.is_remembered() {
                    tokens += remembered_tokens(source, style);
                    continue;
                }
                let facts = source.facts.len();
                let marker = marker_tokens(&source.marker, facts);
                prop_assert!(marker <= most_marker_tokens(source.marker.len(), facts), "{}", source.marker);
                tokens += marker + source_tokens(&source.candidate.passage, &source.facts, style);
            }
            prop_assert_eq!(tokens, block_tokens(&context, rules), "{}", render(&context, Format::Text, rules));
        }
    }

    #[test]
    fn an_empty_context_has_no_block() {
        let rules = BlockRules {
            style: MarkerStyle::Lettered,
            detail: Detail::Both,
            history_note: true,
        };
        assert_eq!(block_tokens(&[], rules), 0);
    }
}
