//! Splits an answer into sentences and assigns each citation string to a sentence and a claim.

mod fold;
mod headings;

use reground_documents::sentence_spans;
use reground_interrupt::checked;
use std::ops::Range;

use crate::reading::code_spans::non_prose_spans;
use crate::reading::reference_lists;
use crate::reading::scan::{ClaimScope, FoundCitation};
use crate::{CitationScope, Claim, MAX_STATEMENTS};
use fold::fold_into;

/// The sentences and claims of an answer, and the placement of its citation strings.
#[derive(Default)]
pub(crate) struct PlacedCitations {
    /// Sentences, trimmed and not empty.
    pub sentences: Vec<Range<usize>>,
    /// The placement of each citation string.
    pub placements: Vec<Placement>,
    /// Claims, in the order of their sentences.
    pub claims: Vec<Claim>,
    /// Statements, in order; empty without a citation of the answer.
    pub statements: Vec<Claim>,
    /// Whether each sentence takes the citations after it that have no words of their own: it has words, and is no heading of a list
    /// of references.
    pub takes_next: Vec<bool>,
}

/// The sentence and claim of a citation string.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Placement {
    /// The text that the citation supports.
    pub scope: CitationScope,
    /// Index of the sentence.
    pub sentence: Option<usize>,
    /// Index of the claim.
    pub claim: Option<usize>,
    /// Byte position of the citation in the text of the claim.
    pub claim_at: Option<usize>,
}

/// The sentence span and the claim that a citation string is assigned to.
struct Assignment {
    span: usize,
    claim: ClaimKind,
}

/// Longest claim, in bytes. The rest of a longer one is not compared with sources.
const MAX_CLAIM: usize = 16_384;

/// The claim that a citation string supports.
enum ClaimKind {
    Nothing,
    /// The statements of the answer.
    Answer,
    Sentence,
    Enclosed(String),
}

/// Assigns each citation string to a sentence:
///
/// - the sentence that contains it;
/// - after a full stop, the previous sentence, as in `It is so. [A1] Next …`, unless that has its own citation;
/// - alone on a line or in a sentence, the last previous sentence with words.
///
/// A citation in a list of references, after a bare `Sources:` or `Citation:` supports the statements of the answer. A citation
/// that encloses its claim belongs to the sentence that it begins in. `in_list` tells whether the text begins in a list of
/// references, `stated` whether the statements are needed without a citation of the answer.
pub(crate) fn place_citations(
    text: &str,
    found: &[FoundCitation],
    in_list: bool,
    stated: bool,
) -> PlacedCitations {
    let spans = if found.is_empty() {
        sentence_spans(text)
    } else {
        sentence_spans(&mask_citations(text, found))
    };
    let citations = citations_by_span(&spans, found);
    let sentences = AnswerSentences {
        text,
        found,
        spans,
        citations,
    };
    let lists = reference_lists::reference_lists(text, in_list);
    let mut assignments = Vec::with_capacity(found.len());
    let mut takes_next = Vec::with_capacity(sentences.spans.len());
    let mut last_with_words = None;
    let mut before_has_words = false;
    for number in checked(0..sentences.spans.len()) {
        let first = sentences.first_letter(number);
        let words = first.is_some();
        let label = first.is_some_and(|first| sentences.is_label(number, first));
        let mut read = sentences.spans[number].start;
        let mut leads = true;
        for index in sentences.citations[number].clone() {
            let citation = &found[index];
            let lead = text.get(read..citation.bytes.start).unwrap_or_default();
            leads = leads && !has_words(&lead[item_number(lead)..]);
            read = citation.bytes.end;
            let follows = leads && before_has_words;
            let before = number
                .checked_sub(1)
                .filter(|&before| follows && sentences.is_followed(before, citation.bytes.start));
            let enclosed = match &citation.scope {
                ClaimScope::Enclosed(bytes) => sentences.enclosed(index, bytes),
                ClaimScope::Sentence | ClaimScope::Answer => None,
            };
            let answer = citation.scope == ClaimScope::Answer;
            let listed = || leads && reference_lists::holds(&lists, citation.bytes.start);
            let (span, claim) = if let Some(text) = enclosed {
                (Some(number), ClaimKind::Enclosed(text))
            } else if label || answer {
                (Some(number), ClaimKind::Answer)
            } else if !words {
                (last_with_words, ClaimKind::Sentence)
            } else if before.is_some() {
                (before, ClaimKind::Sentence)
            } else if listed() {
                (Some(number), ClaimKind::Answer)
            } else {
                (Some(number), ClaimKind::Sentence)
            };
            assignments.push(Assignment {
                claim: if span.is_some() {
                    claim
                } else {
                    ClaimKind::Nothing
                },
                span: span.unwrap_or(number),
            });
        }
        takes_next.push(words && !label);
        if words && !label {
            last_with_words = Some(number);
        }
        before_has_words = words;
    }
    let cites_answer = |a: &Assignment| matches!(a.claim, ClaimKind::Answer);
    let statements = match stated || assignments.iter().any(cites_answer) {
        true => sentences.statements(&lists),
        false => Vec::new(),
    };
    sentences.into_placed(assignments, statements, &takes_next)
}

