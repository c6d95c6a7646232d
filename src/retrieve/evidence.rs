//! What an answer is judged by, besides its turn: the content of texts, the fate of candidates, documents that it names.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use reground_citations::{
    Bounds, DocumentRequest, Grammar, Lexemes, LocatorRange, NamedDocument, NamedPassage, Pages,
    StageFacts, Target,
};
use reground_grounding::end::Traced;
use reground_grounding::end::parse_answer;
use reground_grounding::memory::SourceKey;
use reground_grounding::passage::{Passage, Stage};

use crate::error::Result;
use crate::retrieve::{lexemes, named};
use crate::store::corpora::{self, Corpus};
use crate::store::traces;

/// Passages of a document named without a page that are compared with the claim.
const MOST_NAMED_PASSAGES: usize = 500;

/// The content of texts: the server's lexemes, with numbers read from the text.
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

/// How far each candidate of a turn came (I4).
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

/// What an answer names and no context has.
pub struct Asked<'a> {
    pub tenant: &'a str,
    /// Where documents may be named.
    pub corpora: &'a BTreeSet<&'a str>,
    pub requests: &'a [DocumentRequest],
    /// How the answer was read.
    pub grammar: &'a Grammar,
    pub text_config: &'a str,
}

/// Looks the documents up: by name, beginning of an id or place in all the corpora, by key in the document's own.
pub fn look_up(asked: &Asked<'_>) -> Result<Vec<NamedDocument>> {
    let own = asked
        .requests
        .iter()
        .filter_map(|request| match &request.target {
            Target::Document { corpus, .. } => Some(corpus.as_str()),
            Target::Name(_) | Target::Id(_) | Target::Locator(_) => None,
        });
    let names: BTreeSet<&str> = match asked.requests.is_empty() {
        true => BTreeSet::new(),
        false => asked.corpora.iter().copied().chain(own).collect(),
    };
    let mut found = Vec::new();
    for name in names {
        // A corpus that was dropped or revoked since names nothing any more.
        if let Some(corpus) = corpora::usable(asked.tenant, name)? {
            found.extend(by_name(&corpus, asked)?);
            found.extend(by_place(&corpus, asked)?);
        }
    }
    Ok(found)
}

/// The requests of one corpus that say a name, a key or the beginning of one.
fn by_name(corpus: &Corpus, asked: &Asked<'_>) -> Result<Vec<NamedDocument>> {
    let mut wanted: Vec<(&DocumentRequest, &str)> = Vec::new();
    let mut ids = Vec::new();
    for request in asked.requests {
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
    let keys: Vec<String> = documents
        .iter()
        .map(|document| document.doc_id.clone())
        .collect();
    let mut passages: BTreeMap<String, Vec<Passage>> = BTreeMap::new();
    for passage in named::passages_of(corpus, &keys)? {
        passages
            .entry(passage.doc_id.clone())
            .or_default()
            .push(passage);
    }
    let mut found = Vec::new();
    for (request, name) in wanted {
        for document in documents.iter().filter(|document| {
            document.name == name
                && match &request.target {
                    Target::Document { doc_id, .. } => *doc_id == document.doc_id,
                    _ => true,
                }
        }) {
            let on_pages = |passage: &&Passage| match (request.pages, passage.pages) {
                (Some(asked), Some(pages)) => asked.start <= pages.end && pages.start <= asked.end,
                (Some(_), None) => false,
                (None, _) => true,
            };
            let own = passages.get(&document.doc_id).into_iter().flatten();
            let own = own.filter(on_pages).take(MOST_NAMED_PASSAGES);
            found.push(NamedDocument {
                asked: request.clone(),
                corpus: corpus.name.clone(),
                doc_id: document.doc_id.clone(),
                title: document.title.clone(),
                uri: document.uri.clone(),
                page_count: document.page_count,
                bounds: None,
                passages: compared(own, asked.text_config)?,
            });
        }
    }
    Ok(found)
}

/// The requests that say a place: each document that has the work, how far it goes, and its passages at the place.
fn by_place(corpus: &Corpus, asked: &Asked<'_>) -> Result<Vec<NamedDocument>> {
    let Some(locators) = asked.grammar.locators() else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    // A work is read once, however many of its places are cited.
    let mut works: BTreeMap<Option<&str>, Vec<(LocatorRange, Passage)>> = BTreeMap::new();
    for request in asked.requests {
        let Target::Locator(place) = &request.target else {
            continue;
        };
        let work = place.work.as_deref();
        let passages = match works.entry(work) {
            Entry::Occupied(read) => read.into_mut(),
            Entry::Vacant(unread) => {
                let placed = named::placed(corpus, &locators.names(work))?.into_iter();
                let placed = placed.filter_map(|passage| {
                    let title = passage.title.as_deref();
                    let range = parse_answer::locator_range(
                        locators,
                        &passage.metadata,
                        &passage.doc_id,
                        title,
                    );
                    range.map(|range| (range, passage))
                });
                unread.insert(placed.collect())
            }
        };
        let mut documents: BTreeMap<String, Vec<&(LocatorRange, Passage)>> = BTreeMap::new();
        for placed in passages.iter().filter(|(range, _)| range.same_work(place)) {
            documents
                .entry(placed.1.doc_id.clone())
                .or_default()
                .push(placed);
        }
        for (doc_id, placed) in documents {
            let touching = placed
                .iter()
                .filter(|(range, _)| range.touches(place))
                .map(|(_, passage)| passage)
                .take(MOST_NAMED_PASSAGES);
            let first = placed.first().map(|(_, passage)| passage);
            found.push(NamedDocument {
                asked: request.clone(),
                corpus: corpus.name.clone(),
                title: first.and_then(|passage| passage.title.clone()),
                uri: first.and_then(|passage| passage.uri.clone()),
                page_count: None,
                bounds: Some(Bounds::of(placed.iter().map(|(range, _)| range))),
                passages: compared(touching, asked.text_config)?,
                doc_id,
            });
        }
    }
    Ok(found)
}

/// The same documents, their passages read by another configuration.
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

/// Passages with their content, ready to be compared with claims.
fn compared<'a>(
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
                .map(|pages| Pages::new(pages.start, pages.end)),
            content: passage.content.clone(),
            lexemes,
        })
        .collect())
}
