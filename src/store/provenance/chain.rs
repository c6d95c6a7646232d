//! The hash chains of conversations (I10): the contents that a link covers, and how links are added and read.

use pgrx::pg_sys;
use reground_provenance::encoding::Field;
use reground_provenance::link::{CHAIN_START, Header, LinkKind};
use reground_provenance::verification::{Content, Link};
use reground_provenance::{Digest, Salt, decode_hex, to_array};
use serde::Deserialize;

use crate::error::{Error, Result};
use crate::run_as::as_owner;
use crate::sql;

/// The subject of a link.
#[derive(Clone, Copy, Debug)]
pub enum About {
    /// A turn with its initial context.
    Turn(i64),
    /// An additional retrieval of a turn: the turn and the number of the retrieval.
    Retrieval(i64, i64),
    /// An answer: its turn and its id.
    Answer(i64, i64),
}

impl About {
    fn kind(self) -> LinkKind {
        match self {
            Self::Turn(_) => LinkKind::Turn,
            Self::Retrieval(..) => LinkKind::Retrieval,
            Self::Answer(..) => LinkKind::Answer,
        }
    }

    fn turn_id(self) -> i64 {
        match self {
            Self::Turn(turn_id) | Self::Retrieval(turn_id, _) | Self::Answer(turn_id, _) => turn_id,
        }
    }

    fn message_id(self) -> Option<i64> {
        match self {
            Self::Answer(_, message_id) => Some(message_id),
            Self::Turn(_) | Self::Retrieval(..) => None,
        }
    }

    fn retrieval_no(self) -> Option<i64> {
        match self {
            Self::Retrieval(_, retrieval_no) => Some(retrieval_no),
            Self::Turn(_) | Self::Answer(..) => None,
        }
    }

    /// The subject that a stored link names.
    fn of(header: &Header) -> Self {
        match header.kind {
            LinkKind::Turn => Self::Turn(header.turn_id),
            LinkKind::Retrieval => {
                Self::Retrieval(header.turn_id, header.retrieval_no.unwrap_or_default())
            }
            LinkKind::Answer => Self::Answer(header.turn_id, header.message_id.unwrap_or_default()),
        }
    }
}

/// How the columns of a content are converted to bytes, in the order of its fields. Order and conversion are part of every hash, so
/// they must not change.
enum As {
    Text(&'static [&'static str]),
    /// As the text of its jsonb form.
    Json(&'static [&'static str]),
    Number(&'static [&'static str]),
    Real(&'static [&'static str]),
    Flag(&'static [&'static str]),
    /// Microseconds since 1970.
    Time(&'static [&'static str]),
    /// An array of real, in binary form.
    Vector(&'static [&'static str]),
}

/// First content of a turn.
const QUESTION: &[As] = &[
    As::Text(&["request_id", "request_hash", "query"]),
    As::Vector(&["embedding"]),
    As::Json(&["filter", "tags"]),
];

/// Second content of a turn; further ones are the sources of its context.
const TURN: &[As] = &[
    As::Text(&["tenant", "origin"]),
    As::Number(&["conversation_id", "turn_no", "parent_turn_id"]),
    As::Text(&["corpus"]),
    As::Json(&["corpora"]),
    As::Text(&["intent"]),
    As::Real(&["intent_confidence"]),
    As::Json(&[
        "intent_signals",
        "query_expansion",
        "settings",
        "call_settings",
        "warnings",
    ]),
    As::Number(&["context_tokens", "query_tokens"]),
    As::Flag(&["retrieved"]),
    As::Number(&["context_turn_no", "history_tokens"]),
    As::Time(&["begun_at"]),
];

/// First content of a retrieval. The second one is [`TURN`]; further ones are the added sources.
const RETRIEVAL: &[As] = &[
    As::Text(&["tenant", "kind", "query"]),
    As::Vector(&["embedding"]),
    As::Json(&["corpora", "filter", "markers", "warnings", "turn_before"]),
    As::Number(&["max_results", "added_count", "search_us"]),
    As::Time(&["retrieved_at"]),
];

/// First content of an answer.
const ANSWER: &[As] = &[
    As::Text(&["message_ref", "answer", "answer_hash"]),
    As::Json(&["usage", "citations", "tags"]),
];

