//! Evidence for the judgement of an answer: lexemes of texts, the stages that candidates reached, and documents that it
//! names.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use reground_citations::{
    Bounds, DocumentRequest, Grammar, Interval, Lexemes, LocatorRange, Locators, NamedDocument,
    NamedPassage, StageFacts, Target,
};
use reground_documents::{NumberedPlace, NumberedText};
use reground_grounding::end::evidence::DocumentPart;
use reground_grounding::end::parse_answer;
use reground_grounding::end::{self, Traced};
use reground_grounding::memory::SourceKey;
use reground_grounding::passage::{Passage, Stage};

use crate::error::Result;
use crate::retrieve::document_parts::{self, WantedPart};
use crate::retrieve::{lexemes, named};
use crate::store::corpora::{self, Corpus};
use crate::store::traces;

/// Maximum number of passages of a named document that are compared with a claim.
const MAX_NAMED_PASSAGES: usize = 500;
/// More characters than a text of the server has.
const WHOLE_TEXT: usize = 0x7fff_ffff;

/// Returns the content of texts: the lexemes of PostgreSQL, and the numbers in the text.
pub fn content(text_config: &str, texts: &[String]) -> Result<Vec<Lexemes>> {
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    Ok(lexemes::of(text_config, texts)?
        .into_iter()
        .zip(texts)
        .map(|(lexemes, text)| Lexemes::of(text, lexemes))
        .collect())
}

/// Returns the stages that each candidate of a turn reached.
pub fn stage_facts(turn_id: i64) -> Result<Vec<Traced>> {
    let mut facts = Vec::new();
    for traced in traces::load(turn_id)? {
        let stages = StageFacts {
            coordinates: traced.has_coordinates,
            retrieved: traced.dropped_stage != Some(Stage::Carry),
            reranked: !matches!(traced.dropped_stage, Some(Stage::Carry | Stage::Rerank)),
            in_context: traced.dropped_stage.is_none(),
        };
        for chunk_id in &traced.chunk_ids {
            facts.push(Traced {
                key: SourceKey {
                    corpus: traced.corpus.clone(),
                    doc_id: traced.doc_id.clone(),
                    chunk_id: chunk_id.clone(),
                },
                facts: stages,
            });
        }
    }
    Ok(facts)
}

/// The documents to look up for an answer: those that it names and that are not in its context.
pub struct DocumentLookup<'a> {
    pub tenant: &'a str,
    /// The corpora to search for names.
    pub corpora: &'a BTreeSet<&'a str>,
    pub requests: &'a [DocumentRequest],
    /// The grammar that the answer was parsed with.
    pub grammar: &'a Grammar,
    pub text_config: &'a str,
}

/// Looks up documents. Names, beginnings of ids and locators are searched in all corpora, ids in the corpus of the document
/// only.
pub fn look_up(lookup: &DocumentLookup<'_>) -> Result<Vec<NamedDocument>> {
    let own = lookup
        .requests
        .iter()
        .filter_map(|request| match &request.target {
            Target::Document { corpus, .. } => Some(corpus.as_str()),
            Target::Name(_) | Target::Id(_) | Target::Locator(_) => None,
        });
    let names: BTreeSet<&str> = match lookup.requests.is_empty() {
        true => BTreeSet::new(),
        false => lookup.corpora.iter().copied().chain(own).collect(),
    };
    let mut found = Vec::new();
    for name in names {
        // A corpus that was dropped or revoked since the turn contains no documents.
        if let Some(corpus) = corpora::usable(lookup.tenant, name)? {
            found.extend(by_name(&corpus, lookup)?);
            found.extend(by_locator(&corpus, lookup)?);
        }
    }
    Ok(found)
}

