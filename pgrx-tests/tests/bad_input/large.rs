//! Large documents, answers and JSON values.

use anyhow::{Context, Result, ensure};
use reground_tests::server::{Database, row_counts, state};

use crate::fixture::open_turn;

#[test]
fn a_document_of_ten_megabytes() -> Result<()> {
    let database = Database::create("bad_large")?;
    let mut client = database.connect()?;
    client.execute("SELECT reground.create_corpus('large')", &[])?;
    for (name, content) in [
        (
            "prose",
            "The quick brown fox jumps over the lazy dog. ".repeat(233_000),
        ),
        // No white space and no sentence to split at.
        ("one word", "x".repeat(10 << 20)),
    ] {
        let put = client
            .query_one(
                "SELECT version, chunk_count, page_count FROM reground.put_document('large', $1, content => $2)",
                &[&name, &content],
            )
            .with_context(|| format!("10 MB of {name}"))?;
        ensure!(put.get::<_, i32>(1) > 1, "{name} was not split");
        let exact: bool = client
            .query_one(
                "SELECT bool_and(substring(d.content FROM p.char_start + 1 FOR p.char_end - p.char_start) = p.content) \
                 FROM (SELECT * FROM large WHERE doc_id = $1 AND (ordinal < 20 OR ordinal % 997 = 0)) AS p JOIN large_documents AS d USING (doc_id, version)",
                &[&name],
            )?
            .get(0);
        ensure!(exact, "{name}: a chunk is not the text at its offsets");
    }
    ensure!(
        !client
            .query(
                "SELECT * FROM reground.search('large', 'fox', max_results => 3)",
                &[]
            )?
            .is_empty(),
        "not found"
    );
    Ok(())
}

#[test]
fn ten_thousand_markers_in_one_answer() -> Result<()> {
    let database = Database::create("bad_markers")?;
    let mut client = database.connect()?;
    let turn = open_turn(&mut client)?;
    // Of four citations one is correct, one names another source, one is unknown, one is unresolvable.
    let answer = "Cows give milk [A1]. Cows give milk [B1]. Pigs fly [Z9]. So says (Smith, 2020). "
        .repeat(2_500);
    let rows = client.query(
        "SELECT status FROM reground.end_turn($1, $2)",
        &[&turn, &answer],
    )?;
    ensure!(rows.len() == 10_000, "{} rows", rows.len());
    let statuses = client.query(
        "SELECT marker, status, count(*) FROM reground.message_citations GROUP BY marker, status ORDER BY marker NULLS LAST",
        &[],
    )?;
    let found: Vec<(Option<String>, String, i64)> = statuses
        .iter()
        .map(|row| (row.get(0), row.get(1), row.get(2)))
        .collect();
    let expected = [
        (Some("A1".into()), "resolved_current".into(), 2_500),
        (Some("B1".into()), "wrong_source".into(), 2_500),
        (Some("Z9".into()), "unknown_id".into(), 2_500),
        (None, "unresolvable".into(), 2_500),
    ];
    ensure!(found == expected, "{found:?}");
    let count: i32 = client
        .query_one("SELECT citation_count FROM reground.messages", &[])?
        .get(0);
    ensure!(count == 10_000, "the message counts {count}");
    Ok(())
}

#[test]
fn deep_and_huge_json_returns_rows_or_an_error() -> Result<()> {
    let database = Database::create("bad_json")?;
    let mut client = database.connect()?;
    open_turn(&mut client)?;
    let before = row_counts(&mut client)?;
    let deep = format!("{}1{}", "[".repeat(3_000), "]".repeat(3_000));
    let huge = format!("{{\"doc_id\": [{}\"cows\"]}}", "\"x\",".repeat(100_000));
    let found = client.query(
        "SELECT doc_id FROM reground.search('farm', 'milk', '[1,0]', filter => $1::text::jsonb)",
        &[&huge],
    )?;
    ensure!(
        found.len() == 1,
        "{} rows under a filter of 100,000 values",
        found.len()
    );
    for call in [
        "SELECT reground.search('farm', 'milk', '[1,0]', filter => $1::text::jsonb)",
        "SELECT reground.search('farm', 'milk', '[1,0]', settings => $1::text::jsonb)",
        "SELECT reground.begin_turn('c', 'milk', 'farm', '[1,0]', settings => $1::text::jsonb)",
        "SELECT reground.put_document('farm', 'd', passages => $1::text::jsonb)",
        "SELECT reground.alter_conversation('c', $1::text::jsonb)",
        "SELECT reground.alter_corpus('farm', settings => $1::text::jsonb)",
    ] {
        let outcome = client.query(call, &[&deep]);
        let refused = state(&outcome).context(call)?;
        ensure!(
            ["22023", "54001", "54000"].contains(&refused),
            "{call}: {outcome:?}"
        );
    }
    ensure!(row_counts(&mut client)? == before, "something was written");
    // The session still works.
    client.query(
        "SELECT * FROM reground.search('farm', 'milk', '[1,0]')",
        &[],
    )?;
    Ok(())
}