/// Second content of an answer; further ones are its citations.
const VERDICT: &[As] = &[
    As::Text(&["tenant"]),
    As::Number(&["conversation_id", "turn_id"]),
    As::Text(&["model"]),
    As::Number(&["answer_tokens", "citation_count", "malformed_count"]),
    As::Real(&["cfs", "stage_cfs", "grounded_cfs"]),
    As::Text(&["diagnostic", "decision"]),
    As::Json(&["reasons"]),
    As::Time(&["created_at"]),
];

/// Content of a citation.
const CITATION: &[As] = &[
    As::Text(&["tenant"]),
    As::Number(&["conversation_id", "turn_id"]),
    As::Time(&["created_at"]),
    As::Text(&[
        "marker", "raw", "form", "corpus", "doc_id", "chunk_id", "title", "uri", "locator",
        "claim", "quote",
    ]),
    As::Number(&["quote_start", "quote_end"]),
    As::Text(&["fact_summary", "status"]),
    As::Flag(&["holds"]),
    As::Text(&["hallucination_mode"]),
    As::Real(&["score", "coordinate_fidelity", "support"]),
    As::Json(&["support_parts"]),
    As::Text(&["diagnostic", "detail", "best_other_marker"]),
    As::Number(&[
        "factor_coordinates",
        "factor_retrieval",
        "factor_rerank",
        "factor_context",
        "factor_generation",
    ]),
    As::Text(&["lost_stage"]),
    As::Number(&["source_version"]),
    As::Text(&["source_hash"]),
    As::Flag(&["repaired"]),
    As::Number(&[
        "answer_start",
        "answer_end",
        "byte_start",
        "byte_end",
        "utf16_start",
        "utf16_end",
    ]),
];

/// Expression for the microseconds since 1970 of the time `#`. Times outside the range, such as infinity, become its ends.
const MICROSECONDS: &str = "least(greatest(EXTRACT(epoch FROM #) * 1000000, -9e18), 9e18)::bigint";

/// Expression for the array of the fields of a content, as bytes, from the alias `x`.
fn fields(content: &[As]) -> String {
    let each = |columns: &[&str], form: &str| -> Vec<String> {
        let columns = columns.iter();
        columns
            .map(|column| form.replace('?', &format!("x.{column}")))
            .collect()
    };
    let all: Vec<String> = content
        .iter()
        .flat_map(|part| match part {
            As::Text(columns) => each(columns, "convert_to(?, 'UTF8')"),
            As::Json(columns) => each(columns, "convert_to(to_jsonb(?)::text, 'UTF8')"),
            As::Number(columns) => each(columns, "int8send(?::bigint)"),
            As::Real(columns) => each(columns, "float8send(?::double precision)"),
            As::Flag(columns) => each(columns, "boolsend(?)"),
            As::Time(columns) => each(
                columns,
                &format!("int8send({})", MICROSECONDS.replace("#", "?")),
            ),
            As::Vector(columns) => each(columns, "array_send(?)"),
        })
        .collect();
    format!("ARRAY[{}]", all.join(", "))
}

/// FROM clause for the turn `$1` as `x`, as it was before a retrieval. The row of the retrieval keeps the values that it changed.
fn turn_before(retrieval_no: &str) -> String {
    format!(
        "reground.turns AS t LEFT JOIN reground.turn_retrievals AS r ON r.turn_id = t.turn_id AND r.retrieval_no = {retrieval_no} \
         CROSS JOIN LATERAL jsonb_populate_record(t, coalesce(r.turn_before, '{{}}')) AS x WHERE t.turn_id = $1"
    )
}

