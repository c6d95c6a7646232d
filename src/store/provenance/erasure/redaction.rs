//! Removes the texts of a document from the records of conversations.

use super::receipt::Receipt;
use crate::error::Result;
use crate::run_as::as_owner_scanning;
use crate::sql;
use crate::store::keys::{self, Of};
use crate::store::provenance::archive;

/// A document of a corpus, and the tenants whose records are redacted.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    pub corpus: &'a str,
    pub doc_id: &'a str,
    /// Only this tenant; `None` for all tenants except those with a corpus of their own of this name.
    pub tenant: Option<&'a str>,
}

/// Condition for the rows `x` of the tenants that are redacted (tenant `$3`, corpus `$1`).
const MEANT: &str = "(x.tenant = $3 OR $3::text IS NULL AND NOT EXISTS (SELECT FROM reground.corpora AS k WHERE k.corpus = $1 AND k.tenant = x.tenant))";

/// Condition that a source `e.source` of a context belongs to the document (corpus `$1`, document `$2`).
const IS_OF_IT: &str =
    "(e.source #>> '{passage,corpus}' = $1 AND e.source #>> '{passage,doc_id}' = $2)";

/// Expression for the source without texts: ids, position, hash and scores stay. Other sources must not change in any byte, because the
/// chain contains their hashes.
const WITHOUT_TEXT: &str = "(e.source || jsonb_build_object('facts', '[]'::jsonb, 'passage', \
     (e.source -> 'passage') - '{structured_locator,title,uri,published,metadata}'::text[] || '{\"content\": \"\"}'))";

/// Condition that a citation `c` cites the document: one of its passages, or a marker that is bound to one.
const CITES_IT: &str = "(c.corpus = $1 AND c.doc_id = $2 OR c.doc_id IS NULL AND EXISTS (SELECT FROM reground.conversation_markers AS b \
     WHERE (b.conversation_id, b.marker, b.corpus, b.doc_id) = (c.conversation_id, c.marker, $1, $2)))";

/// Condition that the API citations of an answer `m` may quote the document: it was in the context, or the answer cites it.
const MAY_QUOTE_IT: &str = "(m.citations IS NOT NULL AND (EXISTS (SELECT FROM reground.turns AS t, jsonb_array_elements(t.context) AS e(source) \
     WHERE t.turn_id = m.turn_id AND e.source #>> '{passage,corpus}' = $1 AND e.source #>> '{passage,doc_id}' = $2) \
     OR EXISTS (SELECT FROM reground.message_citations AS c WHERE c.message_id = m.message_id AND c.corpus = $1 AND c.doc_id = $2)))";

/// Expression for the locator of a row without a structured locator, which is a text of the document. Pages and characters stay.
/// A sealed locator stays if the key shows that it is a position.
fn position(row: &str) -> String {
    let locator = match keys::exists() {
        true => format!("reground._unsealed({row}.tenant, 'locator', {row}.locator)"),
        false => format!("{row}.locator"),
    };
    format!(
        "CASE WHEN {locator} ~ '^(pp?[.] [0-9]+(–[0-9]+)?|chars [0-9]+–[0-9]+)$' THEN {row}.locator END"
    )
}

/// Removes a document from pending candidates; `None` if they do not contain it.
pub type Withdraw<'a> = &'a dyn Fn(serde_json::Value) -> Result<Option<serde_json::Value>>;

