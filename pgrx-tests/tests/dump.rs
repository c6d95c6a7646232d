//! A database that was dumped and restored goes on as if nothing had happened.

use anyhow::{Context, Result, ensure};
use postgres::Client;
use reground_tests::server::{Database, row_counts};

/// A corpus, an ended turn, an open one, a pin.
fn fill(client: &mut Client) -> Result<()> {
    client.batch_execute(
        "SELECT reground.create_corpus('farm', dimensions => 2);
         SELECT reground.put_document('farm', 'cows', passages => '[{\"text\": \"Cows give milk.\"}]', title => 'Cows');
         SELECT reground.put_document('farm', 'sheep', passages => '[{\"text\": \"Sheep give wool.\"}]');
         SELECT reground.put_embeddings('farm', ARRAY['1', '2'], ARRAY['[1,0]', '[0,1]']::vector[]);
         SELECT reground.alter_conversation('talk', '{\"max_sources\": 5}');
         SELECT reground.pin('talk', doc_id => 'sheep', corpus => 'farm')",
    )?;
    let turn: i64 = client
        .query_one("SELECT max(turn_id) FROM reground.begin_turn('talk', 'who gives milk?', 'farm', '[1,0]', request_id => 'r1')", &[])?
        .get(0);
    client.execute(
        "SELECT reground.end_turn($1, 'Cows give milk [B1]. Pigs fly [Z9].', message => 'm1')",
        &[&turn],
    )?;
    client.execute(
        "SELECT reground.begin_turn('talk', 'and wool?', 'farm', '[0,1]', request_id => 'r2')",
        &[],
    )?;
    Ok(())
}

fn text(client: &mut Client, query: &str) -> Result<Option<String>> {
    Ok(client.query_one(query, &[])?.get(0))
}

/// What must read the same on both sides.
const SAME: [&str; 5] = [
    "SELECT string_agg(c::text, E'\\n' ORDER BY citation_id) FROM reground.citation_audit AS c",
    "SELECT string_agg(c::text, E'\\n' ORDER BY turn_id, candidate_no) FROM reground.turn_candidates AS c",
    "SELECT string_agg(m::text, E'\\n' ORDER BY binding_no) FROM reground.conversation_markers AS m",
    "SELECT string_agg(s::text, E'\\n' ORDER BY doc_id, passage) FROM reground.conversation_sources AS s",
    "SELECT string_agg(p::text, E'\\n' ORDER BY chunk_id) FROM farm AS p",
];

/// Dumps `from` in a format of pg_dump and restores it into `to`; false where the server brings no such programs.
fn copy(from: &Database, to: &Database, format: &str) -> Result<bool> {
    let (Some(mut dump), Some(mut restore)) = (from.program("pg_dump")?, to.program("pg_restore")?)
    else {
        return Ok(false);
    };
    let file = std::env::temp_dir().join(format!("{}.dump", from.name()));
    let dumped = dump
        .arg(format!("--format={format}"))
        .arg("--file")
        .arg(&file)
        .output()?;
    ensure!(
        dumped.status.success(),
        "pg_dump: {}",
        String::from_utf8_lossy(&dumped.stderr)
    );
    let restored = restore
        .args(["--exit-on-error", "--dbname"])
        .arg(to.name())
        .arg(&file)
        .output()?;
    std::fs::remove_file(&file)?;
    ensure!(
        restored.status.success(),
        "pg_restore: {}",
        String::from_utf8_lossy(&restored.stderr)
    );
    Ok(true)
}

#[test]
fn a_restored_database_goes_on() -> Result<()> {
    let before = Database::create("dump_before")?;
    fill(&mut before.connect()?)?;
    let after = Database::empty("dump_after")?;
    if !copy(&before, &after, "custom")? {
        // Said, not hidden: a server without its client programs cannot be dumped by them.
        eprintln!("no pg_dump and pg_restore beside this server: not tested");
        return Ok(());
    }
    let mut old = before.connect()?;
    let mut new = after.connect()?;
    ensure!(
        row_counts(&mut old)? == row_counts(&mut new)?,
        "rows: {:?} and {:?}",
        row_counts(&mut old)?,
        row_counts(&mut new)?
    );
    for query in SAME {
        let expected = text(&mut old, query)?;
        ensure!(expected.is_some(), "nothing to compare: {query}");
        ensure!(
            expected == text(&mut new, query)?,
            "{query}:\n{expected:?}\n{:?}",
            text(&mut new, query)?
        );
    }

    // The open turn is answered on both sides alike, ids included: sequences went on where they were.
    let answer = "SELECT to_jsonb(e)::text FROM reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'Sheep give wool [A1].', message => 'm2') AS e";
    ensure!(
        text(&mut old, answer)? == text(&mut new, answer)?,
        "the open turn ends differently"
    );
    // A repeated request is known; a new turn gets the next id and keeps the markers.
    let repeated = "SELECT max(turn_id)::text FROM reground.begin_turn('talk', 'who gives milk?', 'farm', '[1,0]', request_id => 'r1')";
    ensure!(
        text(&mut old, repeated)? == text(&mut new, repeated)?,
        "a repeated request is another turn"
    );
    let next = "SELECT jsonb_agg(b)::text FROM reground.begin_turn('talk', 'milk again', 'farm', '[1,0]') AS b";
    ensure!(
        text(&mut old, next)? == text(&mut new, next)?,
        "the next turn differs"
    );
    // The application's tables are written on.
    let put =
        "SELECT version::text FROM reground.put_document('farm', 'cows', content => 'Cows moo.')";
    ensure!(
        text(&mut new, put)?.as_deref() == Some("2"),
        "the version did not go on"
    );
    Ok(())
}

#[test]
fn a_dump_as_sql_text_can_be_read_back() -> Result<()> {
    let before = Database::create("dump_plain_before")?;
    fill(&mut before.connect()?)?;
    let after = Database::empty("dump_plain_after")?;
    let (Some(mut dump), Some(mut psql)) = (before.program("pg_dump")?, after.program("psql")?)
    else {
        eprintln!("no pg_dump and psql beside this server: not tested");
        return Ok(());
    };
    let file = std::env::temp_dir().join(format!("{}.sql", before.name()));
    let dumped = dump
        .args(["--format=plain", "--file"])
        .arg(&file)
        .output()?;
    ensure!(
        dumped.status.success(),
        "pg_dump: {}",
        String::from_utf8_lossy(&dumped.stderr)
    );
    let restored = psql
        .args([
            "--no-psqlrc",
            "--quiet",
            "--set",
            "ON_ERROR_STOP=1",
            "--file",
        ])
        .arg(&file)
        .output()?;
    std::fs::remove_file(&file)?;
    ensure!(
        restored.status.success(),
        "psql: {}",
        String::from_utf8_lossy(&restored.stderr)
    );
    let counts = row_counts(&mut before.connect()?).context("before")?;
    ensure!(
        counts == row_counts(&mut after.connect()?)?,
        "other rows after the restore"
    );
    Ok(())
}
