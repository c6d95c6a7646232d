//! The lists of a turn: the ranked lists of a corpus, with their scores and passages.

pub mod addresses;

use std::collections::{BTreeMap, BTreeSet};

use reground_grounding::begin::fuse::{BranchScores, SearchResults};
use reground_grounding::passage::{Branch, RankedList};
use reground_grounding::query::plan::RetrievalPlan;
use reground_grounding::settings::Settings;

use addresses::Addresses;

use crate::error::{Error, Result};
use crate::profile::stage;
use crate::retrieve::corpus_scope::Scope;
use crate::retrieve::filter::Filter;
use crate::retrieve::lexical::{self, LexicalStrategy, Wanted};
use crate::retrieve::remembered::{self, Options};
use crate::retrieve::{passages, prior_results, vector};
use crate::store::corpora::Corpus;
use crate::store::sources::StoredSource;

/// Returns the lists of a corpus for a turn with the passages in them, and the passages of remembered sources.
pub fn of_corpus(
    Scope { corpus, filter }: &Scope,
    plan: &RetrievalPlan,
    nominated: Option<RankedList>,
    live: &[StoredSource],
    settings: &Settings,
) -> Result<(SearchResults, Options)> {
    let wanted = Wanted::of(live, &corpus.name);
    let limit = settings.candidates;
    let mut results = search(corpus, plan, filter, &wanted, nominated, settings, limit)?;
    let chunk_ids = hit_ids(&results.lists).chain(&wanted.chunk_ids);
    let chunk_ids: BTreeSet<&String> = chunk_ids.collect();
    results.passages = stage("passages", || passages::by_key(corpus, filter, chunk_ids))?;
    let options = stage("carried passages", || {
        let embedding = plan.embedding.as_deref();
        let (scores, passages) = (&results.scores, &results.passages);
        remembered::passages_of(corpus, embedding, filter, &wanted, scores, passages)
    })?;
    Ok((results, options))
}

/// Searches both branches of a corpus and returns the lists without passages: those of the branches, the turn's own query
/// first, then results of earlier turns, then the passages from the knowledge graph (`nominated`).
///
/// If scores are fused, each branch also scores the hits of the other. Both always score the wanted passages, and those from the
/// knowledge graph and from earlier turns.
pub fn search(
    corpus: &Corpus,
    plan: &RetrievalPlan,
    filter: &Filter,
    wanted: &Wanted,
    nominated: Option<RankedList>,
    settings: &Settings,
    limit: usize,
) -> Result<SearchResults> {
    let nearest = nearest(corpus, plan, filter, settings, limit)?;
    let (nearest, addresses) = nearest.unzip();
    if nearest.as_ref().is_some_and(|list| list.hits.is_empty()) {
        vector::hint_if_missing(corpus)?;
    }
    let fuses_scores = settings.fusion.by_scores();
    let unsearched = unsearched(plan, nominated.as_ref());
    let to_fuse = nearest.as_ref().filter(|_| fuses_scores);
    let scored = Wanted {
        doc_ids: wanted.doc_ids.clone(),
        chunk_ids: (wanted.chunk_ids.union(&unsearched).cloned())
            .chain(hit_ids(to_fuse).cloned())
            .collect(),
        addresses: addresses.unwrap_or_default(),
    };
    let search = lexical::Search {
        queries: &plan.lexical,
        filter,
        embedding: plan.embedding.as_deref().filter(|_| to_fuse.is_some()),
        limit,
    };
    let (strategy, rankings) = stage("lexical list", || {
        let strategy = LexicalStrategy::of(corpus, settings)?;
        let rankings = lexical::rank(corpus, &search, &scored, &strategy)?;
        Ok::<_, Error>((strategy, rankings))
    })?;
    let mut scores = BranchScores::default();
    let mut lists = Vec::new();
    for (query, mut ranked) in plan.lexical.iter().zip(rankings.each) {
        scores.lexical.append(&mut ranked.wanted);
        scores.distances.append(&mut ranked.distances);
        lists.push(ranked.into_list(query));
    }
    let mut without_vector = BTreeSet::new();
    if plan.embedding.is_some() && !fuses_scores {
        without_vector = stage("passages without vectors", || {
            without_embedding(corpus, &lists, nearest.as_ref())
        })?;
    }
    if let (Some(embedding), Some(nearest)) = (plan.embedding.as_deref(), nearest) {
        let mut chunk_ids: BTreeSet<&String> = wanted.chunk_ids.union(&unsearched).collect();
        if fuses_scores {
            chunk_ids.extend(hit_ids(&lists));
        }
        add_distances(
            corpus,
            embedding,
            filter,
            chunk_ids,
            &nearest,
            &mut scores.distances,
        )?;
        lists.push(nearest);
    }
    let integrated = add_earlier_results(corpus, plan, filter, &strategy, &mut lists)?;
    lists.extend(nominated);
    let dates = dates(corpus, &lists, settings)?;
    Ok(SearchResults {
        lists,
        scores,
        integrated,
        without_vector,
        passages: BTreeMap::new(),
        dates,
        time: None,
        metric: vector::metric(corpus),
        lacks_index: strategy.lacks_index(),
        passages_read: rankings.passages_read,
        lacks_embeddings: corpus.embedding_kind().is_none(),
    })
}