impl Document<'_> {
    /// Removes its texts from the records of conversations. Ids, positions, hashes and verdicts stay.
    pub fn redact(&self, withdraw: Withdraw<'_>, receipt: &mut Receipt) -> Result<()> {
        as_owner_scanning(|| {
            let conversations = self.hold()?;
            if conversations.is_empty() {
                return Ok(());
            }
            // Retention deletes links of chains without locking the conversations.
            archive::hold_off()?;
            self.erase_salts(&conversations, receipt)?;
            for (table, statement) in redactions() {
                let redacted = self.run(&statement, &conversations)?;
                receipt.redacted(&format!("reground.{table}"), redacted);
            }
            self.redact_pools(&conversations, withdraw, receipt)?;
            let gone = self.run(
                "DELETE FROM reground.conversation_sources AS x WHERE x.conversation_id = ANY ($3) AND x.corpus = $1 AND x.doc_id = $2",
                &conversations,
            )?;
            receipt.erased("reground.conversation_sources", gone);
            Ok(())
        })
    }

    /// Whether any record names the document, with or without its text.
    pub fn is_known(&self) -> Result<bool> {
        let is_known = as_owner_scanning(|| {
            sql::write_one::<bool>(
                &format!(
                    "SELECT EXISTS (SELECT FROM reground.conversation_markers AS x WHERE x.corpus = $1 AND x.doc_id = $2 AND {MEANT}) \
                         OR EXISTS (SELECT FROM reground.message_citations AS x WHERE x.corpus = $1 AND x.doc_id = $2 AND {MEANT})"
                ),
                &[self.corpus.into(), self.doc_id.into(), self.tenant.into()],
            )
        })?;
        Ok(is_known == Some(true))
    }

    /// The conversations with records of the document. Their rows are locked in the order of the ids and get a new version, so that
    /// sessions that wait with an older snapshot fail with 40001.
    fn hold(&self) -> Result<Vec<i64>> {
        let held: Option<Vec<i64>> = sql::write_one(
            &format!(
                "SELECT array_agg(v.conversation_id) FROM ( \
                     SELECT x.conversation_id FROM reground.conversations AS x \
                     WHERE {MEANT} AND x.conversation_id IN ( \
                         SELECT m.conversation_id FROM reground.conversation_markers AS m WHERE m.corpus = $1 AND m.doc_id = $2 \
                         UNION SELECT s.conversation_id FROM reground.conversation_sources AS s WHERE s.corpus = $1 AND s.doc_id = $2 \
                         UNION SELECT c.conversation_id FROM reground.message_citations AS c WHERE c.corpus = $1 AND c.doc_id = $2 \
                         UNION SELECT t.conversation_id FROM reground.turns AS t WHERE t.pending_candidates IS NOT NULL \
                         UNION SELECT t.conversation_id FROM reground.turns AS t WHERE t.origin = 'imported' AND ($3::text IS NULL OR t.tenant = $3) \
                             AND t.context @> jsonb_build_array(jsonb_build_object('passage', jsonb_build_object('corpus', $1::text, 'doc_id', $2::text)))) \
                     ORDER BY x.conversation_id FOR NO KEY UPDATE) AS v"
            ),
            &[self.corpus.into(), self.doc_id.into(), self.tenant.into()],
        )?;
        let held = held.unwrap_or_default();
        sql::run(
            "UPDATE reground.conversations SET turn_count = turn_count WHERE conversation_id = ANY ($1)",
            &[held.clone().into()],
        )?;
        Ok(held)
    }

    /// Runs a statement with corpus, document and conversations as `$1` to `$3`.
    fn run(&self, statement: &str, conversations: &[i64]) -> Result<usize> {
        sql::run(
            statement,
            &[
                self.corpus.into(),
                self.doc_id.into(),
                conversations.to_vec().into(),
            ],
        )
    }

    /// Erases the salts of the contents that are going to lose their text. verify_chain then reports them as erased, and the text cannot
    /// be guessed from the hash.
    fn erase_salts(&self, conversations: &[i64], receipt: &mut Receipt) -> Result<()> {
        let parts = [
            format!(
                "SELECT CASE WHEN e.retrieval_no IS NULL THEN 'turn' ELSE 'retrieval' END AS kind, e.turn_id AS id, e.retrieval_no, e.place + 2 AS position FROM ( \
                     SELECT t.turn_id, c.source, r.retrieval_no, row_number() OVER (PARTITION BY t.turn_id, r.retrieval_no ORDER BY c.place) AS place \
                     FROM reground.turns AS t, jsonb_array_elements(t.context) WITH ORDINALITY AS c(source, place), \
                         LATERAL (SELECT (c.source ->> 'retrieval_no')::integer AS retrieval_no) AS r WHERE t.conversation_id = ANY ($3)) AS e WHERE {IS_OF_IT}"
            ),
            format!(
                "SELECT 'answer', c.message_id, NULL, c.citation_no::bigint + 2 FROM reground.message_citations AS c \
                 WHERE c.conversation_id = ANY ($3) AND {CITES_IT}"
            ),
            // The citations of the model's API belong to the same content as the answer.
            format!(
                "SELECT 'answer', m.message_id, NULL, 1 FROM reground.messages AS m WHERE m.conversation_id = ANY ($3) AND {MAY_QUOTE_IT}"
            ),
        ];
        let redacted = self.run(
            &format!(
                "WITH parts AS ({}), links AS (SELECT p.kind, p.id, p.retrieval_no, array_agg(p.position) AS positions FROM parts AS p GROUP BY 1, 2, 3) \
                 UPDATE reground.provenance_chain AS x SET salts = (SELECT array_agg(CASE WHEN s.place = ANY (l.positions) THEN NULL ELSE s.salt END ORDER BY s.place) \
                     FROM unnest(x.salts) WITH ORDINALITY AS s(salt, place)) \
                 FROM links AS l WHERE x.conversation_id = ANY ($3) AND x.kind = l.kind AND CASE x.kind WHEN 'answer' THEN x.message_id ELSE x.turn_id END = l.id \
                     AND x.retrieval_no IS NOT DISTINCT FROM l.retrieval_no \
                     AND EXISTS (SELECT FROM unnest(l.positions) AS p(place) WHERE x.salts[p.place] IS NOT NULL)",
                parts.join(" UNION ALL ")
            ),
            conversations,
        )?;
        receipt.redacted("reground.provenance_chain", redacted);
        Ok(())
    }

    /// Removes it from the candidates of turns that wait for apply_rerank.
    fn redact_pools(
        &self,
        conversations: &[i64],
        withdraw: Withdraw<'_>,
        receipt: &mut Receipt,
    ) -> Result<()> {
        let pools: Vec<(i64, String, String)> = sql::write_json(            "SELECT coalesce(json_agg(json_build_array(turn_id, tenant, pending_candidates::text)), '[]')::text FROM reground.turns \
             WHERE conversation_id = ANY ($1) AND pending_candidates IS NOT NULL",
            &[conversations.to_vec().into()],
        )?
        .unwrap_or_default();
        for (turn_id, tenant, pool) in pools {
            let pool = keys::unsealed(Of::Tenant(&tenant), &pool)?;
            if let Some(pool) = withdraw(serde_json::from_str(&pool)?)? {
                let pool = sql::json(&pool)?;
                let redacted = sql::run(
                    "UPDATE reground.turns SET pending_candidates = $2::jsonb WHERE turn_id = $1",
                    &[
                        turn_id.into(),
                        keys::sealer(&tenant)?.json(&pool).as_ref().into(),
                    ],
                )?;
                receipt.redacted("reground.turns", redacted);
            }
        }
        Ok(())
    }
}

