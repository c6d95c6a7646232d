//! Resolves claimed paragraphs and lines, which only the text of the document can tell.

use std::ops::Range;

use reground_documents::TextPlace;

use super::source_index::{AfterLookup, Lookup, Resolution, SourceIndex};
use super::sources::{DocumentRequest, NamedDocument, Target};
use crate::Position;

impl SourceIndex<'_> {
    /// Adds the paragraphs or lines to a lookup by pages.
    pub(super) fn look_within_page(&self, lookup: Lookup, at: Position) -> Lookup {
        match lookup {
            Lookup::Settled(Resolution::Context {
                sources,
                fidelity,
                repaired,
            }) if !sources.is_empty() => {
                let first = &self.sources[sources[0]];
                let target = Target::Document {
                    corpus: first.corpus.clone(),
                    doc_id: first.doc_id.clone(),
                };
                Lookup::Request(
                    DocumentRequest { target, at },
                    AfterLookup::WithinPage {
                        sources,
                        fidelity,
                        repaired,
                    },
                )
            }
            Lookup::Request(request, then) => {
                Lookup::Request(DocumentRequest { at, ..request }, then)
            }
            settled => settled,
        }
    }

    /// Resolves paragraphs or lines to the sources that contain them. If the text or the position of a source is unknown, the
    /// pages decide.
    pub(super) fn resolve_within_page(
        &self,
        sources: Vec<usize>,
        fidelity: f64,
        repaired: bool,
        documents: Vec<usize>,
    ) -> Resolution {
        let by_pages = |sources| Resolution::Context {
            sources,
            fidelity,
            repaired,
        };
        let Some((document, claimed)) = documents.iter().find_map(|&document| {
            let document = &self.named[document];
            Some((document, claimed(document)?))
        }) else {
            return by_pages(sources);
        };
        let shared: Option<Vec<(usize, usize)>> = sources
            .iter()
            .map(|&source| Some((source, self.shared(source, document, &claimed)?)))
            .collect();
        let Some(shared) = shared else {
            return by_pages(sources);
        };
        let most = shared.iter().map(|(_, shared)| *shared).max().unwrap_or(0);
        // A blank line has no characters, and a passage does not begin or end with one.
        if claimed.is_empty() {
            return by_pages(sources);
        }
        if most == 0 {
            return Resolution::OutsideContext { documents };
        }
        let best = shared.iter().filter(|(_, shared)| *shared == most);
        Resolution::Context {
            sources: best.map(|(source, _)| *source).collect(),
            fidelity: most as f64 / claimed.len() as f64,
            repaired,
        }
    }

    /// Returns how many of the claimed characters a source contains; `None` if that is unknown.
    fn shared(
        &self,
        source: usize,
        document: &NamedDocument,
        claimed: &Range<usize>,
    ) -> Option<usize> {
        let source = &self.sources[source];
        let same = source.doc_id == document.doc_id && source.version == document.version;
        let chars = source.chars.as_ref().filter(|_| same)?;
        let (start, end) = (chars.start.max(claimed.start), chars.end.min(claimed.end));
        Some(end.saturating_sub(start))
    }
}

/// Returns the claimed characters of a document, if they are known.
fn claimed(document: &NamedDocument) -> Option<Range<usize>> {
    match &document.place {
        Some(TextPlace::Chars(chars)) => Some(chars.clone()),
        _ => None,
    }
}
