//! What erasing deletes and what it takes the text out of: every statement of it, so that a table has one place to be forgotten in.

use serde::Serialize;

use crate::error::Result;
use crate::run_as::as_owner_unrestricted;
use crate::sql;
use crate::store::{retention, rollups};

/// What was done to a relation.
#[derive(Debug, Serialize)]
pub struct Done {
    /// Qualified and quoted.
    pub relation: String,
    /// Rows that went.
    pub erased: i64,
    /// Rows whose text was taken out.
    pub redacted: i64,
}

/// What was done, a row for each relation that was touched, in the order in which they were.
#[derive(Debug, Default)]
pub struct Receipt(Vec<Done>);

impl Receipt {
    /// Notes rows that went.
    pub fn erased(&mut self, relation: &str, rows: usize) {
        self.of(relation, rows, |done| &mut done.erased);
    }

    /// Notes rows whose text was taken out.
    pub fn redacted(&mut self, relation: &str, rows: usize) {
        self.of(relation, rows, |done| &mut done.redacted);
    }

    /// The rows of it.
    pub fn rows(&self) -> &[Done] {
        &self.0
    }

    fn of(&mut self, relation: &str, rows: usize, count: impl Fn(&mut Done) -> &mut i64) {
        if rows == 0 {
            return;
        }
        let rows = i64::try_from(rows).unwrap_or(i64::MAX);
        let place = self.0.iter().position(|done| done.relation == relation);
        let place = place.unwrap_or_else(|| {
            self.0.push(Done {
                relation: relation.to_owned(),
                erased: 0,
                redacted: 0,
            });
            self.0.len() - 1
        });
        if let Some(done) = self.0.get_mut(place) {
            *count(done) += rows;
        }
    }
}

/// The turns of the conversations `$1`.
const TURNS: &str =
    "(SELECT t.turn_id FROM reground.turns AS t WHERE t.conversation_id = ANY ($1))";

/// Tables that hold something of a conversation, those that refer to others first, so that nothing goes uncounted by a cascade;
/// and which rows `x` are of the conversations `$1`, whose turns are `#`.
const OF_CONVERSATIONS: [(&str, &str); 16] = [
    (
        "citation_labels",
        "x.citation_id IN (SELECT c.citation_id FROM reground.message_citations AS c WHERE c.turn_id IN #)",
    ),
    (
        "citation_reports",
        "x.citation_id IN (SELECT c.citation_id FROM reground.message_citations AS c WHERE c.turn_id IN #)",
    ),
    ("message_citations", "x.turn_id IN #"),
    ("messages", "x.turn_id IN #"),
    ("source_facts", "x.turn_id IN #"),
    ("drift_events", "x.turn_id IN #"),
    ("shadow_turns", "x.turn_id IN #"),
    ("turn_retrievals", "x.turn_id IN #"),
    ("turn_traces", "x.turn_id IN #"),
    // An archived turn may have outlived its own; its name is that of the conversation.
    (
        "turn_archive",
        "x.turn_id IN # OR (x.tenant, x.conversation_ref) IN (SELECT v.tenant, v.conversation_ref FROM reground.conversations AS v WHERE v.conversation_id = ANY ($1))",
    ),
    ("provenance_chain", "x.conversation_id = ANY ($1)"),
    ("chain_checkpoints", "x.conversation_id = ANY ($1)"),
    ("conversation_markers", "x.conversation_id = ANY ($1)"),
    ("conversation_sources", "x.conversation_id = ANY ($1)"),
    ("turns", "x.conversation_id = ANY ($1)"),
    ("conversations", "x.conversation_id = ANY ($1)"),
];

