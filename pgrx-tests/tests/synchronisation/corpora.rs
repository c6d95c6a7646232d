//! A table with a corpus in each mode, and the comparison of both in plain SQL.

use anyhow::{Result, ensure};
use postgres::Client;

/// A partitioned table with a parent row that cascades to all its columns, and a corpus for it in each mode.
pub const TABLES: &str = "
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
pub fn expect_equal(client: &mut Client, corpus: &str, when: &str) -> Result<()> {
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
pub fn embed(client: &mut Client, corpus: &str, most: i32) -> Result<i32, postgres::Error> {
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
