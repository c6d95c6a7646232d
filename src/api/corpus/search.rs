//! `search`: hybrid search of a corpus, without a conversation.

use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_grounding::begin::fuse;
use reground_grounding::query::plan::RetrievalPlan;
use reground_grounding::settings::Settings;
use serde::Serialize;

use crate::api::given;
use crate::api::turn::question::seconds;
use crate::datum::Json;
use crate::datum::Vector;
use crate::error::{Error, Result, warn};
use crate::guc;
use crate::retrieve::filter::Filter;
use crate::retrieve::lexical::Wanted;
use crate::retrieve::{lists, passages, past};
use crate::rows;
use crate::store::corpora::{self, Corpus};
use crate::tenant;

/// A row of `search`.
#[derive(Serialize)]
struct SearchRow {
    chunk_id: String,
    doc_id: String,
    title: Option<String>,
    locator: Option<String>,
    content: String,
    score: f64,
    lexical_rank: Option<u32>,
    vector_rank: Option<u32>,
    lexical_score: Option<f64>,
    vector_distance: Option<f64>,
    uri: Option<String>,
    published: Option<String>,
    metadata: serde_json::Value,
}

#[pg_extern(sql = false)]
#[expect(clippy::too_many_arguments, reason = "the SQL signature")]
fn search(
    corpus: Option<&str>,
    query: Option<&str>,
    embedding: Option<Vector>,
    max_results: Option<i32>,
    filter: Option<Json>,
    settings: Option<Json>,
    embedding_model: Option<&str>,
    as_of: Option<TimestampWithTimeZone>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let corpus = corpora::load(&tenant::required()?, given(corpus, "corpus")?)?;
    let as_of = as_of.map(past::time).transpose()?;
    let corpus = past::at(corpus, as_of.as_deref())?;
    corpus.check_embedding_model(embedding_model)?;
    let limit = match given(max_results, "max_results")? {
        count @ 0..=10_000 => usize::try_from(count).unwrap_or(0),
        other => {
            return Err(Error::Bad {
                argument: "max_results",
                fault: other.to_string(),
                hint: "From 0 to 10000.".into(),
            }
            .into());
        }
    };
    let call = Json::optional(settings, "settings")?.unwrap_or_default();
    let settings = Settings::resolve(&[
        ("server", &guc::turn_settings()),
        ("corpus", &corpus.settings),
        ("call", &call),
    ])
    .map_err(Error::from)?;
    let filter = Filter::resolve(&corpus, Json::optional(filter, "filter")?.as_ref())?;
    let query = query.filter(|query| !query.trim().is_empty());
    let embedding = embedding.map(|vector| vector.0);
    check_query(&corpus, query, embedding.as_deref(), &settings)?;
    let plan = RetrievalPlan::alone(query, embedding, &settings);
    let wanted = Wanted::default();
    let candidates = settings.candidates.max(limit);
    let mut results = lists::search(
        &corpus, &plan, &filter, &wanted, None, &settings, candidates,
    )?;
    results.time = seconds(as_of.as_deref());
    let mut fused = fuse::rows(&results, &settings);
    fused.truncate(limit);
    let chunk_ids: Vec<String> = fused.iter().map(|row| row.chunk_id.clone()).collect();
    let mut passages = passages::by_key(&corpus, &Filter::default(), &chunk_ids)?;
    let found: Vec<SearchRow> = fused
        .into_iter()
        .filter_map(|row| {
            let passage = passages.remove(&row.chunk_id)?;
            Some(SearchRow {
                locator: passage.locator(),
                chunk_id: passage.chunk_id,
                doc_id: passage.doc_id,
                title: passage.title,
                content: passage.content,
                score: row.score,
                lexical_rank: row.lexical_rank,
                vector_rank: row.vector_rank,
                lexical_score: row.lexical_score,
                vector_distance: row.vector_distance,
                uri: passage.uri,
                published: passage.published,
                metadata: passage.metadata,
            })
        })
        .collect();
    rows::emit(fcinfo, &found)?;
    Ok(())
}

/// Checks that there is a query or an embedding, and warns if a vector branch that the corpus has is left out.
fn check_query(
    corpus: &Corpus,
    query: Option<&str>,
    embedding: Option<&[f32]>,
    settings: &Settings,
) -> Result<()> {
    match (query, embedding) {
        (None, None) => Err(Error::Bad {
            argument: "query",
            fault: "neither a query nor an embedding was given".into(),
            hint: "Give at least one of them.".into(),
        }),
        (Some(_), None) if settings.require_embedding => Err(Error::EmbeddingRequired),
        (Some(_), None)
            if settings.uses_embeddings() && corpus.mapping.contains_key("embedding") =>
        {
            warn(
                "no embedding was given: only the lexical branch was searched",
                "Pass embedding => $1::vector for the vector branch.",
            );
            Ok(())
        }
        _ => Ok(()),
    }
}
