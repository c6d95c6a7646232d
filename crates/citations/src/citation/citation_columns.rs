//! The columns of a citation before it is resolved.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

use super::{CitationScope, ExtractedCitation, Extraction, Family, Form, Reference};

/// The largest integer of SQL. A larger number of a page, a source or a line exists nowhere, and stays one that does not exist.
pub(crate) const LARGEST_INTEGER: u32 = i32::MAX.unsigned_abs();

/// Longest sentence, claim or quote of a row, in bytes. Every row has its own copy, so one long sentence with ten
/// thousand citations would otherwise be stored ten thousand times.
const MAX_EXCERPT: usize = 1_000;

/// Returns the text, or its beginning and an ellipsis if it is longer than 1,000 bytes.
#[must_use]
pub fn excerpt(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_EXCERPT {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(MAX_EXCERPT);
    Cow::Owned(format!("{}…", &text[..end]))
}

/// A citation as the answer contains it, before any lookup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CitationColumns {
    /// Number of the citation in the answer, from 1.
    pub citation_no: usize,
    /// The form of the citation string.
    pub form: Form,
    /// The family of the form.
    pub family: Family,
    /// The citation string, verbatim.
    pub raw: String,
    /// The cited marker.
    pub marker: Option<String>,
    /// The cited number. It starts at 1, also for forms that start at 0.
    pub number: Option<u32>,
    /// The cited document, id or author.
    pub name: Option<String>,
    /// The first claimed page.
    pub page_start: Option<u32>,
    /// The last claimed page.
    pub page_end: Option<u32>,
    /// The first claimed paragraph.
    pub paragraph_start: Option<u32>,
    /// The last claimed paragraph.
    pub paragraph_end: Option<u32>,
    /// The first claimed line.
    pub line_start: Option<u32>,
    /// The last claimed line.
    pub line_end: Option<u32>,
    /// The claimed place, for a corpus with locators: `Genesis 1:3–1:5`.
    pub locator: Option<String>,
    /// The reason why a malformed citation cannot be read.
    pub problem: Option<String>,
    /// Whether the marker differs in spelling from the one in the context.
    pub repaired: bool,
    /// The sentence that contains the citation.
    pub sentence: Option<String>,
    /// The text that the citation supports.
    pub scope: CitationScope,
    /// The claim that the citation supports.
    pub claim: Option<String>,
    /// First character.
    pub answer_start: usize,
    /// One past the last character.
    pub answer_end: usize,
    /// First byte (UTF-8).
    pub byte_start: usize,
    /// One past the last byte.
    pub byte_end: usize,
    /// First UTF-16 code unit.
    pub utf16_start: usize,
    /// One past the last UTF-16 code unit.
    pub utf16_end: usize,
}

impl Extraction {
    /// Returns one row for each citation, in the order of the text. `answer` must be the text that was extracted
    /// from.
    #[must_use]
    pub fn citation_columns(&self, answer: &str) -> Vec<CitationColumns> {
        (1..)
            .zip(&self.citations)
            .map(|(number, citation)| self.row(answer, number, citation))
            .collect()
    }

    fn row(
        &self,
        answer: &str,
        citation_no: usize,
        citation: &ExtractedCitation,
    ) -> CitationColumns {
        let span = &citation.span;
        let at = citation.reference.position();
        let integer = |number: u32| number.min(LARGEST_INTEGER);
        let mut row = CitationColumns {
            citation_no,
            form: citation.form.clone(),
            family: citation.family,
            raw: excerpt(citation.raw(answer)).into_owned(),
            marker: None,
            number: None,
            name: None,
            page_start: at.pages.map(|pages| integer(pages.start)),
            page_end: at.pages.map(|pages| integer(pages.end)),
            paragraph_start: at.paragraphs.map(|paragraphs| integer(paragraphs.start)),
            paragraph_end: at.paragraphs.map(|paragraphs| integer(paragraphs.end)),
            line_start: at.lines.map(|lines| integer(lines.start)),
            line_end: at.lines.map(|lines| integer(lines.end)),
            locator: None,
            problem: None,
            repaired: citation.repaired,
            sentence: citation
                .sentence
                .and_then(|sentence| answer.get(self.sentences.get(sentence)?.clone()))
                .map(|sentence| excerpt(sentence).into_owned()),
            scope: citation.scope,
            claim: self
                .claim_of(citation)
                .map(|claim| excerpt(claim).into_owned()),
            answer_start: span.chars.start,
            answer_end: span.chars.end,
            byte_start: span.bytes.start,
            byte_end: span.bytes.end,
            utf16_start: span.utf16.start,
            utf16_end: span.utf16.end,
        };
        match &citation.reference {
            Reference::Marker { marker, .. } => row.marker = Some(marker.clone()),
            Reference::Ordinal { number, .. } => row.number = Some(*number),
            Reference::Result { number, .. } => row.number = Some(*number),
            Reference::Document { name, .. }
            | Reference::Mention { name }
            | Reference::AuthorYear(name) => row.name = Some(name.clone()),
            Reference::Id { id, .. } => row.name = Some(id.clone()),
            Reference::Locator(range) => row.locator = Some(range.to_string()),
            Reference::Malformed(why) => row.problem = Some(why.as_str().to_owned()),
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use crate::{Families, extract};

    #[test]
    fn each_reference_has_its_column() {
        let answer = "Cows [a1, p. 3]. Pigs [2]. See [Source: farm.md, pp. 4-5] (Smith et al., 2020). Odd [A1,].";
        let rows = extract(answer, &Families::ALL).citation_columns(answer);
        let named_columns: Vec<_> = rows
            .iter()
            .map(|row| {
                let named = row
                    .marker
                    .clone()
                    .or(row.name.clone())
                    .or(row.problem.clone());
                (
                    named,
                    row.number,
                    row.page_start.zip(row.page_end),
                    row.repaired,
                )
            })
            .collect();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            named_columns,
            [
                (text("A1"), None, Some((3, 3)), true),
                (None, Some(2), None, false),
                (text("farm.md"), None, Some((4, 5)), false),
                (text("Smith et al., 2020"), None, None, false),
                (text("trailing_separator"), None, None, false),
            ]
        );
        assert_eq!(rows[1].claim.as_deref(), Some("Pigs."));
    }
}