/// Answers the requests for a name, an id or the beginning of an id, from one corpus.
fn by_name(corpus: &Corpus, lookup: &DocumentLookup<'_>) -> Result<Vec<NamedDocument>> {
    let mut wanted: Vec<(&DocumentRequest, &str)> = Vec::new();
    let mut ids = Vec::new();
    for request in lookup.requests {
        match &request.target {
            Target::Name(name) => wanted.push((request, name)),
            Target::Document { corpus: of, doc_id } if *of == corpus.name => {
                wanted.push((request, doc_id));
            }
            Target::Id(id) => {
                wanted.push((request, id));
                ids.push(id.clone());
            }
            Target::Document { .. } | Target::Locator(_) => {}
        }
    }
    let names: Vec<String> = wanted.iter().map(|(_, name)| (*name).to_owned()).collect();
    let mut documents = named::documents(corpus, &names)?;
    documents.extend(named::by_beginning(corpus, &ids)?);
    let passages = passages_by_document(corpus, &documents)?;
    let mut found: Vec<NamedDocument> = Vec::new();
    for (request, name) in wanted {
        for document in documents.iter().filter(|document| {
            document.name == name
                && match &request.target {
                    Target::Document { doc_id, .. } => *doc_id == document.doc_id,
                    _ => true,
                }
        }) {
            let own = passages.get(&document.doc_id).into_iter().flatten();
            let version = own.clone().next().and_then(|passage| passage.version);
            let own = own.filter(|passage| is_on_pages(passage, request));
            found.push(NamedDocument {
                asked: request.clone(),
                corpus: corpus.name.clone(),
                doc_id: document.doc_id.clone(),
                title: document.title.clone(),
                uri: document.uri.clone(),
                page_count: document.page_count,
                version,
                place: None,
                bounds: None,
                passages: with_lexemes(own.take(MAX_NAMED_PASSAGES), lookup.text_config)?,
            });
        }
    }
    add_places(corpus, &mut found)?;
    Ok(found)
}

/// Finds the requested paragraphs and lines in the texts of the documents, each of which is read once. Only corpora of create_corpus
/// have such texts.
fn add_places(corpus: &Corpus, documents: &mut [NamedDocument]) -> Result<()> {
    let mut wanted: Vec<WantedPart<'_>> = Vec::new();
    let mut versions = BTreeSet::new();
    for (index, document) in documents.iter().enumerate() {
        let Some(version) = document.version else {
            continue;
        };
        let asks = corpus.managed && document.asked.at.is_within_page();
        if asks && versions.insert((&document.doc_id, version)) {
            wanted.push(WantedPart {
                index,
                doc_id: &document.doc_id,
                version,
                part: DocumentPart {
                    start: 0,
                    end: WHOLE_TEXT,
                },
            });
        }
    }
    let texts = document_parts::read(corpus, &wanted)?;
    let mut places = Vec::new();
    for (of, text) in &texts {
        let mut numbered = NumberedText::new(text);
        let Some(read) = documents.get(*of) else {
            continue;
        };
        for (index, document) in documents.iter().enumerate() {
            let same = (&document.doc_id, document.version) == (&read.doc_id, read.version);
            let interval = |interval: Option<Interval>| interval.map(|i| (i.start, i.end));
            let at = document.asked.at;
            if same {
                let place = NumberedPlace {
                    pages: interval(at.pages),
                    paragraphs: interval(at.paragraphs),
                    lines: interval(at.lines),
                };
                places.push((index, numbered.place(&place)));
            }
        }
    }
    for (index, place) in places {
        if let Some(document) = documents.get_mut(index) {
            document.place = place;
        }
    }
    Ok(())
}

/// Returns the passages of documents, by document.
fn passages_by_document(
    corpus: &Corpus,
    documents: &[named::Named],
) -> Result<BTreeMap<String, Vec<Passage>>> {
    let doc_ids = documents.iter().map(|document| document.doc_id.clone());
    let doc_ids: Vec<String> = doc_ids.collect();
    let mut passages: BTreeMap<String, Vec<Passage>> = BTreeMap::new();
    for passage in named::passages_of(corpus, &doc_ids)? {
        passages
            .entry(passage.doc_id.clone())
            .or_default()
            .push(passage);
    }
    Ok(passages)
}