/// The current contents of the subject of a link. To be read as the owner.
fn content(about: About) -> Result<Content> {
    let begun = turn_before("1");
    let (from, (id, part)) = match about {
        About::Turn(turn_id) => (
            format!(
                "SELECT 1 AS position, {} AS fields FROM {begun} \
                 UNION ALL SELECT 2, {} FROM {begun} \
                 UNION ALL SELECT e.place + 2, ARRAY[convert_to(e.source::text, 'UTF8')] \
                 FROM reground.turns AS x, jsonb_array_elements(x.context) WITH ORDINALITY AS e(source, place) WHERE x.turn_id = $1 AND (NOT e.source ? 'retrieval_no' \
                     OR NOT EXISTS (SELECT FROM reground.turn_retrievals AS r WHERE r.turn_id = $1 AND r.retrieval_no::text = e.source ->> 'retrieval_no'))",
                fields(QUESTION),
                fields(TURN)
            ),
            (turn_id, 0),
        ),
        About::Retrieval(turn_id, retrieval_no) => (
            format!(
                "SELECT 1 AS position, {} AS fields FROM reground.turn_retrievals AS x WHERE x.turn_id = $1 AND x.retrieval_no = $2 \
                 UNION ALL SELECT 2, {} FROM {} \
                 UNION ALL SELECT row_number() OVER (ORDER BY e.place) + 2, ARRAY[convert_to(e.source::text, 'UTF8')] \
                 FROM reground.turns AS x, jsonb_array_elements(x.context) WITH ORDINALITY AS e(source, place) \
                 WHERE x.turn_id = $1 AND e.source ->> 'retrieval_no' = $2::text",
                fields(RETRIEVAL),
                fields(TURN),
                turn_before("$2 + 1")
            ),
            (turn_id, retrieval_no),
        ),
        About::Answer(_, message_id) => (
            format!(
                "SELECT 1 AS position, {} AS fields FROM reground.messages AS x WHERE x.message_id = $1 \
                 UNION ALL SELECT 2, {} FROM reground.messages AS x WHERE x.message_id = $1 \
                 UNION ALL SELECT x.citation_no::bigint + 2, {} FROM reground.message_citations AS x WHERE x.message_id = $1",
                fields(ANSWER),
                fields(VERDICT),
                fields(CITATION)
            ),
            (message_id, 0),
        ),
    };
    let statement = format!(
        "SELECT c.position::bigint, f.value FROM ({from}) AS c, unnest(c.fields) WITH ORDINALITY AS f(value, place) \
         WHERE $2::bigint IS NOT NULL ORDER BY c.position, f.place"
    );
    let rows: Vec<(i64, Field)> = sql::write_each(&statement, &[id.into(), part.into()], |row| {
        Ok((
            row.get::<i64>(1)?.unwrap_or_default(),
            row.get::<Vec<u8>>(2)?,
        ))
    })?;
    let mut content = Content::new();
    for (position, field) in rows {
        let position = usize::try_from(position).unwrap_or_default();
        match content.last_mut() {
            Some((last, fields)) if *last == position => fields.push(field),
            _ => content.push((position, vec![field])),
        }
    }
    Ok(content)
}

/// The end of a chain, and the current time.
#[derive(Deserialize)]
struct End {
    /// Number of links so far.
    length: i64,
    /// Digest of the last link, in hexadecimal.
    head: Option<String>,
    /// Microseconds since 1970.
    now: i64,
}

/// Adds a link to the chain of a conversation. The row of the conversation must be locked.
pub fn append(tenant: &str, conversation_id: i64, about: About) -> Result<()> {
    as_owner(|| {
        let content = content(about)?;
        let end: End = sql::write_json(
            "SELECT row_to_json(r)::text FROM (SELECT coalesce(chain_length, 0) AS length, encode(chain_head, 'hex') AS head, \
                 (EXTRACT(epoch FROM clock_timestamp()) * 1000000)::bigint AS now \
             FROM reground.conversations WHERE conversation_id = $1) AS r",
            &[conversation_id.into()],
        )?
        .ok_or_else(|| Error::Stored("a locked conversation is gone".into()))?;
        let header = Header {
            conversation_id,
            link_no: end.length + 1,
            tenant: tenant.to_owned(),
            kind: about.kind(),
            turn_id: about.turn_id(),
            message_id: about.message_id(),
            retrieval_no: about.retrieval_no(),
            at: end.now,
        };
        let previous = match end.head {
            Some(head) => digest_of_hex(&head),
            None => CHAIN_START,
        };
        let salts: Vec<Salt> = content.iter().map(|_| salt()).collect::<Result<_>>()?;
        let leaves: Vec<Digest> = content
            .iter()
            .zip(&salts)
            .map(|((position, fields), salt)| header.leaf(*position, salt, fields))
            .collect();
        let digest = header.digest(&previous, &leaves);
        sql::run(
            "WITH link AS (INSERT INTO reground.provenance_chain (conversation_id, link_no, tenant, kind, turn_id, message_id, salts, leaves, previous_digest, digest, linked_at, retrieval_no) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, timestamptz 'epoch' + $11::bigint * interval '1 microsecond', $12)) \
             UPDATE reground.conversations SET chain_length = $2, chain_head = $10 WHERE conversation_id = $1",
            &[
                conversation_id.into(),
                header.link_no.into(),
                tenant.into(),
                header.kind.name().into(),
                header.turn_id.into(),
                header.message_id.into(),
                bytes(&salts).into(),
                bytes(&leaves).into(),
                previous.to_vec().into(),
                digest.to_vec().into(),
                header.at.into(),
                header.retrieval_no.into(),
            ],
        )?;
        Ok(())
    })
}

