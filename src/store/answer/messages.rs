//! Answers and their citations.

use std::borrow::Cow;

use reground_citations::{Span, measures};
use reground_grounding::caller::fingerprint::Fingerprint;
use reground_grounding::end::JudgedAnswer;
use reground_grounding::memory::SourceKey;
use reground_sealing::{Kind, Sealer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::run_as::as_owner;
use crate::sql::{self, Record};
use crate::store::documents::STATE;
use crate::store::keys::{self, Of};

/// A stored answer.
#[derive(Debug, Deserialize)]
pub struct Earlier {
    pub message_id: i64,
    pub turn_id: i64,
    pub message_ref: Option<String>,
    #[serde(flatten)]
    pub fingerprint: Fingerprint,
    pub superseded: bool,
}

/// An answer to be stored.
#[derive(Debug, Serialize)]
pub struct NewMessage<'a> {
    pub message_id: i64,
    pub conversation_id: i64,
    pub turn_id: i64,
    pub origin: Origin,
    pub message_ref: Option<&'a str>,
    /// The text; `None` if the settings do not store texts.
    pub answer: Option<&'a str>,
    #[serde(flatten)]
    pub fingerprint: &'a Fingerprint,
    pub answer_tokens: usize,
    pub model: Option<&'a str>,
    pub usage: Option<&'a Value>,
    /// Citations that the model's API returned besides the text.
    pub citations: Option<&'a Value>,
    pub tags: Option<&'a Value>,
    /// Time of the answer, in a form that PostgreSQL reads; `None` for the current time.
    pub created_at: Option<&'a str>,
    #[serde(flatten)]
    pub scored: Scored,
    /// The answer that this one is a corrected copy of.
    pub repair_of: Option<i64>,
    pub repair_mode: Option<&'static str>,
    /// Stored in the table `message_citations`.
    #[serde(skip)]
    pub cited: Cow<'a, [NewCitation]>,
}

/// Whether this extension or another system handled a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    Live,
    Imported,
}

/// The judgement of an answer as a whole.
#[derive(Debug, Serialize)]
pub struct Scored {
    citation_count: usize,
    malformed_count: usize,
    cfs: Option<f64>,
    stage_cfs: Option<f64>,
    grounded_cfs: Option<f64>,
    diagnostic: Option<&'static str>,
    decision: &'static str,
    reasons: Vec<&'static str>,
}

impl From<&JudgedAnswer> for Scored {
    fn from(
        JudgedAnswer {
            scores, decision, ..
        }: &JudgedAnswer,
    ) -> Self {
        Self {
            citation_count: scores.citations,
            malformed_count: scores.malformed,
            cfs: scores.cfs,
            stage_cfs: scores.stage_cfs,
            grounded_cfs: scores.grounded_cfs,
            diagnostic: scores.diagnostic(),
            decision: decision.action.as_str(),
            reasons: decision
                .reasons
                .iter()
                .map(|reason| reason.as_str())
                .collect(),
        }
    }
}

/// A citation to be stored. The fields are those of [`CITATION`].
#[derive(Clone, Debug, Default, Serialize)]
pub struct NewCitation {
    pub citation_no: usize,
    pub marker: Option<String>,
    pub raw: String,
    pub form: Option<String>,
    pub scope: Option<&'static str>,
    pub corpus: Option<String>,
    pub doc_id: Option<String>,
    pub chunk_id: Option<String>,
    pub title: Option<String>,
    pub uri: Option<String>,
    pub locator: Option<String>,
    pub claim: Option<String>,
    pub quote: Option<String>,
    pub quote_start: Option<usize>,
    pub quote_end: Option<usize>,
    pub fact_summary: Option<String>,
    pub status: Option<&'static str>,
    pub holds: Option<bool>,
    pub hallucination_mode: Option<&'static str>,
    pub score: Option<f64>,
    pub coordinate_fidelity: Option<f64>,
    pub support: Option<f64>,
    pub support_parts: Option<Value>,
    pub diagnostic: Option<&'static str>,
    pub detail: Option<&'static str>,
    pub best_other_marker: Option<String>,
    pub factor_coordinates: Option<u8>,
    pub factor_retrieval: Option<u8>,
    pub factor_rerank: Option<u8>,
    pub factor_context: Option<u8>,
    pub factor_generation: Option<u8>,
    pub lost_stage: Option<&'static str>,
    pub source_version: Option<i32>,
    pub source_hash: Option<String>,
    pub repaired: bool,
    pub answer_start: usize,
    pub answer_end: usize,
    pub byte_start: usize,
    pub byte_end: usize,
    pub utf16_start: usize,
    pub utf16_end: usize,
}

