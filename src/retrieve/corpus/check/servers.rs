//! Checks the servers of a distributed table.

use serde::Deserialize;

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
    // It runs under the search_path of the role: only names with a schema are safe there.
    let command = format!(
        "SELECT coalesce(pg_catalog.current_setting('hnsw.iterative_scan', true), 'off') OPERATOR(pg_catalog.<>) 'off' \
             AND coalesce(pg_catalog.current_setting('hnsw.ef_search', true), '0')::pg_catalog.int4 OPERATOR(pg_catalog.>=) {least}"
    );
    let servers = sql::with_pinned_path(|| {
        sql::read_one::<String>(
            "SELECT string_agg(nodename || ':' || nodeport, ', ' ORDER BY nodeid) FROM run_command_on_workers($1) AS r JOIN pg_dist_node AS n USING (nodename, nodeport) \
         WHERE NOT r.success OR r.result <> 't'",
            &[command.as_str().into()],
        )
    })?;
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

/// Statements that take from other roles the right to create objects in a schema of the caller's search_path. It runs on each server, under that
/// path: only names with a schema are safe there.
const REVOKE: &str = "SELECT pg_catalog.string_agg(pg_catalog.format('REVOKE CREATE ON SCHEMA %I FROM %s;', n.nspname, \
        CASE WHEN a.grantee OPERATOR(pg_catalog.=) 0::pg_catalog.oid THEN 'PUBLIC' ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(a.grantee)::pg_catalog.text) END), ' ' \
        ORDER BY n.nspname, a.grantee) \
     FROM pg_catalog.pg_namespace AS n, pg_catalog.aclexplode(n.nspacl) AS a \
     WHERE n.nspname OPERATOR(pg_catalog.=) ANY (pg_catalog.current_schemas(false)) AND a.privilege_type OPERATOR(pg_catalog.=) 'CREATE'::pg_catalog.text \
        AND a.grantee OPERATOR(pg_catalog.<>) n.nspowner AND pg_catalog.pg_get_userbyid(a.grantee) OPERATOR(pg_catalog.<>) CURRENT_USER";

/// The servers with a schema that others can write, or without an answer.
#[derive(Deserialize)]
struct Open {
    servers: String,
    revoke: Option<String>,
}

/// Checks that only owners can create objects where the servers look up the functions and operators of statements.
pub fn schemas(corpus: &Corpus) -> Result<Option<Finding>> {
    if !corpus.is_distributed()? {
        return Ok(None);
    }
    let open: Option<Open> = sql::with_pinned_path(|| {
        sql::read_json(
            "SELECT json_build_object('servers', string_agg(n.nodename || ':' || n.nodeport, ', ' ORDER BY n.nodeid), 'revoke', string_agg(DISTINCT r.result, ' ') FILTER (WHERE r.success))::text \
             FROM run_command_on_all_nodes($1) AS r JOIN pg_dist_node AS n USING (nodeid) WHERE NOT r.success OR r.result <> '' HAVING count(*) > 0",
            &[REVOKE.into()],
        )
    })?;
    let item = "schemas of the servers";
    let Some(open) = open else {
        return Ok(Some(Finding::ok(
            item,
            "only their owners can create objects in the schemas of your search_path",
        )));
    };
    let detail = format!(
        "other roles can create objects in a schema of your search_path, where they would run with your rights, or without an answer: {}",
        open.servers
    );
    Ok(Some(Finding::warning(item, detail, open.revoke)))
}
