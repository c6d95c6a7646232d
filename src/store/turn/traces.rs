//! The tables `turn_traces` and `drift_events`. A trace contains the candidates of a turn, those of the context first.

use pgrx::IntoDatum;
use pgrx::datum::DatumWithOid;
use reground_grounding::begin::rerank::{DriftEvent, RerankLosses};
use reground_grounding::caller::additional_sources::trace_update;
use reground_grounding::memory::ContextSource;
use reground_grounding::passage::identity::PassageId;
use reground_grounding::passage::{Candidate, Dropped, RowText, Stage, single_precision};
use reground_grounding::settings::{KeepCandidates, Settings};
use reground_provenance::short_hash;
use serde::Deserialize;

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql;
use crate::store::keys::{self, Of};

/// Separates the ids of merged passages. Ids of applications do not contain this control character.
const SEPARATOR: &str = "\u{1f}";

/// A candidate and its result.
struct Entry<'a> {
    candidate: &'a Candidate,
    /// Marker, if it is in the context.
    marker: Option<&'a str>,
    /// Stage and reason, if it was dropped.
    dropped: Option<&'a Dropped>,
}

/// Writes the trace of a turn, with the candidates that the setting `keep_candidates` selects.
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
        dropped: None,
    });
    let left = dropped.iter().map(|dropped| Entry {
        candidate: &dropped.candidate,
        marker: None,
        dropped: Some(dropped),
    });
    let entries: Vec<Entry<'_>> = match settings.keep_candidates {
        KeepCandidates::All => kept.chain(left).collect(),
        KeepCandidates::Kept => kept.collect(),
        KeepCandidates::None => return Ok(()),
    };
    let hashes = settings.hashes_texts().then(|| hashes(&entries));
    let names = columns(&entries).map(|(name, _)| name).collect::<Vec<_>>();
    let places: Vec<String> = (4..names.len() + 4).map(|n| format!("${n}")).collect();
    let mut args: Vec<DatumWithOid<'_>> = vec![turn_id.into(), tenant.into(), hashes.into()];
    args.extend(columns(&entries).map(|(_, values)| values));
    as_owner(|| {
        sql::run(
            &format!(
                "INSERT INTO reground.turn_traces (bucket, turn_id, tenant, hash_prefixes, {}) \
                 VALUES (reground._trace_bucket(now()), $1, $2, $3, {})",
                names.join(", "),
                places.join(", ")
            ),
            &args,
        )
    })?;
    Ok(())
}

/// Adds an additional retrieval to the trace of its turn, if there is one. Added sources follow the earlier sources, newly dropped
/// candidates come last, and each candidate occurs once.
pub fn add(
    turn_id: i64,
    retrieval_no: u32,
    added: &[ContextSource],
    dropped: &[Dropped],
    settings: &Settings,
) -> Result<()> {
    let dropped = match settings.keep_candidates {
        KeepCandidates::All => dropped,
        KeepCandidates::Kept => &[],
        KeepCandidates::None => return Ok(()),
    };
    let known = known(turn_id)?;
    let in_context = known.iter().take_while(|(_, left)| !left).count();
    let retraced = trace_update(&known, added, dropped);
    let newly_left = retraced.newly_left.iter().filter_map(|&place| {
        let dropped = dropped.get(place)?;
        Some(Entry {
            candidate: &dropped.candidate,
            marker: None,
            dropped: Some(dropped),
        })
    });
    let came = added.iter().map(|source| Entry {
        candidate: &source.candidate,
        marker: Some(&source.marker),
        dropped: None,
    });
    let entries: Vec<Entry<'_>> = came.chain(newly_left).collect();
    let still_left: Vec<i32> = retraced
        .still_left
        .iter()
        .filter_map(|place| i32::try_from(place + 1).ok())
        .collect();
    let of_it = vec![i32::try_from(retrieval_no).unwrap_or(i32::MAX); entries.len()];
    let length = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    let mut args: Vec<DatumWithOid<'_>> = vec![
        turn_id.into(),
        length(in_context).into(),
        length(added.len()).into(),
        still_left.into(),
        hashes(&entries).into(),
        of_it.into(),
    ];
    args.extend(columns(&entries).map(|(_, values)| values));
    let sets = spliced_columns(&entries);
    let before = "coalesce(t.retrieval_nos, array_fill(0, ARRAY[cardinality(t.chunk_ids)]))";
    as_owner(|| {
        sql::run(
            &format!(
                "UPDATE reground.turn_traces AS t SET {}, retrieval_nos = {}, \
                     hash_prefixes = substring(t.hash_prefixes, 1, 8 * $2) || substring($5, 1, 8 * $3) \
                         || coalesce((SELECT string_agg(substring(t.hash_prefixes, 8 * (p.place - 1) + 1, 8), '' ORDER BY p.place) FROM unnest($4) AS p(place)), '') \
                         || substring($5, 8 * $3 + 1) \
                 WHERE t.turn_id = $1",
                sets.join(", "),
                spliced(before, "$6")
            ),
            &args,
        )
    })?;
    Ok(())
}

