//! The text of an answer without citation strings, and the range that each citation supports.

use std::ops::Range;

use reground_documents::sentence_spans;
use reground_interrupt::checked;

use super::citation_string::{CitationString, StringKind};
use super::markup::Markup;

/// An answer as it is displayed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DisplayedAnswer {
    /// The text without citation strings.
    pub text: String,
    /// For each citation string, the part of the text that it supports, in bytes. Parts of citation strings in the text are equal or
    /// disjoint, except parts that markup encloses.
    pub ranges: Vec<Range<usize>>,
}

impl DisplayedAnswer {
    /// Removes the citation strings and the markup. A removed string supports the text that it encloses, otherwise the part of its
    /// sentence before it, as judging does: from the previous removed string, or the start of the sentence. Without words there, it
    /// supports the next part of its sentence, otherwise the previous sentence. Other strings support the part that contains them, or
    /// themselves.
    ///
    /// `sentences` are byte ranges, in order; if empty, they are computed.
    #[must_use]
    pub fn of(
        answer: &str,
        strings: &[CitationString],
        markup: &Markup,
        sentences: &[Range<usize>],
    ) -> Self {
        let computed;
        let sentences = match sentences.is_empty() {
            true => {
                computed = sentence_spans(answer);
                &computed
            }
            false => sentences,
        };
        let cuts = Cuts::of(answer, strings, markup);
        let text = cuts.text(answer);
        let segments = segments(answer, sentences, &cuts);
        let enclosed = |string: &CitationString| {
            let range = cuts.moved(answer, markup.enclosed.get(&string.bytes.start)?);
            let trimmed = trimmed(&text, range);
            let has_words = text.get(trimmed.clone())?.contains(char::is_alphanumeric);
            has_words.then_some(trimmed)
        };
        let ranges = checked(strings).map(|string| match string.kind {
            StringKind::Supported => cuts.moved(answer, &string.bytes),
            StringKind::Mark | StringKind::Prose => enclosed(string).unwrap_or_else(|| {
                let supported = supported(&segments, sentences, string);
                supported.map_or(0..0, |segment| cuts.moved(answer, &segment.bytes))
            }),
        });
        Self {
            ranges: ranges.collect(),
            text,
        }
    }
}

/// The removed parts of an answer, in order.
struct Cuts {
    /// Removed bytes, and the number of bytes removed before them.
    parts: Vec<(Range<usize>, usize)>,
}

impl Cuts {
    fn of(answer: &str, strings: &[CitationString], markup: &Markup) -> Self {
        let marks = strings
            .iter()
            .filter(|string| string.kind == StringKind::Mark)
            .map(|string| &string.bytes);
        let mut marks: Vec<Range<usize>> = marks
            .chain(&markup.strings)
            .filter(|bytes| answer.get((*bytes).clone()).is_some())
            .cloned()
            .collect();
        marks.sort_by_key(|mark| (mark.start, mark.end));
        let mut runs: Vec<Run> = Vec::new();
        for mark in marks {
            match runs.last_mut() {
                // Strings that only spaces separate are removed together.
                Some(run)
                    if is_space(answer.get(run.bytes.end..mark.start).unwrap_or_default()) =>
                {
                    if run.bytes.end < mark.start {
                        run.space = Some(run.bytes.end);
                    }
                    run.bytes.end = run.bytes.end.max(mark.end);
                }
                _ => runs.push(Run {
                    bytes: mark,
                    space: None,
                }),
            }
        }
        let mut parts = Vec::with_capacity(runs.len());
        let mut removed = 0;
        let mut last = 0;
        for run in runs {
            let whole = with_spaces(answer, run.bytes.clone(), last);
            last = whole.end;
            for part in without_space(answer, &run, whole) {
                let length = part.len();
                parts.push((part, removed));
                removed += length;
            }
        }
        Self { parts }
    }

    /// The answer without the removed parts.
    fn text(&self, answer: &str) -> String {
        let mut text = String::with_capacity(answer.len());
        let mut at = 0;
        for (part, _) in &self.parts {
            text.push_str(answer.get(at..part.start).unwrap_or_default());
            at = part.end;
        }
        text.push_str(answer.get(at..).unwrap_or_default());
        text
    }

    /// A position of the answer as a position of the text. The inside of a removed part moves to its start.
    fn position(&self, byte: usize) -> usize {
        let after = self.parts.partition_point(|(part, _)| part.start <= byte);
        match after.checked_sub(1).and_then(|index| self.parts.get(index)) {
            Some((part, removed)) if byte < part.end => part.start - removed,
            Some((part, removed)) => byte - removed - part.len(),
            None => byte,
        }
    }

    /// A range of the answer as a range of the text.
    fn moved(&self, answer: &str, bytes: &Range<usize>) -> Range<usize> {
        let start = self.position(bytes.start.min(answer.len()));
        start..self.position(bytes.end.min(answer.len())).max(start)
    }
}

/// Removed strings that only spaces separate.
struct Run {
    bytes: Range<usize>,
    /// The last of these spaces.
    space: Option<usize>,
}