/// What else a tenant (`$1`) has, behind its conversations: first what a conversation that went otherwise has left. One that began
/// meanwhile is whole, and stays so.
const OF_TENANT: [(&str, &str); 14] = [
    (
        "turn_traces",
        "x.tenant = $1 AND NOT EXISTS (SELECT FROM reground.turns AS t WHERE t.turn_id = x.turn_id)",
    ),
    (
        "turn_archive",
        "x.tenant = $1 AND NOT EXISTS (SELECT FROM reground.turns AS t WHERE t.turn_id = x.turn_id)",
    ),
    (
        "provenance_chain",
        "x.tenant = $1 AND NOT EXISTS (SELECT FROM reground.conversations AS v WHERE v.conversation_id = x.conversation_id)",
    ),
    (
        "chain_checkpoints",
        "x.tenant = $1 AND NOT EXISTS (SELECT FROM reground.conversations AS v WHERE v.conversation_id = x.conversation_id)",
    ),
    (
        "rollup_queue",
        "x.tenant = $1 AND NOT EXISTS (SELECT FROM reground.messages AS m WHERE m.message_id = x.message_id)",
    ),
    ("answer_rollup", "x.tenant = $1"),
    ("citation_rollup", "x.tenant = $1"),
    ("alerts", "x.tenant = $1"),
    ("alert_baselines", "x.tenant = $1"),
    ("probe_results", "x.tenant = $1"),
    ("probes", "x.tenant = $1"),
    (
        "edges",
        "x.corpus_id IN (SELECT k.corpus_id FROM reground.corpora AS k WHERE k.tenant = $1)",
    ),
    (
        "documents",
        "x.corpus_id IN (SELECT k.corpus_id FROM reground.corpora AS k WHERE k.tenant = $1)",
    ),
    ("corpora", "x.tenant = $1"),
];

/// The conversation of that name, its row locked so that nobody else gets hold of it again.
pub fn hold(tenant: &str, conversation_ref: &str) -> Result<Option<i64>> {
    as_owner_unrestricted(|| {
        sql::write_one(
            "SELECT conversation_id FROM reground.conversations WHERE tenant = $1 AND conversation_ref = $2 FOR UPDATE",
            &[tenant.into(), conversation_ref.into()],
        )
    })
}

/// Locks the corpora of a tenant, before its conversations: as whoever forgets one document does.
pub fn hold_corpora(tenant: &str) -> Result<()> {
    as_owner_unrestricted(|| {
        sql::run(
            "SELECT FROM reground.corpora WHERE tenant = $1 ORDER BY corpus_id FOR UPDATE",
            &[tenant.into()],
        )
    })?;
    Ok(())
}

/// All conversations of a tenant, their rows locked likewise, in an order that two of us share.
pub fn hold_all(tenant: &str) -> Result<Vec<i64>> {
    Ok(as_owner_unrestricted(|| {
        sql::write_one(
            "SELECT array_agg(v.conversation_id) FROM ( \
                 SELECT conversation_id FROM reground.conversations WHERE tenant = $1 ORDER BY conversation_id FOR UPDATE) AS v",
            &[tenant.into()],
        )
    })?
    .unwrap_or_default())
}

/// Deletes all that there is of conversations whose rows are locked. What of their answers was not counted yet is counted first:
/// then the rollups say the same, however far they were behind.
pub fn conversations(ids: &[i64], receipt: &mut Receipt) -> Result<()> {
    as_owner_unrestricted(|| {
        // Nothing is counted or archived meanwhile. In the order in which a job takes both that maintains and then archives.
        rollups::hold_off()?;
        retention::hold_off()?;
        receipt.erased("reground.rollup_queue", rollups::settle(ids)?);
        for (table, rows) in OF_CONVERSATIONS {
            let rows = rows.replace('#', TURNS);
            let statement = format!("DELETE FROM reground.{table} AS x WHERE {rows}");
            let erased = sql::run(&statement, &[ids.to_vec().into()])?;
            receipt.erased(&format!("reground.{table}"), erased);
        }
        Ok(())
    })
}

/// Deletes all that there is of a tenant beside its conversations.
pub fn tenant(tenant: &str, receipt: &mut Receipt) -> Result<()> {
    as_owner_unrestricted(|| {
        for (table, rows) in OF_TENANT {
            let statement = format!("DELETE FROM reground.{table} AS x WHERE {rows}");
            let erased = sql::run(&statement, &[tenant.into()])?;
            receipt.erased(&format!("reground.{table}"), erased);
        }
        Ok(())
    })
}

/// The tables of a tenant's own corpora, as SQL names them: they are not ours to drop.
pub fn tables_of(tenant: &str) -> Result<Vec<String>> {
    Ok(as_owner_unrestricted(|| {
        sql::write_json(
            "SELECT coalesce(json_agg(DISTINCT r.relation::regclass::text), '[]')::text \
             FROM reground.corpora AS k, unnest(ARRAY[k.relation, k.documents]) AS r(relation) \
             JOIN pg_class AS c ON c.oid = r.relation WHERE k.tenant = $1",
            &[tenant.into()],
        )
    })?
    .unwrap_or_default())
}

