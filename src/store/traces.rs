//! The trace of a turn: every candidate, those of the context first.

use reground_grounding::memory::ContextSource;
use reground_grounding::passage::{Candidate, Dropped, Reason, Stage};
use reground_grounding::rerank::DriftEvent;
use reground_grounding::settings::KeepCandidates;
use serde::Serialize;

use crate::error::Result;
use crate::owner::as_owner;
use crate::sql;

/// One candidate in the trace.
#[derive(Serialize)]
struct Entry<'a> {
    passage: &'a str,
    doc_id: &'a str,
    corpus: &'a str,
    members: String,
    origin: reground_grounding::passage::Origin,
    lexical_rank: Option<u32>,
    lexical_score: Option<f64>,
    vector_rank: Option<u32>,
    vector_distance: Option<f64>,
    fused: f64,
    reranked: Option<f64>,
    relevance: f64,
    carry_score: Option<f64>,
    left_at: Option<Stage>,
    reason: Option<Reason>,
    gave_way_to: Option<&'a str>,
    marker: Option<&'a str>,
    has_coordinates: bool,
}

/// Between the ids of merged passages: no id that a person gives contains it.
const SEPARATOR: &str = "\u{1f}";

impl<'a> Entry<'a> {
    fn new(candidate: &'a Candidate) -> Self {
        Self {
            passage: &candidate.passage.key,
            doc_id: &candidate.passage.doc_id,
            corpus: &candidate.passage.corpus,
            members: candidate.members.join(SEPARATOR),
            origin: candidate.origin,
            lexical_rank: candidate.lexical_rank,
            lexical_score: candidate.lexical_score,
            vector_rank: candidate.vector_rank,
            vector_distance: candidate.vector_distance,
            fused: candidate.fused,
            reranked: candidate.rerank,
            relevance: candidate.relevance,
            carry_score: candidate.carry_score,
            left_at: None,
            reason: None,
            gave_way_to: None,
            marker: None,
            has_coordinates: candidate.passage.has_coordinates(),
        }
    }
}

/// Writes the trace of a turn, as far as `keep` wants it.
pub fn write(
    tenant: &str,
    turn_id: i64,
    context: &[ContextSource],
    dropped: &[Dropped],
    keep: KeepCandidates,
) -> Result<()> {
    let kept = context.iter().map(|source| Entry {
        marker: Some(&source.marker),
        ..Entry::new(&source.candidate)
    });
    let left = dropped.iter().map(|dropped| Entry {
        left_at: Some(dropped.stage),
        reason: Some(dropped.reason),
        gave_way_to: dropped.into.as_deref(),
        ..Entry::new(&dropped.candidate)
    });
    let entries: Vec<Entry<'_>> = match keep {
        KeepCandidates::All => kept.chain(left).collect(),
        KeepCandidates::Kept => kept.collect(),
        KeepCandidates::None => return Ok(()),
    };
    let entries = sql::json(&entries)?;
    let columns = [
        "passage",
        "doc_id",
        "corpus",
        "members",
        "origin",
        "lexical_rank",
        "lexical_score",
        "vector_rank",
        "vector_distance",
        "fused",
        "reranked",
        "relevance",
        "carry_score",
        "left_at",
        "reason",
        "gave_way_to",
        "marker",
        "has_coordinates",
    ];
    let arrays = columns
        .map(|column| format!("coalesce(pg_catalog.array_agg(x.{column} ORDER BY x.n), '{{}}')"))
        .join(", ");
    as_owner(|| {
        sql::run(
            &format!(
                "INSERT INTO reground.turn_traces (bucket, turn_id, tenant, passages, doc_ids, corpora, members, origins, lexical_ranks, lexical_scores, vector_ranks, \
                     vector_distances, fused, reranked, relevance, carry_scores, left_at, reasons, gave_way_to, markers, coordinates) \
                 SELECT reground._trace_bucket(pg_catalog.now()), $1, $2, {arrays} \
                 FROM ROWS FROM (pg_catalog.jsonb_to_recordset($3::jsonb) AS (passage text, doc_id text, corpus text, members text, origin text, lexical_rank integer, \
                     lexical_score double precision, vector_rank integer, vector_distance double precision, fused double precision, reranked double precision, relevance double precision, carry_score double precision, \
                     left_at text, reason text, gave_way_to text, marker text, has_coordinates boolean)) WITH ORDINALITY \
                     AS x(passage, doc_id, corpus, members, origin, lexical_rank, lexical_score, vector_rank, vector_distance, fused, reranked, relevance, \
                          carry_score, left_at, reason, gave_way_to, marker, has_coordinates, n)"
            ),
            &[turn_id.into(), tenant.into(), entries.into()],
        )
    })?;
    Ok(())
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
             FROM pg_catalog.jsonb_to_recordset($4::jsonb) AS x(severity text, key text, original_hash text, returned_hash text)",
            &[turn_id.into(), tenant.into(), corpus.into(), rows.into()],
        )
    })?;
    Ok(())
}

/// What the trace says of one passage of a turn.
#[derive(Debug, serde::Deserialize)]
pub struct Traced {
    pub corpus: String,
    pub doc_id: String,
    pub chunk_id: String,
    pub members: Vec<String>,
    pub has_coordinates: bool,
    pub left_at: Option<Stage>,
}

/// The candidates of a turn, for the stage factors of its citations (I4).
pub fn load(turn_id: i64) -> Result<Vec<Traced>> {
    Ok(as_owner(|| {
        sql::write_json(
            "SELECT coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('corpus', c.corpus, 'doc_id', c.doc_id, 'chunk_id', c.chunk_id, \
                 'members', c.members, 'has_coordinates', c.has_coordinates, 'left_at', c.left_at)), '[]')::text \
             FROM reground.turn_candidates AS c WHERE c.turn_id = $1",
            &[turn_id.into()],
        )
    })?
    .unwrap_or_default())
}
