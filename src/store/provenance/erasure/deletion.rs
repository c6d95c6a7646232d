//! Deletes the rows of conversations and tenants.

use super::receipt::Receipt;
use crate::error::Result;
use crate::run_as::as_owner_scanning;
use crate::sql;
use crate::store::provenance::archive;
use crate::store::{keys, rollups};

/// Subquery for the turns of the conversations `$1`.
const TURNS: &str =
    "(SELECT t.turn_id FROM reground.turns AS t WHERE t.conversation_id = ANY ($1))";

/// Tables with rows of a conversation, and the condition for the rows `x` of the conversations `$1` with the turns `#`. Referencing
/// tables come first, so that no row is deleted by a cascade without being counted.
const OF_CONVERSATIONS: &[(&str, &str)] = &[
    // Waits for results that are being stored. Tasks that they queue meanwhile are deleted below.
    ("model_tasks", "x.turn_id IN #"),
    (
        "factuality_labels",
        "x.verdict_id IN (SELECT v.verdict_id FROM reground.factuality_verdicts AS v JOIN reground.factuality_evaluations AS e USING (evaluation_id) WHERE e.turn_id IN #)",
    ),
    (
        "decomposition_labels",
        "x.evaluation_id IN (SELECT e.evaluation_id FROM reground.factuality_evaluations AS e WHERE e.turn_id IN #)",
    ),
    (
        "factuality_verdicts",
        "x.evaluation_id IN (SELECT e.evaluation_id FROM reground.factuality_evaluations AS e WHERE e.turn_id IN #)",
    ),
    ("factuality_evaluations", "x.turn_id IN #"),
    (
        "citation_labels",
        "x.citation_id IN (SELECT c.citation_id FROM reground.message_citations AS c WHERE c.turn_id IN #)",
    ),
    (
        "citation_reports",
        "x.message_id IN (SELECT m.message_id FROM reground.messages AS m WHERE m.turn_id IN #)",
    ),
    (
        "answer_changes",
        "x.message_id IN (SELECT m.message_id FROM reground.messages AS m WHERE m.turn_id IN #)",
    ),
    (
        "judge_votes",
        "x.citation_id IN (SELECT c.citation_id FROM reground.message_citations AS c WHERE c.turn_id IN #)",
    ),
    ("message_citations", "x.turn_id IN #"),
    ("messages", "x.turn_id IN #"),
    ("drift_events", "x.turn_id IN #"),
    ("shadow_turns", "x.turn_id IN #"),
    ("turn_retrievals", "x.turn_id IN #"),
    ("turn_traces", "x.turn_id IN #"),
    ("provenance_chain", "x.conversation_id = ANY ($1)"),
    ("chain_checkpoints", "x.conversation_id = ANY ($1)"),
    ("conversation_markers", "x.conversation_id = ANY ($1)"),
    ("conversation_sources", "x.conversation_id = ANY ($1)"),
    ("model_tasks", "x.turn_id IN #"),
    ("turns", "x.conversation_id = ANY ($1)"),
    ("conversations", "x.conversation_id = ANY ($1)"),
];

/// Tables with other rows of a tenant (`$1`). The first conditions match only rows whose turn, conversation or answer is gone, because a
/// conversation that began meanwhile stays complete.
const OF_TENANT: &[(&str, &str)] = &[
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
    ("turn_rollup", "x.tenant = $1"),
    ("metric_totals", "x.tenant = $1"),
    ("alerts", "x.tenant = $1"),
    ("alert_baselines", "x.tenant = $1"),
    ("probe_results", "x.tenant = $1"),
    ("probes", "x.tenant = $1"),
    ("gold_facts", "x.tenant = $1"),
    ("gold_questions", "x.tenant = $1"),
    ("judge_rules", "x.tenant = $1"),
    ("model_usage", "x.tenant = $1"),
    (
        "model_tasks",
        "x.corpus_id IN (SELECT k.corpus_id FROM reground.corpora AS k WHERE k.tenant = $1)",
    ),
    (
        "passage_embeddings",
        "x.corpus_id IN (SELECT k.corpus_id FROM reground.corpora AS k WHERE k.tenant = $1)",
    ),
    (
        "embedding_checks",
        "x.corpus_id IN (SELECT k.corpus_id FROM reground.corpora AS k WHERE k.tenant = $1)",
    ),
    (
        "passage_positions",
        "x.row_tenant = $1 OR x.corpus_id IN (SELECT k.corpus_id FROM reground.corpora AS k WHERE k.tenant = $1)",
    ),
    ("edges", "x.tenant = $1"),
    (
        "documents",
        "x.corpus_id IN (SELECT k.corpus_id FROM reground.corpora AS k WHERE k.tenant = $1)",
    ),
    ("coordinate_faults", "x.tenant = $1"),
    ("sync_queue", "x.tenant = $1"),
    ("synchronised_tables", "x.tenant = $1"),
    ("corpora", "x.tenant = $1"),
];

