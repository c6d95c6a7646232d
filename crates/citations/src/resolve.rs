//! Which place a citation names, before anybody has read what stands there.

mod ids;
mod places;

use std::collections::{BTreeMap, BTreeSet};

use reground_interrupt::checked;

use crate::names::{address, shortens, stem};
use crate::{
    DocumentRequest, Extraction, KnownMarker, NamedDocument, Pages, Reference, Source, Target,
};

/// Fidelity of a citation that names the document and no page of it, or a page that cannot be checked (I5: below 1).
const DOCUMENT_ONLY: f64 = 0.5;

/// Where a citation leads.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Resolution {
    /// To sources of the context; when several fit, the one that supports the claim best is meant.
    Context {
        sources: Vec<usize>,
        /// How exactly the string names the place, in [0, 1].
        fidelity: f64,
        repaired: bool,
    },
    /// To places outside the context, by index of the named document.
    Elsewhere { documents: Vec<usize> },
    /// To a place outside the context of which nothing was found.
    Nothing { source: usize },
    /// To a marker whose source is not in the context.
    Stale { known: usize },
    /// To a page that the document does not have; the document, where it was looked up.
    OutOfBounds { document: usize },
    /// Nowhere.
    Unknown,
    /// Not readable.
    Malformed,
    /// Author and year.
    Unresolvable,
}

/// The documents that the glue must look up before the answer can be judged: each name that is in no context, and each
/// claimed page that no source of the context stands on. Ascending, without repetition.
pub fn document_requests(
    extraction: &Extraction,
    sources: &[Source],
    known: &[KnownMarker],
) -> Vec<DocumentRequest> {
    let places = Places::new(sources, known, &[]);
    let requests: BTreeSet<_> = checked(&extraction.citations)
        .filter_map(|citation| match places.look(&citation.reference) {
            Look::Ask(request, _) => Some(request),
            Look::Settled(_) => None,
        })
        .collect();
    requests.into_iter().collect()
}

/// The names by which the citations of an answer may mean a marker of an earlier turn, or a document that one is bound to: of
/// the conversation's markers no others bear on the answer. Ascending, without repetition.
pub fn registry_names(extraction: &Extraction) -> Vec<String> {
    let names: BTreeSet<String> = checked(&extraction.citations)
        .filter_map(|citation| match &citation.reference {
            Reference::Marker { marker, .. } => Some(marker.clone()),
            Reference::Ordinal { number, .. } => Some(number.to_string()),
            Reference::Document { name, .. } | Reference::Mention { name } => Some(name.clone()),
            Reference::Id { id, .. } => Some(id.clone()),
            Reference::Result { .. }
            | Reference::Locator(_)
            | Reference::AuthorYear(_)
            | Reference::Malformed(_) => None,
        })
        .collect();
    names.into_iter().collect()
}

/// Everything that can be named in this turn, by each of its names.
pub(crate) struct Places<'a> {
    sources: &'a [Source],
    known: &'a [KnownMarker],
    named: &'a [NamedDocument],
    by_marker: BTreeMap<&'a str, usize>,
    by_ordinal: BTreeMap<u32, usize>,
    by_member: BTreeMap<(&'a str, &'a str, &'a str), usize>,
    by_passage: BTreeMap<&'a str, Vec<usize>>,
    by_doc_id: BTreeMap<&'a str, Vec<usize>>,
    by_uri: BTreeMap<&'a str, Vec<usize>>,
    by_title: BTreeMap<&'a str, Vec<usize>>,
    by_address: BTreeMap<String, Vec<usize>>,
    by_stem: BTreeMap<String, Vec<usize>>,
    known_markers: BTreeMap<&'a str, usize>,
    known_documents: BTreeMap<&'a str, usize>,
    answers: BTreeMap<&'a DocumentRequest, Vec<usize>>,
}

enum Look {
    Settled(Resolution),
    Ask(DocumentRequest, Then),
}

/// What the citation means once the document is looked up.
enum Then {
    /// A page beyond what the sources of the context stand on.
    Context(Vec<usize>),
    /// A marker of an earlier turn.
    Stale(usize),
    /// A place that no source of the context contains; those that touch it.
    Place(Vec<usize>),
    /// A name that the context does not know; the marker that knew the document.
    Name(Option<usize>),
}

