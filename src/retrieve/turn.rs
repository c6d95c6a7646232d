//! What a turn reads from the relations: its ranked lists, and the passages behind the remembered sources.

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

/// What the search of one corpus gave: ranked lists, and scores of passages beyond them.
pub struct Searched {
    /// The answers of the branches, the turn's own query first, then results of earlier turns and what the knowledge graph
    /// nominated.
    pub lists: Vec<RankedList>,
    /// What both branches say of the candidates and of the wanted passages.
    pub scores: BranchScores,
    /// What they say of the results of earlier turns under this query together with the one that found them.
    pub integrated: BranchScores,
    /// Whether all passages were read for want of an index.
    pub lacks_index: bool,
}

/// What one corpus says to a turn.
pub struct Answer {
    /// Lists, scores and the passages that they name.
    pub found: CorpusResults,
    /// What the branches say of the results of earlier turns under this query together with the one that found them.
    pub integrated: BranchScores,
    /// The passages that remembered sources of this corpus can give.
    pub options: Options,
    /// Whether all passages were read for want of an index.
    pub lacks_index: bool,
}

/// Asks a corpus for a turn, and reads what its lists name and what is remembered of it.
pub fn answer(
    Scope { corpus, filter }: &Scope,
    plan: &RetrievalPlan,
    nominated: Option<RankedList>,
    live: &[Live],
    settings: &Settings,
) -> Result<Answer> {
    let here = Wanted::of(live, &corpus.name);
    let limit = settings.candidates;
    let searched = search(corpus, plan, filter, &here, nominated, settings, limit)?;
    let hits = searched.lists.iter().flat_map(|list| &list.hits);
    let keys: BTreeSet<&String> = hits
        .map(|hit| &hit.chunk_id)
        .chain(&here.chunk_ids)
        .collect();
    let passages = stage("passages", || passages::by_key(corpus, filter, keys))?;
    let options = stage("carried passages", || {
        let embedding = plan.embedding.as_deref();
        remembered(
            corpus,
            embedding,
            filter,
            &here,
            &searched.scores,
            &passages,
        )
    })?;
    Ok(Answer {
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

/// Asks both branches of a corpus. Where scores are fused, each branch also scores what the other found; what the knowledge
/// graph nominated, and what earlier turns were shown where that is ranked too, both score in any case.
pub fn search(
    corpus: &Corpus,
    plan: &RetrievalPlan,
    filter: &Filter,
    wanted: &Wanted,
    nominated: Option<RankedList>,
    settings: &Settings,
    limit: usize,
) -> Result<Searched> {
    let embedding = plan.embedding.as_deref();
    let nearest = embedding.map(|embedding| {
        let search = settings.vector_search;
        stage("vector list", || {
            vector::list(corpus, embedding, filter, search, limit, plan.vector_weight)
        })
    });
    let nearest = nearest.transpose()?;
    let both = settings.fusion.by_scores();
    let mut scored = Wanted {
        doc_ids: wanted.doc_ids.clone(),
        chunk_ids: wanted.chunk_ids.clone(),
    };
    // What no search of this turn has to find is scored all the same.
    let nominees = || {
        let neighbours = nominated.iter().flat_map(|list| &list.hits);
        let earlier = plan.historical.iter().flat_map(|turn| &turn.chunk_ids);
        neighbours.map(|hit| &hit.chunk_id).chain(earlier)
    };
    scored.chunk_ids.extend(nominees().cloned());
    if both {
        let hits = nearest.iter().flat_map(|list| &list.hits);
        scored
            .chunk_ids
            .extend(hits.map(|hit| hit.chunk_id.clone()));
    }

    let (way, rankings) = stage("lexical list", || {
        let way = LexicalStrategy::of(corpus, settings.lexical_search)?;
        let rankings = lexical::rank(corpus, &plan.lexical, filter, &scored, &way, limit)?;
        Ok::<_, Error>((way, rankings))
    })?;
    let mut scores = BranchScores::default();
    let mut lists = Vec::new();
    for (query, mut ranked) in plan.lexical.iter().zip(rankings) {
        scores.lexical.append(&mut ranked.wanted);
        lists.push(ranked.into_list(query));
    }
    if let (Some(embedding), Some(nearest)) = (embedding, nearest) {
        let found = lists.iter().flat_map(|list| &list.hits);
        let found = found.filter(|_| both).map(|hit| &hit.chunk_id);
        let found = found.chain(nominees());
        let mut keys: BTreeSet<&String> = found.chain(&wanted.chunk_ids).collect();
        for hit in &nearest.hits {
            keys.remove(&hit.chunk_id);
            scores.distances.insert(hit.chunk_id.clone(), hit.value);
        }
        let more = stage("distances", || {
            vector::distances(corpus, embedding, filter, keys)
        })?;
        let more = more.into_iter().map(|hit| (hit.chunk_id, hit.value));
        scores.distances.extend(more);
        lists.push(nearest);
    }
    let mut integrated = BranchScores::default();
    if !plan.historical.is_empty() {
        let own = lists.iter().find(|list| list.branch == Branch::Lexical);
        let own = own.and_then(|list| list.hits.first());
        let best = own.map(|hit| hit.value);
        let results = stage("earlier results", || {
            prior_results::results(corpus, &plan.historical, filter, &way, best)
        })?;
        lists.extend(results.list);
        integrated = results.scores;
    }
    lists.extend(nominated);
    Ok(Searched {
        lists,
        scores,
        integrated,
        lacks_index: way.lacks_index(),
    })
}

/// Passages that remembered sources of one corpus can give, scored, by corpus and key.
pub type Options = BTreeMap<(String, String), CarriedOption>;

/// The passages behind the remembered sources of a corpus, as they stand and as this role sees them. `read` holds those of
/// the wanted passages that there are; more in it does not matter.
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
    let documents: Vec<String> = wanted.doc_ids.iter().cloned().collect();
    let mut found = passages::by_document(corpus, filter, &documents)?;
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

/// Other corpora that the conversation remembers sources of.
pub fn others(live: &[Live], here: &[String]) -> BTreeSet<String> {
    live.iter()
        .map(|live| live.source.corpus.clone())
        .filter(|corpus| !here.contains(corpus))
        .collect()
}

/// The remembered sources of another corpus; none where it is gone, and without distances where it compares other embeddings or by
/// another `metric` than this turn's corpora.
pub fn elsewhere(
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
    let way = LexicalStrategy::of(&corpus, settings.lexical_search)?;
    let ranked = lexical::rank(&corpus, own, &everything, &wanted, &way, 0)?;
    let scores = BranchScores {
        lexical: ranked
            .into_iter()
            .flat_map(|ranked| ranked.wanted)
            .collect(),
        ..BranchScores::default()
    };
    let embedding = plan.embedding.as_deref();
    let alike = |embedding: &&[f32]| vector::check_dimensions(&corpus, embedding).is_ok();
    let embedding =
        embedding.filter(|embedding| vector::metric(&corpus) == metric && alike(embedding));
    let read = passages::by_key(&corpus, &everything, &wanted.chunk_ids)?;
    let mut options = remembered(&corpus, embedding, &everything, &wanted, &scores, &read)?;
    for option in options.values_mut() {
        // No list of this turn is of that corpus.
        option.handle = None;
    }
    Ok(options)
}

/// Pairs each remembered source with what stands under its key.
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