/// A document of a corpus, and whose records of it are meant.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    pub corpus: &'a str,
    pub doc_id: &'a str,
    /// Those of this tenant; else of all, but those that have a corpus of their own by that name.
    pub tenant: Option<&'a str>,
}

/// Which rows `x` of a table that has a tenant are meant (`$3`, corpus `$1`).
const MEANT: &str = "(x.tenant = $3 OR $3::text IS NULL AND NOT EXISTS (SELECT FROM reground.corpora AS k WHERE k.corpus = $1 AND k.tenant = x.tenant))";

/// Whether a source `e.source` of a context is of the document (`$1`, `$2`).
const IS_OF_IT: &str =
    "(e.source #>> '{passage,corpus}' = $1 AND e.source #>> '{passage,doc_id}' = $2)";

/// What stays of it: ids, place, hash and scores. The other sources stay as they are, to the letter: their hashes are of that.
const WITHOUT_TEXT: &str = "(e.source || jsonb_build_object('facts', '[]'::jsonb, 'passage', \
     (e.source -> 'passage') || '{\"content\": \"\", \"title\": null, \"uri\": null, \"published\": null, \"metadata\": null}'))";

/// The citations `c` of the document: of its passages, or by a marker that is bound to one.
const CITES_IT: &str = "(c.corpus = $1 AND c.doc_id = $2 OR c.doc_id IS NULL AND EXISTS (SELECT FROM reground.conversation_markers AS b \
     WHERE (b.conversation_id, b.marker, b.corpus, b.doc_id) = (c.conversation_id, c.marker, $1, $2)))";

/// The answers `m` beside which an API may have returned its text: to turns that were shown it, or naming it otherwise.
const MAY_QUOTE_IT: &str = "(m.citations IS NOT NULL AND (EXISTS (SELECT FROM reground.turns AS t, jsonb_array_elements(t.context) AS e(source) \
     WHERE t.turn_id = m.turn_id AND e.source #>> '{passage,corpus}' = $1 AND e.source #>> '{passage,doc_id}' = $2) \
     OR EXISTS (SELECT FROM reground.message_citations AS c WHERE c.message_id = m.message_id AND c.corpus = $1 AND c.doc_id = $2)))";

/// Takes a document out of a pool of candidates.
pub type Withdraw<'a> = &'a dyn Fn(serde_json::Value) -> Result<Option<serde_json::Value>>;