/// Whether a passage is on the requested pages.
fn is_on_pages(passage: &Passage, request: &DocumentRequest) -> bool {
    match (request.at.pages, passage.pages) {
        (Some(wanted), Some(pages)) => wanted.start <= pages.end && pages.start <= wanted.end,
        (Some(_), None) => false,
        (None, _) => true,
    }
}

/// Answers the requests for a locator, from one corpus: each document with the work, the bounds of its locators, and its
/// passages at the requested place.
fn by_locator(corpus: &Corpus, lookup: &DocumentLookup<'_>) -> Result<Vec<NamedDocument>> {
    let Some(locators) = lookup.grammar.locators() else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    // Each work is read once, even if several of its places are cited.
    let mut works: BTreeMap<Option<&str>, Vec<(LocatorRange, Passage)>> = BTreeMap::new();
    for request in lookup.requests {
        let Target::Locator(place) = &request.target else {
            continue;
        };
        let work = place.work.as_deref();
        let passages = match works.entry(work) {
            Entry::Occupied(read) => read.into_mut(),
            Entry::Vacant(unread) => unread.insert(located(corpus, locators, work)?),
        };
        let mut documents: BTreeMap<String, Vec<&(LocatorRange, Passage)>> = BTreeMap::new();
        for located in passages.iter().filter(|(range, _)| range.same_work(place)) {
            documents
                .entry(located.1.doc_id.clone())
                .or_default()
                .push(located);
        }
        for (doc_id, located) in documents {
            let touching = located
                .iter()
                .filter(|(range, _)| range.touches(place))
                .map(|(_, passage)| passage)
                .take(MAX_NAMED_PASSAGES);
            let first = located.first().map(|(_, passage)| passage);
            found.push(NamedDocument {
                asked: request.clone(),
                corpus: corpus.name.clone(),
                title: first.and_then(|passage| passage.title.clone()),
                uri: first.and_then(|passage| passage.uri.clone()),
                page_count: None,
                version: None,
                place: None,
                bounds: Some(Bounds::of(located.iter().map(|(range, _)| range))),
                passages: with_lexemes(touching, lookup.text_config)?,
                doc_id,
            });
        }
    }
    Ok(found)
}

/// Returns the passages of a work with their locators, or of all works if `work` is `None`.
fn located(
    corpus: &Corpus,
    locators: &Locators,
    work: Option<&str>,
) -> Result<Vec<(LocatorRange, Passage)>> {
    let passages = named::placed(corpus, &locators.names(work))?.into_iter();
    let located = passages.filter_map(|passage| {
        let range = parse_answer::locator_range(locators, &passage);
        range.map(|range| (range, passage))
    });
    Ok(located.collect())
}

/// Returns the documents with the lexemes of another configuration.
pub fn reread(named: &[NamedDocument], text_config: &str) -> Result<Vec<NamedDocument>> {
    let mut named = named.to_vec();
    for document in &mut named {
        let texts = document
            .passages
            .iter()
            .map(|passage| passage.content.clone());
        let lexemes = content(text_config, &texts.collect::<Vec<_>>())?;
        for (passage, lexemes) in document.passages.iter_mut().zip(lexemes) {
            passage.lexemes = lexemes;
        }
    }
    Ok(named)
}

/// Adds the lexemes to passages.
fn with_lexemes<'a>(
    passages: impl Iterator<Item = &'a Passage>,
    text_config: &str,
) -> Result<Vec<NamedPassage>> {
    let passages: Vec<&Passage> = passages.collect();
    let texts: Vec<String> = passages
        .iter()
        .map(|passage| passage.content.clone())
        .collect();
    let lexemes = content(text_config, &texts)?;
    Ok(passages
        .into_iter()
        .zip(lexemes)
        .map(|(passage, lexemes)| NamedPassage {
            chunk_id: passage.chunk_id.clone(),
            pages: passage
                .pages
                .map(|pages| Interval::new(pages.start, pages.end)),
            chars: passage.chars.map(end::chars),
            locator: passage.locator(),
            content: passage.content.clone(),
            lexemes,
        })
        .collect())
}
