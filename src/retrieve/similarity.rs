//! Similarities of the sources of a context, from their current embeddings.

use std::collections::{BTreeMap, BTreeSet};

use reground_grounding::memory::ContextSource;
use reground_grounding::passage::similarity::{SourceSimilarities, source_similarities};
use reground_grounding::settings::Settings;

use crate::error::Result;
use crate::profile::stage;
use crate::retrieve::{past, vector};

/// Returns the similarities of the sources with each other and with the query, if the settings require them. Embeddings that
/// the caller may not read are ignored.
pub fn of_context(
    tenant: &str,
    context: &[ContextSource],
    embedding: Option<&[f32]>,
    as_of: Option<&str>,
    settings: &Settings,
) -> Result<SourceSimilarities> {
    if !settings.compares_sources() {
        return Ok(SourceSimilarities::default());
    }
    stage("similarities", || {
        let embeddings = embeddings(tenant, context, as_of, settings)?;
        let sources: Vec<Vec<&[f32]>> = context
            .iter()
            .map(|source| {
                let of_corpus = embeddings.get(&source.candidate.passage.corpus);
                let members = source.candidate.member_chunk_ids.iter();
                let found = members.filter_map(|key| of_corpus?.get(key));
                found.map(Vec::as_slice).collect()
            })
            .collect();
        Ok(source_similarities(embedding, &sources))
    })
}

/// Returns the embeddings by corpus and id. Corpora that cannot be read, or have no embeddings, are left out.
fn embeddings(
    tenant: &str,
    context: &[ContextSource],
    as_of: Option<&str>,
    settings: &Settings,
) -> Result<BTreeMap<String, BTreeMap<String, Vec<f32>>>> {
    let mut keys: BTreeMap<&str, BTreeSet<&String>> = BTreeMap::new();
    for source in context {
        let corpus = source.candidate.passage.corpus.as_str();
        keys.entry(corpus)
            .or_default()
            .extend(&source.candidate.member_chunk_ids);
    }
    let mut found = BTreeMap::new();
    for (name, keys) in keys {
        let corpus = past::usable(settings, tenant, name, as_of)?;
        if let Some(corpus) = corpus.filter(|corpus| corpus.embedding_kind().is_some()) {
            found.insert(name.to_owned(), vector::embeddings(&corpus, keys)?);
        }
    }
    Ok(found)
}