impl NewCitation {
    /// The place that it names, if it was found.
    pub fn source(&self) -> Option<SourceKey> {
        Some(SourceKey {
            corpus: self.corpus.clone()?,
            doc_id: self.doc_id.clone()?,
            chunk_id: self.chunk_id.clone().unwrap_or_default(),
        })
    }

    /// The citation at this place of the answer.
    pub fn at(self, span: &Span) -> Self {
        Self {
            answer_start: span.chars.start,
            answer_end: span.chars.end,
            byte_start: span.bytes.start,
            byte_end: span.bytes.end,
            utf16_start: span.utf16.start,
            utf16_end: span.utf16.end,
            ..self
        }
    }

    /// The citation without its claim, the description and text of its source, and values computed from that text.
    pub fn without_source(self) -> Self {
        Self {
            claim: None,
            title: None,
            uri: None,
            locator: None,
            quote: None,
            quote_start: None,
            quote_end: None,
            fact_summary: None,
            support_parts: None,
            source_version: None,
            source_hash: None,
            ..self
        }
    }

    /// The citations of an answer as they are stored: without texts unless `keeps_words` is true.
    pub fn stored(citations: &[Self], keeps_words: bool) -> Cow<'_, [Self]> {
        match keeps_words {
            true => citations.into(),
            false => citations.iter().map(Self::without_words).collect(),
        }
    }

    /// The verdict and the position alone.
    fn without_words(&self) -> Self {
        Self {
            raw: self.marker.clone().unwrap_or_default(),
            claim: None,
            quote: None,
            support_parts: self.support_parts.as_ref().map(measures),
            ..self.clone()
        }
    }
}

/// Columns of [`NewCitation`].
const CITATION: Record = Record(&[
    "citation_no integer, marker text, raw text, form text, scope text, corpus text, doc_id text, chunk_id text, title text, uri text, locator text, claim text, \
     quote text, quote_start integer, quote_end integer, fact_summary text, status text, holds boolean, hallucination_mode text, score double precision, coordinate_fidelity double precision, \
     support double precision, support_parts jsonb, diagnostic text, detail text, best_other_marker text, factor_coordinates smallint, factor_retrieval smallint, \
     factor_rerank smallint, factor_context smallint, factor_generation smallint, lost_stage text, source_version integer, source_hash text, \
     repaired boolean, answer_start integer, answer_end integer, byte_start integer, byte_end integer, utf16_start integer, utf16_end integer",
]);

/// Columns of [`NewMessage`], without the defaults.
const MESSAGE: Record = Record(&[
    "message_id bigint, conversation_id bigint, turn_id bigint, origin text, message_ref text, answer text, answer_hash text, answer_tokens integer",
    "model text, usage jsonb, citations jsonb, citations_hash text, citation_count integer, malformed_count integer, cfs double precision",
    "stage_cfs double precision, grounded_cfs double precision, diagnostic text, decision text, reasons text[], repair_of bigint, repair_mode text",
]);

/// The text of an answer, with its turn.
#[derive(Debug, Deserialize)]
pub struct Message {
    pub turn_id: i64,
    /// `None` if the text was not stored.
    pub answer: Option<String>,
    /// Citations that the model's API returned besides the text.
    pub citations: Option<Value>,
    pub model: Option<String>,
    /// The answer that this one is a corrected copy of.
    pub repair_of: Option<i64>,
}

