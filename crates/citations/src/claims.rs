//! Sentences of an answer, and which of them a citation stands on.

use reground_documents::sentence_spans;
use reground_pulse::along;
use std::ops::Range;

use crate::listing::{self, is_label};
use crate::scan::Found;

/// Where each citation string stands.
pub(crate) struct Placed {
    /// Sentences, trimmed, none empty.
    pub sentences: Vec<Range<usize>>,
    /// By citation string: the sentence it stands on, and whether it supports what that sentence claims.
    pub standing: Vec<(Option<usize>, bool)>,
    /// By sentence: what it claims, where a citation stands on it.
    pub claims: Vec<Option<String>>,
}

/// Places citation strings on sentences:
///
/// - on the sentence that they stand in;
/// - after a full stop, on the sentence before, `It is so. [A1] Next …`, unless that one has a citation of its own;
/// - alone on a line or in a sentence, on the last sentence before that has words.
///
/// A citation in a list of references, or after a bare `Sources:`, claims nothing.
pub(crate) fn place(text: &str, found: &[Found]) -> Placed {
    let spans = sentence_spans(&without_citations(text, found));
    let held = citations_by_span(&spans, found);
    let remainders: Vec<String> = along(spans.iter().zip(&held))
        .map(|(span, held)| remainder(text, span.clone(), &found[held.clone()]))
        .collect();
    let lists = listing::reference_lists(text);
    let mut on = Vec::with_capacity(found.len());
    let mut claims = vec![None; spans.len()];
    let mut last_with_words = None;
    for (number, span) in along(spans.iter().enumerate()) {
        let words = has_words(&remainders[number]);
        let label = is_label(&remainders[number]);
        let mut read = span.start;
        let mut leads = true;
        for citation in &found[held[number].clone()] {
            leads &= !has_words(text.get(read..citation.bytes.start).unwrap_or_default());
            read = citation.bytes.end;
            let before = number.checked_sub(1).filter(|&before| {
                leads
                    && held[before].is_empty()
                    && has_words(&remainders[before])
                    && !text
                        .get(spans[before].end..citation.bytes.start)
                        .unwrap_or_default()
                        .contains('\n')
            });
            let (sentence, claiming) = if label {
                (Some(number), false)
            } else if !words {
                (last_with_words, true)
            } else if before.is_some() {
                (before, true)
            } else {
                (
                    Some(number),
                    !(leads && listing::holds(&lists, citation.bytes.start)),
                )
            };
            if let Some(sentence) = sentence.filter(|_| claiming) {
                claims[sentence].get_or_insert_with(|| remainders[sentence].clone());
            }
            on.push((sentence.unwrap_or(number), claiming && sentence.is_some()));
        }
        if words && !label {
            last_with_words = Some(number);
        }
    }
    compact(text, &spans, on, claims)
}

/// Leaves out spans of white space and trims the others.
fn compact(
    text: &str,
    spans: &[Range<usize>],
    on: Vec<(usize, bool)>,
    claims: Vec<Option<String>>,
) -> Placed {
    let mut sentences = Vec::new();
    let mut kept = Vec::new();
    let mut number_of = Vec::with_capacity(spans.len());
    for (span, claim) in along(spans.iter().zip(claims)) {
        let raw = &text[span.clone()];
        let start = span.start + raw.len() - raw.trim_start().len();
        let end = start + raw.trim().len();
        number_of.push((start < end).then_some(sentences.len()));
        if start < end {
            sentences.push(start..end);
            kept.push(claim);
        }
    }
    Placed {
        sentences,
        standing: on
            .into_iter()
            .map(|(span, claims)| (number_of.get(span).copied().flatten(), claims))
            .collect(),
        claims: kept,
    }
}

/// The text, byte for byte as long, with citations that hang on a word or a full stop turned to spaces and free-standing
/// ones to a capital: then no boundary falls into a citation, `so.[1] Next` breaks after it and `so. [1] says` before.
fn without_citations(text: &str, found: &[Found]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut hangs = false;
    let mut last_end = None;
    for Found { bytes, .. } in found {
        let between = text.get(out.len()..bytes.start).unwrap_or_default();
        out.push_str(between);
        // A run of citations hangs as a whole.
        if last_end != Some(bytes.start) {
            hangs = between
                .chars()
                .next_back()
                .is_some_and(|c| !c.is_whitespace());
        }
        let filler = if hangs { ' ' } else { 'X' };
        out.extend(std::iter::repeat_n(filler, bytes.len()));
        last_end = Some(bytes.end);
    }
    out.push_str(text.get(out.len()..).unwrap_or_default());
    out
}

/// By span, the indices of the citation strings that start in it or in the gap after it.
fn citations_by_span(spans: &[Range<usize>], found: &[Found]) -> Vec<Range<usize>> {
    let mut next = 0;
    let mut held = Vec::with_capacity(spans.len());
    for number in along(0..spans.len()) {
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

/// The span without its citations, white space folded and none left before a full stop or comma.
fn remainder(text: &str, span: Range<usize>, held: &[Found]) -> String {
    let mut out = String::new();
    let mut at = span.start;
    for Found { bytes, .. } in held {
        fold_into(&mut out, text.get(at..bytes.start).unwrap_or_default());
        // What the citation stood between stays apart.
        fold_into(&mut out, " ");
        at = bytes.end.max(at);
    }
    fold_into(&mut out, text.get(at..span.end).unwrap_or_default());
    out.truncate(out.trim_end().len());
    out
}

fn fold_into(out: &mut String, text: &str) {
    for c in along(text.chars()) {
        if c.is_whitespace() {
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
            continue;
        }
        if matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '。' | '，' | '；') && out.ends_with(' ')
        {
            out.pop();
        }
        out.push(c);
    }
}

fn has_words(text: &str) -> bool {
    along(text.chars()).any(char::is_alphanumeric)
}
