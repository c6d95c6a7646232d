//! The contents that a link of a hash chain covers, read from the tables.

use reground_provenance::encoding::Field;
use reground_provenance::link::{Header, LinkKind};
use reground_provenance::verification::Content;
use reground_sealing::Kind;

use crate::error::Result;
use crate::sql;
use crate::store::keys::{self, Of};

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
    pub fn kind(self) -> LinkKind {
        match self {
            Self::Turn(_) => LinkKind::Turn,
            Self::Retrieval(..) => LinkKind::Retrieval,
            Self::Answer(..) => LinkKind::Answer,
        }
    }

    pub fn turn_id(self) -> i64 {
        match self {
            Self::Turn(turn_id) | Self::Retrieval(turn_id, _) | Self::Answer(turn_id, _) => turn_id,
        }
    }

    pub fn message_id(self) -> Option<i64> {
        match self {
            Self::Answer(_, message_id) => Some(message_id),
            Self::Turn(_) | Self::Retrieval(..) => None,
        }
    }

    pub fn retrieval_no(self) -> Option<i64> {
        match self {
            Self::Retrieval(_, retrieval_no) => Some(retrieval_no),
            Self::Turn(_) | Self::Answer(..) => None,
        }
    }

    /// The subject that a stored link names.
    pub fn of(header: &Header) -> Self {
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
enum ByteForm {
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

impl ByteForm {
    fn columns(&self) -> &'static [&'static str] {
        match self {
            Self::Text(columns)
            | Self::Json(columns)
            | Self::Number(columns)
            | Self::Real(columns)
            | Self::Flag(columns)
            | Self::Time(columns)
            | Self::Vector(columns) => columns,
        }
    }
}

/// First content of a turn.
const QUESTION: &[ByteForm] = &[
    ByteForm::Text(&["request_id", "request_hash", "user_ref", "query"]),
    ByteForm::Vector(&["embedding"]),
    ByteForm::Json(&["filter", "tags"]),
];

/// Second content of a turn; further ones are the sources of its context.
const TURN: &[ByteForm] = &[
    ByteForm::Text(&["tenant", "origin"]),
    ByteForm::Number(&["conversation_id", "turn_no", "parent_turn_id"]),
    ByteForm::Text(&["corpus"]),
    ByteForm::Json(&["corpora"]),
    ByteForm::Text(&["intent"]),
    ByteForm::Real(&["intent_confidence"]),
    ByteForm::Json(&[
        "intent_signals",
        "query_expansion",
        "settings",
        "call_settings",
        "warnings",
    ]),
    ByteForm::Number(&["context_tokens", "query_tokens"]),
    ByteForm::Flag(&["retrieved"]),
    ByteForm::Number(&["context_turn_no", "history_tokens"]),
    ByteForm::Time(&["begun_at", "as_of"]),
];

/// First content of a retrieval. The second one is [`TURN`]; further ones are the added sources.
const RETRIEVAL: &[ByteForm] = &[
    ByteForm::Text(&["tenant", "kind", "query"]),
    ByteForm::Vector(&["embedding"]),
    ByteForm::Json(&["corpora", "filter", "markers", "warnings", "turn_before"]),
    ByteForm::Number(&["max_results", "added_count", "search_us"]),
    ByteForm::Time(&["retrieved_at"]),
];

/// First content of an answer.
const ANSWER: &[ByteForm] = &[
    ByteForm::Text(&["message_ref", "answer", "answer_hash"]),
    ByteForm::Json(&["usage", "citations", "tags"]),
];

/// Second content of an answer; further ones are its citations.
const VERDICT: &[ByteForm] = &[
    ByteForm::Text(&["tenant"]),
    ByteForm::Number(&["conversation_id", "turn_id"]),
    ByteForm::Text(&["model"]),
    ByteForm::Number(&["answer_tokens", "citation_count", "malformed_count"]),
    ByteForm::Real(&["cfs", "stage_cfs", "grounded_cfs"]),
    ByteForm::Text(&["diagnostic", "decision"]),
    ByteForm::Json(&["reasons"]),
    ByteForm::Time(&["created_at"]),
];

/// Content of a citation.
const CITATION: &[ByteForm] = &[
    ByteForm::Text(&["tenant"]),
    ByteForm::Number(&["conversation_id", "turn_id"]),
    ByteForm::Time(&["created_at"]),
    ByteForm::Text(&[
        "marker", "raw", "form", "scope", "corpus", "doc_id", "chunk_id", "title", "uri",
        "locator", "claim", "quote",
    ]),
    ByteForm::Number(&["quote_start", "quote_end"]),
    ByteForm::Text(&["fact_summary", "status"]),
    ByteForm::Flag(&["holds"]),
    ByteForm::Text(&["hallucination_mode"]),
    ByteForm::Real(&["score", "coordinate_fidelity", "support"]),
    ByteForm::Json(&["support_parts"]),
    ByteForm::Text(&["diagnostic", "detail", "best_other_marker"]),
    ByteForm::Number(&[
        "factor_coordinates",
        "factor_retrieval",
        "factor_rerank",
        "factor_context",
        "factor_generation",
    ]),
    ByteForm::Text(&["lost_stage"]),
    ByteForm::Number(&["source_version"]),
    ByteForm::Text(&["source_hash"]),
    ByteForm::Flag(&["repaired"]),
    ByteForm::Number(&[
        "answer_start",
        "answer_end",
        "byte_start",
        "byte_end",
        "utf16_start",
        "utf16_end",
    ]),
];

/// Expression for the microseconds since 1970 of the time `#`. Times outside the range, such as infinity, become its ends.
pub const MICROSECONDS: &str =
    "least(greatest(EXTRACT(epoch FROM #) * 1000000, -9e18), 9e18)::bigint";

/// Expression for the array of the fields of a content, as bytes, from the alias `x`.
fn fields(content: &[ByteForm]) -> String {
    let each = |columns: &[&str], form: &str| -> Vec<String> {
        let columns = columns.iter();
        columns
            .map(|column| form.replace('?', &format!("x.{column}")))
            .collect()
    };
    let all: Vec<String> = content
        .iter()
        .flat_map(|part| match part {
            ByteForm::Text(columns) => each(columns, "convert_to(?, 'UTF8')"),
            ByteForm::Json(columns) => each(columns, "convert_to(to_jsonb(?)::text, 'UTF8')"),
            ByteForm::Number(columns) => each(columns, "int8send(?::bigint)"),
            ByteForm::Real(columns) => each(columns, "float8send(?::double precision)"),
            ByteForm::Flag(columns) => each(columns, "boolsend(?)"),
            ByteForm::Time(columns) => each(
                columns,
                &format!(
                    "CASE WHEN ? IS NOT NULL THEN int8send({}) END",
                    MICROSECONDS.replace("#", "?")
                ),
            ),
            ByteForm::Vector(columns) => each(columns, "array_send(?)"),
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

/// The current contents of the subject of a link of a tenant. To be read as the owner.
pub fn content(tenant: &str, about: About) -> Result<Content> {
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
        "SELECT c.position::bigint, f.value, f.place::integer FROM ({from}) AS c, unnest(c.fields) WITH ORDINALITY AS f(value, place) \
         ORDER BY c.position, f.place"
    );
    let rows: Vec<(i64, usize, Field)> =
        sql::write_each(&statement, &[id.into(), part.into()], |row| {
            let place = row.get::<i32>(3)?.unwrap_or_default();
            Ok((
                row.get::<i64>(1)?.unwrap_or_default(),
                usize::try_from(place).unwrap_or_default(),
                row.get::<Vec<u8>>(2)?,
            ))
        })?;
    let mut content = Content::new();
    for (position, place, field) in rows {
        let position = usize::try_from(position).unwrap_or_default();
        let field = field
            .map(|bytes| opened(tenant, about, position, place, bytes))
            .transpose()?;
        match content.last_mut() {
            Some((last, fields)) if *last == position => fields.push(field),
            _ => content.push((position, vec![field])),
        }
    }
    Ok(content)
}

/// The bytes of a field with sealed values opened, because a hash is that of the plain values. Errors: 42501 without the key.
fn opened(
    tenant: &str,
    about: About,
    position: usize,
    place: usize,
    bytes: Vec<u8>,
) -> Result<Vec<u8>> {
    let of = Of::Tenant(tenant);
    let text = match std::str::from_utf8(&bytes) {
        Ok(text) if text.contains("sealed:") => text,
        _ => return Ok(bytes),
    };
    let name_in = |content: &[ByteForm]| -> Option<&'static str> {
        let mut names = content.iter().flat_map(ByteForm::columns);
        names.nth(place.checked_sub(1)?).copied()
    };
    let plain = match (about, position) {
        // Sources.
        (About::Turn(_) | About::Retrieval(..), 3..) => keys::unsealed(of, text)?.into_owned(),
        (About::Answer(..), 1) if name_in(ANSWER) == Some("citations") => {
            match serde_json::from_str::<String>(text) {
                Ok(sealed) => keys::unsealed_as(of, Kind::Citations, &sealed)?,
                Err(_) => keys::unsealed(of, text)?.into_owned(),
            }
        }
        // Citations.
        (About::Answer(..), 3..) => match name_in(CITATION).and_then(Kind::of_column) {
            Some(kind) => keys::unsealed_as(of, kind, text)?,
            None => return Ok(bytes),
        },
        _ => return Ok(bytes),
    };
    Ok(plain.into_bytes())
}
