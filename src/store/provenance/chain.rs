//! The hash chains of conversations: adds and reads their links.

use pgrx::pg_sys;
use reground_provenance::link::{CHAIN_START, Header, LinkKind};
use reground_provenance::verification::{Content, Link};
use reground_provenance::{Digest, Salt, decode_hex, to_array};
use serde::Deserialize;

pub use super::contents::About;
use super::contents::{MICROSECONDS, content};
use crate::error::{Error, Result};
use crate::run_as::as_owner;
use crate::sql;

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
        let content = content(tenant, about)?;
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
    as_owner(|| content(&link.header.tenant, About::of(&link.header)))
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