/// An answer of this tenant; `None` if the tenant has no such answer.
pub fn load(tenant: &str, message_id: i64) -> Result<Option<Message>> {
    keys::read_json(
        Of::Tenant(tenant),
        "SELECT row_to_json(m)::text FROM (SELECT turn_id, answer, citations, model, repair_of FROM reground.messages WHERE message_id = $1 AND tenant = $2) AS m",
        &[message_id.into(), tenant.into()],
    )
}

/// A stored citation, as its evidence is looked up.
#[derive(Debug, Deserialize)]
pub struct StoredCitation {
    pub citation_id: i64,
    pub citation_no: usize,
    pub marker: Option<String>,
    pub form: Option<String>,
    pub status: String,
    pub holds: Option<bool>,
    pub support: Option<f64>,
    pub corpus: Option<String>,
    pub doc_id: Option<String>,
    pub chunk_id: Option<String>,
    pub title: Option<String>,
    pub uri: Option<String>,
    pub locator: Option<String>,
    pub quote: Option<String>,
    pub quote_start: Option<usize>,
    pub quote_end: Option<usize>,
    pub source_version: Option<i32>,
    pub source_hash: Option<String>,
    pub source_state: Option<String>,
    pub answer_start: usize,
    pub answer_end: usize,
    pub byte_start: usize,
    pub byte_end: usize,
}

/// The citations of an answer of this tenant, in order.
pub fn citations(tenant: &str, message_id: i64) -> Result<Vec<StoredCitation>> {
    Ok(keys::read_json(
        Of::Tenant(tenant),
            &format!(
                "SELECT coalesce(json_agg(r ORDER BY r.citation_no), '[]')::text FROM (SELECT citation_id, citation_no, marker, form, status, holds, support, corpus, doc_id, \
                     chunk_id, title, uri, locator, quote, quote_start, quote_end, source_version, source_hash, {STATE} AS source_state, answer_start, answer_end, \
                     byte_start, byte_end FROM reground.message_citations AS c WHERE message_id = $1 AND tenant = $2) AS r"
            ),
            &[message_id.into(), tenant.into()],
    )?
    .unwrap_or_default())
}

/// The answers of a turn, and the answer of the conversation with this `message_ref`; oldest first.
pub fn earlier(
    conversation_id: i64,
    turn_id: i64,
    message_ref: Option<&str>,
) -> Result<Vec<Earlier>> {
    Ok(as_owner(|| {
        sql::write_json(
            "SELECT coalesce(json_agg(m ORDER BY m.message_id), '[]')::text FROM ( \
                 SELECT message_id, turn_id, message_ref, answer_hash, citations_hash, superseded FROM reground.messages \
                 WHERE conversation_id = $1 AND (turn_id = $2 OR message_ref = $3)) AS m",
            &[conversation_id.into(), turn_id.into(), message_ref.into()],
        )
    })?
    .unwrap_or_default())
}

/// The id for a corrected copy.
pub fn reserve_copy() -> Result<i64> {
    let id =
        as_owner(|| sql::write_one("SELECT nextval('reground.messages_message_id_seq')", &[]))?;
    id.ok_or_else(|| Error::Stored("a new message has no id".into()))
}

/// The id for the next answer of a turn.
#[derive(Debug, Deserialize)]
pub struct ReservedAnswer {
    pub message_id: i64,
    /// Tokens of the answer that it supersedes.
    pub superseded_tokens: Option<i32>,
}

/// Reserves the id for the next answer of a turn. The current answer of the turn is marked as superseded and leaves the rollups.
pub fn reserve_answer(turn_id: i64) -> Result<ReservedAnswer> {
    let reserved = as_owner(|| {
        sql::write_json(
            "WITH superseded AS (UPDATE reground.messages SET superseded = true WHERE turn_id = $1 AND NOT superseded RETURNING tenant, message_id, answer_tokens), \
                 queued AS (INSERT INTO reground.rollup_queue (tenant, message_id, change) SELECT tenant, message_id, -1 FROM superseded) \
             SELECT json_build_object('message_id', nextval('reground.messages_message_id_seq'), \
                 'superseded_tokens', (SELECT answer_tokens FROM superseded))::text",
            &[turn_id.into()],
        )
    })?;
    reserved.ok_or_else(|| Error::Stored("a new message has no id".into()))
}

