//! Synchronised tables under concurrent random statements: afterwards documents, passages and pending embeddings match the table, which is
//! compared in plain SQL. `REGROUND_SOAK=N` multiplies the number of statements.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use postgres::{Client, SimpleQueryMessage};
use reground_tests::chance::Chance;
use reground_tests::server::{Database, state};

/// Keys that the writers share, so that they often change the same rows.
const KEYS: usize = 60;

/// Statements of each of the four writers.
const STATEMENTS: usize = 150;

/// A partitioned table with a parent row that cascades to all its columns, and a corpus for it in each mode.
const TABLES: &str = "
    CREATE TABLE owners (id integer PRIMARY KEY, name text NOT NULL UNIQUE);
    INSERT INTO owners SELECT n, 'Title ' || n FROM generate_series(0, 9) AS n;
    CREATE TABLE texts (id integer PRIMARY KEY, owner_id integer REFERENCES owners ON DELETE CASCADE, body text,
        headline text REFERENCES owners (name) ON DELETE SET NULL ON UPDATE CASCADE) PARTITION BY RANGE (id);
    CREATE TABLE texts_low PARTITION OF texts FOR VALUES FROM (MINVALUE) TO (30);
    CREATE TABLE texts_high PARTITION OF texts FOR VALUES FROM (30) TO (MAXVALUE);
    SELECT reground.create_corpus('now', dimensions => 2);
    SELECT reground.create_corpus('later', dimensions => 2);
    SELECT reground.sync_table('now', 'texts', key => 'id', content => 'body', title => 'headline');
    SELECT reground.sync_table('later', 'texts', key => 'id', content => 'body', title => 'headline', mode => 'queued')";

/// The vector of a text `#` in these tests, so that a vector of another text is recognised.
const VECTOR: &str = "format('[1,%s]', hashtext(#) % 10000)::vector";

