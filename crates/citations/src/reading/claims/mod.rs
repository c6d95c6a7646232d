//! Sentences of an answer, and which of them a citation stands on.

mod fold;

use reground_documents::sentence_spans;
use reground_interrupt::checked;
use std::ops::Range;

use crate::Claim;
use crate::reading::reference_lists;
use crate::reading::scan::{ClaimScope, FoundCitation};
use fold::fold_into;

/// Where each citation string stands.
pub(crate) struct PlacedCitations {
    /// Sentences, trimmed, none empty.
    pub sentences: Vec<Range<usize>>,
    /// By citation string.
    pub standing: Vec<Placement>,
    /// What citations support, in the order of their sentences.
    pub claims: Vec<Claim>,
}

/// What a citation string stands on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Placement {
    /// Number of the sentence.
    pub sentence: Option<usize>,
    /// Number of the claim that it supports.
    pub claim: Option<usize>,
    /// Where in the claim's text it stood, in bytes.
    pub claim_at: Option<usize>,
}

/// Where one citation string stands, by number of the span.
struct Assignment {
    span: usize,
    claims: ClaimKind,
}

/// Longest claim, in bytes: what is said in more is not held against a source word by word.
const MAX_CLAIM: usize = 16_384;

/// What a citation string supports.
enum ClaimKind {
    Nothing,
    Sentence,
    Enclosed(String),
}

/// Places citation strings on sentences:
///
/// - on the sentence that they stand in;
/// - after a full stop, on the sentence before, `It is so. [A1] Next …`, unless that one has a citation of its own;
/// - alone on a line or in a sentence, on the last sentence before that has words.
///
/// A citation in a list of references, after a bare `Sources:` or for the whole answer claims nothing. One that encloses
/// what it supports stands where that begins.
pub(crate) fn place(text: &str, found: &[FoundCitation]) -> PlacedCitations {
    if found.is_empty() {
        let sentences = sentence_spans(text);
        return PlacedCitations {
            sentences,
            standing: Vec::new(),
            claims: Vec::new(),
        };
    }
    let spans = sentence_spans(&without_citations(text, found));
    let held = citations_by_span(&spans, found);
    let said = TextEvent {
        text,
        found,
        spans,
        held,
    };
    let lists = reference_lists::reference_lists(text);
    let mut on = Vec::with_capacity(found.len());
    let mut last_with_words = None;
    let mut before_has_words = false;
    for number in checked(0..said.spans.len()) {
        let first = said.first_of_words(number);
        let words = first.is_some();
        let label = first.is_some_and(|first| said.is_label(number, first));
        let mut read = said.spans[number].start;
        let mut leads = true;
        for index in said.held[number].clone() {
            let citation = &found[index];
            leads = leads && !has_words(text.get(read..citation.bytes.start).unwrap_or_default());
            read = citation.bytes.end;
            let before = number.checked_sub(1).filter(|&before| {
                leads
                    && before_has_words
                    && said.held[before].is_empty()
                    && !text
                        .get(said.spans[before].end..citation.bytes.start)
                        .unwrap_or_default()
                        .contains('\n')
            });
            let enclosed = match &citation.supports {
                ClaimScope::Enclosed(bytes) => said.enclosed(index, bytes),
                ClaimScope::Sentence | ClaimScope::Answer => None,
            };
            let answer = citation.supports == ClaimScope::Answer;
            let listed = || leads && reference_lists::holds(&lists, citation.bytes.start);
            let (span, claims) = if let Some(text) = enclosed {
                (Some(number), ClaimKind::Enclosed(text))
            } else if label || answer {
                (Some(number), ClaimKind::Nothing)
            } else if !words {
                (last_with_words, ClaimKind::Sentence)
            } else if before.is_some() {
                (before, ClaimKind::Sentence)
            } else if listed() {
                (Some(number), ClaimKind::Nothing)
            } else {
                (Some(number), ClaimKind::Sentence)
            };
            on.push(Assignment {
                claims: if span.is_some() {
                    claims
                } else {
                    ClaimKind::Nothing
                },
                span: span.unwrap_or(number),
            });
        }
        if words && !label {
            last_with_words = Some(number);
        }
        before_has_words = words;
    }
    said.numbered(on)
}

/// Sentences with what is cited on them.
struct TextEvent<'a> {
    text: &'a str,
    found: &'a [FoundCitation],
    /// Sentences as they were found, some of them of white space only.
    spans: Vec<Range<usize>>,
    /// By span, its citation strings.
    held: Vec<Range<usize>>,
}