impl Document<'_> {
    /// Takes its text out of whatever conversations keep of it, and leaves ids, places, hashes and verdicts.
    pub fn redact(&self, withdraw: Withdraw<'_>, receipt: &mut Receipt) -> Result<()> {
        as_owner_unrestricted(|| {
            let conversations = self.hold()?;
            if conversations.is_empty() {
                return Ok(());
            }
            // It deletes links of chains without a lock on their conversations.
            retention::hold_off()?;
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

    /// Whether it is on record, with its text or without.
    pub fn is_known(&self) -> Result<bool> {
        let known = as_owner_unrestricted(|| {
            sql::write_one::<bool>(
                &format!(
                    "SELECT EXISTS (SELECT FROM reground.conversation_markers AS x WHERE x.corpus = $1 AND x.doc_id = $2 AND {MEANT}) \
                         OR EXISTS (SELECT FROM reground.message_citations AS x WHERE x.corpus = $1 AND x.doc_id = $2 AND {MEANT})"
                ),
                &[self.corpus.into(), self.doc_id.into(), self.tenant.into()],
            )
        })?;
        Ok(known == Some(true))
    }

    /// The conversations that know it, their rows locked in an order that two of us share, and marked for whoever waits.
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

    /// Runs a statement on the document in conversations (`$1` to `$3`).
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

    /// Erases the salts of what is about to lose its text: the chain then says that it was erased, and nobody can try out what it
    /// was.
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
            // What the model's API returned is one content with the answer.
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

    /// Takes it out of the candidates that wait for a rerank.
    fn redact_pools(
        &self,
        conversations: &[i64],
        withdraw: Withdraw<'_>,
        receipt: &mut Receipt,
    ) -> Result<()> {
        let pools: Vec<(i64, serde_json::Value)> = sql::write_json(
            "SELECT coalesce(json_agg(json_build_array(turn_id, pending_candidates)), '[]')::text FROM reground.turns \
             WHERE conversation_id = ANY ($1) AND pending_candidates IS NOT NULL",
            &[conversations.to_vec().into()],
        )?
        .unwrap_or_default();
        for (turn_id, pool) in pools {
            if let Some(pool) = withdraw(pool)? {
                let redacted = sql::run(
                    "UPDATE reground.turns SET pending_candidates = $2::jsonb WHERE turn_id = $1",
                    &[turn_id.into(), sql::json(&pool)?.into()],
                )?;
                receipt.redacted("reground.turns", redacted);
            }
        }
        Ok(())
    }
}

/// Whether a document of a corpus is there still.
pub fn stands(corpus_id: i64, doc_id: &str) -> Result<bool> {
    Ok(as_owner_unrestricted(|| {
        sql::write_one::<bool>(
            "SELECT EXISTS (SELECT FROM reground.documents WHERE corpus_id = $1 AND doc_id = $2 AND replaced_at IS NULL AND deleted_at IS NULL)",
            &[corpus_id.into(), doc_id.into()],
        )
    })?
    .unwrap_or_default())
}

/// What takes the text out of each table (corpus `$1`, document `$2`, conversations `$3`). Nothing is written where nothing is left
/// to be taken out.
fn redactions() -> [(&'static str, String); 5] {
    let others = |column: &str| {
        format!(
            "(SELECT coalesce(jsonb_agg(e.source ORDER BY e.place), '[]') FROM jsonb_array_elements(t.{column}) WITH ORDINALITY AS e(source, place) \
              WHERE NOT (e.source ->> 'corpus' = $1 AND e.source ->> 'doc_id' = $2))"
        )
    };
    [
        (
            "source_facts",
            "UPDATE reground.source_facts AS x SET fact = '', published = NULL FROM reground.turns AS t JOIN reground.conversation_markers AS m USING (conversation_id) \
             WHERE t.conversation_id = ANY ($3) AND m.corpus = $1 AND m.doc_id = $2 AND (x.turn_id, x.marker) = (t.turn_id, m.marker) \
                 AND (x.fact <> '' OR x.published IS NOT NULL)"
                .to_owned(),
        ),
        (
            "messages",
            format!(
                "UPDATE reground.messages AS m SET citations = NULL WHERE m.conversation_id = ANY ($3) AND {MAY_QUOTE_IT}"
            ),
        ),
        (
            "message_citations",
            format!(
                "UPDATE reground.message_citations AS c SET title = NULL, uri = NULL, quote = NULL, fact_summary = NULL, support_parts = c.support_parts - 'numbers_contradicted' \
                 WHERE c.conversation_id = ANY ($3) AND {CITES_IT} \
                     AND (num_nonnulls(c.title, c.uri, c.quote, c.fact_summary) > 0 OR c.support_parts ? 'numbers_contradicted')"
            ),
        ),
        (
            "turns",
            format!(
                "UPDATE reground.turns AS x SET context = n.context, sources_before = n.before, sources_after = n.after FROM ( \
                     SELECT t.turn_id, t.context AS old, \
                         (SELECT coalesce(jsonb_agg(CASE WHEN {IS_OF_IT} THEN {WITHOUT_TEXT} ELSE e.source END ORDER BY e.place), '[]') \
                          FROM jsonb_array_elements(t.context) WITH ORDINALITY AS e(source, place)) AS context, \
                         CASE WHEN t.sources_before IS NOT NULL THEN {} END AS before, CASE WHEN t.sources_after IS NOT NULL THEN {} END AS after \
                     FROM reground.turns AS t WHERE t.conversation_id = ANY ($3)) AS n \
                 WHERE x.turn_id = n.turn_id AND (x.context, x.sources_before, x.sources_after) IS DISTINCT FROM (n.context, n.before, n.after)",
                others("sources_before"),
                others("sources_after")
            ),
        ),
        (
            "conversation_markers",
            "UPDATE reground.conversation_markers AS x SET title = NULL, uri = NULL WHERE x.conversation_id = ANY ($3) AND x.corpus = $1 AND x.doc_id = $2 \
                 AND num_nonnulls(x.title, x.uri) > 0"
                .to_owned(),
        ),
    ]
}

/// Takes out where a document was found, from all its versions.
pub fn addresses(corpus_id: i64, doc_id: &str) -> Result<usize> {
    as_owner_unrestricted(|| {
        sql::run(
            "UPDATE reground.documents SET uri = NULL WHERE corpus_id = $1 AND doc_id = $2 AND uri IS NOT NULL",
            &[corpus_id.into(), doc_id.into()],
        )
    })
}