/// The keys of a tenant whose conversations are gone.
const KEYS: (&str, &str) = (
    "tenant_keys",
    "x.tenant = $1 AND NOT EXISTS (SELECT FROM reground.conversations AS v WHERE v.tenant = $1)",
);

/// The id of a conversation; its row is locked so that no other session can use it.
pub fn hold(tenant: &str, conversation_ref: &str) -> Result<Option<i64>> {
    as_owner_scanning(|| {
        sql::write_one(
            "SELECT conversation_id FROM reground.conversations WHERE tenant = $1 AND conversation_ref = $2 FOR UPDATE",
            &[tenant.into(), conversation_ref.into()],
        )
    })
}

/// Whether the archive has a turn of a conversation, whose other rows may be gone.
pub fn is_archived(tenant: &str, conversation_ref: &str) -> Result<bool> {
    let is_archived = as_owner_scanning(|| {
        sql::write_one(
            "SELECT EXISTS (SELECT FROM reground.turn_archive AS x WHERE x.tenant = $1 AND x.conversation_ref = $2)",
            &[tenant.into(), conversation_ref.into()],
        )
    })?;
    Ok(is_archived == Some(true))
}

/// Locks the corpora of a tenant against writers, and the shared ones with a column of tenants against DROP: other tenants write them.
/// They must be locked before its conversations, the order in which forget_document locks.
pub fn hold_corpora(tenant: &str) -> Result<()> {
    as_owner_scanning(|| {
        for corpora in [
            "tenant = $1 ORDER BY corpus_id FOR UPDATE",
            "tenant IS NULL AND managed AND mapping ? 'tenant_column' AND $1 <> '' ORDER BY corpus_id FOR KEY SHARE",
        ] {
            sql::run(
                &format!("SELECT FROM reground.corpora WHERE {corpora}"),
                &[tenant.into()],
            )?;
        }
        Ok(())
    })
}

/// The ids of all conversations of a tenant; their rows are locked in the order of the ids, so that two sessions cannot deadlock.
pub fn hold_all(tenant: &str) -> Result<Vec<i64>> {
    Ok(as_owner_scanning(|| {
        sql::write_one(
            "SELECT array_agg(v.conversation_id) FROM ( \
                 SELECT conversation_id FROM reground.conversations WHERE tenant = $1 ORDER BY conversation_id FOR UPDATE) AS v",
            &[tenant.into()],
        )
    })?
    .unwrap_or_default())
}

/// The archived turns that are deleted with conversations. Retention may have removed their other rows.
#[derive(Debug, Clone, Copy)]
pub enum Archived<'a> {
    /// None.
    Kept,
    OfConversation {
        tenant: &'a str,
        conversation_ref: &'a str,
    },
    /// Those of the conversations, and of removed conversations in which a user asked.
    OfUser { tenant: &'a str, user_ref: &'a str },
}

