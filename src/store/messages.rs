//! Answers and their citations.

use pgrx::datum::DatumWithOid;
use reground_citations::measures;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::owner::as_owner;
use crate::sql;
use crate::store::documents::STATE;

/// An answer that was given before.
#[derive(Debug, Deserialize)]
pub struct Earlier {
    pub message_id: i64,
    pub turn_id: i64,
    pub external_id: Option<String>,
    pub answer_hash: String,
    pub citations_hash: Option<String>,
    pub superseded: bool,
}

/// An answer to be stored.
#[derive(Debug, Serialize)]
pub struct NewMessage<'a> {
    pub tenant: &'a str,
    pub conversation_id: i64,
    pub turn_id: i64,
    pub external_id: Option<&'a str>,
    pub answer_hash: &'a str,
    pub answer_tokens: usize,
    pub model: Option<&'a str>,
    pub usage: Option<Value>,
    pub citations: Option<&'a Value>,
    pub citations_hash: Option<&'a str>,
    pub tags: Value,
    pub citation_count: usize,
    pub malformed_count: usize,
    pub cfs: Option<f64>,
    pub stage_cfs: Option<f64>,
    pub grounded_cfs: Option<f64>,
    pub diagnostic: Option<&'a str>,
    pub decision: &'a str,
    pub reasons: Vec<&'a str>,
}

/// A citation to be stored; fields are named as the columns.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NewCitation {
    pub citation_no: usize,
    pub marker: Option<String>,
    pub raw: String,
    pub form: Option<String>,
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
    pub mode: Option<&'static str>,
    pub score: Option<f64>,
    pub coordinate_fidelity: Option<f64>,
    pub support: Option<f64>,
    pub support_parts: Option<Value>,
    pub diagnostic: Option<&'static str>,
    pub detail: Option<&'static str>,
    pub best_other: Option<String>,
    pub factor_coordinates: Option<u8>,
    pub factor_retrieval: Option<u8>,
    pub factor_rerank: Option<u8>,
    pub factor_context: Option<u8>,
    pub factor_generation: Option<u8>,
    pub lost_at: Option<&'static str>,
    pub source_version: Option<i32>,
    pub source_hash: Option<String>,
    pub repaired: bool,
    pub char_start: usize,
    pub char_end: usize,
    pub byte_start: usize,
    pub byte_end: usize,
    pub utf16_start: usize,
    pub utf16_end: usize,
}

impl NewCitation {
    /// What stays of it where the words of the answer are not kept: what it was judged to be, and where it stood.
    pub fn without_words(&self) -> Self {
        Self {
            raw: self.marker.clone().unwrap_or_default(),
            claim: None,
            quote: None,
            support_parts: self.support_parts.as_ref().map(measures),
            ..self.clone()
        }
    }
}

/// The columns of [`NewCitation`], as a record definition.
const RECORD: &str = "citation_no integer, marker text, raw text, form text, corpus text, doc_id text, chunk_id text, title text, uri text, locator text, claim text, \
     quote text, quote_start integer, quote_end integer, fact_summary text, status text, holds boolean, mode text, score double precision, coordinate_fidelity double precision, \
     support double precision, support_parts jsonb, diagnostic text, detail text, best_other text, factor_coordinates smallint, factor_retrieval smallint, \
     factor_rerank smallint, factor_context smallint, factor_generation smallint, lost_at text, source_version integer, source_hash text, \
     repaired boolean, char_start integer, char_end integer, byte_start integer, byte_end integer, utf16_start integer, utf16_end integer";

/// The names of these columns, each behind a prefix.
pub fn citation_columns(prefix: &str) -> String {
    let names = RECORD
        .split(',')
        .filter_map(|column| column.split_whitespace().next());
    let columns: Vec<String> = names.map(|name| format!("{prefix}{name}")).collect();
    columns.join(", ")
}

/// The columns of [`NewCitation`], as a record definition.
pub fn citation_record() -> &'static str {
    RECORD
}

/// An answer as the model gave it.
#[derive(Debug, Deserialize)]
pub struct Message {
    pub turn_id: i64,
    /// `None` where its words were not kept.
    pub answer: Option<String>,
    /// What the model's API returned beside the text.
    pub citations: Option<Value>,
}

/// An answer of this tenant.
pub fn load(tenant: &str, message_id: i64) -> Result<Option<Message>> {
    as_owner(|| {
        sql::write_json(
            "SELECT pg_catalog.row_to_json(m)::text FROM (SELECT turn_id, answer, citations FROM reground.messages WHERE message_id = $1 AND tenant = $2) AS m",
            &[message_id.into(), tenant.into()],
        )
    })
}