/// The removed part of a run, without one of its spaces if words before and after the run would become one word.
fn without_space(answer: &str, run: &Run, part: Range<usize>) -> Vec<Range<usize>> {
    let joins = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace());
    let before = answer.get(..part.start).unwrap_or_default();
    let after = answer.get(part.end..).unwrap_or_default();
    match run.space {
        // Spaces were removed with the run if it begins or ends a line or a clause.
        Some(space)
            if part == run.bytes
                && joins(before.chars().next_back())
                && joins(after.chars().next().filter(|next| !ends_clause(*next))) =>
        {
            vec![part.start..space, space + 1..part.end]
        }
        _ => vec![part],
    }
}

/// Whether a character ends a clause, so that no space precedes it.
fn ends_clause(next: char) -> bool {
    next.is_whitespace() || ".,;:!?)]}»”。，、；：！？）】」".contains(next)
}

/// A range without the white space at its ends.
fn trimmed(text: &str, bytes: Range<usize>) -> Range<usize> {
    let part = text.get(bytes.clone()).unwrap_or_default();
    let start = bytes.start + (part.len() - part.trim_start().len());
    start..start + part.trim().len()
}

/// Whether a text has only spaces on one line.
fn is_space(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}

/// A removed part with the spaces that would be left over: those before it if the line or a clause ends after it, those after it at
/// the start of a line.
pub(crate) fn with_spaces(answer: &str, run: Range<usize>, least: usize) -> Range<usize> {
    let before = answer.get(least..run.start).unwrap_or_default();
    let after = answer.get(run.end..).unwrap_or_default();
    let kept = before.trim_end_matches([' ', '\t']);
    let spaces = before.len() - kept.len();
    let starts_line = kept.is_empty() || kept.ends_with('\n');
    let ends = after.chars().next().is_none_or(ends_clause);
    if starts_line {
        let rest = after.trim_start_matches([' ', '\t']);
        return run.start..run.end + (after.len() - rest.len());
    }
    match ends {
        true => run.start - spaces..run.end,
        false => run,
    }
}

/// A part of a sentence between removed parts, with words.
struct Segment {
    /// Position in the answer.
    bytes: Range<usize>,
    /// Index of the sentence.
    sentence: usize,
}

/// The segments of all sentences, in order. A part without words, such as the full stop after a marker, belongs to the one before it.
fn segments(answer: &str, sentences: &[Range<usize>], cuts: &Cuts) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    let mut next_cut = 0;
    for (index, sentence) in checked(sentences).enumerate() {
        let mut at = sentence.start;
        let mut add = |bytes: Range<usize>| {
            let bytes = trimmed(answer, bytes);
            let part = answer.get(bytes.clone()).unwrap_or_default();
            if part.contains(char::is_alphanumeric) {
                segments.push(Segment {
                    bytes,
                    sentence: index,
                });
            } else if let Some(last) = segments
                .last_mut()
                .filter(|last| last.sentence == index && !part.is_empty())
            {
                last.bytes.end = bytes.end;
            }
        };
        while let Some((cut, _)) = cuts
            .parts
            .get(next_cut)
            .filter(|(cut, _)| cut.start < sentence.end)
        {
            if cut.start > at {
                add(at..cut.start);
            }
            at = at.max(cut.end);
            if cut.end > sentence.end {
                break;
            }
            next_cut += 1;
        }
        if at < sentence.end {
            add(at..sentence.end);
        }
    }
    segments
}

