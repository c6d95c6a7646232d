//! The archive: a compact row for each turn that retention takes from the other tables.

use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};

use crate::error::Result;
use crate::sql;
use crate::store::keys;

/// The turns that are archived.
#[derive(Debug, Clone, Copy)]
pub enum Which<'a> {
    /// Those with a trace that is older than this.
    TracedBefore(TimestampWithTimeZone),
    /// All of these conversations.
    OfConversations(&'a [i64]),
}

/// Waits until no other session archives, and prevents it until the transaction ends.
pub fn hold_off() -> Result<()> {
    sql::lock("reground.turns_turn_id_seq")
}

/// Whether the archive has the users of turns: not that of the previous release.
pub fn has_users() -> bool {
    keys::exists()
}

/// Adds a row to the archive for each of these turns, and returns how many. A row of an earlier run can be older than the present answer of its
/// turn; it only keeps its number of candidates.
pub fn turns(which: Which<'_>) -> Result<usize> {
    let (condition, arg): (&str, DatumWithOid<'_>) = match which {
        Which::TracedBefore(before) => ("x.traced_at < $1", before.into()),
        Which::OfConversations(ids) => ("t.conversation_id = ANY ($1)", ids.to_vec().into()),
    };
    let (column, user) = match has_users() {
        true => (", user_ref", ", t.user_ref"),
        false => ("", ""),
    };
    sql::run(
        &format!(
            "INSERT INTO reground.turn_archive (turn_id, tenant, conversation_ref, turn_no, corpus, model, begun_at, candidate_count, source_count, citation_count, holding_count, cfs, decision, \
                 markers, corpora, doc_ids, chunk_ids, hash_prefixes{column}) \
             SELECT t.turn_id, t.tenant, v.conversation_ref, t.turn_no, t.corpus, m.model, t.begun_at, coalesce(cardinality(x.chunk_ids), 0), jsonb_array_length(t.context), \
                 n.citation_count, n.holding_count, m.cfs, m.decision, coalesce(c.markers, '{{}}'), coalesce(c.corpora, '{{}}'), coalesce(c.doc_ids, '{{}}'), coalesce(c.chunk_ids, '{{}}'), coalesce(c.hash_prefixes, ''){user} \
             FROM reground.turns AS t JOIN reground.conversations AS v ON v.conversation_id = t.conversation_id LEFT JOIN reground.turn_traces AS x USING (turn_id) \
                 LEFT JOIN LATERAL (SELECT m.* FROM reground.messages AS m WHERE m.turn_id = t.turn_id AND NOT m.superseded ORDER BY m.message_id DESC LIMIT 1) AS m ON true \
                 LEFT JOIN LATERAL (SELECT count(*) AS citation_count, count(*) FILTER (WHERE c.holds) AS holding_count \
                     FROM reground.message_citations AS c WHERE c.message_id = m.message_id) AS n ON m.message_id IS NOT NULL \
                 LEFT JOIN LATERAL ( \
                     SELECT array_agg(c.marker ORDER BY c.first) AS markers, array_agg(c.corpus ORDER BY c.first) AS corpora, \
                         array_agg(c.doc_id ORDER BY c.first) AS doc_ids, array_agg(c.chunk_id ORDER BY c.first) AS chunk_ids, \
                         string_agg(decode(c.hash, 'hex'), '' ORDER BY c.first) AS hash_prefixes \
                     FROM (SELECT c.marker, c.corpus, c.doc_id, c.chunk_id, min(c.citation_no) AS first, \
                               coalesce(substring(c.source_hash, '^[0-9a-f]{{16}}'), '0000000000000000') AS hash \
                           FROM reground.message_citations AS c WHERE c.message_id = m.message_id AND c.doc_id IS NOT NULL GROUP BY 1, 2, 3, 4, 6) AS c) AS c ON true \
             WHERE {condition} ON CONFLICT (turn_id) DO UPDATE SET (model, citation_count, holding_count, cfs, decision, markers, corpora, doc_ids, chunk_ids, hash_prefixes) \
                 = (excluded.model, excluded.citation_count, excluded.holding_count, excluded.cfs, excluded.decision, excluded.markers, excluded.corpora, excluded.doc_ids, excluded.chunk_ids, excluded.hash_prefixes)"
        ),
        &[arg],
    )
}