/// The answers of a turn, and the one of the conversation that has this id; oldest first.
pub fn earlier(
    conversation_id: i64,
    turn_id: i64,
    external_id: Option<&str>,
) -> Result<Vec<Earlier>> {
    Ok(as_owner(|| {
        sql::write_json(
            "SELECT coalesce(pg_catalog.json_agg(m ORDER BY m.message_id), '[]')::text FROM ( \
                 SELECT message_id, turn_id, external_id, answer_hash, citations_hash, superseded FROM reground.messages \
                 WHERE conversation_id = $1 AND (turn_id = $2 OR external_id = $3)) AS m",
            &[conversation_id.into(), turn_id.into(), external_id.into()],
        )
    })?
    .unwrap_or_default())
}

/// An answer that was stored.
pub struct Inserted {
    pub message_id: i64,
    /// Tokens of the answer that it took the place of.
    pub superseded_tokens: Option<i32>,
}

/// Stores an answer (`None` for one whose words are not kept) with its citations, in place of the earlier ones of its turn, which
/// stay, and queues it for the rollups.
pub fn insert(
    message: &NewMessage<'_>,
    answer: Option<&str>,
    citations: &[NewCitation],
) -> Result<Inserted> {
    let (row, citations) = (sql::json(message)?, sql::json(citations)?);
    let args: [DatumWithOid<'_>; 2] = [row.into(), answer.into()];
    as_owner(|| {
        let superseded_tokens = sql::write_one(
            "WITH superseded AS (UPDATE reground.messages SET superseded = true WHERE turn_id = $1 AND NOT superseded RETURNING message_id, answer_tokens), \
                 queued AS (INSERT INTO reground.rollup_queue (tenant, message_id, change) SELECT $2, message_id, -1 FROM superseded) \
             SELECT answer_tokens FROM superseded",
            &[message.turn_id.into(), message.tenant.into()],
        )?;
        let message_id: i64 = sql::write_one(
            "WITH new AS (INSERT INTO reground.messages (tenant, conversation_id, turn_id, external_id, answer, answer_hash, answer_tokens, model, usage, citations, citations_hash, tags, citation_count, \
                 malformed_count, cfs, stage_cfs, grounded_cfs, diagnostic, decision, reasons) \
             SELECT x.tenant, x.conversation_id, x.turn_id, x.external_id, $2, x.answer_hash, x.answer_tokens, x.model, x.usage, x.citations, x.citations_hash, x.tags, x.citation_count, \
                 x.malformed_count, x.cfs, x.stage_cfs, x.grounded_cfs, x.diagnostic, x.decision, x.reasons \
             FROM pg_catalog.json_to_record($1::json) AS x(tenant text, conversation_id bigint, turn_id bigint, external_id text, answer_hash text, \
                 answer_tokens integer, model text, usage jsonb, citations jsonb, citations_hash text, tags jsonb, citation_count integer, malformed_count integer, cfs double precision, \
                 stage_cfs double precision, grounded_cfs double precision, diagnostic text, decision text, reasons text[]) \
             RETURNING tenant, message_id), \
                 queued AS (INSERT INTO reground.rollup_queue (tenant, message_id, change) SELECT tenant, message_id, 1 FROM new) \
             SELECT message_id FROM new",
            &args,
        )?
        .ok_or_else(|| Error::Stored("an inserted message has no id".into()))?;
        sql::run(
            &format!(
                "INSERT INTO reground.message_citations (tenant, conversation_id, turn_id, message_id, {}) \
                 SELECT $2, $3, $4, $5, {} FROM pg_catalog.json_to_recordset($1::json) AS x({RECORD}) ORDER BY x.citation_no",
                citation_columns(""),
                citation_columns("x.")
            ),
            &[
                citations.into(),
                message.tenant.into(),
                message.conversation_id.into(),
                message.turn_id.into(),
                message_id.into(),
            ],
        )?;
        Ok(Inserted {
            message_id,
            superseded_tokens,
        })
    })
}

/// The rows that `end_turn` returns for a message of a tenant ($1, $2), as a FROM clause: its citations, or one row with
/// the message alone. To be read as the owner.
pub fn rows() -> String {
    rows_of("reground.message_citations")
}

/// As [`rows`], with the words of the citations as they were judged ($3), which are not kept.
pub fn rows_with_words() -> String {
    rows_of(
        "(SELECT w.* FROM reground.message_citations AS s JOIN pg_catalog.json_array_elements($3::json) AS j(said) ON (j.said ->> 'citation_no')::integer = s.citation_no \
             CROSS JOIN LATERAL pg_catalog.json_populate_record(s, j.said) AS w WHERE s.message_id = $1)",
    )
}

fn rows_of(citations: &str) -> String {
    format!(
        "(SELECT *, {STATE} AS source_state FROM (SELECT message_id FROM reground.messages WHERE message_id = $1 AND tenant = $2) AS m \
             LEFT JOIN {citations} AS c USING (message_id)) AS r ORDER BY r.citation_no"
    )
}
