//! The current passages of the sources that a conversation remembers.

use std::collections::{BTreeMap, BTreeSet};

use reground_grounding::begin::carry::{CarriedInput, CarriedOption};
use reground_grounding::begin::fuse::BranchScores;
use reground_grounding::passage::{Metric, Passage};
use reground_grounding::query::plan::RetrievalPlan;
use reground_grounding::settings::Settings;

use crate::error::Result;
use crate::retrieve::filter::Filter;
use crate::retrieve::lexical::{self, LexicalStrategy, Search, Wanted};
use crate::retrieve::{passages, past, vector};
use crate::store::corpora::Corpus;
use crate::store::sources::StoredSource;

/// Scored passages of remembered sources, by corpus and id.
pub type Options = BTreeMap<(String, String), CarriedOption>;

/// Returns the current passages of remembered sources that the caller may read. `read` must contain the wanted passages that
/// exist, and may contain others.
pub fn passages_of(
    corpus: &Corpus,
    embedding: Option<&[f32]>,
    filter: &Filter,
    wanted: &Wanted,
    scores: &BranchScores,
    read: &BTreeMap<String, Passage>,
) -> Result<Options> {
    if wanted.is_empty() {
        return Ok(Options::new());
    }
    let doc_ids: Vec<String> = wanted.doc_ids.iter().cloned().collect();
    let mut found = passages::by_document(corpus, filter, &doc_ids)?;
    let wanted = wanted.chunk_ids.iter();
    found.extend(wanted.filter_map(|key| Some((key.clone(), read.get(key)?.clone()))));
    let mut distances = scores.distances.clone();
    if let Some(embedding) = embedding
        && corpus.embedding_kind().is_some()
    {
        let missing = found.keys().filter(|key| !distances.contains_key(*key));
        let more = vector::distances(corpus, embedding, filter, missing)?;
        distances.extend(more.into_iter().map(|hit| (hit.chunk_id, hit.value)));
    }
    Ok(found
        .into_iter()
        .map(|(key, passage)| {
            let option = CarriedOption {
                lexical_score: scores.lexical.get(&key).copied(),
                vector_distance: distances.get(&key).copied(),
                handle: Some(key.clone()),
                passage,
            };
            ((corpus.name.clone(), key), option)
        })
        .collect())
}

/// Returns the current passages of remembered sources, scored by the turn's own query and by `embedding`.
pub fn scored(
    corpus: &Corpus,
    filter: &Filter,
    wanted: &Wanted,
    plan: &RetrievalPlan,
    embedding: Option<&[f32]>,
    settings: &Settings,
) -> Result<Options> {
    let own = Search {
        queries: plan.lexical.get(..1).unwrap_or_default(),
        filter,
        embedding: None,
        limit: 0,
    };
    let strategy = LexicalStrategy::of(corpus, settings)?;
    let ranked = lexical::rank(corpus, &own, wanted, &strategy)?;
    let scores = BranchScores {
        lexical: ranked
            .each
            .into_iter()
            .flat_map(|ranked| ranked.wanted)
            .collect(),
        ..BranchScores::default()
    };
    let read = passages::by_key(corpus, filter, &wanted.chunk_ids)?;
    passages_of(corpus, embedding, filter, wanted, &scores, &read)
}

/// Returns the names of other corpora with remembered sources of the conversation.
pub fn other_corpora(live: &[StoredSource], here: &[String]) -> BTreeSet<String> {
    live.iter()
        .map(|live| live.source.corpus.clone())
        .filter(|corpus| !here.contains(corpus))
        .collect()
}

/// Returns the passages of remembered sources of another corpus, at a time if one is given. There are none if the corpus cannot be read. They have no
/// distances if the corpus has another metric than `metric`, or other dimensions.
pub fn in_other_corpus(
    tenant: &str,
    (name, as_of): (&str, Option<&str>),
    plan: &RetrievalPlan,
    live: &[StoredSource],
    metric: Metric,
    settings: &Settings,
) -> Result<Options> {
    let Some(corpus) = past::usable(settings, tenant, name, as_of)? else {
        return Ok(Options::new());
    };
    let everything = Filter::default();
    let wanted = Wanted::of(live, name);
    let embedding = plan.embedding.as_deref();
    let is_comparable = |embedding: &&[f32]| {
        vector::metric(&corpus) == metric && vector::check_dimensions(&corpus, embedding).is_ok()
    };
    let embedding = embedding.filter(is_comparable);
    let mut options = scored(&corpus, &everything, &wanted, plan, embedding, settings)?;
    for option in options.values_mut() {
        // No list of this turn covers that corpus.
        option.handle = None;
    }
    Ok(options)
}

/// Pairs each remembered source with its current passages.
pub fn carried(live: Vec<StoredSource>, options: &Options) -> Vec<CarriedInput> {
    live.into_iter()
        .map(|live| {
            let source = live.source;
            let options = options
                .iter()
                .filter(|((corpus, key), option)| {
                    *corpus == source.corpus
                        && if source.chunk_id.is_empty() {
                            option.passage.doc_id == source.doc_id
                        } else {
                            *key == source.chunk_id
                        }
                })
                .map(|(_, option)| option.clone())
                .collect();
            CarriedInput {
                source,
                options,
                age: Some(live.idle_seconds),
                asked: live.asked,
            }
        })
        .collect()
}