/// The ids of the passages in lists.
fn hit_ids<'a>(
    lists: impl IntoIterator<Item = &'a RankedList>,
) -> impl Iterator<Item = &'a String> {
    let hits = lists.into_iter().flat_map(|list| &list.hits);
    hits.map(|hit| &hit.chunk_id)
}

/// Adds the distances of the hits of the vector list, and of other passages whose distances are not known yet.
fn add_distances(
    corpus: &Corpus,
    embedding: &[f32],
    filter: &Filter,
    mut chunk_ids: BTreeSet<&String>,
    nearest: &RankedList,
    distances: &mut BTreeMap<String, f64>,
) -> Result<()> {
    let known = nearest.hits.iter();
    distances.extend(known.map(|hit| (hit.chunk_id.clone(), hit.value)));
    chunk_ids.retain(|chunk_id| !distances.contains_key(*chunk_id));
    let more = stage("distances", || {
        vector::distances(corpus, embedding, filter, chunk_ids)
    })?;
    distances.extend(more.into_iter().map(|hit| (hit.chunk_id, hit.value)));
    Ok(())
}

/// Adds the list of the results of earlier turns, if they are integrated, and returns its scores.
fn add_earlier_results(
    corpus: &Corpus,
    plan: &RetrievalPlan,
    filter: &Filter,
    strategy: &LexicalStrategy,
    lists: &mut Vec<RankedList>,
) -> Result<BranchScores> {
    if plan.historical.is_empty() {
        return Ok(BranchScores::default());
    }
    let own = lists.iter().find(|list| list.branch == Branch::Lexical);
    let best = own.and_then(|list| list.hits.first()).map(|hit| hit.value);
    let results = stage("earlier results", || {
        prior_results::results(corpus, &plan.historical, filter, strategy, best)
    })?;
    lists.extend(results.list);
    Ok(results.scores)
}

/// Returns the dates of the documents of the hits, if the age counts.
fn dates(
    corpus: &Corpus,
    lists: &[RankedList],
    settings: &Settings,
) -> Result<BTreeMap<String, f64>> {
    if settings.recency_half_life.is_none() {
        return Ok(BTreeMap::new());
    }
    stage("dates", || {
        let chunk_ids: BTreeSet<&String> = hit_ids(lists).collect();
        passages::dates(corpus, chunk_ids)
    })
}

/// Returns the hits of the lexical lists that have no embedding. Those in the vector list have one.
fn without_embedding(
    corpus: &Corpus,
    lexical: &[RankedList],
    nearest: Option<&RankedList>,
) -> Result<BTreeSet<String>> {
    let mut chunk_ids: BTreeSet<&String> = hit_ids(lexical).collect();
    for chunk_id in hit_ids(nearest) {
        chunk_ids.remove(chunk_id);
    }
    vector::without_embedding(corpus, chunk_ids)
}

/// Returns the vector list and the addresses of its hits, if the turn has an embedding and the corpus has embeddings.
fn nearest(
    corpus: &Corpus,
    plan: &RetrievalPlan,
    filter: &Filter,
    settings: &Settings,
    limit: usize,
) -> Result<Option<(RankedList, Addresses)>> {
    let embedding = plan.embedding.as_deref();
    let embedding = embedding.filter(|_| corpus.mapping.contains_key("embedding"));
    let list = embedding.map(|embedding| {
        let search = settings.vector_search;
        stage("vector list", || {
            vector::list(corpus, embedding, filter, search, limit, plan.vector_weight)
        })
    });
    list.transpose()
}

/// Returns the ids of passages that need scores although no search of this turn has to find them: those from the knowledge
/// graph and from earlier turns.
fn unsearched(plan: &RetrievalPlan, nominated: Option<&RankedList>) -> BTreeSet<String> {
    let neighbours = nominated.into_iter().flat_map(|list| &list.hits);
    let earlier = plan.historical.iter().flat_map(|turn| &turn.chunk_ids);
    let chunk_ids = neighbours.map(|hit| &hit.chunk_id).chain(earlier);
    chunk_ids.cloned().collect()
}
