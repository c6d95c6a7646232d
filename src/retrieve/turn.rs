//! The search of a turn in the relations of a corpus: its ranked lists, and the current passages of remembered sources.

use std::collections::{BTreeMap, BTreeSet};

use reground_grounding::begin::carry::{CarriedInput, CarriedOption};
use reground_grounding::begin::fuse::BranchScores;
use reground_grounding::begin::multi_corpus::CorpusResults;
use reground_grounding::passage::{Branch, Metric, Passage, RankedList};
use reground_grounding::query::plan::RetrievalPlan;
use reground_grounding::settings::Settings;

use crate::error::{Error, Result};
use crate::profile::stage;
use crate::retrieve::corpus_scope::Scope;
use crate::retrieve::filter::Filter;
use crate::retrieve::lexical::{self, LexicalStrategy, Wanted};
use crate::retrieve::{passages, prior_results, vector};
use crate::store::corpora::{self, Corpus};
use crate::store::sources::Live;

/// The results of a search in one corpus.
pub struct Searched {
    /// The lists of the branches, the turn's own query first; then results of earlier turns, then passages from the knowledge
    /// graph.
    pub lists: Vec<RankedList>,
    /// Scores of both branches for the candidates and the wanted passages.
    pub scores: BranchScores,
    /// Scores of the results of earlier turns, for this turn's query combined with the query that found them.
    pub integrated: BranchScores,
    /// Whether all passages were read because there is no index.
    pub lacks_index: bool,
}

/// The contribution of one corpus to a turn.
pub struct Contribution {
    /// Lists, scores and the passages in the lists.
    pub found: CorpusResults,
    /// As [`Searched::integrated`].
    pub integrated: BranchScores,
    /// The passages of remembered sources of this corpus.
    pub options: Options,
    /// Whether all passages were read because there is no index.
    pub lacks_index: bool,
}

/// Searches a corpus for a turn, and reads the passages in its lists and those of remembered sources.
pub fn contribution(
    Scope { corpus, filter }: &Scope,
    plan: &RetrievalPlan,
    nominated: Option<RankedList>,
    live: &[Live],
    settings: &Settings,
) -> Result<Contribution> {
    let wanted = Wanted::of(live, &corpus.name);
    let limit = settings.candidates;
    let searched = search(corpus, plan, filter, &wanted, nominated, settings, limit)?;
    let hits = searched.lists.iter().flat_map(|list| &list.hits);
    let chunk_ids = hits.map(|hit| &hit.chunk_id).chain(&wanted.chunk_ids);
    let chunk_ids: BTreeSet<&String> = chunk_ids.collect();
    let passages = stage("passages", || passages::by_key(corpus, filter, chunk_ids))?;
    let options = stage("carried passages", || {
        let embedding = plan.embedding.as_deref();
        let scores = &searched.scores;
        remembered(corpus, embedding, filter, &wanted, scores, &passages)
    })?;
    Ok(Contribution {
        options,
        integrated: searched.integrated,
        lacks_index: searched.lacks_index,
        found: CorpusResults {
            lists: searched.lists,
            scores: searched.scores,
            passages,
        },
    })
}

/// Searches both branches of a corpus. If scores are fused, each branch also scores the hits of the other. Both always score
/// the passages from the knowledge graph and from earlier turns.
pub fn search(
    corpus: &Corpus,
    plan: &RetrievalPlan,
    filter: &Filter,
    wanted: &Wanted,
    nominated: Option<RankedList>,
    settings: &Settings,
    limit: usize,
) -> Result<Searched> {
    let nearest = nearest(corpus, plan, filter, settings, limit)?;
    let fuses_scores = settings.fusion.by_scores();
    let unsearched = unsearched(plan, nominated.as_ref());
    let mut scored = Wanted {
        doc_ids: wanted.doc_ids.clone(),
        chunk_ids: &wanted.chunk_ids | &unsearched,
    };
    if fuses_scores {
        let hits = nearest.iter().flat_map(|list| &list.hits);
        scored
            .chunk_ids
            .extend(hits.map(|hit| hit.chunk_id.clone()));
    }
    let (strategy, rankings) = stage("lexical list", || {
        let strategy = LexicalStrategy::of(corpus, settings.lexical_search)?;
        let rankings = lexical::rank(corpus, &plan.lexical, filter, &scored, &strategy, limit)?;
        Ok::<_, Error>((strategy, rankings))
    })?;
    let mut scores = BranchScores::default();
    let mut lists = Vec::new();
    for (query, mut ranked) in plan.lexical.iter().zip(rankings) {
        scores.lexical.append(&mut ranked.wanted);
        lists.push(ranked.into_list(query));
    }
    if let (Some(embedding), Some(nearest)) = (plan.embedding.as_deref(), nearest) {
        let mut chunk_ids: BTreeSet<&String> = wanted.chunk_ids.union(&unsearched).collect();
        if fuses_scores {
            let hits = lists.iter().flat_map(|list| &list.hits);
            chunk_ids.extend(hits.map(|hit| &hit.chunk_id));
        }
        scores.distances = distances(corpus, embedding, filter, chunk_ids, &nearest)?;
        lists.push(nearest);
    }
    let mut integrated = BranchScores::default();
    if !plan.historical.is_empty() {
        let own = lists.iter().find(|list| list.branch == Branch::Lexical);
        let best = own.and_then(|list| list.hits.first()).map(|hit| hit.value);
        let results = stage("earlier results", || {
            prior_results::results(corpus, &plan.historical, filter, &strategy, best)
        })?;
        lists.extend(results.list);
        integrated = results.scores;
    }
    lists.extend(nominated);
    Ok(Searched {
        lists,
        scores,
        integrated,
        lacks_index: strategy.lacks_index(),
    })
}