/// Expression for an array of a trace: earlier sources, added sources, candidates that stay dropped, newly dropped candidates.
fn spliced(old: &str, new: &str) -> String {
    format!(
        "({old})[1:$2] || ({new})[1:$3] || ARRAY(SELECT o.value FROM unnest({old}) WITH ORDINALITY AS o(value, place) \
         WHERE o.place = ANY ($4) ORDER BY o.place) || ({new})[$3 + 1:]"
    )
}

/// Assignments of the columns of a trace `t`, with the new candidates as `$7` and following.
fn spliced_columns(entries: &[Entry<'_>]) -> Vec<String> {
    let assignment = |name: &str, n: usize| {
        let (old, new) = (format!("t.{name}"), format!("${n}"));
        if name != "member_chunk_ids" {
            return format!("{name} = {}", spliced(&old, &new));
        }
        // NULL stands for the passages themselves; $7 has those of the new candidates.
        let all = spliced(
            "coalesce(t.member_chunk_ids, t.chunk_ids)",
            &format!("coalesce({new}, $7)"),
        );
        format!("{name} = CASE WHEN {old} IS NOT NULL OR {new} IS NOT NULL THEN {all} END")
    };
    let columns = columns(entries).zip(7..);
    columns.map(|((name, _), n)| assignment(name, n)).collect()
}

/// The candidates of the stored trace of a turn, in order, and whether each was dropped.
fn known(turn_id: i64) -> Result<Vec<(PassageId, bool)>> {
    #[derive(Deserialize)]
    struct Known {
        corpus: String,
        chunk_id: String,
        left: bool,
    }
    let known: Vec<Known> = as_owner(|| {
        sql::write_json(
            "SELECT coalesce(json_agg(json_build_object('corpus', c.corpus, 'chunk_id', c.chunk_id, 'left', c.dropped_stage IS NOT NULL) ORDER BY c.place), '[]')::text \
             FROM reground.turn_traces AS t, ROWS FROM (unnest(t.corpora), unnest(t.chunk_ids), unnest(t.dropped_stages)) WITH ORDINALITY \
                 AS c(corpus, chunk_id, dropped_stage, place) WHERE t.turn_id = $1",
            &[turn_id.into()],
        )
    })?
    .unwrap_or_default();
    let known = known.into_iter();
    Ok(known
        .map(|known| {
            let (corpus, chunk_id) = (known.corpus, known.chunk_id);
            (PassageId { corpus, chunk_id }, known.left)
        })
        .collect())
}

/// A column of a trace, with its array.
type TraceColumn<'a> = (&'static str, DatumWithOid<'a>);

/// The columns of a trace, that of the passages first.
fn columns<'a>(entries: &[Entry<'a>]) -> impl Iterator<Item = TraceColumn<'a>> + use<'a> {
    outcome(entries).into_iter().chain(scores(entries))
}

