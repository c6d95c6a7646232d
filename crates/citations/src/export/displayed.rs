//! The text of an answer without citation strings, and the range that each citation supports.

use std::ops::Range;

use reground_documents::sentence_spans;
use reground_interrupt::checked;

use crate::import::is_openai_mark;
use crate::{Api, Form};

/// A citation string of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CitationString {
    /// Position in the answer, in bytes.
    pub bytes: Range<usize>,
    /// How it is displayed.
    pub kind: StringKind,
    /// Index of the sentence that it was assigned to; `None` for the one that contains it. A string after a full stop belongs to the
    /// sentence before it.
    pub sentence: Option<usize>,
}

/// How a citation string is displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StringKind {
    /// It is removed, such as `[A1]`.
    Mark,
    /// It stays, because readers need it: a title in prose, author and year, a place in a work.
    Prose,
    /// It is the supported text itself, as an API returned it.
    Supported,
}

impl StringKind {
    /// The kind of a citation string by its form. `is_malformed` strings stay, because their ends are not known. `from_api`: an API
    /// returned the citation apart from the text.
    #[must_use]
    pub fn of(form: &Form, raw: &str, is_malformed: bool, from_api: bool) -> Self {
        let openai = matches!(form, Form::Custom(name) if name == Api::OpenAi.as_str());
        match form {
            _ if from_api && openai && is_openai_mark(raw) => Self::Mark,
            _ if from_api => Self::Supported,
            _ if is_malformed => Self::Prose,
            Form::Marker
            | Form::Number
            | Form::DoubleBracket
            | Form::LinkedNumber
            | Form::CircledNumber
            | Form::Superscript
            | Form::RagflowId
            | Form::RagflowRef
            | Form::ShortId
            | Form::Dagger
            | Form::DaggerPair
            | Form::PrivateUse
            | Form::TurnResult
            | Form::GeminiCite
            | Form::LabelledNumber
            | Form::DocNumber
            | Form::Footnote
            | Form::NamedSource => Self::Mark,
            Form::SourceNumber if raw.starts_with(['[', '(', '【']) => Self::Mark,
            Form::SourceNumber
            | Form::GeminiSpan
            | Form::CohereSpan
            | Form::SourceTag
            | Form::CiteTag
            | Form::TrailingList
            | Form::AuthorYear
            | Form::Locator
            | Form::Mention
            | Form::Custom(_) => Self::Prose,
        }
    }
}

/// An answer as it is displayed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DisplayedAnswer {
    /// The text without citation strings.
    pub text: String,
    /// For each citation string, the part of the text that it supports, in bytes. Parts of citation strings in the text are equal or
    /// disjoint.
    pub ranges: Vec<Range<usize>>,
}

impl DisplayedAnswer {
    /// Removes the citation strings. A removed string supports the part of its sentence before it, as judging does: from the previous
    /// removed string, or the start of the sentence. Without words there, it supports the next part of its sentence, otherwise the
    /// previous sentence. Other strings support the part that contains them, or themselves.
    ///
    /// `sentences` are byte ranges, in order; if empty, they are computed.
    #[must_use]
    pub fn of(answer: &str, strings: &[CitationString], sentences: &[Range<usize>]) -> Self {
        let computed;
        let sentences = match sentences.is_empty() {
            true => {
                computed = sentence_spans(answer);
                &computed
            }
            false => sentences,
        };
        let cuts = Cuts::of(answer, strings);
        let segments = segments(answer, sentences, &cuts);
        let ranges = checked(strings).map(|string| match string.kind {
            StringKind::Supported => cuts.moved(answer, &string.bytes),
            StringKind::Mark | StringKind::Prose => {
                let supported = supported(&segments, sentences, string);
                supported.map_or(0..0, |segment| cuts.moved(answer, &segment.bytes))
            }
        });
        Self {
            ranges: ranges.collect(),
            text: cuts.text(answer),
        }
    }
}

/// The removed parts of an answer, in order.
struct Cuts {
    /// Removed bytes, and the number of bytes removed before them.
    parts: Vec<(Range<usize>, usize)>,
}

impl Cuts {
    fn of(answer: &str, strings: &[CitationString]) -> Self {
        let mut marks: Vec<Range<usize>> = strings
            .iter()
            .filter(|string| {
                string.kind == StringKind::Mark && answer.get(string.bytes.clone()).is_some()
            })
            .map(|string| string.bytes.clone())
            .collect();
        marks.sort_by_key(|mark| (mark.start, mark.end));
        let mut runs: Vec<Range<usize>> = Vec::new();
        for mark in marks {
            match runs.last_mut() {
                // Strings that only spaces separate are removed together.
                Some(run) if is_space(answer.get(run.end..mark.start).unwrap_or_default()) => {
                    run.end = run.end.max(mark.end);
                }
                _ => runs.push(mark),
            }
        }
        let mut parts = Vec::with_capacity(runs.len());
        let mut removed = 0;
        let mut last = 0;
        for run in runs {
            let part = with_spaces(answer, run, last);
            last = part.end;
            let length = part.len();
            parts.push((part, removed));
            removed += length;
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

/// Whether a text has only spaces on one line.
fn is_space(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}

/// A removed part with the spaces that would be left over: those before it if the line or a clause ends after it, those after it at
/// the start of a line.
fn with_spaces(answer: &str, run: Range<usize>, least: usize) -> Range<usize> {
    let before = answer.get(least..run.start).unwrap_or_default();
    let after = answer.get(run.end..).unwrap_or_default();
    let kept = before.trim_end_matches([' ', '\t']);
    let spaces = before.len() - kept.len();
    let starts_line = kept.is_empty() || kept.ends_with('\n');
    let ends = after.chars().next().is_none_or(|next| {
        next.is_whitespace() || ".,;:!?)]}»”。，、；：！？）】」".contains(next)
    });
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
            let part = answer.get(bytes.clone()).unwrap_or_default();
            let trimmed = part.trim();
            let start = bytes.start + (part.len() - part.trim_start().len());
            let bytes = start..start + trimmed.len();
            if trimmed.contains(char::is_alphanumeric) {
                segments.push(Segment {
                    bytes,
                    sentence: index,
                });
            } else if let Some(last) = segments
                .last_mut()
                .filter(|last| last.sentence == index && !trimmed.is_empty())
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
    use crate::{Grammar, Reference, extract};

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
        let displayed = DisplayedAnswer::of(answer, &strings, &extraction.sentences);
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
        let displayed = DisplayedAnswer::of("Cows moo. So.", &strings, &[]);
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