fn bytes<const N: usize>(all: &[[u8; N]]) -> Vec<Vec<u8>> {
    all.iter().map(|one| one.to_vec()).collect()
}

/// Cryptographically random bytes.
fn salt() -> Result<Salt> {
    let mut salt = Salt::default();
    // SAFETY: the buffer has as many bytes as are asked for.
    let is_filled = unsafe { pg_sys::pg_strong_random(salt.as_mut_ptr().cast(), salt.len()) };
    if is_filled {
        Ok(salt)
    } else {
        Err(Error::NoRandomness)
    }
}

/// A conversation with its chain, from one snapshot.
#[derive(Debug, Deserialize)]
pub struct Chained {
    pub conversation_id: i64,
    pub tenant: String,
    /// Number of links that were added, including removed ones.
    pub length: i64,
    /// Digest of the last link, in hexadecimal.
    head: Option<String>,
    /// Number and digest (hex) of the last link of each removed part.
    checkpoints: Vec<(i64, String)>,
    links: Vec<Row>,
}

impl Chained {
    /// Digest of its last link; `None` for an empty chain.
    pub fn head(&self) -> Option<Digest> {
        self.head.as_deref().map(digest_of_hex)
    }

    /// Numbers and digests of the links that retention kept as checkpoints.
    pub fn checkpoints(&self) -> Vec<(i64, Digest)> {
        let checkpoints = self.checkpoints.iter();
        checkpoints
            .map(|(number, digest)| (*number, digest_of_hex(digest)))
            .collect()
    }

    /// Its links, in order.
    pub fn links(&self) -> Result<Vec<Stored>> {
        self.links.iter().map(Row::link).collect()
    }
}

fn digest_of_hex(hex: &str) -> Digest {
    to_array(&decode_hex(hex))
}

/// A row of `provenance_chain`, with bytes in hexadecimal.
#[derive(Debug, Deserialize)]
struct Row {
    conversation_id: i64,
    link_no: i64,
    tenant: String,
    kind: String,
    turn_id: i64,
    message_id: Option<i64>,
    retrieval_no: Option<i64>,
    /// Microseconds since 1970.
    at: i64,
    salts: Vec<Option<String>>,
    leaves: Vec<String>,
    previous_digest: String,
    digest: String,
    turn_no: Option<i32>,
    linked_at: String,
}

/// A stored link, with the number of its turn.
pub struct Stored {
    pub link: Link,
    /// Number of the turn, if its row exists.
    pub turn_no: Option<i32>,
    /// When the link was made, as PostgreSQL prints it.
    pub linked_at: String,
}

impl Row {
    fn link(&self) -> Result<Stored> {
        let kind = LinkKind::parse(&self.kind)
            .ok_or_else(|| Error::Stored(format!("a link of kind {}", self.kind)))?;
        let salts = self.salts.iter();
        Ok(Stored {
            turn_no: self.turn_no,
            linked_at: self.linked_at.clone(),
            link: Link {
                header: Header {
                    conversation_id: self.conversation_id,
                    link_no: self.link_no,
                    tenant: self.tenant.clone(),
                    kind,
                    turn_id: self.turn_id,
                    message_id: self.message_id,
                    retrieval_no: self.retrieval_no,
                    at: self.at,
                },
                salts: salts
                    .map(|salt| salt.as_deref().map(|salt| to_array(&decode_hex(salt))))
                    .collect(),
                leaves: self.leaves.iter().map(|leaf| digest_of_hex(leaf)).collect(),
                previous_digest: digest_of_hex(&self.previous_digest),
                digest: digest_of_hex(&self.digest),
            },
        })
    }
}

