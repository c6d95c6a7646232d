//! Features of earlier turns, for the judgement of intent and for query expansion: their words, the current passages that
//! they cited, and their similarity to this turn's query.

use std::collections::{BTreeMap, BTreeSet};

use reground_grounding::query::TurnFeatures;
use reground_grounding::query::plan::TurnQuery;
use reground_grounding::query::query_expansion::without_citations;

use crate::error::Result;
use crate::retrieve::filter::Filter;
use crate::retrieve::{lexemes, passages, text_config, vector};
use crate::store::corpora::Corpus;
use crate::store::earlier_turns::Earlier;

/// Adds the turns before it to a query. Reads the cited passages with the rights of the caller. Passages that no longer exist,
/// or that the caller may not read, are ignored.
pub fn add<'a>(
    corpus: &Corpus,
    mut turn_query: TurnQuery<'a>,
    mut earlier: Vec<Earlier>,
) -> Result<TurnQuery<'a>> {
    if earlier.is_empty() {
        return Ok(turn_query);
    }
    for turn in &mut earlier {
        turn.past.answer = without_citations(&turn.past.answer, &turn.citations);
    }
    let turns = earlier.iter();
    let texts = turns.flat_map(|turn| [turn.past.query.as_str(), turn.past.answer.as_str()]);
    let configs = text_config::of_corpus(corpus)?;
    let mut counted = lexemes::counted(&configs, texts.chain([turn_query.query]))?;
    turn_query.words = counted.pop().unwrap_or_default();
    let mut counted = counted.into_iter();

    let keys: BTreeSet<&String> = earlier.iter().flat_map(|turn| &turn.passages).collect();
    let cited = passages::by_key(corpus, &Filter::default(), keys.iter().copied())?;
    let mut embeddings = BTreeMap::new();
    let mut siblings = BTreeMap::new();
    if corpus.embedding_kind().is_some() {
        embeddings = vector::embeddings(corpus, keys.iter().copied())?;
        if let Some(embedding) = turn_query.embedding {
            let documents = cited.values().map(|passage| &passage.doc_id).collect();
            siblings = vector::siblings(corpus, embedding, &documents, &keys)?;
        }
    }
    for turn in earlier {
        let passages = || turn.passages.iter().filter_map(|key| cited.get(key));
        let features = TurnFeatures {
            query: counted.next().unwrap_or_default(),
            answer: counted.next().unwrap_or_default(),
            cited: turn
                .passages
                .iter()
                .filter_map(|key| embeddings.get(key).cloned())
                .collect(),
            embedding: turn.embedding,
            shown: turn.shown,
        };
        let documents: BTreeSet<&String> = passages().map(|passage| &passage.doc_id).collect();
        let nearest = documents.iter().filter_map(|doc| siblings.get(*doc));
        let nearest = nearest.copied().reduce(f64::max);
        let mut past = turn.past;
        past.cited_texts = passages().map(|passage| passage.content.clone()).collect();
        let past = past.with_similarities(turn_query.embedding, &features, nearest);
        turn_query.earlier.push(past);
        turn_query.features.push(features);
    }
    Ok(turn_query)
}
