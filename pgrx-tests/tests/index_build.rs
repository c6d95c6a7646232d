//! A parallel build creates the same index as a single process.

use std::sync::{Arc, Mutex, MutexGuard};

use anyhow::{Context, Result, ensure};
use postgres::{Client, NoTls};
use reground_tests::server::Database;

/// Queries with the ids and scores of their best rows, in order of score and id.
fn best_rows(client: &mut Client) -> Result<Vec<(String, i64, String)>> {
    client.batch_execute("SET enable_seqscan = off")?;
    let rows = client.query(
        "SELECT q, count(*), md5(string_agg(d.id || ' ' || d.score, ',' ORDER BY d.score, d.id)) \
         FROM unnest(ARRAY['w3', 'w7 w2999', 'w11 w12 w13', 'w500', 'w1 w2 w3 w4 w5 w6 w7 w8']) AS q, \
             LATERAL (SELECT id, body <@> reground.bm25_query(q, 'docs') AS score FROM docs WHERE body @@@ reground.bm25_query(q, 'docs')) AS d \
         GROUP BY q ORDER BY q",
        &[],
    )?;
    client.batch_execute("RESET enable_seqscan")?;
    Ok(rows
        .iter()
        .map(|row| (row.get(0), row.get(1), row.get(2)))
        .collect())
}

/// Fails unless bm25_check finds nothing and all rows are in the index.
fn is_sound(client: &mut Client) -> Result<()> {
    let faults = client.query(
        "SELECT item || ': ' || problem FROM reground.bm25_check('docs_body', heapallindexed => true)",
        &[],
    )?;
    let faults: Vec<String> = faults.iter().map(|row| row.get(0)).collect();
    ensure!(faults.is_empty(), "{faults:?}");
    Ok(())
}

/// A session that collects all messages of the server.
fn listening(database: &Database) -> Result<(Client, Arc<Mutex<Vec<String>>>)> {
    let mut config = database.config()?;
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&heard);
    config.notice_callback(move |notice| {
        if let Ok(mut heard) = hears.lock() {
            heard.push(notice.message().to_owned());
        }
    });
    Ok((config.connect(NoTls)?, heard))
}

fn locked(heard: &Mutex<Vec<String>>) -> Result<MutexGuard<'_, Vec<String>>> {
    heard.lock().ok().context("a notice callback has panicked")
}

/// Rebuilds the index; returns the number of workers that took part.
fn build(client: &mut Client, heard: &Mutex<Vec<String>>, statement: &str) -> Result<u32> {
    locked(heard)?.clear();
    client.batch_execute("SET client_min_messages = debug1")?;
    client.batch_execute(statement)?;
    client.batch_execute("RESET client_min_messages")?;
    let heard = locked(heard)?;
    let said = heard
        .iter()
        .find(|said| said.contains("parallel workers read the table"));
    match said.and_then(|said| said.split(' ').next()) {
        Some(count) => count.parse().with_context(|| count.to_owned()),
        None => Ok(0),
    }
}

#[test]
fn workers_build_the_same_index_as_one_process() -> Result<()> {
    let database = Database::create("index_build")?;
    let (mut client, heard) = listening(&database)?;
    // No row is deleted: whether a build counts deleted rows depends on the oldest transaction of all sessions, and other sessions
    // run at the same time.
    client.batch_execute(
        "
         CREATE TABLE docs (id integer PRIMARY KEY, body text) WITH (parallel_workers = 2);
         INSERT INTO docs SELECT n, CASE WHEN n % 97 > 0 THEN (SELECT string_agg('w' || (hashint4(n * 131 + w) & 2147483647) % (1 + n % 3000), ' ') FROM generate_series(1, 1 + n % 60) AS w) END
             FROM generate_series(1, 30000) AS n WHERE n % 11 > 0;
         SET max_parallel_maintenance_workers = 0; SET maintenance_work_mem = '64MB'",
    )?;
    let create =
        "CREATE INDEX docs_body ON docs USING reground_bm25 (body) WITH (text_config = simple)";
    ensure!(build(&mut client, &heard, create)? == 0);
    is_sound(&mut client)?;
    let alone = best_rows(&mut client)?;
    ensure!(alone.iter().map(|(_, count, _)| count).sum::<i64>() > 10_000);

    client.batch_execute("SET max_parallel_maintenance_workers = 2")?;
    for statement in [
        "REINDEX INDEX docs_body",
        "REINDEX INDEX CONCURRENTLY docs_body",
    ] {
        // PostgreSQL plans a process for each 32 MB.
        client.batch_execute("SET maintenance_work_mem = '96MB'")?;
        let workers = build(&mut client, &heard, statement)?;
        ensure!(workers > 0, "{statement}: no worker took part");
        is_sound(&mut client)?;
        ensure!(best_rows(&mut client)? == alone, "{statement}");
    }
    Ok(())
}

#[test]
fn a_cancelled_build_leaves_no_files() -> Result<()> {
    let database = Database::create("index_build_stopped")?;
    let (mut client, heard) = listening(&database)?;
    client.batch_execute(
        "CREATE TABLE docs (id integer PRIMARY KEY, body text) WITH (parallel_workers = 2);
         INSERT INTO docs SELECT n, repeat('w' || n || ' ', 20) FROM generate_series(1, 20000) AS n;
         -- The last rows cannot be indexed: a worker or the leader meets one.
         CREATE FUNCTION odd(body text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS
             'BEGIN IF body LIKE ''w19999 %'' THEN RAISE EXCEPTION ''odd one''; END IF; RETURN body; END';
         SET max_parallel_maintenance_workers = 2; SET maintenance_work_mem = '96MB'; SET client_min_messages = debug1",
    )?;
    let refused =
        client.batch_execute("CREATE INDEX docs_odd ON docs USING reground_bm25 (odd(body))");
    let refused = refused
        .err()
        .context("a build with an invalid row succeeded")?;
    ensure!(format!("{refused:?}").contains("odd one"), "{refused:?}");
    let began = locked(&heard)?
        .iter()
        .any(|said| said.contains("parallel workers read"));
    ensure!(began, "no worker took part");
    let left: i64 = client
        .query_one(
            // Files of a parallel build are in folders named after the process of the leader.
            "SELECT (SELECT count(*) FROM pg_class WHERE relname = 'docs_odd') \
                 + (SELECT count(*) FROM pg_ls_dir('base/pgsql_tmp', true, false) AS file WHERE starts_with(file, 'pgsql_tmp' || pg_backend_pid() || '.')) \
                 + (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker' AND datname = current_database())",
            &[],
        )?
        .get(0);
    ensure!(left == 0, "{left} left behind");
    Ok(())
}