impl<'a> Places<'a> {
    pub(crate) fn new(
        sources: &'a [Source],
        known: &'a [KnownMarker],
        named: &'a [NamedDocument],
    ) -> Self {
        let mut places = Self {
            sources,
            known,
            named,
            by_marker: BTreeMap::new(),
            by_ordinal: BTreeMap::new(),
            by_member: BTreeMap::new(),
            by_passage: BTreeMap::new(),
            by_doc_id: BTreeMap::new(),
            by_uri: BTreeMap::new(),
            by_title: BTreeMap::new(),
            by_address: BTreeMap::new(),
            by_stem: BTreeMap::new(),
            known_markers: BTreeMap::new(),
            known_documents: BTreeMap::new(),
            answers: BTreeMap::new(),
        };
        for (index, source) in sources.iter().enumerate() {
            places.add(index, source);
        }
        for (index, known) in known.iter().enumerate() {
            places.known_markers.entry(&known.marker).or_insert(index);
            places.known_documents.entry(&known.doc_id).or_insert(index);
        }
        for (index, document) in named.iter().enumerate() {
            places
                .answers
                .entry(&document.asked)
                .or_default()
                .push(index);
        }
        places
    }

    fn add(&mut self, index: usize, source: &'a Source) {
        self.by_marker.entry(&source.marker).or_insert(index);
        if let Some(ordinal) = source.ordinal {
            self.by_ordinal.entry(ordinal).or_insert(index);
        }
        for member in source.members.iter().chain([&source.passage]) {
            let key = (
                source.corpus.as_str(),
                source.doc_id.as_str(),
                member.as_str(),
            );
            self.by_member.entry(key).or_insert(index);
            let sources = self.by_passage.entry(member).or_default();
            // A passage is often a member of itself.
            if sources.last() != Some(&index) {
                sources.push(index);
            }
        }
        self.by_doc_id
            .entry(&source.doc_id)
            .or_default()
            .push(index);
        if let Some(uri) = &source.uri {
            self.by_uri.entry(uri).or_default().push(index);
        }
        if let Some(title) = &source.title {
            self.by_title.entry(title).or_default().push(index);
        }
        let addresses: BTreeSet<_> = names_of(source).filter_map(address).collect();
        for address in addresses {
            self.by_address.entry(address).or_default().push(index);
        }
        let stems: BTreeSet<_> = names_of(source).map(stem).collect();
        for stem in stems {
            self.by_stem.entry(stem).or_default().push(index);
        }
    }

    pub(crate) fn resolve(&self, reference: &Reference) -> Resolution {
        match self.look(reference) {
            Look::Settled(resolution) => resolution,
            Look::Ask(request, then) => self.answered(&request, then),
        }
    }

    fn look(&self, reference: &Reference) -> Look {
        let settled = match reference {
            Reference::Marker { marker, pages } => return self.marker(marker, *pages),
            Reference::Ordinal { number, pages } => match self.by_ordinal.get(number) {
                Some(&source) => return self.passage(source, *pages),
                // Where markers are numbers, an earlier turn may have bound this one.
                None => return self.marker(&number.to_string(), *pages),
            },
            Reference::Document { name, pages } => return self.document(name, *pages),
            Reference::Id { id, pages } => return self.id(id, *pages),
            Reference::Result { turn, kind, number } => return self.result(*turn, kind, *number),
            Reference::Locator(range) => return self.place(range),
            Reference::Mention { name } => return self.document(name, None),
            Reference::AuthorYear(_) => Resolution::Unresolvable,
            Reference::Malformed(_) => Resolution::Malformed,
        };
        Look::Settled(settled)
    }

    fn marker(&self, marker: &str, pages: Option<Pages>) -> Look {
        if let Some(&source) = self.by_marker.get(marker) {
            return self.passage(source, pages);
        }
        let Some(&index) = self.known_markers.get(marker) else {
            return Look::Settled(Resolution::Unknown);
        };
        let known = &self.known[index];
        let key = (
            known.corpus.as_str(),
            known.doc_id.as_str(),
            known.passage.as_str(),
        );
        // A merge gave the passage another marker in this turn: it is in the context all the same. What took over its key is not it.
        if let Some(&source) = self.by_member.get(&key)
            && !known.replaced
        {
            return self.passage(source, pages);
        }
        match pages {
            None => Look::Settled(Resolution::Stale { known: index }),
            Some(_) => Look::Ask(
                request(&known.corpus, &known.doc_id, pages),
                Then::Stale(index),
            ),
        }
    }