/// Returns the vector list, if the turn has an embedding.
fn nearest(
    corpus: &Corpus,
    plan: &RetrievalPlan,
    filter: &Filter,
    settings: &Settings,
    limit: usize,
) -> Result<Option<RankedList>> {
    let list = plan.embedding.as_deref().map(|embedding| {
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

/// Returns the distances of passages and of the hits of the vector list.
fn distances(
    corpus: &Corpus,
    embedding: &[f32],
    filter: &Filter,
    mut chunk_ids: BTreeSet<&String>,
    nearest: &RankedList,
) -> Result<BTreeMap<String, f64>> {
    for hit in &nearest.hits {
        chunk_ids.remove(&hit.chunk_id);
    }
    let more = stage("distances", || {
        vector::distances(corpus, embedding, filter, chunk_ids)
    })?;
    let hits = nearest.hits.iter().cloned().chain(more);
    Ok(hits.map(|hit| (hit.chunk_id, hit.value)).collect())
}

/// Scored passages of remembered sources, by corpus and id.
pub type Options = BTreeMap<(String, String), CarriedOption>;

/// Returns the current passages of remembered sources that the caller may read. `read` must contain the wanted passages that
/// exist, and may contain others.
pub fn remembered(
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

/// Returns the names of other corpora with remembered sources of the conversation.
pub fn other_corpora(live: &[Live], here: &[String]) -> BTreeSet<String> {
    live.iter()
        .map(|live| live.source.corpus.clone())
        .filter(|corpus| !here.contains(corpus))
        .collect()
}

/// Returns the passages of remembered sources of another corpus. There are none if the corpus cannot be read. They have no
/// distances if the corpus has another metric than `metric`, or other dimensions.
pub fn in_other_corpus(
    tenant: &str,
    name: &str,
    plan: &RetrievalPlan,
    live: &[Live],
    metric: Metric,
    settings: &Settings,
) -> Result<Options> {
    let Some(corpus) = corpora::usable_under(settings, tenant, name)? else {
        return Ok(Options::new());
    };
    let everything = Filter::default();
    let wanted = Wanted::of(live, name);
    let own = plan.lexical.get(..1).unwrap_or_default();
    let strategy = LexicalStrategy::of(&corpus, settings.lexical_search)?;
    let ranked = lexical::rank(&corpus, own, &everything, &wanted, &strategy, 0)?;
    let scores = BranchScores {
        lexical: ranked
            .into_iter()
            .flat_map(|ranked| ranked.wanted)
            .collect(),
        ..BranchScores::default()
    };
    let embedding = plan.embedding.as_deref();
    let is_comparable = |embedding: &&[f32]| {
        vector::metric(&corpus) == metric && vector::check_dimensions(&corpus, embedding).is_ok()
    };
    let embedding = embedding.filter(is_comparable);
    let read = passages::by_key(&corpus, &everything, &wanted.chunk_ids)?;
    let mut options = remembered(&corpus, embedding, &everything, &wanted, &scores, &read)?;
    for option in options.values_mut() {
        // No list of this turn covers that corpus.
        option.handle = None;
    }
    Ok(options)
}

/// Pairs each remembered source with its current passages.
pub fn carried(live: Vec<Live>, options: &Options) -> Vec<CarriedInput> {
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
            }
        })
        .collect()
}
