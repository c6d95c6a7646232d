//! What an answer is judged by, besides its turn: the content of texts, the fate of candidates, documents that it names.

use std::collections::BTreeMap;

use reground_citations::{
    DocumentRequest, Lexemes, NamedDocument, NamedPassage, Pages, StageFacts, Target,
};
use reground_grounding::decay::SourceKey;
use reground_grounding::end::Traced;
use reground_grounding::passage::Stage;

use crate::error::Result;
use crate::retrieve::{lexemes, named};
use crate::store::corpora::{self, Corpus};
use crate::store::traces;
use crate::store::turns::Turn;

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

/// How far each candidate of the turn came (I4).
pub fn stage_facts(turn: &Turn) -> Result<Vec<Traced>> {
    let mut facts = Vec::new();
    for traced in traces::load(turn.turn_id)? {
        let stages = StageFacts {
            coordinates: traced.has_coordinates,
            retrieved: traced.left_at != Some(Stage::Carry),
            reranked: !matches!(traced.left_at, Some(Stage::Carry | Stage::Rerank)),
            in_context: traced.left_at.is_none(),
        };
        for passage in &traced.passages {
            facts.push(Traced {
                key: SourceKey {
                    corpus: traced.corpus.clone(),
                    doc_id: traced.doc_id.clone(),
                    passage: passage.clone(),
                },
                facts: stages,
            });
        }
    }
    Ok(facts)
}

/// Looks up the documents that the answer names, in the corpora of the turn.
pub fn look_up(
    tenant: &str,
    turn: &Turn,
    requests: Vec<DocumentRequest>,
    text_config: &str,
) -> Result<Vec<NamedDocument>> {
    if requests.is_empty() {
        return Ok(Vec::new());
    }
    let mut names: Vec<String> = turn
        .context
        .iter()
        .map(|source| source.candidate.passage.corpus.clone())
        .chain([turn.corpus.clone()])
        .collect();
    for request in &requests {
        if let Target::Document { corpus, .. } = &request.target {
            names.push(corpus.clone());
        }
    }
    names.sort();
    names.dedup();
    let mut found = Vec::new();
    for name in names {
        // A corpus that was dropped or revoked since names nothing any more.
        if let Some(corpus) = corpora::usable(tenant, &name)? {
            found.extend(look_up_in(&corpus, &requests, text_config)?);
        }
    }
    Ok(found)
}

/// The requests that one corpus answers.
fn look_up_in(
    corpus: &Corpus,
    requests: &[DocumentRequest],
    text_config: &str,
) -> Result<Vec<NamedDocument>> {
    let asked: Vec<(&DocumentRequest, &str)> = requests
        .iter()
        .filter_map(|request| match &request.target {
            Target::Name(name) => Some((request, name.as_str())),
            Target::Document { corpus: of, doc_id } if *of == corpus.name => {
                Some((request, doc_id.as_str()))
            }
            Target::Document { .. } => None,
        })
        .collect();
    let names: Vec<String> = asked.iter().map(|(_, name)| (*name).to_owned()).collect();
    let documents = named::documents(corpus, &names)?;
    let keys: Vec<String> = documents
        .iter()
        .map(|document| document.doc_id.clone())
        .collect();
    let mut passages: BTreeMap<String, Vec<named::NamedPassage>> = BTreeMap::new();
    for (doc_id, passage) in named::passages_of(corpus, &keys)? {
        passages.entry(doc_id).or_default().push(passage);
    }
    let mut found = Vec::new();
    for (request, name) in asked {
        for document in documents.iter().filter(|document| {
            document.name == name
                && match &request.target {
                    Target::Name(_) => true,
                    Target::Document { doc_id, .. } => *doc_id == document.doc_id,
                }
        }) {
            let wanted: Vec<&named::NamedPassage> = passages
                .get(&document.doc_id)
                .into_iter()
                .flatten()
                .filter(|passage| match (request.pages, passage.pages) {
                    (Some(asked), Some(pages)) => {
                        asked.start <= pages.end && pages.start <= asked.end
                    }
                    (Some(_), None) => false,
                    (None, _) => true,
                })
                .take(MOST_NAMED_PASSAGES)
                .collect();
            let texts: Vec<String> = wanted.iter().map(|passage| passage.text.clone()).collect();
            let lexemes = content(text_config, &texts)?;
            found.push(NamedDocument {
                asked: request.clone(),
                corpus: corpus.name.clone(),
                doc_id: document.doc_id.clone(),
                title: document.title.clone(),
                uri: document.uri.clone(),
                page_count: document.page_count,
                passages: wanted
                    .into_iter()
                    .zip(lexemes)
                    .map(|(passage, lexemes)| NamedPassage {
                        passage: passage.key.clone(),
                        pages: passage
                            .pages
                            .map(|pages| Pages::new(pages.start, pages.end)),
                        text: passage.text.clone(),
                        lexemes,
                    })
                    .collect(),
            });
        }
    }
    Ok(found)
}
