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
use crate::error::{Error, Result, is_first, warn};
use crate::guc;
use crate::profile::{self, stage};
use crate::retrieve::filter::Filter;
use crate::retrieve::lexical::{self, Wanted};
use crate::retrieve::{lists, passages, past, vector};
use crate::rows;
use crate::sql;
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
    let request = Request {
        corpus,
        query,
        embedding,
        max_results,
        filter,
        settings,
        embedding_model,
        as_of,
    };
    profile::call("search", || {
        rows::emit(fcinfo, &request.prepare()?.found()?)
    })?;
    Ok(())
}

#[pg_extern(sql = false)]
#[expect(clippy::too_many_arguments, reason = "the SQL signature")]
fn explain_search(
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
    let request = Request {
        corpus,
        query,
        embedding,
        max_results,
        filter,
        settings,
        embedding_model,
        as_of,
    };
    profile::call("explain_search", || {
        let search = request.prepare()?;
        let relation = search.corpus.relation.clone().unwrap_or_default();
        let steps = sql::explained(&relation, || search.found().map(drop))?;
        rows::emit(fcinfo, &steps)
    })?;
    Ok(())
}

/// The arguments of a search.
struct Request<'a> {
    corpus: Option<&'a str>,
    query: Option<&'a str>,
    embedding: Option<Vector>,
    max_results: Option<i32>,
    filter: Option<Json>,
    settings: Option<Json>,
    embedding_model: Option<&'a str>,
    as_of: Option<TimestampWithTimeZone>,
}

impl<'a> Request<'a> {
    /// Checks the arguments and loads the corpus.
    fn prepare(self) -> Result<Search<'a>> {
        let corpus = corpora::load(&tenant::required()?, given(self.corpus, "corpus")?)?;
        let as_of = self.as_of.map(past::time).transpose()?;
        let corpus = past::at(corpus, as_of.as_deref())?;
        corpus.check_embedding_model(self.embedding_model)?;
        let limit = match given(self.max_results, "max_results")? {
            count @ 0..=10_000 => usize::try_from(count).unwrap_or(0),
            other => {
                return Err(Error::Bad {
                    argument: "max_results",
                    fault: other.to_string(),
                    hint: "From 0 to 10000.".into(),
                });
            }
        };
        let call = Json::optional(self.settings, "settings")?.unwrap_or_default();
        let settings = Settings::resolve(&[
            ("server", &guc::turn_settings()),
            ("corpus", &corpus.settings),
            ("call", &call),
        ])?;
        let filter = Filter::resolve(&corpus, Json::optional(self.filter, "filter")?.as_ref())?;
        let query = self.query.filter(|query| !query.trim().is_empty());
        let embedding = self.embedding.map(|vector| vector.0);
        check_query(&corpus, query, embedding.as_deref(), &settings)?;
        Ok(Search {
            corpus,
            query,
            embedding,
            filter,
            settings,
            limit,
            as_of,
        })
    }
}

/// A search whose arguments are checked.
struct Search<'a> {
    corpus: Corpus,
    query: Option<&'a str>,
    embedding: Option<Vec<f32>>,
    filter: Filter,
    settings: Settings,
    limit: usize,
    as_of: Option<String>,
}

impl Search<'_> {
    /// Runs the search.
    fn found(self) -> Result<Vec<SearchRow>> {
        let Self {
            corpus,
            query,
            embedding,
            filter,
            settings,
            limit,
            as_of,
        } = self;
        let plan = RetrievalPlan::alone(query, embedding, &settings);
        let wanted = Wanted::default();
        let candidates = settings.candidates.max(limit);
        let mut results = lists::search(
            &corpus, &plan, &filter, &wanted, None, &settings, candidates,
        )?;
        lexical::notice_scan(&corpus, &settings, results.passages_read)?;
        results.time = seconds(as_of.as_deref());
        let mut fused = stage("fuse", || fuse::rows(&results, &settings));
        fused.truncate(limit);
        let chunk_ids: Vec<String> = fused.iter().map(|row| row.chunk_id.clone()).collect();
        let mut passages = stage("passages", || {
            passages::by_key(&corpus, &Filter::default(), &chunk_ids)
        })?;
        Ok(fused
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
            .collect())
    }
}

/// Checks that there is a query or an embedding. The first search of the session without an embedding warns if the corpus has
/// vectors, and otherwise says how to store them.
fn check_query(
    corpus: &Corpus,
    query: Option<&str>,
    embedding: Option<&[f32]>,
    settings: &Settings,
) -> Result<()> {
    if let Some(embedding) = embedding {
        vector::check_dimensions(corpus, embedding)?;
    }
    match (query, embedding) {
        (None, None) => Err(Error::Bad {
            argument: "query",
            fault: "neither a query nor an embedding was given".into(),
            hint: "Give at least one of them.".into(),
        }),
        (Some(_), None) if settings.require_embedding => Err(Error::EmbeddingRequired),
        (Some(_), None) if settings.uses_embeddings() && corpus.embedding_kind().is_some() => {
            if is_first("no embedding given", corpus.corpus_id) && !vector::hint_if_missing(corpus)?
            {
                warn(
                    "no embedding was given: only the lexical branch was searched",
                    "Pass embedding => $1::vector for the vector branch. This warning appears once per session and corpus.",
                );
            }
            Ok(())
        }
        _ => Ok(()),
    }
}
