//! Resolves references by the names in a [`SourceIndex`]. The content of the sources is not read here.

use std::collections::{BTreeMap, BTreeSet};

use reground_documents::TextPlace;
use reground_interrupt::checked;

use super::source_index::{
    AfterLookup, DOCUMENT_ONLY, Lookup, Resolution, SourceIndex, exact, names_of, request,
};
use super::sources::{DocumentRequest, KnownMarker, Source, Target};
use crate::text::{address, shortens, stem};
use crate::{Extraction, Interval, Reference};

/// Returns the documents that must be looked up before the answer can be judged: names that are not in the context,
/// and claimed pages that no source of the context contains, and claimed paragraphs and lines. The result is sorted and has no duplicates.
pub fn document_requests(
    extraction: &Extraction,
    sources: &[Source],
    known: &[KnownMarker],
) -> Vec<DocumentRequest> {
    let index = SourceIndex::new(sources, known, &[]);
    let requests: BTreeSet<_> = checked(&extraction.citations)
        .filter_map(|citation| match index.look(&citation.reference) {
            Lookup::Request(request, _) => Some(request),
            Lookup::Settled(_) => None,
        })
        .collect();
    requests.into_iter().collect()
}

/// Returns the names in an answer that may be a marker of an earlier turn, or a document that such a marker is bound
/// to. Other markers of the conversation are not needed to judge the answer. The result is sorted and has no
/// duplicates.
pub fn registry_names(extraction: &Extraction) -> Vec<String> {
    let mut names = BTreeSet::new();
    for citation in checked(&extraction.citations) {
        match &citation.reference {
            Reference::Marker { marker, name, .. } => {
                names.insert(marker.clone());
                names.extend(name.clone());
            }
            Reference::Ordinal { number, .. } => {
                names.insert(number.to_string());
            }
            Reference::Document { name, .. }
            | Reference::Mention { name }
            | Reference::Id { id: name, .. } => {
                names.insert(name.clone());
            }
            Reference::Result { .. }
            | Reference::Locator(_)
            | Reference::AuthorYear(_)
            | Reference::Malformed(_) => {}
        }
    }
    names.into_iter().collect()
}

