//! Extracts the citations of an answer in linear time.

use reground_interrupt::checked;
use std::borrow::Cow;
use std::ops::Range;

use super::{Grammar, claims, scan};
use crate::citation::Ruler;
use crate::{ExtractedCitation, Extraction, Form, Reference};

/// Extracts all citations that a grammar describes. [`Families`](crate::Families) can be passed as a grammar.
///
/// Code, `<think>` blocks, links, images, array indexes and years are not citations. The time is linear in the text,
/// and the result depends only on the arguments.
pub fn extract<'g>(text: &str, grammar: impl Into<Cow<'g, Grammar>>) -> Extraction {
    extract_part(text, &grammar.into(), false).extraction
}

/// As [`extract`], with the statements also if no citation of the answer needs them. `in_list` tells whether the text is a part of an
/// answer that begins in a list of references.
pub fn extract_with_statements<'g>(
    text: &str,
    grammar: impl Into<Cow<'g, Grammar>>,
    in_list: bool,
) -> Extraction {
    read_part(text, &grammar.into(), in_list, true).extraction
}

/// The position and form of a citation string.
pub(crate) struct CitationString {
    pub bytes: Range<usize>,
    pub form: Form,
}

/// The citations of a part of an answer.
pub(crate) struct ExtractedPart {
    pub extraction: Extraction,
    /// All citation strings, in order, also markup without a source, such as `</cite>`.
    pub strings: Vec<CitationString>,
    /// Whether each sentence takes the citations after it that have no words of their own.
    pub takes_next: Vec<bool>,
}

/// As [`extract`], for the rest of an answer. `in_list` tells whether it begins in a list of references.
pub(crate) fn extract_part(text: &str, grammar: &Grammar, in_list: bool) -> ExtractedPart {
    read_part(text, grammar, in_list, false)
}

fn read_part(text: &str, grammar: &Grammar, in_list: bool, stated: bool) -> ExtractedPart {
    let (found, omitted) = scan::scan(text, grammar);
    let placed = claims::place_citations(text, &found, in_list, stated);
    let mut strings = Vec::with_capacity(found.len());
    let mut citations = Vec::with_capacity(found.len());
    let mut ruler = Ruler::new(text);
    for (found, placement) in checked(found.into_iter().zip(placed.placements)) {
        let span = ruler.span(found.bytes.clone());
        let family = found.parsed.form.family();
        for reference in found.parsed.references {
            let repaired = found.parsed.repaired && matches!(reference, Reference::Marker { .. });
            citations.push(ExtractedCitation {
                span: span.clone(),
                form: found.parsed.form.clone(),
                family,
                reference,
                repaired,
                scope: placement.scope,
                sentence: placement.sentence,
                claim: placement.claim,
                claim_at: placement.claim_at,
            });
        }
        strings.push(CitationString {
            bytes: found.bytes,
            form: found.parsed.form,
        });
    }
    ExtractedPart {
        extraction: Extraction {
            citations,
            sentences: placed.sentences,
            claims: placed.claims,
            statements: placed.statements,
            omitted,
        },
        strings,
        takes_next: placed.takes_next,
    }
}