/// What the candidates are, and what became of them.
fn outcome<'a>(e: &[Entry<'a>]) -> [TraceColumn<'a>; 10] {
    [
        (
            "chunk_ids",
            column(e, |e| e.candidate.passage.chunk_id.as_str()),
        ),
        (
            "doc_ids",
            column(e, |e| e.candidate.passage.doc_id.as_str()),
        ),
        (
            "corpora",
            column(e, |e| e.candidate.passage.corpus.as_str()),
        ),
        (
            "member_chunk_ids",
            match e.iter().any(|e| e.candidate.is_merged()) {
                true => column(e, |e| e.candidate.member_chunk_ids.join(SEPARATOR)),
                false => None::<Vec<String>>.into(),
            },
        ),
        ("origins", column(e, |e| e.candidate.origin.name())),
        (
            "dropped_stages",
            column(e, |e| e.dropped.map(|dropped| dropped.stage.name())),
        ),
        (
            "drop_reasons",
            column(e, |e| e.dropped.map(|dropped| dropped.reason.name())),
        ),
        (
            "replaced_by",
            column(e, |e| e.dropped.and_then(|dropped| dropped.into.as_deref())),
        ),
        ("markers", column(e, |e| e.marker)),
        (
            "has_coordinates",
            column(e, |e| e.candidate.passage.has_coordinates()),
        ),
    ]
}

/// Their ranks and scores.
fn scores<'a>(e: &[Entry<'a>]) -> [TraceColumn<'a>; 10] {
    [
        (
            "lexical_ranks",
            column(e, |e| e.candidate.lexical_rank.map(to_smallint)),
        ),
        (
            "lexical_scores",
            column(e, |e| e.candidate.lexical_score.map(single_precision)),
        ),
        (
            "vector_ranks",
            column(e, |e| e.candidate.vector_rank.map(to_smallint)),
        ),
        (
            "vector_distances",
            column(e, |e| e.candidate.vector_distance.map(single_precision)),
        ),
        (
            "graph_ranks",
            column(e, |e| e.candidate.graph_rank.map(to_smallint)),
        ),
        (
            "recencies",
            column(e, |e| e.candidate.recency.map(single_precision)),
        ),
        (
            "fused_scores",
            column(e, |e| single_precision(e.candidate.fused_score)),
        ),
        (
            "rerank_scores",
            column(e, |e| e.candidate.rerank_score.map(single_precision)),
        ),
        (
            "relevances",
            column(e, |e| single_precision(e.candidate.relevance)),
        ),
        (
            "carry_scores",
            column(e, |e| e.candidate.carry_score.map(single_precision)),
        ),
    ]
}

