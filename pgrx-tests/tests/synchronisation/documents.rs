//! Documents after a load, a TRUNCATE, a comparison and changes of a virtual column.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};
use reground_tests::server::Database;

use crate::corpora::{TABLES, expect_equal};

#[test]
fn a_bulk_load_is_stored_in_its_transaction() -> Result<()> {
    let database = Database::create("bulk_load")?;
    let mut client = database.connect()?;
    client.batch_execute(TABLES)?;
    client.batch_execute(
        "INSERT INTO texts SELECT n, n % 10, 'Text ' || n || ' of the load.', 'Title ' || n % 10 FROM generate_series(1000, 1999) AS n",
    )?;
    expect_equal(&mut client, "now", "after the load")?;
    client.batch_execute("TRUNCATE texts")?;
    expect_equal(&mut client, "now", "after TRUNCATE")?;
    Ok(())
}

#[test]
fn a_comparison_replaces_the_entries_of_the_queue_that_it_covers() -> Result<()> {
    let database = Database::create("queue_once")?;
    let mut client = database.connect()?;
    client.batch_execute(
        "CREATE TABLE notes (id integer PRIMARY KEY, body text);
         SELECT reground.create_corpus('notes corpus');
         SELECT reground.sync_table('notes corpus', 'notes', key => 'id', content => 'body', mode => 'queued');
         INSERT INTO notes SELECT n, 'Note ' || n FROM generate_series(1, 1500) AS n",
    )?;
    let (mut stored, mut waiting) = (0, 1);
    while waiting > 0 {
        let run = "SELECT processed FROM reground.run_maintenance('sync_queue')";
        stored += client.query_one(run, &[])?.get::<_, i64>(0);
        let left = "SELECT count(*) FROM reground.sync_queue";
        waiting = client.query_one(left, &[])?.get::<_, i64>(0);
    }
    ensure!(
        stored == 1500,
        "{stored} documents were stored for 1500 rows"
    );
    Ok(())
}

#[test]
fn rows_are_written_while_a_table_is_registered() -> Result<()> {
    // The snapshot of the second level does not show what is written meanwhile. The next run of maintenance stores it.
    for (level, expected) in [("read committed", 23), ("repeatable read", 20)] {
        register_and_write(level, expected)?;
    }
    Ok(())
}

/// Registers a table in a transaction of a level while another session writes. `expected`: number of documents stored meanwhile.
fn register_and_write(level: &str, expected: i64) -> Result<()> {
    let database = Database::create("register")?;
    let mut client = database.connect()?;
    client.batch_execute(
        "CREATE TABLE rows (id integer PRIMARY KEY, body text);
         INSERT INTO rows SELECT n, 'Row ' || n FROM generate_series(1, 20) AS n;
         SELECT reground.create_corpus('register')",
    )?;
    let mut other = database.connect()?;
    other.batch_execute(&format!("SET default_transaction_isolation = '{level}'"))?;
    // Documents cannot be stored, so the registration waits.
    client.batch_execute("BEGIN; LOCK TABLE register IN SHARE MODE")?;
    let registering = thread::spawn(move || {
        other.query_one(
            "SELECT reground.sync_table('register', 'rows', key => 'id', content => 'body')",
            &[],
        )
    });
    let mut writer = database.connect()?;
    let waits = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'register'::regclass)";
    let start = Instant::now();
    while !writer.query_one(waits, &[])?.get::<_, bool>(0) {
        ensure!(
            start.elapsed() < Duration::from_secs(60),
            "the registration does not wait"
        );
        thread::sleep(Duration::from_millis(10));
    }
    writer.batch_execute(
        "SET lock_timeout = '1s';
         INSERT INTO rows VALUES (21, 'Row 21');
         DELETE FROM rows WHERE id = 1;
         UPDATE rows SET body = 'Row two' WHERE id = 2",
    )?;
    writer.batch_execute("VACUUM rows")?;
    client.batch_execute("COMMIT")?;
    let registered = registering.join();
    let registered = registered.map_err(|_| anyhow!("the registering session panicked"))?;
    let stored: i64 = registered?.get(0);
    ensure!(stored == expected, "{level}: {stored} documents");
    client.query("SELECT reground.run_maintenance('sync_queue')", &[])?;
    let wrong = "SELECT count(*) FROM rows AS r FULL JOIN register AS p ON p.doc_id = r.id::text WHERE p.content IS DISTINCT FROM r.body";
    let wrong: i64 = client.query_one(wrong, &[])?.get(0);
    ensure!(wrong == 0, "{level}: {wrong} documents differ");
    Ok(())
}

#[test]
fn truncate_removes_documents_that_its_snapshot_does_not_show() -> Result<()> {
    let database = Database::create("truncate")?;
    let mut client = database.connect()?;
    client.batch_execute(TABLES)?;
    let mut other = database.connect()?;
    other.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM texts")?;
    client.batch_execute("INSERT INTO texts VALUES (1, 1, 'Unseen.', NULL)")?;
    other.batch_execute("TRUNCATE texts; COMMIT")?;
    client.query("SELECT reground.run_maintenance('sync_queue')", &[])?;
    expect_equal(&mut client, "now", "after TRUNCATE")?;
    expect_equal(&mut client, "later", "after TRUNCATE")
}

#[test]
fn a_virtual_column_is_read_from_the_table() -> Result<()> {
    let database = Database::create("virtual_column")?;
    let mut client = database.connect()?;
    let version: i32 = client
        .query_one("SELECT current_setting('server_version_num')::integer", &[])?
        .get(0);
    if version < 180_000 {
        return Ok(());
    }
    client.batch_execute(
        "CREATE TABLE lines (id integer PRIMARY KEY, first text, last text, body text GENERATED ALWAYS AS (first || ' ' || last) VIRTUAL);
         SELECT reground.create_corpus('verse');
         SELECT reground.sync_table('verse', 'lines', key => 'id', content => 'body');
         INSERT INTO lines VALUES (1, 'Tea', 'is hot.'), (2, 'Ice', 'is cold.');
         UPDATE lines SET last = 'is warm.' WHERE id = 1;
         UPDATE lines SET id = 3 WHERE id = 2",
    )?;
    let texts: String = client
        .query_one(
            "SELECT string_agg(doc_id || ': ' || content, ', ' ORDER BY doc_id) FROM verse",
            &[],
        )?
        .get(0);
    ensure!(texts == "1: Tea is warm., 3: Ice is cold.", "{texts}");
    let queued: i64 = client
        .query_one("SELECT count(*) FROM reground.sync_queue", &[])?
        .get(0);
    ensure!(queued == 0, "{queued} entries are queued");
    Ok(())
}
