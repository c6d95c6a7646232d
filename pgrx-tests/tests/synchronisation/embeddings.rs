//! Pending embeddings and their records after changes of the rows.

use anyhow::{Result, ensure};
use postgres::Client;
use reground_tests::server::{Database, state};

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