    /// A source of the context, named by marker or number, and the page the answer adds.
    fn passage(&self, index: usize, pages: Option<Pages>) -> Look {
        let source = &self.sources[index];
        let Some(claimed) = pages else {
            return exact(vec![index], false);
        };
        if source.pages.is_some_and(|pages| pages.contains(claimed)) {
            return exact(vec![index], false);
        }
        // The page names another passage of the same document: follow it if there is just one.
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
        Look::Ask(asked, Then::Context(vec![index]))
    }

    fn document(&self, name: &str, pages: Option<Pages>) -> Look {
        let Some((sources, repaired)) = self.named_in_context(name) else {
            let asked = DocumentRequest {
                target: Target::Name(name.to_owned()),
                pages,
            };
            let known = self.known_documents.get(name).copied();
            return Look::Ask(asked, Then::Name(known));
        };
        let Some(claimed) = pages else {
            return Look::Settled(Resolution::Context {
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
        Look::Ask(asked, Then::Context(sources))
    }

    /// The sources of the document that `name` names, and whether the name had to be read generously, which is done only
    /// when a single document fits. Never empty.
    fn named_in_context(&self, name: &str) -> Option<(Vec<usize>, bool)> {
        let exact = self
            .by_doc_id
            .get(name)
            .or_else(|| self.by_uri.get(name))
            .or_else(|| self.by_title.get(name));
        if let Some(exact) = exact {
            return Some((exact.clone(), false));
        }
        let fitting = match address(name) {
            // An address is a whole: without its folder it would be any host's.
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

    /// The sources of which `name` is a name without its folder or extension.
    fn shortened(&self, name: &str) -> Vec<usize> {
        let same_stem = self.by_stem.get(&stem(name)).map_or(&[][..], Vec::as_slice);
        let fits = |index: &usize| names_of(&self.sources[*index]).any(|own| shortens(name, own));
        same_stem.iter().copied().filter(fits).collect()
    }

    fn answered(&self, asked: &DocumentRequest, then: Then) -> Resolution {
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
            matches!((asked.pages, count), (Some(pages), Some(count)) if pages.exceed(count))
                || asked.pages.is_some_and(|pages| pages.start == 0)
        };
        let out_of_bounds = found.first().filter(|_| found.iter().all(beyond));
        if let Some(&document) = out_of_bounds {
            return Resolution::OutOfBounds { document };
        }
        match then {
            Then::Stale(known) => Resolution::Stale { known },
            Then::Name(known) if found.is_empty() => match known {
                Some(known) => Resolution::Stale { known },
                None => Resolution::Unknown,
            },
            Then::Name(_) => Resolution::Elsewhere {
                documents: found
                    .iter()
                    .copied()
                    .filter(|document| !beyond(document))
                    .collect(),
            },
            Then::Place(touching) => {
                let having: Vec<_> = found
                    .iter()
                    .copied()
                    .filter(|document| !beyond(document))
                    .collect();
                self.beside_the_place(touching, &having)
            }
            Then::Context(sources) => self.beside_the_context(asked.pages, sources, found),
        }
    }

    /// A page within the document that no one source of the context wholly stands on.
    fn beside_the_context(
        &self,
        claimed: Option<Pages>,
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
            let stretches = touching.iter().filter_map(shared).collect();
            let fidelity = claimed.map_or(DOCUMENT_ONLY, |claimed| {
                Pages::union_count(stretches) as f64 / claimed.count() as f64
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
            return Resolution::Nothing { source: sources[0] };
        }
        Resolution::Elsewhere {
            documents: found.to_vec(),
        }
    }
}

/// Everything that a source goes by.
fn names_of(source: &Source) -> impl Iterator<Item = &str> {
    [
        Some(&source.doc_id),
        source.uri.as_ref(),
        source.title.as_ref(),
    ]
    .into_iter()
    .flatten()
    .map(String::as_str)
}

fn exact(sources: Vec<usize>, repaired: bool) -> Look {
    Look::Settled(Resolution::Context {
        sources,
        fidelity: 1.0,
        repaired,
    })
}

fn request(corpus: &str, doc_id: &str, pages: Option<Pages>) -> DocumentRequest {
    DocumentRequest {
        target: Target::Document {
            corpus: corpus.to_owned(),
            doc_id: doc_id.to_owned(),
        },
        pages,
    }
}
