//! Checks the servers of a distributed table.

use super::finding::Finding;
use crate::error::Result;
use crate::retrieve::vector;
use crate::sql;
use crate::store::corpora::Corpus;

/// Checks that the other servers scan an HNSW index as this server does. Citus does not pass the settings on.
pub fn vector_settings(corpus: &Corpus) -> Result<Option<Finding>> {
    let is_hnsw = vector::index(corpus)?.is_some_and(|index| index.method == "hnsw");
    if !is_hnsw || !corpus.is_distributed()? {
        return Ok(None);
    }
    let least = vector::EF_SEARCH.start();
    let command = format!(
        "SELECT coalesce(current_setting('hnsw.iterative_scan', true), 'off') <> 'off' AND coalesce(current_setting('hnsw.ef_search', true), '0')::integer >= {least}"
    );
    let servers = sql::read_one::<String>(
        "SELECT string_agg(nodename || ':' || nodeport, ', ' ORDER BY nodeid) FROM run_command_on_workers($1) AS r JOIN pg_dist_node AS n USING (nodename, nodeport) \
         WHERE NOT r.success OR r.result <> 't'",
        &[command.as_str().into()],
    )?;
    let item = "vector settings";
    let Some(servers) = servers else {
        return Ok(Some(Finding::ok(
            item,
            "the servers scan the vector index as this one does",
        )));
    };
    let hint = sql::read_one(
        "SELECT replace('ALTER DATABASE # SET hnsw.iterative_scan = strict_order; ALTER DATABASE # SET hnsw.ef_search = ' || $1 || ';', '#', quote_ident(current_database()))",
        &[least.to_string().into()],
    )?;
    let detail = format!(
        "without hnsw.iterative_scan and {least} for hnsw.ef_search, or without an answer: {servers}. Searches find worse passages, and with a filter too few"
    );
    Ok(Some(Finding::warning(item, detail, hint)))
}