/// The segment that a citation string supports; `None` in a text without words.
fn supported<'s>(
    segments: &'s [Segment],
    sentences: &[Range<usize>],
    string: &CitationString,
) -> Option<&'s Segment> {
    let at = string.bytes.start;
    let sentence = string.sentence.or_else(|| {
        let index = sentences.partition_point(|sentence| sentence.end <= at);
        let is_inside = sentences.get(index)?.start <= at;
        is_inside.then_some(index)
    });
    // The segment that contains the string or is before it, and the next one.
    let before = segments.partition_point(|segment| {
        segment.bytes.start <= at && sentence.is_none_or(|sentence| segment.sentence <= sentence)
    });
    let previous = before.checked_sub(1).and_then(|index| segments.get(index));
    let next = segments.get(before);
    let is_here = |segment: &&Segment| sentence == Some(segment.sentence);
    previous
        .filter(is_here)
        .or(next.filter(is_here))
        .or(previous)
        .or(next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Form, Grammar, Reference, extract};

    /// The displayed text, and the supported part of each citation.
    fn displayed(answer: &str) -> (String, Vec<String>) {
        let extraction = extract(answer, &Grammar::default());
        let strings: Vec<CitationString> = extraction
            .citations
            .iter()
            .map(|citation| CitationString {
                bytes: citation.span.bytes.clone(),
                kind: StringKind::of(
                    &citation.form,
                    citation.raw(answer),
                    matches!(citation.reference, Reference::Malformed(_)),
                    false,
                ),
                sentence: citation.sentence,
            })
            .collect();
        let markup = Markup::of(answer, &Grammar::default());
        let displayed = DisplayedAnswer::of(answer, &strings, &markup, &extraction.sentences);
        let parts = displayed.ranges.iter();
        let parts = parts
            .map(|range| displayed.text[range.clone()].to_owned())
            .collect();
        (displayed.text, parts)
    }

    #[test]
    fn citation_strings_are_removed_with_their_spaces() {
        for (answer, text, parts) in [
            (
                "Cows give milk [A1].",
                "Cows give milk.",
                &["Cows give milk."][..],
            ),
            (
                "Cows give milk. [A1] Sheep give wool.[B2]",
                "Cows give milk. Sheep give wool.",
                &["Cows give milk.", "Sheep give wool."],
            ),
            (
                "Milk [A1], wool [B2] and eggs.",
                "Milk, wool and eggs.",
                &["Milk", ", wool"],
            ),
            ("[A1] says so. Yes.", "says so. Yes.", &["says so."]),
            (
                "Cows [A1][B2] [C3] give 🥛 milk.",
                "Cows give 🥛 milk.",
                &["Cows", "Cows", "Cows"],
            ),
            (
                "- Cows [A1, B2]\n- Sheep [C3]",
                "- Cows\n- Sheep",
                &["- Cows", "- Cows", "- Sheep"],
            ),
            (
                "牛给奶[A1]。羊给毛[B2]。",
                "牛给奶。羊给毛。",
                &["牛给奶。", "羊给毛。"],
            ),
            (
                "Cows (Smith et al., 2020) moo [A1].",
                "Cows (Smith et al., 2020) moo.",
                &[
                    "Cows (Smith et al., 2020) moo.",
                    "Cows (Smith et al., 2020) moo.",
                ],
            ),
            ("One.\n\n[A1]\n\nTwo.", "One.\n\n\n\nTwo.", &["One."]),
            (
                "`[A1]` is code [A2].",
                "`[A1]` is code.",
                &["`[A1]` is code."],
            ),
            ("[A1]", "", &[""]),
            ("No citation.", "No citation.", &[]),
        ] {
            let (displayed, supported) = displayed(answer);
            assert_eq!(displayed, text, "{answer}");
            assert_eq!(supported, parts, "{answer}");
        }
    }

    #[test]
    fn markup_is_removed_and_supports_what_it_encloses() {
        for (answer, text, parts) in [
            (
                "It is so. <co: 0,1>Cows 🐄 give milk</co: 0,1>.",
                "It is so. Cows 🐄 give milk.",
                &["Cows 🐄 give milk", "Cows 🐄 give milk"][..],
            ),
            (
                "So [span_1](start_span)cows moo[span_1](end_span) here.",
                "So cows moo here.",
                &["cows moo"],
            ),
            (
                "<co>Cows: 0</co> <co: 0>Cows</co: 0> <co: 1>moo</co: 1> a lot.",
                "<co>Cows: 0</co> Cows moo a lot.",
                &["Cows", "moo"],
            ),
            (
                "- <co: 0>Cows <co: 1>moo</co: 1></co: 0>\n- <source id=\"2\"> Sheep </source>",
                "- Cows moo\n- Sheep",
                &["Cows moo", "moo", "Sheep"],
            ),
            (
                "[cite_start]Cows moo.[cite: 2] <cite>Sheep [1]</cite> <cite>bleat</cite>.",
                "Cows moo. Sheep bleat.",
                &["Cows moo.", "Sheep", "bleat"],
            ),
            (
                "Cows moo <cite>3</cite>. <co: 0>Sheep bleat.",
                "Cows moo. Sheep bleat.",
                &["Cows moo.", "Sheep bleat."],
            ),
            (
                "Cows <co: 0>[A1]</co: 0> moo. `<co: 0>x</co: 0>`",
                "Cows moo. `<co: 0>x</co: 0>`",
                &["Cows", "Cows"],
            ),
            ("Cows[A1] [B2]moo.", "Cows moo.", &["Cows", "Cows"]),
        ] {
            let (displayed, supported) = displayed(answer);
            assert_eq!(displayed, text, "{answer}");
            assert_eq!(supported, parts, "{answer}");
        }
    }

    #[test]
    fn ranges_of_an_api_stay() {
        let strings = [
            CitationString {
                bytes: 0..4,
                kind: StringKind::Supported,
                sentence: None,
            },
            CitationString {
                bytes: 2..9,
                kind: StringKind::Supported,
                sentence: None,
            },
        ];
        let displayed = DisplayedAnswer::of("Cows moo. So.", &strings, &Markup::default(), &[]);
        assert_eq!(displayed.ranges, [0..4, 2..9]);
        let openai = Form::Custom("openai".to_owned());
        assert_eq!(
            StringKind::of(&openai, "【4:0†source】", false, true),
            StringKind::Mark
        );
        assert_eq!(
            StringKind::of(&openai, "Cows moo.", false, true),
            StringKind::Supported
        );
        assert_eq!(
            StringKind::of(&Form::Custom("ticket".to_owned()), "[TK-1]", false, false),
            StringKind::Prose
        );
    }
}
