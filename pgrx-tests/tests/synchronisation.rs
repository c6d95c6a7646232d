//! Synchronised tables under concurrent random statements: afterwards documents and passages match the table, which is compared in plain
//! SQL. `REGROUND_SOAK=N` multiplies the number of statements.

use std::thread;

use anyhow::{Context, Result, ensure};
use postgres::Client;
use reground_tests::chance::Chance;
use reground_tests::server::{Database, state};

/// Keys that the writers share, so that they often change the same rows.
const KEYS: usize = 60;

/// Statements of each of the four writers.
const STATEMENTS: usize = 150;

/// A partitioned table with a parent row that cascades, and a corpus for it in each mode.
const TABLES: &str = "
    CREATE TABLE owners (id integer PRIMARY KEY);
    INSERT INTO owners SELECT generate_series(0, 9);
    CREATE TABLE texts (id integer PRIMARY KEY, owner_id integer REFERENCES owners ON DELETE CASCADE ON UPDATE CASCADE, body text, headline text)
        PARTITION BY RANGE (id);
    CREATE TABLE texts_low PARTITION OF texts FOR VALUES FROM (MINVALUE) TO (30);
    CREATE TABLE texts_high PARTITION OF texts FOR VALUES FROM (30) TO (MAXVALUE);
    SELECT reground.create_corpus('now', dimensions => 2);
    SELECT reground.create_corpus('later', dimensions => 2);
    SELECT reground.sync_table('now', 'texts', key => 'id', content => 'body', title => 'headline');
    SELECT reground.sync_table('later', 'texts', key => 'id', content => 'body', title => 'headline', mode => 'queued')";

/// Rows of the table that differ from the documents or the passages of a corpus, and passages of no row.
fn differences(client: &mut Client, corpus: &str) -> Result<i64> {
    let row = client.query_one(
        &format!(
            "WITH expected AS (SELECT id::text AS doc_id, body, headline FROM texts WHERE body IS NOT NULL), \
                 documents AS (SELECT doc_id, content, title FROM {corpus}_documents WHERE replaced_at IS NULL), \
                 passages AS (SELECT p.doc_id, p.content, p.heading FROM {corpus} AS p) \
             SELECT (SELECT count(*) FROM (SELECT * FROM expected EXCEPT SELECT * FROM documents) AS d) \
                 + (SELECT count(*) FROM (SELECT * FROM documents EXCEPT SELECT * FROM expected) AS d) \
                 + (SELECT count(*) FROM (SELECT * FROM expected EXCEPT SELECT * FROM passages) AS d) \
                 + (SELECT count(*) FROM (SELECT * FROM passages EXCEPT SELECT * FROM expected) AS d) \
                 + abs((SELECT count(*) FROM expected) - (SELECT count(*) FROM {corpus})) \
                 + abs((SELECT count(*) FROM expected) - (SELECT count(*) FROM reground.pending_embeddings('{corpus}', 100000)))"
        ),
        &[],
    )?;
    Ok(row.get(0))
}

/// A random statement.
fn statement(chance: &mut Chance, number: usize) -> String {
    let (key, other, owner) = (chance.below(KEYS), chance.below(KEYS), chance.below(10));
    let part = if key < 30 { "texts_low" } else { "texts_high" };
    match chance.below(12) {
        0 | 1 => format!(
            "INSERT INTO texts VALUES ({key}, {owner}, 'Text {number}.', 'Title {owner}') ON CONFLICT DO NOTHING"
        ),
        2 => format!(
            "INSERT INTO texts VALUES ({key}, {owner}, 'Text {number}.', 'Title {owner}'), ({}, {owner}, 'More {number}.', NULL) \
            ON CONFLICT (id) DO UPDATE SET body = excluded.body",
            key + 1
        ),
        3 => format!("UPDATE texts SET body = 'Changed {number}.' WHERE id = {key}"),
        4 => format!(
            "UPDATE texts SET headline = 'Title {number}' WHERE id BETWEEN {key} AND {}",
            key + 3
        ),
        5 => format!("UPDATE texts SET body = NULL WHERE id = {key}"),
        6 => format!("UPDATE texts SET id = {other} WHERE id = {key}"),
        7 => format!("DELETE FROM texts WHERE id = {key}"),
        8 => format!(
            "MERGE INTO texts AS t USING (VALUES ({key}), ({})) AS n(id) ON t.id = n.id WHEN MATCHED AND t.id % 3 = 0 THEN DELETE \
            WHEN MATCHED THEN UPDATE SET body = 'Merged {number}.' WHEN NOT MATCHED THEN INSERT VALUES (n.id, {owner}, 'New {number}.', NULL)",
            key + 1
        ),
        9 => format!("WITH o AS (DELETE FROM owners WHERE id = {owner}) SELECT 1"),
        10 => "INSERT INTO owners SELECT generate_series(0, 9) ON CONFLICT DO NOTHING".to_owned(),
        _ => format!("UPDATE {part} SET body = 'Partition {number}.' WHERE id = {key}"),
    }
}