/// The chains of the conversations with this reference, of all tenants. They are read in one statement, so that the length of a chain
/// and its links come from the same snapshot, although turns and retention may change them at any time.
pub fn conversations(conversation_ref: &str) -> Result<Vec<Chained>> {
    Ok(as_owner(|| {
        sql::write_json(
            &format!(
                "SELECT coalesce(json_agg(r ORDER BY r.tenant), '[]')::text FROM ( \
                     SELECT v.conversation_id, v.tenant, coalesce(v.chain_length, 0) AS length, encode(v.chain_head, 'hex') AS head, \
                         (SELECT coalesce(json_agg(json_build_array(k.link_no, encode(k.digest, 'hex'))), '[]') \
                          FROM reground.chain_checkpoints AS k WHERE k.conversation_id = v.conversation_id) AS checkpoints, \
                         (SELECT coalesce(json_agg(l ORDER BY l.link_no), '[]') FROM ( \
                              SELECT x.conversation_id, x.link_no, x.tenant, x.kind, x.turn_id, x.message_id, x.retrieval_no, {} AS at, \
                                  ARRAY(SELECT encode(s.salt, 'hex') FROM unnest(x.salts) WITH ORDINALITY AS s(salt, place) ORDER BY s.place) AS salts, \
                                  ARRAY(SELECT coalesce(encode(l.leaf, 'hex'), '') FROM unnest(x.leaves) WITH ORDINALITY AS l(leaf, place) ORDER BY l.place) AS leaves, \
                                  encode(x.previous_digest, 'hex') AS previous_digest, encode(x.digest, 'hex') AS digest, t.turn_no, x.linked_at \
                              FROM reground.provenance_chain AS x LEFT JOIN reground.turns AS t ON t.turn_id = x.turn_id \
                              WHERE x.conversation_id = v.conversation_id) AS l) AS links \
                     FROM reground.conversations AS v WHERE v.conversation_ref = $1) AS r",
                MICROSECONDS.replace('#', "x.linked_at")
            ),
            &[conversation_ref.into()],
        )
    })?
    .unwrap_or_default())
}

/// The current contents of the subject of a link.
pub fn content_of(link: &Link) -> Result<Content> {
    as_owner(|| content(About::of(&link.header)))
}

/// A turn, a retrieval or an answer without the link that it should have.
#[derive(Debug, Deserialize)]
pub struct Unlinked {
    pub turn_no: i32,
    pub turn_id: i64,
    pub message_id: Option<i64>,
    pub retrieval_no: Option<i64>,
}

/// The turns of a conversation with provenance merkle, their retrievals and their answers that have no link. Those that are older than
/// the newest link that retention removed are not reported.
pub fn unlinked(conversation_id: i64) -> Result<Vec<Unlinked>> {
    Ok(as_owner(|| {
        sql::write_json(
            "SELECT coalesce(json_agg(r ORDER BY r.turn_no, r.message_id NULLS FIRST, r.retrieval_no NULLS FIRST), '[]')::text FROM ( \
                 WITH since AS (SELECT max(k.linked_at) AS moment FROM reground.chain_checkpoints AS k WHERE k.conversation_id = $1), \
                 asked AS (SELECT t.turn_id, t.turn_no, t.begun_at FROM reground.turns AS t \
                           WHERE t.conversation_id = $1 AND t.settings ->> 'provenance' = 'merkle' AND (t.history_tokens IS NOT NULL OR t.state = 'ended')) \
                 SELECT a.turn_no, a.turn_id, NULL::bigint AS message_id, NULL::bigint AS retrieval_no FROM asked AS a, since AS s \
                 WHERE (s.moment IS NULL OR a.begun_at > s.moment) \
                     AND NOT EXISTS (SELECT FROM reground.provenance_chain AS x WHERE x.conversation_id = $1 AND x.kind = 'turn' AND x.turn_id = a.turn_id) \
                 UNION ALL \
                 SELECT a.turn_no, a.turn_id, NULL, r.retrieval_no FROM asked AS a JOIN reground.turn_retrievals AS r USING (turn_id), since AS s \
                 WHERE (s.moment IS NULL OR r.retrieved_at > s.moment) AND NOT EXISTS (SELECT FROM reground.provenance_chain AS x WHERE x.conversation_id = $1 \
                     AND x.kind = 'retrieval' AND x.turn_id = a.turn_id AND x.retrieval_no = r.retrieval_no) \
                 UNION ALL \
                 SELECT a.turn_no, a.turn_id, m.message_id, NULL FROM asked AS a JOIN reground.messages AS m USING (turn_id), since AS s \
                 WHERE (s.moment IS NULL OR m.created_at > s.moment) \
                     AND NOT EXISTS (SELECT FROM reground.provenance_chain AS x WHERE x.conversation_id = $1 AND x.kind = 'answer' AND x.message_id = m.message_id)) AS r",
            &[conversation_id.into()],
        )
    })?
    .unwrap_or_default())
}