/// Whether a document of a corpus exists at present.
pub fn exists(corpus_id: i64, doc_id: &str) -> Result<bool> {
    Ok(as_owner_scanning(|| {
        sql::write_one::<bool>(
            "SELECT EXISTS (SELECT FROM reground.documents WHERE corpus_id = $1 AND doc_id = $2 AND replaced_at IS NULL AND deleted_at IS NULL)",
            &[corpus_id.into(), doc_id.into()],
        )
    })?
    .unwrap_or_default())
}

/// Statements that remove the texts from each table (corpus `$1`, document `$2`, conversations `$3`). They do not write rows without
/// texts to remove.
fn redactions() -> [(&'static str, String); 5] {
    let others = |column: &str| {
        format!(
            "CASE WHEN t.{column} IS NOT NULL THEN (SELECT coalesce(jsonb_agg(e.source ORDER BY e.place), '[]') \
                 FROM jsonb_array_elements(t.{column}) WITH ORDINALITY AS e(source, place) \
                 WHERE NOT (e.source ->> 'corpus' = $1 AND e.source ->> 'doc_id' = $2)) END"
        )
    };
    let (cited_at, bound_at) = (position("c"), position("x"));
    [
        (
            "messages",
            format!(
                "UPDATE reground.messages AS m SET citations = NULL WHERE m.conversation_id = ANY ($3) AND {MAY_QUOTE_IT}"
            ),
        ),
        (
            "judge_votes",
            format!(
                "UPDATE reground.judge_votes AS x SET passage = NULL, explanation = NULL FROM reground.message_citations AS c \
                 WHERE c.conversation_id = ANY ($3) AND {CITES_IT} AND x.citation_id = c.citation_id AND num_nonnulls(x.passage, x.explanation) > 0"
            ),
        ),
        (
            "message_citations",
            format!(
                "UPDATE reground.message_citations AS c SET title = NULL, uri = NULL, locator = {cited_at}, quote = NULL, fact_summary = NULL, support_parts = c.support_parts - 'numbers_contradicted' \
                 WHERE c.conversation_id = ANY ($3) AND {CITES_IT} \
                     AND (num_nonnulls(c.title, c.uri, c.quote, c.fact_summary) > 0 OR c.locator IS DISTINCT FROM {cited_at} OR c.support_parts ? 'numbers_contradicted')"
            ),
        ),
        (
            "turns",
            format!(
                "UPDATE reground.turns AS x SET context = n.context, sources_before = n.before, sources_after = n.after FROM ( \
                     SELECT t.turn_id, \
                         (SELECT coalesce(jsonb_agg(CASE WHEN {IS_OF_IT} THEN {WITHOUT_TEXT} ELSE e.source END ORDER BY e.place), '[]') \
                          FROM jsonb_array_elements(t.context) WITH ORDINALITY AS e(source, place)) AS context, \
                         {} AS before, {} AS after \
                     FROM reground.turns AS t WHERE t.conversation_id = ANY ($3)) AS n \
                 WHERE x.turn_id = n.turn_id AND (x.context, x.sources_before, x.sources_after) IS DISTINCT FROM (n.context, n.before, n.after)",
                others("sources_before"),
                others("sources_after")
            ),
        ),
        (
            "conversation_markers",
            format!(
                "UPDATE reground.conversation_markers AS x SET title = NULL, uri = NULL, locator = {bound_at} WHERE x.conversation_id = ANY ($3) AND x.corpus = $1 AND x.doc_id = $2 \
                     AND (num_nonnulls(x.title, x.uri) > 0 OR x.locator IS DISTINCT FROM {bound_at})"
            ),
        ),
    ]
}

/// Removes the addresses of all versions of a document.
pub fn addresses(corpus_id: i64, doc_id: &str) -> Result<usize> {
    as_owner_scanning(|| {
        sql::run(
            "UPDATE reground.documents SET uri = NULL WHERE corpus_id = $1 AND doc_id = $2 AND uri IS NOT NULL",
            &[corpus_id.into(), doc_id.into()],
        )
    })
}
