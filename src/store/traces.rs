//! The trace of a turn: every candidate, those of the context first.

use pgrx::IntoDatum;
use pgrx::datum::DatumWithOid;
use reground_grounding::memory::ContextSource;
use reground_grounding::passage::{Candidate, Dropped, Stage};
use reground_grounding::rerank::DriftEvent;
use reground_grounding::settings::{KeepCandidates, Settings};
use reground_provenance::short_hash;
use serde::Deserialize;

use crate::error::Result;
use crate::owner::as_owner;
use crate::sql;

/// Between the ids of merged passages: no id that a person gives contains it.
const SEPARATOR: &str = "\u{1f}";

/// A candidate, and what became of it.
struct Entry<'a> {
    candidate: &'a Candidate,
    /// Of those in the context.
    marker: Option<&'a str>,
    /// Of those that left.
    left: Option<&'a Dropped>,
}

/// Writes the trace of a turn, as far as `keep` wants it.
pub fn write(
    tenant: &str,
    turn_id: i64,
    context: &[ContextSource],
    dropped: &[Dropped],
    settings: &Settings,
) -> Result<()> {
    let kept = context.iter().map(|source| Entry {
        candidate: &source.candidate,
        marker: Some(&source.marker),
        left: None,
    });
    let left = dropped.iter().map(|dropped| Entry {
        candidate: &dropped.candidate,
        marker: None,
        left: Some(dropped),
    });
    let entries: Vec<Entry<'_>> = match settings.keep_candidates {
        KeepCandidates::All => kept.chain(left).collect(),
        KeepCandidates::Kept => kept.collect(),
        KeepCandidates::None => return Ok(()),
    };
    let hashes = settings.hashes_texts().then(|| hashes(&entries));
    as_owner(|| {
        sql::run(
            "INSERT INTO reground.turn_traces (bucket, turn_id, tenant, passages, doc_ids, corpora, members, origins, lexical_ranks, lexical_scores, vector_ranks, \
                 vector_distances, graph_ranks, fused, reranked, relevance, carry_scores, left_at, reasons, gave_way_to, markers, coordinates, hashes) \
             VALUES (reground._trace_bucket(pg_catalog.now()), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)",
            &[
                turn_id.into(),
                tenant.into(),
                column(&entries, |e| e.candidate.passage.key.as_str()),
                column(&entries, |e| e.candidate.passage.doc_id.as_str()),
                column(&entries, |e| e.candidate.passage.corpus.as_str()),
                column(&entries, |e| e.candidate.members.join(SEPARATOR)),
                column(&entries, |e| e.candidate.origin.name()),
                column(&entries, |e| e.candidate.lexical_rank.map(whole)),
                column(&entries, |e| e.candidate.lexical_score),
                column(&entries, |e| e.candidate.vector_rank.map(whole)),
                column(&entries, |e| e.candidate.vector_distance),
                column(&entries, |e| e.candidate.graph_rank.map(whole)),
                column(&entries, |e| e.candidate.fused),
                column(&entries, |e| e.candidate.rerank),
                column(&entries, |e| e.candidate.relevance),
                column(&entries, |e| e.candidate.carry_score),
                column(&entries, |e| e.left.map(|left| left.stage.name())),
                column(&entries, |e| e.left.map(|left| left.reason.name())),
                column(&entries, |e| e.left.and_then(|left| left.into.as_deref())),
                column(&entries, |e| e.marker),
                column(&entries, |e| e.candidate.passage.has_coordinates()),
                hashes.into(),
            ],
        )
    })?;
    Ok(())
}