/// One array of the trace.
fn column<'a, T>(entries: &[Entry<'a>], value: impl Fn(&Entry<'a>) -> T) -> DatumWithOid<'a>
where
    Vec<T>: IntoDatum,
{
    entries.iter().map(value).collect::<Vec<T>>().into()
}

/// The concatenated prefixes of the content hashes of the candidates' rows; zeros for an unknown hash, such as that of a deleted passage.
fn hashes(entries: &[Entry<'_>]) -> Vec<u8> {
    let hashes = entries
        .iter()
        .map(|entry| entry.candidate.passage.row_hash());
    hashes
        .flat_map(|hash| short_hash(hash).unwrap_or_default())
        .collect()
}

/// A rank as a PostgreSQL smallint. The setting `candidates` is at most 1,000.
fn to_smallint(rank: u32) -> i16 {
    i16::try_from(rank).unwrap_or(i16::MAX)
}

/// Stores the passages whose text a reranker changed.
pub fn write_drift(tenant: &str, turn_id: i64, drift: &[DriftEvent]) -> Result<()> {
    if drift.is_empty() {
        return Ok(());
    }
    let rows = sql::json(drift)?;
    as_owner(|| {
        sql::run(
            "INSERT INTO reground.drift_events (turn_id, tenant, corpus, event, severity, chunk_id, original_hash, returned_hash) \
             SELECT $1, $2, x.corpus, 'reranker_text_mutation', x.severity, x.chunk_id, x.original_hash, x.returned_hash \
             FROM json_to_recordset($3::json) AS x(corpus text, severity text, chunk_id text, original_hash text, returned_hash text)",
            &[turn_id.into(), tenant.into(), rows.into()],
        )
    })?;
    Ok(())
}

/// Stores how many passages the reranker of a turn received and lost, and which it lost.
pub fn write_losses(tenant: &str, turn_id: i64, losses: &RerankLosses) -> Result<()> {
    let rows = sql::json(&losses.lost)?;
    let count = |length: usize| i32::try_from(length).unwrap_or(i32::MAX);
    as_owner(|| {
        sql::run(
            "WITH counted AS (UPDATE reground.turns SET reranked_count = $3, rerank_lost_count = $4 WHERE turn_id = $1) \
             INSERT INTO reground.drift_events (turn_id, tenant, corpus, event, severity, chunk_id, original_hash) \
             SELECT $1, $2, x.corpus, 'reranker_lost_passage', x.severity, x.chunk_id, x.original_hash \
             FROM json_to_recordset($5::json) AS x(corpus text, severity text, chunk_id text, original_hash text)",
            &[
                turn_id.into(),
                tenant.into(),
                count(losses.candidates).into(),
                count(losses.lost.len()).into(),
                rows.into(),
            ],
        )
    })?;
    Ok(())
}

/// A candidate of a turn, as its trace describes it.
#[derive(Debug)]
pub struct Traced {
    pub corpus: String,
    pub doc_id: String,
    /// Ids of the passage and of those merged into it.
    pub chunk_ids: Vec<String>,
    pub has_coordinates: bool,
    pub dropped_stage: Option<Stage>,
}

/// The arrays of a trace that end_turn reads.
#[derive(Default, Deserialize)]
struct Arrays {
    corpora: Vec<String>,
    doc_ids: Vec<String>,
    chunk_ids: Vec<String>,
    member_chunk_ids: Vec<String>,
    has_coordinates: Vec<bool>,
    dropped_stages: Vec<Option<Stage>>,
}

/// A candidate of a turn with its hash.
#[derive(Debug, Deserialize)]
pub struct TracedCandidate {
    pub corpus: String,
    pub doc_id: String,
    pub chunk_id: String,
    /// Ids of the passage and of those merged into it.
    pub member_chunk_ids: Vec<String>,
    pub marker: Option<String>,
    /// Its text, if it is in the context with its text and the text was not redacted.
    pub content: Option<String>,
    /// Its content hash (hex), or a prefix of it.
    pub hash: Option<String>,
    /// The row and the number of characters, if it is a window in the context.
    pub window_of: Option<RowText>,
    pub characters: Option<u32>,
}

/// The candidates of a turn of a tenant: those of the context, then the others that have a hash, in the order of the trace.
pub fn traced_candidates(tenant: &str, turn_id: i64) -> Result<Vec<TracedCandidate>> {
    Ok(keys::read_json(
        Of::Tenant(tenant),
            "SELECT coalesce(json_agg(r ORDER BY r.part, r.place), '[]')::text FROM ( \
                 SELECT 1 AS part, e.place, e.source #>> '{passage,corpus}' AS corpus, e.source #>> '{passage,doc_id}' AS doc_id, e.source #>> '{passage,chunk_id}' AS chunk_id, \
                     e.source -> 'member_chunk_ids' AS member_chunk_ids, e.source ->> 'marker' AS marker, CASE WHEN e.source ->> 'origin' <> 'remembered' THEN e.source #>> '{passage,content}' END AS content, \
                     CASE WHEN t.settings ->> 'provenance' <> 'metadata' OR e.source #>> '{passage,content}' = '' THEN e.source #>> '{passage,content_hash}' END AS hash, \
                     e.source #> '{passage,window_of}' AS window_of, (e.source #>> '{passage,chars,end}')::bigint - (e.source #>> '{passage,chars,start}')::bigint AS characters \
                 FROM reground.turns AS t, jsonb_array_elements(t.context) WITH ORDINALITY AS e(source, place) WHERE t.turn_id = $1 AND t.tenant = $2 \
                 UNION ALL \
                 SELECT 2, c.candidate_no, c.corpus, c.doc_id, c.chunk_id, to_jsonb(c.member_chunk_ids), NULL, NULL, c.hash_prefix, NULL, NULL \
                 FROM reground.turn_candidates AS c WHERE c.turn_id = $1 AND c.tenant = $2 AND NOT c.in_context AND c.hash_prefix IS NOT NULL) AS r",
            &[turn_id.into(), tenant.into()],
    )?
    .unwrap_or_default())
}

/// The source of a citation, as the context of its turn has it; without a source there, as the citation has it.
#[derive(Debug, Deserialize)]
pub struct CitedSource {
    pub citation_id: i64,
    pub tenant: String,
    pub corpus: String,
    pub doc_id: String,
    pub member_chunk_ids: Vec<String>,
    pub hash: String,
    pub version: Option<i32>,
    pub modified: Option<String>,
    pub window_of: Option<RowText>,
    pub characters: Option<u32>,
}

/// The sources of all citations of the turn of a citation, as far as they have one.
pub fn cited_sources(citation_id: i64) -> Result<Vec<CitedSource>> {
    as_owner(|| {
        sql::read_rows(
            "SELECT c.citation_id, c.tenant, c.corpus, c.doc_id, coalesce(e.source -> 'member_chunk_ids', jsonb_build_array(c.chunk_id)) AS member_chunk_ids, \
                     coalesce(e.source #>> '{passage,content_hash}', c.source_hash) AS hash, c.source_version AS version, e.source #>> '{passage,modified}' AS modified, \
                     e.source #> '{passage,window_of}' AS window_of, (e.source #>> '{passage,chars,end}')::bigint - (e.source #>> '{passage,chars,start}')::bigint AS characters \
                 FROM reground.message_citations AS o JOIN reground.message_citations AS c ON c.turn_id = o.turn_id JOIN reground.turns AS t ON t.turn_id = c.turn_id \
                 LEFT JOIN LATERAL ( \
                     SELECT x.source FROM jsonb_array_elements(t.context) WITH ORDINALITY AS x(source, place) \
                     WHERE x.source #>> '{passage,corpus}' = c.corpus AND x.source #>> '{passage,doc_id}' = c.doc_id AND x.source -> 'member_chunk_ids' ? c.chunk_id \
                     ORDER BY x.source ->> 'marker' = c.marker DESC NULLS LAST, x.place LIMIT 1) AS e ON true \
                 WHERE o.citation_id = $1 AND c.corpus <> '' AND c.doc_id IS NOT NULL AND c.chunk_id IS NOT NULL AND c.source_hash IS NOT NULL",
            &[citation_id.into()],
        )
    })
}

/// The candidates of a turn, for the stage factors of its citations.
pub fn load(turn_id: i64) -> Result<Vec<Traced>> {
    let arrays: Arrays = as_owner(|| {
        sql::write_json(
            "SELECT row_to_json(r)::text FROM (SELECT corpora, doc_ids, chunk_ids, coalesce(member_chunk_ids, chunk_ids) AS member_chunk_ids, has_coordinates, dropped_stages \
             FROM reground.turn_traces WHERE turn_id = $1) AS r",
            &[turn_id.into()],
        )
    })?
    .unwrap_or_default();
    let documents = arrays.corpora.into_iter().zip(arrays.doc_ids);
    let passages = arrays.chunk_ids.into_iter().zip(arrays.member_chunk_ids);
    let facts = arrays
        .has_coordinates
        .into_iter()
        .zip(arrays.dropped_stages);
    Ok(documents
        .zip(passages)
        .zip(facts)
        .map(
            |(((corpus, doc_id), (chunk_id, members)), (has_coordinates, dropped_stage))| {
                let mut chunk_ids = vec![chunk_id];
                chunk_ids.extend(members.split(SEPARATOR).map(str::to_owned));
                Traced {
                    corpus,
                    doc_id,
                    chunk_ids,
                    has_coordinates,
                    dropped_stage,
                }
            },
        )
        .collect())
}
