//! Checks the servers of a distributed table.

use super::finding::Finding;
use crate::error::Result;
use crate::retrieve::vector;
use crate::sql;
use crate::store::corpora::Corpus;

/// Checks that the other servers scan a vector index as searches do on their own. Citus does not pass the settings on.
pub fn vector_settings(corpus: &Corpus) -> Result<Option<Finding>> {
    if !corpus.is_distributed()? || vector::index(corpus)?.is_none() {
        return Ok(None);
    }
    // A server that fails reports an error in the search. Before 0.8, pgvector has no such scans.
    let servers = sql::read_one::<String>(
        "SELECT string_agg(nodename || ':' || nodeport, ', ' ORDER BY nodeid) FROM run_command_on_workers( \
             'SELECT coalesce(current_setting(''hnsw.iterative_scan'', true), ''off'')') AS r JOIN pg_dist_node AS n USING (nodename, nodeport) \
         WHERE r.success AND r.result = 'off'",
        &[],
    )?;
    let item = "vector settings";
    Ok(Some(match servers {
        None => Finding::ok(item, "the servers continue the scan of a vector index"),
        Some(servers) => Finding::warning(
            item,
            format!(
                "hnsw.iterative_scan is off on {servers}: with a filter, a search can find too few passages"
            ),
            sql::read_one(
                "SELECT format('ALTER DATABASE %I SET hnsw.iterative_scan = strict_order;', current_database())",
                &[],
            )?,
        ),
    }))
}