/// Compares a corpus with the table: one row for each document, passage, stored version or pending embedding that is missing or must not
/// exist.
fn differences(client: &mut Client, corpus: &str) -> Result<Vec<String>> {
    let vector = VECTOR.replace('#', "concat_ws(E'\n', p.heading, p.content)");
    let rows = client.query(
        &format!(
            "WITH expected AS (SELECT id::text AS doc_id, body, headline FROM texts WHERE body IS NOT NULL), \
                 documents AS (SELECT doc_id, content, title FROM {corpus}_documents WHERE replaced_at IS NULL), \
                 passages AS (SELECT p.doc_id, p.content, p.heading FROM {corpus} AS p), \
                 versions AS (SELECT d.doc_id, d.version FROM reground.documents AS d JOIN reground.corpora AS c USING (corpus_id) \
                     WHERE c.corpus = '{corpus}' AND d.replaced_at IS NULL AND d.deleted_at IS NULL), \
                 of_passages AS (SELECT p.doc_id, p.version FROM {corpus} AS p), \
                 without_vector AS (SELECT p.chunk_id::text, concat_ws(E'\n', p.heading, p.content) AS content FROM {corpus} AS p \
                     WHERE p.embedding IS NULL OR p.embedding <> {vector}), \
                 pending AS (SELECT chunk_id, content FROM reground.pending_embeddings('{corpus}', 100000)), \
                 compared AS (\
                     (SELECT 'no document' AS what, e.doc_id FROM (TABLE expected EXCEPT ALL TABLE documents) AS e) \
                     UNION ALL (SELECT 'document of no row', d.doc_id FROM (TABLE documents EXCEPT ALL TABLE expected) AS d) \
                     UNION ALL (SELECT 'no passage', e.doc_id FROM (TABLE expected EXCEPT ALL TABLE passages) AS e) \
                     UNION ALL (SELECT 'passage of no row', p.doc_id FROM (TABLE passages EXCEPT ALL TABLE expected) AS p) \
                     UNION ALL (SELECT 'no stored version', p.doc_id FROM (TABLE of_passages EXCEPT ALL TABLE versions) AS p) \
                     UNION ALL (SELECT 'stored version of no passage', v.doc_id FROM (TABLE versions EXCEPT ALL TABLE of_passages) AS v) \
                     UNION ALL (SELECT 'not pending', w.chunk_id FROM (TABLE without_vector EXCEPT ALL TABLE pending) AS w) \
                     UNION ALL (SELECT 'pending with a vector', w.chunk_id FROM (TABLE pending EXCEPT ALL TABLE without_vector) AS w)) \
             SELECT what || ': ' || doc_id FROM compared"
        ),
        &[],
    )?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Fails with the differences between a corpus and the table.
fn expect_equal(client: &mut Client, corpus: &str, when: &str) -> Result<()> {
    let found = differences(client, corpus)?;
    ensure!(
        found.is_empty(),
        "{corpus} {when}: {} differences: {:?}",
        found.len(),
        found.iter().take(10).collect::<Vec<_>>()
    );
    Ok(())
}

/// Embeds some pending passages of a corpus. Returns their number.
fn embed(client: &mut Client, corpus: &str, most: i32) -> Result<i32, postgres::Error> {
    let row = client.query_one(
        &format!(
            "SELECT coalesce(reground.put_embeddings('{corpus}', array_agg(e.chunk_id), array_agg({}), content_hashes => array_agg(e.content_hash)), 0) \
             FROM reground.pending_embeddings('{corpus}', $1) AS e HAVING count(*) > 0 UNION ALL SELECT 0 LIMIT 1",
            VECTOR.replace('#', "e.content")
        ),
        &[&most],
    )?;
    Ok(row.get(0))
}

/// The kinds of random statements, in the order of [`statement`].
const KINDS: [&str; 21] = [
    "INSERT",
    "INSERT … ON CONFLICT",
    "UPDATE of a text",
    "UPDATE of titles",
    "content to NULL",
    "change of a key",
    "DELETE",
    "MERGE",
    "DELETE and INSERT in one statement",
    "cascade of DELETE",
    "cascade of UPDATE",
    "new parent row",
    "INSERT into a partition",
    "UPDATE of a partition",
    "DELETE from a partition",
    "COPY",
    "COPY into a partition",
    "UPDATE of many rows",
    "TRUNCATE",
    "TRUNCATE of a partition",
    "TRUNCATE … CASCADE",
];

/// A random statement, and its place in [`KINDS`].
fn statement(chance: &mut Chance, number: usize) -> (usize, String) {
    let (key, other, owner) = (chance.below(KEYS), chance.below(KEYS), chance.below(10));
    let part = if key < 30 { "texts_low" } else { "texts_high" };
    let row = format!(
        "{owner}, 'Text {number}.', (SELECT name FROM owners WHERE id = {})",
        other % 10
    );
    // TRUNCATE and the cascade remove most rows, so they are rare.
    let kind = match chance.below(400) {
        rare @ 0..=2 => 18 + rare,
        number if number % 18 == 9 && number > 100 => 0,
        number => number % 18,
    };
    let statement = match kind {
        0 => format!(
            "INSERT INTO texts SELECT n, {row} FROM generate_series({key}, {}) AS n ON CONFLICT DO NOTHING",
            key + 9
        ),
        1 => format!(
            "INSERT INTO texts VALUES ({key}, {row}), ({}, {owner}, 'More {number}.', NULL) ON CONFLICT (id) DO UPDATE SET body = excluded.body",
            key + 1
        ),
        2 => format!("UPDATE texts SET body = 'Changed {number}.' WHERE id = {key}"),
        3 => format!(
            "UPDATE texts SET headline = (SELECT name FROM owners WHERE id = {owner}) WHERE id BETWEEN {key} AND {}",
            key + 3
        ),
        4 => format!("UPDATE texts SET body = NULL WHERE id = {key}"),
        5 => format!("UPDATE texts SET id = {other} WHERE id = {key}"),
        6 => format!("DELETE FROM texts WHERE id = {key}"),
        7 => format!(
            "MERGE INTO texts AS t USING (VALUES ({key}), ({})) AS n(id) ON t.id = n.id WHEN MATCHED AND t.id % 3 = 0 THEN DELETE \
            WHEN MATCHED THEN UPDATE SET body = 'Merged {number}.' WHEN NOT MATCHED THEN INSERT VALUES (n.id, {owner}, 'New {number}.', NULL)",
            key + 1
        ),
        8 => format!(
            "WITH gone AS (DELETE FROM texts WHERE id IN ({key}, {}) RETURNING *) \
             INSERT INTO texts SELECT id + 1, owner_id, body, headline FROM gone ON CONFLICT DO NOTHING",
            key + 1
        ),
        9 => format!("DELETE FROM owners WHERE id = {owner}"),
        10 => format!("UPDATE owners SET name = 'Title {number}' WHERE id = {owner}"),
        11 => format!(
            "INSERT INTO owners SELECT n, 'Title ' || {number} || '.' || n FROM generate_series(0, 9) AS n ON CONFLICT DO NOTHING"
        ),
        12 => format!("INSERT INTO {part} VALUES ({key}, {row}) ON CONFLICT DO NOTHING"),
        13 => format!("UPDATE {part} SET body = 'Partition {number}.' WHERE id = {key}"),
        14 => format!("DELETE FROM {part} WHERE id IN ({key}, {other})"),
        15 => format!(
            "COPY texts FROM PROGRAM 'printf \"{key},{owner},Copy {number}.,\\n{},{owner},Copied {number}.,\\n\"' (FORMAT csv)",
            key + 1
        ),
        16 => format!(
            "COPY {part} FROM PROGRAM 'printf \"{key},{owner},Copy {number}.,\\n\"' (FORMAT csv)"
        ),
        17 => format!("UPDATE texts SET body = body || ' {number}.' WHERE owner_id = {owner}"),
        18 => "TRUNCATE texts".to_owned(),
        19 => format!("TRUNCATE {part}"),
        _ => "TRUNCATE owners CASCADE".to_owned(),
    };
    (kind, statement)
}

/// The ways in which [`write`] runs a statement.
const WAYS: [&str; 7] = [
    "alone",
    "rolled back",
    "with a second one",
    "before a savepoint that is rolled back",
    "in a savepoint that is released",
    "before an exception in a block",
    "in REPEATABLE READ",
];

/// What a writer has done.
#[derive(Default)]
struct Written {
    /// Committed statements that changed rows, or a TRUNCATE, by kind.
    kinds: [usize; KINDS.len()],
    /// Transactions without an error, by way.
    ways: [usize; WAYS.len()],
    /// Statements that were sent, also those of transactions with an error.
    statements: usize,
    /// Transactions that ended with an error, for example a deadlock.
    errors: usize,
}

/// Runs a statement, and returns the number of rows that it changed.
fn run(client: &mut Client, statement: &str) -> Result<u64, postgres::Error> {
    let messages = client.simple_query(statement)?;
    let rows = messages.iter().map(|message| match message {
        SimpleQueryMessage::CommandComplete(rows) => *rows,
        _ => 0,
    });
    Ok(rows
        .sum::<u64>()
        .max(u64::from(statement.starts_with("TRUNCATE"))))
}

/// Runs a transaction of one or two random statements.
fn transaction(
    client: &mut Client,
    chance: &mut Chance,
    number: usize,
    written: &mut Written,
) -> Result<(), postgres::Error> {
    let way = chance.below(12) % WAYS.len();
    let ((kind, one), (more_kind, more)) = (statement(chance, number), statement(chance, number));
    let mut counts = vec![(kind, 0)];
    written.statements += 1;
    match way {
        1 => {
            client.batch_execute("BEGIN")?;
            run(client, &one)?;
            client.batch_execute("ROLLBACK")?;
        }
        2 => {
            client.batch_execute("BEGIN")?;
            counts[0].1 = run(client, &one)?;
            written.statements += 1;
            counts.push((more_kind, run(client, &more)?));
            client.batch_execute("COMMIT")?;
        }
        3 | 4 => {
            client.batch_execute("BEGIN")?;
            counts[0].1 = run(client, &one)?;
            client.batch_execute("SAVEPOINT a; SAVEPOINT b")?;
            written.statements += 1;
            let rows = run(client, &more)?;
            if way == 3 {
                client.batch_execute("ROLLBACK TO a; COMMIT")?;
            } else {
                client.batch_execute("RELEASE a; COMMIT")?;
                counts.push((more_kind, rows));
            }
        }
        5 => {
            written.statements += 1;
            client.batch_execute(&format!(
                "DO $$ BEGIN {one}; BEGIN {more}; RAISE EXCEPTION 'undone'; EXCEPTION WHEN raise_exception THEN NULL; END; END $$"
            ))?;
        }
        6 => {
            client.batch_execute(
                "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM texts",
            )?;
            // Others write meanwhile.
            thread::sleep(Duration::from_millis(5));
            counts[0].1 = run(client, &one)?;
            client.batch_execute("COMMIT")?;
        }
        _ => counts[0].1 = run(client, &one)?,
    }
    written.ways[way] += 1;
    for (kind, rows) in counts {
        written.kinds[kind] += usize::from(rows > 0);
    }
    Ok(())
}

/// Errors that concurrent writers get by chance: foreign and unique keys, serialization failures and deadlocks, two rows of MERGE that
/// meet.
const ALLOWED: [&str; 5] = ["23503", "23505", "40001", "40P01", "21000"];

/// Returns an error that is not [`ALLOWED`], and otherwise whether there was one.
fn allowed<T>(outcome: Result<T, postgres::Error>) -> Result<bool> {
    match outcome {
        Ok(_) => Ok(false),
        Err(error)
            if ALLOWED
                .iter()
                .any(|code| error.code().is_some_and(|found| found.code() == *code)) =>
        {
            Ok(true)
        }
        Err(error) => Err(error.into()),
    }
}

/// Runs random transactions. An error of a statement rolls its transaction back.
fn write(client: &mut Client, seed: u64, statements: usize) -> Result<Written> {
    let mut chance = Chance::of(seed);
    let mut written = Written::default();
    while written.statements < statements {
        let number = written.statements * 10 + usize::try_from(seed)?;
        let outcome = transaction(client, &mut chance, number, &mut written);
        if allowed(outcome).with_context(|| format!("statement {number}"))? {
            written.errors += 1;
            client.batch_execute("ROLLBACK")?;
        }
    }
    Ok(written)
}

/// Prints what the writers did. Fails if a kind or a way is missing from more than a thousand statements.
fn report(written: &[Written], seconds: f64) -> Result<()> {
    let sum = |of: &dyn Fn(&Written) -> usize| written.iter().map(of).sum::<usize>();
    let all = sum(&|writer| writer.statements);
    let mut lines = vec![format!(
        "{all} statements of {} writers in {seconds:.0} s, {} transactions with an error",
        written.len(),
        sum(&|writer| writer.errors),
    )];
    for (kind, name) in KINDS.iter().enumerate() {
        let count = sum(&|writer| writer.kinds[kind]);
        ensure!(count > 0 || all < 1000, "no {name} has changed rows");
        lines.push(format!("{count:6} {name}"));
    }
    for (way, name) in WAYS.iter().enumerate() {
        let count = sum(&|writer| writer.ways[way]);
        ensure!(count > 0 || all < 1000, "no transaction {name}");
        lines.push(format!("{count:6} {name}"));
    }
    println!("{}", lines.join("\n"));
    Ok(())
}

/// Runs `work` in a session of its own until the writers have ended. Errors that it gets by chance do not count.
fn meanwhile(
    database: &Database,
    done: &AtomicBool,
    work: impl Fn(&mut Client) -> Result<(), postgres::Error>,
) -> Result<()> {
    let mut client = database.connect()?;
    while !done.load(Ordering::Relaxed) {
        allowed(work(&mut client))?;
        thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}

/// Processes the queue and embeds all passages, and checks that both corpora match the table all the time.
fn settle(client: &mut Client) -> Result<()> {
    let behind: i64 = client
        .query_one(
            "SELECT count(*) FROM reground.sync_queue WHERE last_error IS NOT NULL",
            &[],
        )?
        .get(0);
    ensure!(behind == 0, "{behind} rows wait after an error");
    let waiting: i64 = client
        .query_one(
            "SELECT count(*) FROM reground.sync_queue AS q JOIN reground.corpora AS c USING (corpus_id) WHERE c.corpus = 'now'",
            &[],
        )?
        .get(0);
    // TRUNCATE in REPEATABLE READ queues a comparison.
    if waiting == 0 {
        expect_equal(client, "now", "after the statements")?;
    }
    for _ in 0..20 {
        client.query("SELECT reground.run_maintenance('sync_queue')", &[])?;
    }
    expect_equal(client, "now", "after the queue")?;
    expect_equal(client, "later", "after the queue")?;
    for corpus in ["now", "later"] {
        let repaired: i64 = client
            .query_one("SELECT reground.resync($1)", &[&corpus])?
            .get(0);
        ensure!(
            repaired == 0,
            "resync of {corpus} found {repaired} differences"
        );
        while embed(client, corpus, 1000)? > 0 {}
        expect_equal(client, corpus, "after all passages are embedded")?;
    }
    Ok(())
}

#[test]
fn documents_match_the_table_after_concurrent_statements() -> Result<()> {
    let database = Database::create("synchronisation")?;
    let mut client = database.connect()?;
    client.batch_execute(TABLES)?;
    let factor: usize = match std::env::var("REGROUND_SOAK") {
        Ok(factor) => factor.parse().context("REGROUND_SOAK is a number")?,
        Err(_) => 1,
    };
    let begun = Instant::now();
    let done = AtomicBool::new(false);
    let written = thread::scope(|scope| -> Result<Vec<Written>> {
        let database = &database;
        let writers: Vec<_> = (1..=4)
            .map(|seed| {
                scope.spawn(move || write(&mut database.connect()?, seed, STATEMENTS * factor))
            })
            .collect();
        let done = &done;
        let worker = scope.spawn(move || {
            meanwhile(database, done, |client| {
                client
                    .query("SELECT reground.run_maintenance('sync_queue')", &[])
                    .map(drop)
            })
        });
        let embedder = scope.spawn(move || {
            meanwhile(database, done, |client| {
                embed(client, "now", 5)?;
                embed(client, "later", 5).map(drop)
            })
        });
        let written: Vec<_> = writers
            .into_iter()
            .map(thread::ScopedJoinHandle::join)
            .collect();
        done.store(true, Ordering::Relaxed);
        for other in [worker, embedder] {
            other
                .join()
                .map_err(|_| anyhow::anyhow!("a session panicked"))??;
        }
        let joined = written
            .into_iter()
            .map(|writer| writer.map_err(|_| anyhow::anyhow!("a writer panicked"))?);
        joined.collect()
    })?;
    report(&written, begun.elapsed().as_secs_f64())?;
    settle(&mut client)
}

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
fn a_text_that_changes_is_embedded_again() -> Result<()> {
    let database = Database::create("stale_vectors")?;
    let mut client = database.connect()?;
    client.batch_execute(
        "CREATE TABLE shelf (id integer PRIMARY KEY, body text, place vector(2));
         INSERT INTO shelf VALUES (1, 'One.', '[1,0]'), (2, 'Two.', NULL), (3, 'Three.', '[0,1]');
         SELECT reground.add_corpus('shelf', 'shelf', 'id', 'body', embedding => 'place')",
    )?;
    let pending = |client: &mut Client| -> Result<Vec<String>> {
        let rows = client.query(
            "SELECT chunk_id FROM reground.pending_embeddings('shelf')",
            &[],
        )?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    };
    ensure!(
        pending(&mut client)? == ["2"],
        "a vector of a new corpus is current"
    );
    client.batch_execute("UPDATE shelf SET body = 'Another.' WHERE id = 3")?;
    ensure!(
        pending(&mut client)? == ["2", "3"],
        "a changed text is pending"
    );
    // The text changes between the two calls.
    let hash: String = client
        .query_one(
            "SELECT content_hash FROM reground.pending_embeddings('shelf') WHERE chunk_id = '3'",
            &[],
        )?
        .get(0);
    client.batch_execute("UPDATE shelf SET body = 'Once more.' WHERE id = 3")?;
    let put = "SELECT reground.put_embeddings('shelf', ARRAY['3'], ARRAY['[1,1]']::vector[], content_hashes => ARRAY[$1])";
    let stored: i32 = client.query_one(put, &[&hash])?.get(0);
    ensure!(stored == 0, "a vector of an earlier text is not stored");
    ensure!(
        pending(&mut client)? == ["2", "3"],
        "the passage is still pending"
    );
    let stored: i32 = client
        .query_one("SELECT reground.put_embeddings('shelf', ARRAY['2', '3'], ARRAY['[1,1]', '[1,2]']::vector[])", &[])?
        .get(0);
    ensure!(
        stored == 2 && pending(&mut client)?.is_empty(),
        "both are embedded"
    );
    let refused = client.query(put, &[&Option::<String>::None]).is_ok();
    ensure!(refused, "a hash of NULL is not compared");
    let wrong = "SELECT reground.put_embeddings('shelf', ARRAY['3'], ARRAY['[1,1]']::vector[], content_hashes => '{}')";
    ensure!(
        state(&client.query(wrong, &[])) == Some("22023"),
        "fewer hashes"
    );
    Ok(())
}

#[test]
fn records_of_deleted_rows_are_removed() -> Result<()> {
    let database = Database::create("embedding_records")?;
    let mut client = database.connect()?;
    client.batch_execute(
        "CREATE TABLE shelf (id integer PRIMARY KEY, body text, place vector(2));
         INSERT INTO shelf SELECT n, 'Text ' || n, '[1,0]' FROM generate_series(1, 1500) AS n;
         SELECT reground.add_corpus('shelf', 'shelf', 'id', 'body', embedding => 'place');
         DELETE FROM shelf WHERE id > 1",
    )?;
    let maintain = "SELECT processed, error FROM reground.run_maintenance('embedding_records')";
    let row = client.query_one(maintain, &[])?;
    ensure!(
        row.get::<_, Option<i64>>(0) == Some(1499) && row.get::<_, Option<String>>(1).is_none(),
        "{row:?}"
    );
    let records = "SELECT string_agg(chunk_id, ' ') FROM reground.passage_embeddings";
    let left: String = client.query_one(records, &[])?.get(0);
    ensure!(left == "1", "records of {left}");
    // The text of the earlier row is not compared with that of a new row of the same key.
    client.batch_execute("INSERT INTO shelf VALUES (2, 'New.', '[0,1]')")?;
    let pending = client.query("SELECT FROM reground.pending_embeddings('shelf')", &[])?;
    ensure!(pending.is_empty(), "the new row has a vector");
    // A table that is gone does not stop the others.
    client.batch_execute(
        "CREATE TABLE gone AS SELECT * FROM shelf; SELECT reground.add_corpus('gone', 'gone', 'id', 'body', embedding => 'place');
         DROP TABLE gone; DELETE FROM shelf WHERE id = 1",
    )?;
    let row = client.query_one(maintain, &[])?;
    ensure!(row.get::<_, Option<i64>>(0) == Some(1), "{row:?}");
    Ok(())
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