impl TextEvent<'_> {
    /// The first letter or digit of a span outside its citations.
    fn first_of_words(&self, number: usize) -> Option<char> {
        let mut first = None;
        self.pieces(number, |piece| {
            first = first.or_else(|| first_of_words(piece))
        });
        first
    }

    /// Whether a span whose words begin so is the name of a list of references.
    fn is_label(&self, number: usize, first: char) -> bool {
        // The number of a list stands before the name.
        if !(first.is_ascii_digit() || reference_lists::may_begin_label(first)) {
            return false;
        }
        let mut length = 0;
        self.pieces(number, |piece| length += piece.len());
        length <= reference_lists::MAX_LABEL && reference_lists::is_label(&self.remainder(number).0)
    }

    /// The text of a span between its citations.
    fn pieces(&self, number: usize, mut piece: impl FnMut(&str)) {
        let span = &self.spans[number];
        let mut at = span.start;
        for FoundCitation { bytes, .. } in &self.found[self.held[number].clone()] {
            piece(self.text.get(at..bytes.start).unwrap_or_default());
            at = bytes.end.max(at);
        }
        piece(self.text.get(at..span.end).unwrap_or_default());
    }

    /// The span without its citations, white space folded and none left before a full stop or comma; and where each of them
    /// stood, and the end.
    fn remainder(&self, number: usize) -> (String, Vec<usize>) {
        let mut out = String::with_capacity(self.spans[number].len());
        let mut stood = Vec::with_capacity(self.held[number].len() + 1);
        self.pieces(number, |piece| {
            // What a citation stood between stays apart.
            fold_into(&mut out, " ");
            fold_into(&mut out, piece);
            stood.push(out.trim_end().len());
        });
        let label = if self.opens_line(number) {
            list_number(&out)
        } else {
            0
        };
        out.drain(..label);
        clip(&mut out);
        for at in &mut stood {
            *at = at.saturating_sub(label).min(out.len());
        }
        (out, stood)
    }

    /// Whether nothing stands before the sentence on its line.
    fn opens_line(&self, number: usize) -> bool {
        let span = &self.spans[number];
        let raw = &self.text[span.clone()];
        let start = span.start + raw.len() - raw.trim_start().len();
        let before = self.text[..start].trim_end_matches([' ', '\t']);
        before.is_empty() || before.ends_with('\n')
    }

    /// What a citation's markup encloses, without the citations in it; nothing without words.
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

    /// Leaves out spans of white space, trims the others, and numbers what is claimed.
    fn numbered(self, on: Vec<Assignment>) -> PlacedCitations {
        let mut sentences = Vec::with_capacity(self.spans.len());
        let mut number_of = Vec::with_capacity(self.spans.len());
        for span in checked(&self.spans) {
            let raw = &self.text[span.clone()];
            let start = span.start + raw.len() - raw.trim_start().len();
            let end = start + raw.trim().len();
            number_of.push((start < end).then_some(sentences.len()));
            if start < end {
                sentences.push(start..end);
            }
        }
        let mut claims = Vec::new();
        let mut whole: Vec<Option<(usize, Vec<usize>)>> = vec![None; self.spans.len()];
        let mut standing = Vec::with_capacity(on.len());
        for (index, Assignment { span, claims: of }) in checked(on.into_iter().enumerate()) {
            let sentence = number_of.get(span).copied().flatten();
            let claim = sentence.and_then(|sentence| match of {
                ClaimKind::Nothing => None,
                ClaimKind::Enclosed(text) => {
                    let end = text.len();
                    claims.push(Claim { sentence, text });
                    Some((claims.len() - 1, end))
                }
                ClaimKind::Sentence => {
                    let (claim, stood) = whole[span].get_or_insert_with(|| {
                        let (text, stood) = self.remainder(span);
                        claims.push(Claim { sentence, text });
                        (claims.len() - 1, stood)
                    });
                    // One that stands after the sentence stands at its end.
                    let within = index.checked_sub(self.held[span].start);
                    let at = within.and_then(|within| stood.get(within)).or(stood.last());
                    Some((*claim, at.copied().unwrap_or_default()))
                }
            });
            standing.push(Placement {
                sentence,
                claim: claim.map(|(claim, _)| claim),
                claim_at: claim.map(|(_, at)| at),
            });
        }
        PlacedCitations {
            sentences,
            standing,
            claims,
        }
    }
}

/// The text, byte for byte as long, with citations that hang on a word or a full stop turned to spaces and free-standing
/// ones to a capital: then no boundary falls into a citation, `so.[1] Next` breaks after it and `so. [1] says` before.
fn without_citations(text: &str, found: &[FoundCitation]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut hangs = false;
    let mut last_end = None;
    for FoundCitation { bytes, .. } in found {
        let between = text.get(out.len()..bytes.start).unwrap_or_default();
        out.push_str(between);
        // A run of citations hangs as a whole.
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

/// What citations are turned into, hanging and free-standing.
const FILLERS: (&str, &str) = ("                ", "XXXXXXXXXXXXXXXX");

/// By span, the indices of the citation strings that start in it or in the gap after it.
fn citations_by_span(spans: &[Range<usize>], found: &[FoundCitation]) -> Vec<Range<usize>> {
    let mut next = 0;
    let mut held = Vec::with_capacity(spans.len());
    for number in checked(0..spans.len()) {
        let limit = spans
            .get(number + 1)
            .map_or(usize::MAX, |after| after.start);
        let first = next;
        while found.get(next).is_some_and(|f| f.bytes.start < limit) {
            next += 1;
        }
        held.push(first..next);
    }
    held
}

/// Bytes of the number that a list gives its item: `1. `, `12) `. What is claimed is the item.
fn list_number(text: &str) -> usize {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text.get(digits..).unwrap_or_default();
    match rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")) {
        Some(item) if (1..=3).contains(&digits) => text.len() - item.len(),
        _ => 0,
    }
}

/// Cuts what is too long, and the white space at the end.
fn clip(text: &mut String) {
    text.truncate(text.floor_char_boundary(MAX_CLAIM));
    text.truncate(text.trim_end().len());
}

fn has_words(text: &str) -> bool {
    first_of_words(text).is_some()
}

fn first_of_words(text: &str) -> Option<char> {
    checked(text.chars()).find(|c| c.is_alphanumeric())
}