/// The sentences of an answer and their citations.
struct AnswerSentences<'a> {
    text: &'a str,
    found: &'a [FoundCitation],
    /// Sentence spans; some contain only white space.
    spans: Vec<Range<usize>>,
    /// The citation strings of each span.
    citations: Vec<Range<usize>>,
}

impl AnswerSentences<'_> {
    /// Returns whether a span has no citations, and the citation at `start` is on its line.
    fn is_followed(&self, number: usize, start: usize) -> bool {
        let between = self.text.get(self.spans[number].end..start);
        self.citations[number].is_empty() && !between.unwrap_or_default().contains('\n')
    }

    /// Returns the first letter or digit of a span outside its citations.
    fn first_letter(&self, number: usize) -> Option<char> {
        let mut first = None;
        self.pieces(number, |piece| {
            first = first.or_else(|| first_letter(piece))
        });
        first
    }

    /// Returns whether a span is the heading of a list of references. `first` is its first letter or digit.
    fn is_label(&self, number: usize, first: char) -> bool {
        // A list number may precede the heading.
        if !(first.is_ascii_digit() || reference_lists::may_begin_label(first)) {
            return false;
        }
        let mut length = 0;
        let mut number_of_piece = 0;
        let (mut label, mut joined) = (String::new(), true);
        self.pieces(number, |piece| {
            length += piece.len();
            match number_of_piece {
                0 => fold_into(&mut label, piece),
                _ => joined = joined && joins_citations(piece),
            }
            number_of_piece += 1;
        });
        length <= reference_lists::MAX_LABEL
            && (reference_lists::is_label(&self.remainder(number).0)
                || joined && label.contains([':', '：']) && reference_lists::is_label(&label))
    }

    /// Calls `piece` with the text between the citations of a span.
    fn pieces(&self, number: usize, mut piece: impl FnMut(&str)) {
        let span = &self.spans[number];
        let mut at = span.start;
        for FoundCitation { bytes, .. } in &self.found[self.citations[number].clone()] {
            piece(self.text.get(at..bytes.start).unwrap_or_default());
            at = bytes.end.max(at);
        }
        piece(self.text.get(at..span.end).unwrap_or_default());
    }

    /// Returns the span without its citations, with folded white space and none before punctuation. The second result
    /// is the position of each citation, and the end.
    fn remainder(&self, number: usize) -> (String, Vec<usize>) {
        let mut out = String::with_capacity(self.spans[number].len());
        let mut positions = Vec::with_capacity(self.citations[number].len() + 1);
        self.pieces(number, |piece| {
            // The words before and after a citation stay separate.
            fold_into(&mut out, " ");
            fold_into(&mut out, piece);
            positions.push(out.trim_end().len());
        });
        let label = match self.begins_line(number) {
            true => list_number(&out),
            false => 0,
        };
        // A number between two citations is the claim itself.
        let label = if has_words(&out[label..]) { label } else { 0 };
        out.drain(..label);
        clip(&mut out);
        if let Some((item, next)) = item_and_next(&out)
            && self.announces(number, item, next)
        {
            out.truncate(item.len());
        }
        for at in &mut positions {
            *at = at.saturating_sub(label).min(out.len());
        }
        (out, positions)
    }

    /// Returns whether the number at the end of a span is that of the next item of a list within the line: the text before it announces
    /// the first item, or the span before it ends with the number of this one.
    fn announces(&self, number: usize, item: &str, next: u32) -> bool {
        let before = number.checked_sub(1).filter(|before| {
            let between = self.spans[*before].start..self.spans[number].end;
            !self.text[between].trim().contains('\n')
        });
        let numbered = || {
            let mut text = String::new();
            self.pieces(before?, |piece| fold_into(&mut text, piece));
            clip(&mut text);
            item_and_next(&text).map(|(_, number)| number)
        };
        next == 1 && item.ends_with(':') || numbered().is_some_and(|own| own + 1 == next)
    }

    /// Returns whether the sentence begins its line.
    fn begins_line(&self, number: usize) -> bool {
        let span = &self.spans[number];
        let raw = &self.text[span.clone()];
        let start = span.start + raw.len() - raw.trim_start().len();
        let before = self.text[..start].trim_end_matches([' ', '\t']);
        before.is_empty() || before.ends_with('\n')
    }

    /// Returns the text that a citation's markup encloses, without the citations in it; `None` if it has no words.
    fn enclosed(&self, index: usize, bytes: &Range<usize>) -> Option<String> {
        let mut out = String::new();
        let mut at = bytes.start;
        let inside = self.found[index + 1..].iter();
        for found in inside.take_while(|found| found.bytes.start < bytes.end) {
            fold_into(
                &mut out,
                self.text.get(at..found.bytes.start).unwrap_or_default(),
            );
            fold_into(&mut out, " ");
            at = found.bytes.end.max(at);
        }
        fold_into(&mut out, self.text.get(at..bytes.end).unwrap_or_default());
        clip(&mut out);
        has_words(&out).then_some(out)
    }

    /// Returns the text of each statement, with the index of its span. Headings, questions, announcements, code, and the entries
    /// and labels of lists of references state nothing.
    fn statements(&self, lists: &[Range<usize>]) -> Vec<(usize, String)> {
        let hidden = non_prose_spans(self.text);
        let states = |&number: &usize| {
            let span = &self.spans[number];
            let raw = &self.text[span.clone()];
            let start = span.start + raw.len() - raw.trim_start().len();
            let Some(first) = self.first_letter(number) else {
                return false;
            };
            let apart = [&hidden[..], lists]
                .iter()
                .any(|ranges| reference_lists::holds(ranges, start));
            !apart
                && !headings::is_heading(self.text, start..span.end)
                && !self.is_label(number, first)
        };
        checked(0..self.spans.len())
            .filter(states)
            .map(|number| (number, self.remainder(number).0))
            .filter(|(_, text)| !text.ends_with(['?', '？', ':', '：']))
            .take(MAX_STATEMENTS)
            .collect()
    }

    /// Removes spans of white space, trims the others, and creates the claims.
    fn into_placed(
        self,
        assignments: Vec<Assignment>,
        statements: Vec<(usize, String)>,
        span_takes_next: &[bool],
    ) -> PlacedCitations {
        let mut sentences = Vec::with_capacity(self.spans.len());
        let mut takes_next = Vec::with_capacity(self.spans.len());
        let mut number_of = Vec::with_capacity(self.spans.len());
        for (span, &takes) in checked(self.spans.iter().zip(span_takes_next)) {
            let raw = &self.text[span.clone()];
            let start = span.start + raw.len() - raw.trim_start().len();
            let end = start + raw.trim().len();
            number_of.push((start < end).then_some(sentences.len()));
            if start < end {
                sentences.push(start..end);
                takes_next.push(takes);
            }
        }
        let mut claims = Vec::new();
        let mut whole: Vec<Option<(usize, Vec<usize>)>> = vec![None; self.spans.len()];
        let mut placements = Vec::with_capacity(assignments.len());
        for (index, Assignment { span, claim: kind }) in
            checked(assignments.into_iter().enumerate())
        {
            let sentence = number_of.get(span).copied().flatten();
            let scope = match kind {
                ClaimKind::Answer => CitationScope::Answer,
                _ => CitationScope::Sentence,
            };
            let claim = sentence.and_then(|sentence| match kind {
                ClaimKind::Nothing | ClaimKind::Answer => None,
                ClaimKind::Enclosed(text) => {
                    let end = text.len();
                    claims.push(Claim { sentence, text });
                    Some((claims.len() - 1, end))
                }
                ClaimKind::Sentence => {
                    let (claim, positions) = whole[span].get_or_insert_with(|| {
                        let (text, positions) = self.remainder(span);
                        claims.push(Claim { sentence, text });
                        (claims.len() - 1, positions)
                    });
                    // A citation after the sentence has the position of its end.
                    let within = index.checked_sub(self.citations[span].start);
                    let at = within
                        .and_then(|within| positions.get(within))
                        .or(positions.last());
                    Some((*claim, at.copied().unwrap_or_default()))
                }
            });
            placements.push(Placement {
                scope,
                sentence,
                claim: claim.map(|(claim, _)| claim),
                claim_at: claim.map(|(_, at)| at),
            });
        }
        let statement = |(span, text): (usize, String)| {
            let sentence = number_of.get(span).copied().flatten()?;
            Some(Claim { sentence, text })
        };
        PlacedCitations {
            statements: statements.into_iter().filter_map(statement).collect(),
            sentences,
            placements,
            claims,
            takes_next,
        }
    }
}