/// One array of the trace.
fn column<'a, T>(entries: &[Entry<'a>], value: impl Fn(&Entry<'a>) -> T) -> DatumWithOid<'a>
where
    Vec<T>: IntoDatum,
{
    entries.iter().map(value).collect::<Vec<T>>().into()
}

/// The beginnings of the candidates' hashes, one after the other; zeros where none is known, as of a source that is gone.
fn hashes(entries: &[Entry<'_>]) -> Vec<u8> {
    let hashes = entries.iter().map(|entry| &entry.candidate.passage.hash);
    hashes
        .flat_map(|hash| short_hash(hash).unwrap_or_default())
        .collect()
}

/// A rank as PostgreSQL's integer.
fn whole(rank: u32) -> i32 {
    i32::try_from(rank).unwrap_or(i32::MAX)
}

/// Writes what a reranker gave back other than it was given.
pub fn write_drift(tenant: &str, turn_id: i64, corpus: &str, drift: &[DriftEvent]) -> Result<()> {
    if drift.is_empty() {
        return Ok(());
    }
    let rows = sql::json(drift)?;
    as_owner(|| {
        sql::run(
            "INSERT INTO reground.drift_events (turn_id, tenant, corpus, event, severity, passage, original_hash, returned_hash) \
             SELECT $1, $2, $3, 'reranker_text_mutation', x.severity, x.key, x.original_hash, x.returned_hash \
             FROM pg_catalog.json_to_recordset($4::json) AS x(severity text, key text, original_hash text, returned_hash text)",
            &[turn_id.into(), tenant.into(), corpus.into(), rows.into()],
        )
    })?;
    Ok(())
}

/// What the trace says of one passage of a turn.
#[derive(Debug)]
pub struct Traced {
    pub corpus: String,
    pub doc_id: String,
    /// The passage, and those merged into it.
    pub passages: Vec<String>,
    pub has_coordinates: bool,
    pub left_at: Option<Stage>,
}

/// The arrays of a trace that end_turn reads.
#[derive(Default, Deserialize)]
struct Arrays {
    corpora: Vec<String>,
    doc_ids: Vec<String>,
    passages: Vec<String>,
    members: Vec<String>,
    coordinates: Vec<bool>,
    left_at: Vec<Option<Stage>>,
}

/// A text that a turn saw.
#[derive(Debug, Deserialize)]
pub struct Seen {
    pub corpus: String,
    pub doc_id: String,
    pub chunk_id: String,
    /// The passage, or those merged into it.
    pub members: Vec<String>,
    pub marker: Option<String>,
    /// Its text, where that was kept: of those in the context.
    pub text: Option<String>,
    /// Its hash (hex), or the beginning of it.
    pub hash: Option<String>,
}

/// What a turn of a tenant saw, as far as it has hashes: its context, then its other candidates in the order of the trace.
pub fn seen(tenant: &str, turn_id: i64) -> Result<Vec<Seen>> {
    Ok(as_owner(|| {
        sql::write_json(
            "SELECT coalesce(pg_catalog.json_agg(r ORDER BY r.place), '[]')::text FROM ( \
                 SELECT e.place, e.source #>> '{passage,corpus}' AS corpus, e.source #>> '{passage,doc_id}' AS doc_id, e.source #>> '{passage,key}' AS chunk_id, \
                     e.source -> 'members' AS members, e.source ->> 'marker' AS marker, e.source #>> '{passage,text}' AS text, \
                     CASE WHEN t.settings ->> 'provenance' <> 'metadata' THEN e.source #>> '{passage,hash}' END AS hash \
                 FROM reground.turns AS t, pg_catalog.jsonb_array_elements(t.context) WITH ORDINALITY AS e(source, place) WHERE t.turn_id = $1 AND t.tenant = $2 \
                 UNION ALL \
                 SELECT 1000 + c.candidate_no, c.corpus, c.doc_id, c.chunk_id, pg_catalog.to_jsonb(c.members), NULL, NULL, c.hash \
                 FROM reground.turn_candidates AS c WHERE c.turn_id = $1 AND c.tenant = $2 AND NOT c.in_context AND c.hash IS NOT NULL) AS r",
            &[turn_id.into(), tenant.into()],
        )
    })?
    .unwrap_or_default())
}

/// The candidates of a turn, for the stage factors of its citations (I4).
pub fn load(turn_id: i64) -> Result<Vec<Traced>> {
    let arrays: Arrays = as_owner(|| {
        sql::write_json(
            "SELECT pg_catalog.row_to_json(r)::text FROM (SELECT corpora, doc_ids, passages, members, coordinates, left_at \
             FROM reground.turn_traces WHERE turn_id = $1) AS r",
            &[turn_id.into()],
        )
    })?
    .unwrap_or_default();
    let documents = arrays.corpora.into_iter().zip(arrays.doc_ids);
    let passages = arrays.passages.into_iter().zip(arrays.members);
    let facts = arrays.coordinates.into_iter().zip(arrays.left_at);
    Ok(documents
        .zip(passages)
        .zip(facts)
        .map(
            |(((corpus, doc_id), (passage, members)), (has_coordinates, left_at))| {
                let mut passages = vec![passage];
                passages.extend(members.split(SEPARATOR).map(str::to_owned));
                Traced {
                    corpus,
                    doc_id,
                    passages,
                    has_coordinates,
                    left_at,
                }
            },
        )
        .collect())
}
