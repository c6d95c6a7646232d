//! An index of everything that a citation of this turn can name, by each name.

use std::collections::{BTreeMap, BTreeSet};

use super::sources::{DocumentRequest, KnownMarker, NamedDocument, Source, Target};
use crate::Interval;
use crate::text::{address, stem};

/// Fidelity of a citation that names a document without a page, or with a page that cannot be checked (below 1).
pub(super) const DOCUMENT_ONLY: f64 = 0.5;

/// The place that a citation leads to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Resolution {
    /// Sources of the context. If there are several, the citation means the one that supports the claim best.
    Context {
        sources: Vec<usize>,
        /// How exactly the string names the place, in [0, 1].
        fidelity: f64,
        repaired: bool,
    },
    /// Documents outside the context, by index in `named`.
    OutsideContext { documents: Vec<usize> },
    /// A place outside the context for which the lookup found nothing.
    NotFound { source: usize },
    /// A marker whose source is not in the context.
    Stale { known: usize },
    /// A page that the document does not have.
    OutOfBounds { document: usize },
    /// No source or document has the name.
    Unknown,
    /// The string cannot be read.
    Malformed,
    /// Author and year.
    Unresolvable,
}

/// The sources, markers and documents of this turn, by each of their names.
pub(crate) struct SourceIndex<'a> {
    pub(super) sources: &'a [Source],
    pub(super) known: &'a [KnownMarker],
    pub(super) named: &'a [NamedDocument],
    pub(super) by_marker: BTreeMap<&'a str, usize>,
    pub(super) by_ordinal: BTreeMap<u32, usize>,
    pub(super) by_member: BTreeMap<(&'a str, &'a str, &'a str), usize>,
    pub(super) by_passage: BTreeMap<&'a str, Vec<usize>>,
    pub(super) by_doc_id: BTreeMap<&'a str, Vec<usize>>,
    pub(super) by_uri: BTreeMap<&'a str, Vec<usize>>,
    pub(super) by_title: BTreeMap<&'a str, Vec<usize>>,
    pub(super) by_address: BTreeMap<String, Vec<usize>>,
    pub(super) by_stem: BTreeMap<String, Vec<usize>>,
    pub(super) known_markers: BTreeMap<&'a str, usize>,
    pub(super) known_documents: BTreeMap<&'a str, usize>,
    pub(super) answers: BTreeMap<&'a DocumentRequest, Vec<usize>>,
}

pub(super) enum Lookup {
    Settled(Resolution),
    Request(DocumentRequest, AfterLookup),
}

/// How to resolve a citation after the document was looked up.
pub(super) enum AfterLookup {
    /// A page that these sources of the context do not contain.
    Context(Vec<usize>),
    /// Paragraphs or lines. These sources of the context contain the page.
    WithinPage {
        sources: Vec<usize>,
        fidelity: f64,
        repaired: bool,
    },
    /// A marker of an earlier turn.
    Stale(usize),
    /// A place that no source of the context contains. These sources overlap it.
    Place(Vec<usize>),
    /// A name that is not in the context, and the marker whose document has the name.
    Name(Option<usize>),
}

impl<'a> SourceIndex<'a> {
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
        for member in source.member_chunk_ids.iter().chain([&source.chunk_id]) {
            let key = (
                source.corpus.as_str(),
                source.doc_id.as_str(),
                member.as_str(),
            );
            self.by_member.entry(key).or_insert(index);
            let sources = self.by_passage.entry(member).or_default();
            // The members of a passage often include the passage itself.
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
}

/// All names of a source.
pub(super) fn names_of(source: &Source) -> impl Iterator<Item = &str> {
    [
        Some(&source.doc_id),
        source.uri.as_ref(),
        source.title.as_ref(),
    ]
    .into_iter()
    .flatten()
    .map(String::as_str)
}

pub(super) fn exact(sources: Vec<usize>, repaired: bool) -> Lookup {
    Lookup::Settled(Resolution::Context {
        sources,
        fidelity: 1.0,
        repaired,
    })
}

pub(super) fn request(corpus: &str, doc_id: &str, pages: Option<Interval>) -> DocumentRequest {
    DocumentRequest {
        target: Target::Document {
            corpus: corpus.to_owned(),
            doc_id: doc_id.to_owned(),
        },
        at: pages.into(),
    }
}