/// Returns the text with citations replaced by the same number of bytes: spaces for a citation directly after a word
/// or full stop, capitals for a separate one. So no sentence boundary is inside a citation; `so.[1] Next` has one
/// after it and `so. [1] says` before it.
fn mask_citations(text: &str, found: &[FoundCitation]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut hangs = false;
    let mut last_end = None;
    for FoundCitation { bytes, .. } in found {
        let between = text.get(out.len()..bytes.start).unwrap_or_default();
        out.push_str(between);
        // Adjacent citations are replaced in the same way.
        if last_end != Some(bytes.start) {
            hangs = between
                .chars()
                .next_back()
                .is_some_and(|c| !c.is_whitespace());
        }
        let filler = if hangs { FILLERS.0 } else { FILLERS.1 };
        let mut left = bytes.len();
        while left > 0 {
            let some = left.min(filler.len());
            out.push_str(&filler[..some]);
            left -= some;
        }
        last_end = Some(bytes.end);
    }
    out.push_str(text.get(out.len()..).unwrap_or_default());
    out
}

/// Replacements of attached and separate citations.
const FILLERS: (&str, &str) = ("                ", "XXXXXXXXXXXXXXXX");

/// Returns for each span the indices of the citation strings that start in it or in the gap after it.
fn citations_by_span(spans: &[Range<usize>], found: &[FoundCitation]) -> Vec<Range<usize>> {
    let mut next = 0;
    let mut citations = Vec::with_capacity(spans.len());
    for number in checked(0..spans.len()) {
        let limit = spans
            .get(number + 1)
            .map_or(usize::MAX, |after| after.start);
        let first = next;
        while found.get(next).is_some_and(|f| f.bytes.start < limit) {
            next += 1;
        }
        citations.push(first..next);
    }
    citations
}