impl Archived<'_> {
    fn delete(self, ids: &[i64], receipt: &mut Receipt) -> Result<()> {
        let erased = match self {
            Self::Kept => return Ok(()),
            Self::OfConversation {
                tenant,
                conversation_ref,
            } => sql::run(
                "DELETE FROM reground.turn_archive AS x WHERE x.tenant = $1 AND x.conversation_ref = $2",
                &[tenant.into(), conversation_ref.into()],
            )?,
            Self::OfUser { tenant, user_ref } => {
                let mut names = "SELECT v.conversation_ref FROM reground.conversations AS v WHERE v.conversation_id = ANY ($3)".to_owned();
                if archive::has_users() {
                    names += " UNION SELECT a.conversation_ref FROM reground.turn_archive AS a WHERE a.tenant = $1 AND a.user_ref = $2";
                }
                // Another conversation can have the name of a removed one.
                sql::run(
                    &format!(
                        "DELETE FROM reground.turn_archive AS x WHERE x.tenant = $1 AND (x.turn_id IN (SELECT t.turn_id FROM reground.turns AS t WHERE t.conversation_id = ANY ($3)) \
                             OR x.conversation_ref IN ({names}) AND NOT EXISTS (SELECT FROM reground.turns AS t WHERE t.turn_id = x.turn_id))"
                    ),
                    &[tenant.into(), user_ref.into(), ids.to_vec().into()],
                )?
            }
        };
        receipt.erased("reground.turn_archive", erased);
        Ok(())
    }
}

/// Deletes all rows of conversations, whose own rows must be locked. Queued answers are counted into the rollups first, so that the
/// counts do not depend on when the queue was processed.
pub fn conversations(ids: &[i64], archived: Archived<'_>, receipt: &mut Receipt) -> Result<()> {
    as_owner_scanning(|| {
        // No other session may count or archive meanwhile. A maintenance job that also archives takes these locks in the same order.
        rollups::hold_off()?;
        archive::hold_off()?;
        receipt.erased("reground.rollup_queue", rollups::settle(ids)?);
        archived.delete(ids, receipt)?;
        for (table, rows) in OF_CONVERSATIONS {
            let rows = rows.replace('#', TURNS);
            let statement = format!("DELETE FROM reground.{table} AS x WHERE {rows}");
            let erased = sql::run(&statement, &[ids.to_vec().into()])?;
            receipt.erased(&format!("reground.{table}"), erased);
        }
        Ok(())
    })
}

/// The ids of the conversations of a tenant in which a user asked; their rows are locked in the order of the ids.
pub fn hold_of_user(tenant: &str, user_ref: &str) -> Result<Vec<i64>> {
    Ok(as_owner_scanning(|| {
        sql::write_one(
            "SELECT array_agg(v.conversation_id) FROM ( \
                 SELECT conversation_id FROM reground.conversations WHERE conversation_id IN ( \
                     SELECT t.conversation_id FROM reground.turns AS t WHERE t.tenant = $1 AND t.user_ref = $2) ORDER BY conversation_id FOR UPDATE) AS v",
            &[tenant.into(), user_ref.into()],
        )
    })?
    .unwrap_or_default())
}

/// Deletes the reports of a user of a tenant on answers of other conversations.
pub fn reports_of_user(tenant: &str, user_ref: &str, receipt: &mut Receipt) -> Result<()> {
    let erased = as_owner_scanning(|| {
        sql::run(
            "DELETE FROM reground.citation_reports AS x WHERE x.tenant = $1 AND x.reported_by = $2",
            &[tenant.into(), user_ref.into()],
        )
    })?;
    receipt.erased("reground.citation_reports", erased);
    Ok(())
}

/// Deletes all rows of a tenant except those of its conversations.
pub fn tenant(tenant: &str, receipt: &mut Receipt) -> Result<()> {
    as_owner_scanning(|| {
        // This database has no keys if its objects are those of the previous release.
        let keys = keys::exists().then_some(&KEYS);
        if keys.is_some() {
            keys::hold_off(tenant)?;
        }
        for (table, rows) in OF_TENANT.iter().chain(keys) {
            let statement = format!("DELETE FROM reground.{table} AS x WHERE {rows}");
            let erased = sql::run(&statement, &[tenant.into()])?;
            receipt.erased(&format!("reground.{table}"), erased);
        }
        Ok(())
    })
}

/// The tables of the corpora of a tenant, as SQL names them. The caller reports them, because erasure does not drop them.
pub fn tables_of(tenant: &str) -> Result<Vec<String>> {
    Ok(as_owner_scanning(|| {
        sql::write_json(
            "SELECT coalesce(json_agg(DISTINCT r.relation::regclass::text), '[]')::text \
             FROM reground.corpora AS k, unnest(ARRAY[k.relation, k.documents, k.history]) AS r(relation) \
             JOIN pg_class AS c ON c.oid = r.relation WHERE k.tenant = $1",
            &[tenant.into()],
        )
    })?
    .unwrap_or_default())
}
