//! Deletes the rows of a tenant in shared corpora with a column of tenants.

use pgrx::datum::DatumWithOid;

use super::receipt::Receipt;
use crate::error::Result;
use crate::run_as::{as_owner_scanning, as_relation_owner};
use crate::session::set_local;
use crate::sql;
use crate::store::corpora::{self, Corpus};

/// Shared corpora with a column of tenants.
const WITH_TENANTS: &str = "k.tenant IS NULL AND k.mapping ? 'tenant_column'";

/// Ids of the shared corpora with a column of tenants: those made by create_corpus, and those of registered tables.
pub fn corpora_with_tenants(managed: bool) -> Result<Vec<i64>> {
    Ok(as_owner_scanning(|| {
        sql::write_one(
            &format!(
                "SELECT array_agg(k.corpus_id ORDER BY k.corpus_id) FROM reground.corpora AS k WHERE {WITH_TENANTS} AND k.managed = $1"
            ),
            &[managed.into()],
        )
    })?
    .unwrap_or_default())
}

/// Deletes the passages and the documents of a tenant in all versions, and what is recorded about them, as the owner of the tables. The
/// corpus must be locked. Policies that hide rows from the owner raise 42501, because the rows would stay.
pub fn shared_rows(corpus_id: i64, tenant: &str, receipt: &mut Receipt) -> Result<()> {
    let Some(corpus) = corpora::by_id(corpus_id)?.filter(|corpus| corpus.relation.is_some()) else {
        return Ok(());
    };
    let chunk_ids = as_relation_owner(corpus, |corpus| {
        set_local(c"row_security", c"off");
        delete(corpus, tenant, receipt)
    })?;
    as_owner_scanning(|| {
        for (table, condition) in [
            ("model_tasks", "x.subject = ANY ($2)"),
            ("passage_embeddings", "x.chunk_id = ANY ($2)"),
        ] {
            let args = [corpus_id.into(), chunk_ids.clone().into()];
            erase(table, condition, &args, receipt)?;
        }
        let args = [corpus_id.into(), tenant.into()];
        // An entry that waits has the key of a row, and its error can contain a value.
        let queued = "x.doc_id IN (SELECT d.doc_id FROM reground.documents AS d WHERE d.corpus_id = $1 AND d.tenant = $2)";
        erase("sync_queue", queued, &args, receipt)?;
        erase("documents", "x.tenant = $2", &args, receipt)
    })
}

/// Deletes the rows of a tenant in the tables of a corpus. Returns the ids of its passages.
fn delete(corpus: &Corpus, tenant: &str, receipt: &mut Receipt) -> Result<Vec<String>> {
    let Some(column) = corpus.mapping.get("tenant_column") else {
        return Ok(Vec::new());
    };
    let mut chunk_ids = Vec::new();
    for (relation, id) in [
        (&corpus.relation, "chunk_id"),
        (&corpus.history, "chunk_id"),
        (&corpus.documents, "doc_id"),
    ] {
        let Some(relation) = relation else { continue };
        let gone: Vec<String> = sql::write_one(
            &format!(
                "WITH gone AS (DELETE FROM {relation} AS x WHERE x.{}::text = $1 RETURNING x.{id}::text AS id) SELECT array_agg(g.id) FROM gone AS g",
                sql::ident(&column.column)
            ),
            &[tenant.into()],
        )?
        .unwrap_or_default();
        // By its oid, because the caller may not be allowed to look up the name.
        let oid = sql::read_one::<String>(
            "SELECT $1::regclass::oid::text",
            &[relation.as_str().into()],
        )?;
        receipt.erased(&oid.unwrap_or_default(), gone.len());
        if id == "chunk_id" {
            chunk_ids.extend(gone);
        }
    }
    Ok(chunk_ids)
}

/// Deletes the rows of a corpus (`$1`) under a condition from one of our tables.
fn erase(
    table: &str,
    condition: &str,
    args: &[DatumWithOid<'_>],
    receipt: &mut Receipt,
) -> Result<()> {
    let statement =
        format!("DELETE FROM reground.{table} AS x WHERE x.corpus_id = $1 AND {condition}");
    receipt.erased(&format!("reground.{table}"), sql::run(&statement, args)?);
    Ok(())
}