impl SourceIndex<'_> {
    pub(crate) fn resolve(&self, reference: &Reference) -> Resolution {
        match self.look(reference) {
            Lookup::Settled(resolution) => resolution,
            Lookup::Request(request, then) => self.answered(&request, then),
        }
    }

    fn look(&self, reference: &Reference) -> Lookup {
        let (lookup, at) = (self.look_by_pages(reference), reference.position());
        match at.is_within_page() {
            true => self.look_within_page(lookup, at),
            false => lookup,
        }
    }

    fn look_by_pages(&self, reference: &Reference) -> Lookup {
        let settled = match reference {
            Reference::Marker { marker, name, at } => {
                return self.marker_or_name(marker, name.as_deref(), at.pages);
            }
            Reference::Ordinal { number, at } => match self.by_ordinal.get(number) {
                Some(&source) => return self.passage(source, at.pages),
                // In a conversation with numbers as markers, an earlier turn may have bound this number.
                None => return self.marker(&number.to_string(), at.pages),
            },
            Reference::Document { name, at } => return self.document(name, at.pages),
            Reference::Id { id, at } => return self.id(id, at.pages),
            Reference::Result { turn, kind, number } => return self.result(*turn, kind, *number),
            Reference::Locator(range) => return self.place(range),
            Reference::Mention { name } => return self.document(name, None),
            Reference::AuthorYear(_) => Resolution::Unresolvable,
            Reference::Malformed(_) => Resolution::Malformed,
        };
        Lookup::Settled(settled)
    }

    /// Resolves a marker that may be the name of a document, as in `Source: Q3`.
    ///
    /// The marker of a source of the context wins, because the prompt tells the model to cite by markers. Then a document of the
    /// context, which the model has seen, wins over a marker of an earlier turn. Other documents are looked up only if the string
    /// announces a name.
    fn marker_or_name(&self, marker: &str, name: Option<&str>, pages: Option<Interval>) -> Lookup {
        let is_known = self.known_markers.contains_key(marker);
        if self.by_marker.contains_key(marker) {
            return self.marker(marker, pages);
        }
        let written = name.unwrap_or(marker);
        let has_name = |names: &BTreeMap<&str, Vec<usize>>| names.contains_key(written);
        let in_context = has_name(&self.by_doc_id) || has_name(&self.by_title);
        match name {
            Some(name) if in_context || !is_known => self.document(name, pages),
            None if in_context && !is_known => self.document(marker, pages),
            _ => self.marker(marker, pages),
        }
    }

    pub(super) fn marker(&self, marker: &str, pages: Option<Interval>) -> Lookup {
        if let Some(&source) = self.by_marker.get(marker) {
            return self.passage(source, pages);
        }
        let Some(&index) = self.known_markers.get(marker) else {
            return Lookup::Settled(Resolution::Unknown);
        };
        let known = &self.known[index];
        let key = (
            known.corpus.as_str(),
            known.doc_id.as_str(),
            known.chunk_id.as_str(),
        );
        // If a merge gave the passage another marker in this turn, it is still in the context. A passage that
        // replaced it under the same id is a different one.
        if let Some(&source) = self.by_member.get(&key)
            && !known.replaced
        {
            return self.passage(source, pages);
        }
        match pages {
            None => Lookup::Settled(Resolution::Stale { known: index }),
            Some(_) => Lookup::Request(
                request(&known.corpus, &known.doc_id, pages),
                AfterLookup::Stale(index),
            ),
        }
    }

    /// Resolves a source of the context, named by marker or number, and the page that the answer adds.
    pub(super) fn passage(&self, index: usize, pages: Option<Interval>) -> Lookup {
        let source = &self.sources[index];
        let Some(claimed) = pages else {
            return exact(vec![index], false);
        };
        if source.pages.is_some_and(|pages| pages.contains(claimed)) {
            return exact(vec![index], false);
        }
        // The page may belong to another passage of the document. It is used if it is the only one.
        let siblings = self
            .by_doc_id
            .get(source.doc_id.as_str())
            .map_or(&[][..], Vec::as_slice);
        let mut fitting = siblings.iter().copied().filter(|&other| {
            let other = &self.sources[other];
            other.corpus == source.corpus
                && other.pages.is_some_and(|pages| pages.contains(claimed))
        });
        if let (Some(sibling), None) = (fitting.next(), fitting.next()) {
            return exact(vec![sibling], true);
        }
        let asked = request(&source.corpus, &source.doc_id, pages);
        Lookup::Request(asked, AfterLookup::Context(vec![index]))
    }

    pub(super) fn document(&self, name: &str, pages: Option<Interval>) -> Lookup {
        let Some((sources, repaired)) = self.named_in_context(name) else {
            let asked = DocumentRequest {
                target: Target::Name(name.to_owned()),
                at: pages.into(),
            };
            let known = self.known_documents.get(name).copied();
            return Lookup::Request(asked, AfterLookup::Name(known));
        };
        let Some(claimed) = pages else {
            return Lookup::Settled(Resolution::Context {
                sources,
                fidelity: DOCUMENT_ONLY,
                repaired,
            });
        };
        let on_page = |&index: &usize| {
            self.sources[index]
                .pages
                .is_some_and(|pages| pages.contains(claimed))
        };
        let containing: Vec<_> = sources
            .iter()
            .copied()
            .filter(|index| on_page(index))
            .collect();
        if !containing.is_empty() {
            return exact(containing, repaired);
        }
        let first = &self.sources[sources[0]];
        let asked = request(&first.corpus, &first.doc_id, pages);
        Lookup::Request(asked, AfterLookup::Context(sources))
    }

    /// Returns the sources of the document that `name` names, never empty, and whether the name is inexact. An
    /// inexact name must match a single document.
    pub(super) fn named_in_context(&self, name: &str) -> Option<(Vec<usize>, bool)> {
        let exact = self
            .by_doc_id
            .get(name)
            .or_else(|| self.by_uri.get(name))
            .or_else(|| self.by_title.get(name));
        if let Some(exact) = exact {
            return Some((exact.clone(), false));
        }
        let fitting = match address(name) {
            // An address is compared as a whole: without its folder it could belong to any host.
            Some(address) => self.by_address.get(&address)?.clone(),
            None => match self.shortened(name) {
                none if none.is_empty() => self.misspelled(name),
                shortened => shortened,
            },
        };
        let document = |index: &usize| {
            let source = &self.sources[*index];
            (&source.corpus, &source.doc_id)
        };
        let first = document(fitting.first()?);
        fitting
            .iter()
            .all(|index| document(index) == first)
            .then_some((fitting, true))
    }

    /// Returns the sources that have `name` as a name without its folder or extension.
    fn shortened(&self, name: &str) -> Vec<usize> {
        let same_stem = self.by_stem.get(&stem(name)).map_or(&[][..], Vec::as_slice);
        let fits = |index: &usize| names_of(&self.sources[*index]).any(|own| shortens(name, own));
        same_stem.iter().copied().filter(fits).collect()
    }

    fn answered(&self, asked: &DocumentRequest, then: AfterLookup) -> Resolution {
        let found = self.answers.get(asked).map_or(&[][..], Vec::as_slice);
        let beyond = |&document: &usize| {
            let document = &self.named[document];
            let count = document.page_count;
            if let Target::Locator(place) = &asked.target {
                return document
                    .bounds
                    .as_ref()
                    .is_some_and(|bounds| !bounds.contains(place));
            }
            let pages = asked.at.pages;
            document.place == Some(TextPlace::Beyond)
                || matches!((pages, count), (Some(pages), Some(count)) if pages.exceed(count))
                || pages.is_some_and(|pages| pages.start == 0)
        };
        let within: Vec<usize> = found
            .iter()
            .copied()
            .filter(|document| !beyond(document))
            .collect();
        if let (Some(&document), true) = (found.first(), within.is_empty()) {
            return Resolution::OutOfBounds { document };
        }
        match then {
            AfterLookup::Stale(known) => Resolution::Stale { known },
            AfterLookup::Name(known) if found.is_empty() => match known {
                Some(known) => Resolution::Stale { known },
                None => Resolution::Unknown,
            },
            AfterLookup::Name(_) => Resolution::OutsideContext { documents: within },
            AfterLookup::Place(touching) => self.resolve_in_work(touching, within),
            AfterLookup::Context(sources) => self.resolve_pages(asked.at.pages, sources, found),
            AfterLookup::WithinPage {
                sources,
                fidelity,
                repaired,
            } => self.resolve_within_page(sources, fidelity, repaired, within),
        }
    }

    /// Resolves pages that no single source of the context contains completely.
    fn resolve_pages(
        &self,
        claimed: Option<Interval>,
        sources: Vec<usize>,
        found: &[usize],
    ) -> Resolution {
        let shared = |&index: &usize| match (claimed, self.sources[index].pages) {
            (Some(claimed), Some(pages)) => claimed.shared_with(pages),
            _ => None,
        };
        let touching: Vec<_> = sources
            .iter()
            .copied()
            .filter(|index| shared(index).is_some())
            .collect();
        if !touching.is_empty() {
            let search_ranges = touching.iter().filter_map(shared).collect();
            let fidelity = claimed.map_or(DOCUMENT_ONLY, |claimed| {
                Interval::union_count(search_ranges) as f64 / claimed.count() as f64
            });
            return Resolution::Context {
                sources: touching,
                fidelity,
                repaired: false,
            };
        }
        let unpaged: Vec<_> = sources
            .iter()
            .copied()
            .filter(|&index| self.sources[index].pages.is_none())
            .collect();
        if !unpaged.is_empty() {
            return Resolution::Context {
                sources: unpaged,
                fidelity: DOCUMENT_ONLY,
                repaired: false,
            };
        }
        if found.is_empty() {
            return Resolution::NotFound { source: sources[0] };
        }
        Resolution::OutsideContext {
            documents: found.to_vec(),
        }
    }
}