/// Returns the length in bytes of a list number, `1. ` or `12) `. It is not part of the claim.
fn list_number(text: &str) -> usize {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text.get(digits..).unwrap_or_default();
    match rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")) {
        Some(item) if (1..=3).contains(&digits) => text.len() - item.len(),
        _ => 0,
    }
}

/// Returns whether the text after a citation only joins it to the next one or names its page: ` and `, ` (p. 3), `.
fn joins_citations(piece: &str) -> bool {
    let mut words = piece.split(|c: char| !c.is_alphanumeric());
    words.all(|word| word.chars().count() <= 3)
}

/// Returns the length of the number of a list item at the start of a text, with the white space before it.
fn item_number(text: &str) -> usize {
    let item = text.trim_start();
    match list_number(item) {
        0 => 0,
        length => text.len() - item.len() + length,
    }
}

/// Splits `Hormone imbalance 8.` into the item and the number after it.
fn item_and_next(text: &str) -> Option<(&str, u32)> {
    let (item, number) = text.strip_suffix('.')?.trim_end().rsplit_once(' ')?;
    let is_number = number.len() <= 2 && number.bytes().all(|byte| byte.is_ascii_digit());
    let number = number.parse().ok().filter(|_| is_number)?;
    Some((item.trim_end(), number))
}

/// Truncates a text that is too long, and trims its end.
fn clip(text: &mut String) {
    text.truncate(text.floor_char_boundary(MAX_CLAIM));
    text.truncate(text.trim_end().len());
}

fn has_words(text: &str) -> bool {
    first_letter(text).is_some()
}

fn first_letter(text: &str) -> Option<char> {
    checked(text.chars()).find(|c| c.is_alphanumeric())
}