/// Runs random transactions. An error of a statement, for example a deadlock or a duplicate key, rolls its transaction back.
fn write(client: &mut Client, seed: u64, statements: usize) -> Result<()> {
    let mut chance = Chance::of(seed);
    for number in 0..statements {
        let number = number * 10 + usize::try_from(seed)?;
        let one = statement(&mut chance, number);
        let outcome = match chance.below(6) {
            0 => {
                let more = statement(&mut chance, number);
                client.batch_execute(&format!(
                    "BEGIN; {one}; SAVEPOINT s; {more}; ROLLBACK TO s; COMMIT"
                ))
            }
            1 => client.batch_execute(&format!("BEGIN; {one}; ROLLBACK")),
            2 => {
                let more = statement(&mut chance, number);
                client.batch_execute(&format!("BEGIN; {one}; {more}; COMMIT"))
            }
            _ => client.batch_execute(&one),
        };
        if let Err(error) = outcome {
            let allowed = ["23503", "23505", "40001", "40P01", "21000"];
            let code = error.code().map(|code| code.code().to_owned());
            ensure!(
                code.as_deref().is_some_and(|code| allowed.contains(&code)),
                "{one}: {error:?}"
            );
            client.batch_execute("ROLLBACK")?;
        }
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
    thread::scope(|scope| -> Result<()> {
        let writers: Vec<_> = (1..=4)
            .map(|seed| {
                let mut client = database.connect()?;
                Ok(scope.spawn(move || write(&mut client, seed, STATEMENTS * factor)))
            })
            .collect::<Result<_>>()?;
        let mut worker = database.connect()?;
        let processing = scope.spawn(move || -> Result<()> {
            for _ in 0..10 * factor {
                worker.query("SELECT reground.run_maintenance('sync_queue')", &[])?;
                thread::sleep(std::time::Duration::from_millis(200));
            }
            Ok(())
        });
        for writer in writers {
            writer
                .join()
                .map_err(|_| anyhow::anyhow!("a writer panicked"))??;
        }
        processing
            .join()
            .map_err(|_| anyhow::anyhow!("the worker panicked"))?
    })?;
    let behind: i64 = client
        .query_one(
            "SELECT count(*) FROM reground.sync_queue AS q JOIN reground.corpora AS c USING (corpus_id) WHERE c.corpus = 'now'",
            &[],
        )?
        .get(0);
    println!("rows of the immediate corpus that wait after an error: {behind}");
    if behind == 0 {
        ensure!(differences(&mut client, "now")? == 0, "the mode immediate");
    }
    for _ in 0..20 {
        client.query("SELECT reground.run_maintenance('sync_queue')", &[])?;
    }
    ensure!(differences(&mut client, "later")? == 0, "the mode queued");
    let repaired: i64 = client
        .query_one("SELECT reground.resync('now')", &[])?
        .get(0);
    ensure!(
        repaired == 0 || behind > 0,
        "resync found {repaired} differences"
    );
    ensure!(differences(&mut client, "now")? == 0, "after resync");
    Ok(())
}

#[test]
fn a_bulk_load_is_stored_in_its_transaction() -> Result<()> {
    let database = Database::create("bulk_load")?;
    let mut client = database.connect()?;
    client.batch_execute(TABLES)?;
    client.batch_execute(
        "INSERT INTO texts SELECT n, n % 10, 'Text ' || n || ' of the load.', 'Title ' || n FROM generate_series(1000, 1999) AS n",
    )?;
    ensure!(differences(&mut client, "now")? == 0, "after the load");
    client.batch_execute("TRUNCATE texts")?;
    ensure!(differences(&mut client, "now")? == 0, "after TRUNCATE");
    Ok(())
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
