//! Probes, and what became of them.

use reground_grounding::inspect::probe::Outcome;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql;

/// A question whose source is known.
#[derive(Debug, Deserialize, Serialize)]
pub struct Probe {
    pub probe: String,
    pub corpus: String,
    pub query: String,
    pub embedding: Option<Vec<f32>>,
    pub filter: Option<Value>,
    pub settings: Value,
    pub doc_id: String,
    pub chunk_id: Option<String>,
}

/// Stores a probe, in place of the one of its name.
pub fn put(tenant: &str, probe: &Probe) -> Result<()> {
    let row = sql::json(probe)?;
    as_owner(|| {
        sql::run(
            "INSERT INTO reground.probes (tenant, probe, corpus, query, embedding, filter, settings, doc_id, chunk_id) \
             SELECT $2, x.* FROM json_to_record($1::json) AS x(probe text, corpus text, query text, embedding real[], filter jsonb, settings jsonb, doc_id text, chunk_id text) \
             ON CONFLICT (tenant, probe) DO UPDATE SET corpus = excluded.corpus, query = excluded.query, embedding = excluded.embedding, filter = excluded.filter, \
                 settings = excluded.settings, doc_id = excluded.doc_id, chunk_id = excluded.chunk_id",
            &[row.into(), tenant.into()],
        )
    })?;
    Ok(())
}

/// Drops a probe with its results.
pub fn drop(tenant: &str, probe: &str) -> Result<bool> {
    let dropped = as_owner(|| {
        sql::run(
            "DELETE FROM reground.probes WHERE tenant = $1 AND probe = $2",
            &[tenant.into(), probe.into()],
        )
    })?;
    Ok(dropped > 0)
}

/// The probes of a tenant, of one corpus or all.
pub fn all(tenant: &str, corpus: Option<&str>) -> Result<Vec<Probe>> {
    Ok(as_owner(|| {
        sql::read_json(
            "SELECT coalesce(json_agg(p ORDER BY p.probe), '[]')::text FROM ( \
                 SELECT probe, corpus, query, embedding, filter, settings, doc_id, chunk_id FROM reground.probes WHERE tenant = $1 AND ($2::text IS NULL OR corpus = $2)) AS p",
            &[tenant.into(), corpus.into()],
        )
    })?
    .unwrap_or_default())
}

/// What became of a probe.
#[derive(Debug, Serialize)]
pub struct Probed {
    pub probe: String,
    pub corpus: String,
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// Stores what became of probes.
pub fn write(tenant: &str, probed: &[Probed]) -> Result<()> {
    let rows = sql::json(probed)?;
    as_owner(|| {
        sql::run(
            "INSERT INTO reground.probe_results (tenant, probe, found, position, lost_stage, reason) \
             SELECT $2, x.probe, x.found, x.position, x.lost_stage, x.reason \
             FROM reground.probes AS p JOIN json_to_recordset($1::json) AS x(probe text, found boolean, position integer, lost_stage text, reason text) ON x.probe = p.probe WHERE p.tenant = $2",
            &[rows.into(), tenant.into()],
        )
    })?;
    Ok(())
}
