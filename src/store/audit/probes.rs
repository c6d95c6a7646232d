//! The tables `probes` and `probe_results`.

use reground_grounding::inspect::probe::Outcome;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql::{self, Record};

/// A question with a known source.
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

/// A tenant and a role that put probes for it.
#[derive(Debug, Deserialize)]
pub struct ProbeOwner {
    pub tenant: String,
    pub role: String,
    /// Id of the role; `None` if it was dropped.
    pub role_id: Option<u32>,
}

/// Columns of [`Probe`], without the name.
const VALUES: Record = Record(&[
    "corpus text, query text, embedding real[], filter jsonb, settings jsonb, doc_id text, chunk_id text",
]);

/// Stores a probe of a role; replaces that of the same name.
pub fn put(tenant: &str, role: &str, probe: &Probe) -> Result<()> {
    let row = sql::json(probe)?;
    as_owner(|| {
        sql::run(
            &format!(
                "INSERT INTO reground.probes (tenant, put_by, probe, {}) \
                 SELECT $2, $3, x.* FROM json_to_record($1::json) AS x(probe text, {VALUES}) \
                 ON CONFLICT (tenant, probe) DO UPDATE SET put_by = excluded.put_by, {}",
                VALUES.columns(""),
                VALUES.assignments("excluded.")
            ),
            &[row.into(), tenant.into(), role.into()],
        )
    })?;
    Ok(())
}

/// Deletes a probe with its results; returns whether it existed.
pub fn drop(tenant: &str, probe: &str) -> Result<bool> {
    let dropped = as_owner(|| {
        sql::run(
            "DELETE FROM reground.probes WHERE tenant = $1 AND probe = $2",
            &[tenant.into(), probe.into()],
        )
    })?;
    Ok(dropped > 0)
}

/// The tenants with probes, and the roles that put them.
pub fn owners() -> Result<Vec<ProbeOwner>> {
    as_owner(|| {
        sql::read_rows(
            "SELECT DISTINCT p.tenant, p.put_by AS role, (SELECT r.oid::bigint FROM pg_roles AS r WHERE r.rolname = p.put_by) AS role_id \
             FROM reground.probes AS p ORDER BY p.tenant, p.put_by",
            &[],
        )
    })
}

/// The probes of a tenant, by name: of one corpus or of all, and put by one role or by all.
pub fn all(tenant: &str, corpus: Option<&str>, role: Option<&str>) -> Result<Vec<Probe>> {
    Ok(as_owner(|| {
        sql::read_json(
            &format!(
                "SELECT coalesce(json_agg(p ORDER BY p.probe), '[]')::text FROM ( \
                     SELECT probe, {} FROM reground.probes WHERE tenant = $1 AND ($2::text IS NULL OR corpus = $2) AND ($3::text IS NULL OR put_by = $3)) AS p",
                VALUES.columns("")
            ),
            &[tenant.into(), corpus.into(), role.into()],
        )
    })?
    .unwrap_or_default())
}

/// The result of a probe.
#[derive(Debug, Serialize)]
pub struct Probed {
    pub probe: String,
    pub corpus: String,
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// Stores the results of probes.
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
