//! What a turn reads from the relations: its ranked lists, and the passages behind the remembered sources.

use std::collections::{BTreeMap, BTreeSet};

use reground_grounding::carry::{CarriedInput, CarriedOption};
use reground_grounding::passage::{Passage, RankedList};
use reground_grounding::plan::RetrievalPlan;
use reground_grounding::settings::Settings;

use crate::error::{Error, Result};
use crate::profile::stage;
use crate::retrieve::filter::Filter;
use crate::retrieve::lexical::{self, Wanted, Way};
use crate::retrieve::{nearest, passages};
use crate::store::corpora::{self, Corpus};
use crate::store::sources::Live;

/// What the search of one corpus gave: ranked lists, and scores of wanted passages.
pub struct Searched {
    /// The answers of the branches, the turn's own query first.
    pub lists: Vec<RankedList>,
    /// BM25 scores of the wanted passages.
    pub scores: BTreeMap<String, f64>,
    /// Whether all passages were read for want of an index.
    pub lacks_index: bool,
}

/// Asks both branches of the turn's corpus.
pub fn search(
    corpus: &Corpus,
    plan: &RetrievalPlan,
    embedding: Option<&[f32]>,
    filter: &Filter,
    wanted: &Wanted,
    settings: &Settings,
) -> Result<Searched> {
    let queries: Vec<String> = plan
        .lexical
        .iter()
        .map(|query| query.text.clone())
        .collect();
    let (lacks_index, rankings) = stage("lexical list", || {
        let way = Way::of(corpus, settings.lexical_search)?;
        let limit = settings.candidates;
        let rankings = lexical::rank(corpus, &queries, filter, wanted, &way, limit)?;
        Ok::<_, Error>((way.lacks_index(), rankings))
    })?;
    let mut lists = Vec::new();
    let mut scores = BTreeMap::new();
    for (index, (query, mut ranked)) in plan.lexical.iter().zip(rankings).enumerate() {
        // The turn's own query comes first: carried sources are scored by it.
        if index == 0 {
            scores = std::mem::take(&mut ranked.wanted);
        }
        lists.push(ranked.into_list(query.weight, query.entity.clone()));
    }
    if let Some(embedding) = embedding {
        let (search, limit) = (settings.vector_search, settings.candidates);
        lists.push(stage("vector list", || {
            nearest::list(corpus, embedding, filter, search, limit, plan.vector_weight)
        })?);
    }
    Ok(Searched {
        lists,
        scores,
        lacks_index,
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
    scores: &BTreeMap<String, f64>,
    read: &BTreeMap<String, Passage>,
) -> Result<Options> {
    if wanted.is_empty() {
        return Ok(Options::new());
    }
    let documents: Vec<String> = wanted.documents.iter().cloned().collect();
    let mut found = passages::by_document(corpus, filter, &documents)?;
    let wanted = wanted.passages.iter();
    found.extend(wanted.filter_map(|key| Some((key.clone(), read.get(key)?.clone()))));
    let distances: BTreeMap<String, f64> = match embedding {
        Some(embedding) if corpus.column("embedding").is_some() => {
            let keys: Vec<String> = found.keys().cloned().collect();
            nearest::distances(corpus, embedding, filter, &keys)?
                .into_iter()
                .map(|hit| (hit.key, hit.value))
                .collect()
        }
        _ => BTreeMap::new(),
    };
    Ok(found
        .into_iter()
        .map(|(key, passage)| {
            let option = CarriedOption {
                lexical_score: scores.get(&key).copied(),
                vector_distance: distances.get(&key).copied(),
                passage,
            };
            ((corpus.name.clone(), key), option)
        })
        .collect())
}

/// Other corpora that the conversation remembers sources of.
pub fn others(live: &[Live], here: &str) -> BTreeSet<String> {
    live.iter()
        .map(|live| live.source.corpus.clone())
        .filter(|corpus| corpus != here)
        .collect()
}

/// The remembered sources of another corpus; none where it is gone or compares other embeddings.
pub fn elsewhere(
    tenant: &str,
    name: &str,
    plan: &RetrievalPlan,
    embedding: Option<&[f32]>,
    live: &[Live],
    settings: &Settings,
) -> Result<Options> {
    let Some(corpus) = corpora::usable(tenant, name)? else {
        return Ok(Options::new());
    };
    let everything = Filter::default();
    let wanted = Wanted::of(live, name);
    let own: Vec<String> = plan
        .lexical
        .iter()
        .take(1)
        .map(|query| query.text.clone())
        .collect();
    let way = Way::of(&corpus, settings.lexical_search)?;
    let scores = lexical::rank(&corpus, &own, &everything, &wanted, &way, 0)?
        .into_iter()
        .flat_map(|ranked| ranked.wanted)
        .collect();
    let embedding =
        embedding.filter(|embedding| nearest::check_dimensions(&corpus, embedding).is_ok());
    let read = passages::by_key(&corpus, &everything, &wanted.passages)?;
    remembered(&corpus, embedding, &everything, &wanted, &scores, &read)
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
                        && if source.passage.is_empty() {
                            option.passage.doc_id == source.doc_id
                        } else {
                            *key == source.passage
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