/// A citation with the ids of its answer.
#[derive(Serialize)]
struct Cited<'a> {
    conversation_id: i64,
    turn_id: i64,
    message_id: i64,
    created_at: Option<&'a str>,
    #[serde(flatten)]
    citation: &'a NewCitation,
}

/// Stores answers with their citations, and queues live ones for the rollups. Corrected copies count as superseded, so that no report
/// counts an answer twice. Imported answers are not counted there, because another
/// system gave them.
pub fn insert(tenant: &str, messages: &[NewMessage<'_>]) -> Result<()> {
    let cited: Vec<Cited<'_>> = messages
        .iter()
        .flat_map(|message| {
            message.cited.iter().map(|citation| Cited {
                conversation_id: message.conversation_id,
                turn_id: message.turn_id,
                message_id: message.message_id,
                created_at: message.created_at,
                citation,
            })
        })
        .collect();
    let sealer = keys::sealer(tenant)?;
    let messages = sealed(&sealer, messages)?;
    let citations = sql::json(&cited)?;
    let citations = sealer.json(&citations).into_owned();
    as_owner(|| {
        sql::run(
            &format!(
                "WITH new AS (INSERT INTO reground.messages ({}, tenant, tags, created_at, superseded) OVERRIDING SYSTEM VALUE \
                     SELECT {}, $2, coalesce(x.tags, '{{}}'), coalesce(x.created_at, clock_timestamp()), x.repair_of IS NOT NULL \
                     FROM json_to_recordset($1::json) AS x({MESSAGE}, tags jsonb, created_at timestamptz) \
                     RETURNING message_id, origin, superseded) \
                 INSERT INTO reground.rollup_queue (tenant, message_id, change) SELECT $2, message_id, 1 FROM new WHERE origin = 'live' AND NOT superseded",
                MESSAGE.columns(""),
                MESSAGE.columns("x.")
            ),
            &[messages.into(), tenant.into()],
        )?;
        sql::run(
            &format!(
                "INSERT INTO reground.message_citations (tenant, conversation_id, turn_id, message_id, created_at, {}) \
                     SELECT $2, x.conversation_id, x.turn_id, x.message_id, coalesce(x.created_at, clock_timestamp()), {} \
                     FROM json_to_recordset($1::json) AS x(conversation_id bigint, turn_id bigint, message_id bigint, created_at timestamptz, {CITATION}) \
                     ORDER BY x.message_id, x.citation_no",
                CITATION.columns(""),
                CITATION.columns("x.")
            ),
            &[citations.into(), tenant.into()],
        )?;
        Ok(())
    })
}

/// The rows of answers as JSON. What users write is stored as it is, the citations of the model's API are sealed.
fn sealed(sealer: &Sealer, messages: &[NewMessage<'_>]) -> Result<String> {
    let rows = messages.iter().map(|message| {
        let mut row = serde_json::to_value(message)?;
        if let Some(citations) = row.get_mut("citations") {
            let json = sql::json(citations)?;
            let json = sealer.value(Kind::Citations, &json).unwrap_or(json);
            *citations = serde_json::from_str(&sealer.json(&json))?;
        }
        Ok(row)
    });
    sql::json(&rows.collect::<Result<Vec<Value>>>()?)
}

/// FROM clause of the rows that `end_turn` returns for an answer ($1) of a tenant ($2): its citations, or one row with the answer
/// alone. To be read as the owner.
pub fn rows() -> String {
    match opened() {
        Some(opened) => rows_of(&format!(
            "(SELECT w.* FROM reground.message_citations AS s CROSS JOIN LATERAL jsonb_populate_record(s, {opened}) AS w WHERE s.message_id = $1)"
        )),
        None => rows_of("reground.message_citations"),
    }
}

/// As [`rows`], with changes of the rows ($3, a JSON array of objects with citation_no): texts that are not stored, or NULL for texts that
/// the caller must not read.
pub fn changed_rows() -> String {
    let opened = opened().unwrap_or("jsonb '{}'");
    rows_of(&format!(
        "(SELECT w.* FROM reground.message_citations AS s LEFT JOIN jsonb_array_elements($3::jsonb) AS j(changes) ON (j.changes ->> 'citation_no')::integer = s.citation_no \
             CROSS JOIN LATERAL jsonb_populate_record(s, {opened} || coalesce(j.changes, '{{}}')) AS w WHERE s.message_id = $1)"
    ))
}

/// Expression for the sealed columns of a row `s`, opened; `None` if this database has no keys.
fn opened() -> Option<&'static str> {
    keys::exists().then_some(
        "jsonb_build_object('title', reground._unsealed(s.tenant, 'title', s.title), 'uri', reground._unsealed(s.tenant, 'address', s.uri), \
         'locator', reground._unsealed(s.tenant, 'locator', s.locator), 'quote', reground._unsealed(s.tenant, 'text', s.quote), \
         'fact_summary', reground._unsealed(s.tenant, 'text', s.fact_summary))",
    )
}

/// A citation and a source that it shows.
#[derive(Debug, Deserialize)]
pub struct CitedSource {
    pub citation_no: usize,
    /// Whether it is not cited, but `best_other_marker` names it.
    pub is_other: bool,
    #[serde(flatten)]
    pub source: SourceKey,
}

/// The sources that the citations of an answer show: the cited place, the sources that `marker` and `best_other_marker` name, and the
/// passages merged into them.
pub fn cited_sources(tenant: &str, message_id: i64) -> Result<Vec<CitedSource>> {
    Ok(as_owner(|| {
        sql::write_json(
            "SELECT coalesce(json_agg(s), '[]')::text FROM ( \
                 SELECT c.citation_no, false AS is_other, coalesce(c.corpus, '') AS corpus, coalesce(c.doc_id, '') AS doc_id, coalesce(c.chunk_id, '') AS chunk_id \
                 FROM reground.message_citations AS c WHERE c.message_id = $1 AND c.tenant = $2 \
                 UNION \
                 SELECT c.citation_no, false, k.corpus, k.doc_id, k.chunk_id FROM reground.message_citations AS c \
                     JOIN reground.conversation_markers AS k ON k.conversation_id = c.conversation_id AND k.marker = c.marker \
                 WHERE c.message_id = $1 AND c.tenant = $2 AND c.doc_id IS NULL \
                 UNION \
                 SELECT c.citation_no, n.is_other, e.source #>> '{passage,corpus}', e.source #>> '{passage,doc_id}', m.chunk_id \
                 FROM reground.message_citations AS c JOIN reground.turns AS t ON t.turn_id = c.turn_id \
                     CROSS JOIN LATERAL (VALUES (c.marker, false), (c.best_other_marker, true)) AS n(marker, is_other) \
                     JOIN LATERAL jsonb_array_elements(t.context) AS e(source) ON e.source ->> 'marker' = n.marker \
                     CROSS JOIN LATERAL jsonb_array_elements_text(e.source -> 'member_chunk_ids') AS m(chunk_id) \
                 WHERE c.message_id = $1 AND c.tenant = $2) AS s",
            &[message_id.into(), tenant.into()],
        )
    })?
    .unwrap_or_default())
}

fn rows_of(citations: &str) -> String {
    format!(
        "(SELECT *, {STATE} AS source_state FROM (SELECT message_id FROM reground.messages WHERE message_id = $1 AND tenant = $2) AS m \
             LEFT JOIN {citations} AS c USING (message_id)) AS r ORDER BY r.citation_no"
    )
}
