//! Unusual input: each call returns a clear error or a correct result and writes nothing by halves.

use anyhow::{Context, Result, ensure};
use postgres::Client;
use postgres::types::private::BytesMut;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use reground_tests::server::{Database, row_counts, state};
use serde_json::json;

/// Bytes sent as text, valid or not, as a driver in another language might send them.
#[derive(Debug)]
struct RawText(&'static [u8]);

impl ToSql for RawText {
    fn to_sql(
        &self,
        _: &Type,
        out: &mut BytesMut,
    ) -> std::result::Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        out.extend_from_slice(self.0);
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// Creates a corpus of two documents and an open turn on it; returns the id of the turn.
fn open_turn(client: &mut Client) -> Result<i64> {
    client.batch_execute(
        "SELECT reground.create_corpus('farm', dimensions => 2);
         SELECT reground.put_document('farm', 'cows', passages => '[{\"content\": \"Cows give milk.\"}]');
         SELECT reground.put_document('farm', 'sheep', passages => '[{\"content\": \"Sheep give wool.\"}]');
         SELECT reground.put_embeddings('farm', ARRAY['1', '2'], ARRAY['[1,0]', '[0,1]']::vector[])",
    )?;
    let turn =
        "SELECT max(turn_id) FROM reground.begin_turn('talk', 'who gives milk?', 'farm', '[1,0]')";
    Ok(client.query_one(turn, &[])?.get(0))
}

#[test]
fn invalid_utf8_is_refused_in_every_text_argument() -> Result<()> {
    let database = Database::create("bad_utf8")?;
    let mut client = database.connect()?;
    let turn = open_turn(&mut client)?;
    let before = row_counts(&mut client)?;
    for bytes in [
        &b"\xff"[..],
        b"milk \xc3\x28",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xc0\xaf",
    ] {
        let raw = RawText(bytes);
        for call in [
            "SELECT reground.begin_turn($1, 'x', 'farm', '[1,0]')",
            "SELECT reground.begin_turn('c', $1, 'farm', '[1,0]')",
            "SELECT reground.put_document('farm', 'd', content => $1)",
            "SELECT reground.put_document('farm', $1, content => 'x')",
            "SELECT reground.search('farm', $1, '[1,0]')",
            "SELECT reground.create_corpus($1)",
            "SELECT reground.pin('c', doc_id => $1, corpus => 'farm')",
        ] {
            let outcome = client.query(call, &[&raw]);
            ensure!(
                state(&outcome) == Some("22021"),
                "{call} with {bytes:x?}: {outcome:?}"
            );
        }
        let outcome = client.query("SELECT reground.end_turn($1, $2)", &[&turn, &raw]);
        ensure!(
            state(&outcome) == Some("22021"),
            "end_turn with {bytes:x?}: {outcome:?}"
        );
    }
    // A NUL byte is not valid text either.
    let outcome = client.query(
        "SELECT reground.end_turn($1, $2)",
        &[&turn, &RawText(b"a\0b")],
    );
    ensure!(state(&outcome) == Some("22021"), "{outcome:?}");
    let outcome = client.query(
        "SELECT reground.put_document('farm', 'd', passages => $1)",
        &[&json!([{"content": "a\0b"}])],
    );
    ensure!(state(&outcome) == Some("22P05"), "{outcome:?}");
    ensure!(row_counts(&mut client)? == before, "something was written");
    Ok(())
}

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

/// Uses a name as the id of a document, a conversation, a request and a message; all of them are stored unchanged.
fn use_as_id(client: &mut Client, name: &str) -> Result<()> {
    let shown: String = name.chars().take(40).collect();
    client
        .query("SELECT * FROM reground.put_document('farm', $1, content => 'Goats climb trees.', title => $1, uri => $1)", &[&name])
        .with_context(|| format!("document {shown:?}"))?;
    let found = client.query(
        "SELECT doc_id, title FROM reground.search('farm', 'goats', '[0.5,0.5]', filter => $1)",
        &[&json!({"doc_id": name})],
    )?;
    ensure!(
        found.len() == 1
            && found
                .iter()
                .all(|row| row.get::<_, &str>(0) == name && row.get::<_, &str>(1) == name),
        "document {shown:?}: {found:?}"
    );
    let begin = "SELECT turn_id, doc_id FROM reground.begin_turn($1, 'goats', 'farm', '[1,0]', request_id => $1, filter => $2)";
    let row = client
        .query_one(begin, &[&name, &json!({"doc_id": name})])
        .with_context(|| format!("conversation {shown:?}"))?;
    let turn: i64 = row.get(0);
    ensure!(
        row.get::<_, &str>(1) == name,
        "the source of {shown:?} is {:?}",
        row.get::<_, &str>(1)
    );
    for format in ["text", "xml", "json"] {
        client.query("SELECT reground.prompt_context($1, $2)", &[&turn, &format])?;
    }
    client
        .query("SELECT * FROM reground.end_turn($1, 'Goats climb trees [A1].', message_ref => $2, model => $2)", &[&turn, &name])
        .with_context(|| format!("message {shown:?}"))?;
    client.query(
        "SELECT reground.pin($1, doc_id => $1, corpus => 'farm')",
        &[&name],
    )?;
    let kept: i64 = client
        .query_one(
            "SELECT count(*) FROM reground.citation_audit WHERE conversation_ref = $1 AND message_ref = $1 AND model = $1 AND doc_id = $1 AND title = $1",
            &[&name],
        )?
        .get(0);
    ensure!(kept == 1, "the audit of {shown:?} has {kept} rows");
    ensure!(
        client
            .query_one("SELECT reground.delete_document('farm', $1)", &[&name])?
            .get::<_, bool>(0),
        "{shown:?} was not deleted"
    );
    Ok(())
}

/// Uses a name as the name of a corpus.
fn use_as_corpus(client: &mut Client, name: &str) -> Result<()> {
    client
        .query("SELECT reground.create_corpus($1)", &[&name])
        .with_context(|| format!("corpus {name:?}"))?;
    client.query(
        "SELECT * FROM reground.put_document($1, 'd', content => 'Anything.')",
        &[&name],
    )?;
    ensure!(
        client
            .query("SELECT * FROM reground.search($1, 'anything')", &[&name])?
            .len()
            == 1,
        "corpus {name:?}"
    );
    ensure!(
        !client
            .query("SELECT * FROM reground.check_corpus($1)", &[&name])?
            .is_empty(),
        "corpus {name:?}"
    );
    client.query("SELECT reground.drop_corpus($1, true)", &[&name])?;
    Ok(())
}

#[test]
fn long_and_odd_names_are_stored_unchanged() -> Result<()> {
    let database = Database::create("bad_odd")?;
    let mut client = database.connect()?;
    let turn = open_turn(&mut client)?;
    client.query("SELECT * FROM reground.end_turn($1, '')", &[&turn])?;
    let long = "i".repeat(10_000);
    let odd = [
        long.as_str(),
        "we\"ird 'name'",
        "back\\slash",
        "new\nline\ttab",
        "烏龍 😀 \u{202e}txet",
        "; DROP TABLE reground.turns; --",
        "$$; SELECT 1; $$",
        "%s %I $1 {0}",
        " leading and trailing ",
        "\u{1f}unit separator",
    ];
    for name in odd {
        use_as_id(&mut client, name)?;
    }
    // A relation name has less than 64 bytes.
    for name in odd.iter().filter(|name| name.len() < 50) {
        use_as_corpus(&mut client, name)?;
    }
    // A name that PostgreSQL would truncate must not create a table with another name.
    let outcome = client.query("SELECT reground.create_corpus($1)", &[&long]);
    ensure!(
        state(&outcome).is_some_and(|state| ["22023", "42622"].contains(&state)),
        "a corpus name of 10 kB: {outcome:?}"
    );
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

/// Calls that are refused, with their SQLSTATE.
const REFUSED: [(&str, &str); 22] = [
    ("SELECT reground.search('nowhere', 'x')", "P0002"),
    ("SELECT reground.search('farm', 'x', '[1,0,0]')", "22023"),
    (
        "SELECT reground.search('farm', 'x', '[1,0]', filter => '{\"nope\": 1}')",
        "42703",
    ),
    (
        "SELECT reground.begin_turn('fresh', 'x', 'nowhere')",
        "P0002",
    ),
    (
        "SELECT reground.begin_turn('fresh', 'x', 'farm', '[1,0,0]')",
        "22023",
    ),
    (
        "SELECT reground.begin_turn('fresh', 'x', 'farm', '[1,0]', filter => '{\"nope\": 1}')",
        "42703",
    ),
    (
        "SELECT reground.begin_turn('fresh', 'x', 'farm', '[1,0]', filter => '{\"version\": \"one\"}')",
        "22P02",
    ),
    (
        "SELECT reground.begin_turn('fresh', 'x', 'farm', '[1,0]', settings => '{\"max_sources\": 0}')",
        "22023",
    ),
    (
        "SELECT reground.begin_turn('fresh', 'x', 'farm', '[1,0]', settings => '{\"reranker\": \"nowhere\"}')",
        "22023",
    ),
    (
        "SELECT reground.begin_turn('fresh', 'x', 'farm', '[1,0]', settings => '{\"reranker\": \"public.broken\"}')",
        "58000",
    ),
    ("SELECT reground.begin_turn('fresh', NULL, 'farm')", "22004"),
    (
        "SELECT reground.begin_turn('talk', 'other words', 'farm', '[1,0]', request_id => 'r')",
        "23505",
    ),
    ("SELECT reground.end_turn(0, 'x')", "P0002"),
    (
        "SELECT reground.end_turn((SELECT min(turn_id) FROM reground.turns), 'another answer [A1]', message_ref => 'm')",
        "23505",
    ),
    (
        "SELECT reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'late [A1]')",
        "55000",
    ),
    (
        "SELECT reground.pin('fresh', doc_id => 'nowhere', corpus => 'farm')",
        "P0002",
    ),
    (
        "SELECT reground.alter_conversation('fresh', '{\"nope\": 1}')",
        "22023",
    ),
    (
        "SELECT reground.create_corpus('farm', dimensions => 3)",
        "42710",
    ),
    (
        "SELECT reground.create_corpus('new', dimensions => 99999)",
        "22023",
    ),
    (
        "SELECT reground.put_document('farm', 'd', passages => '[{\"content\": \"fine\"}, {\"page_start\": 1}]')",
        "22023",
    ),
    (
        "SELECT reground.put_embeddings('farm', ARRAY['1', '2'], ARRAY['[0.5,0.5]', '[1]']::vector[])",
        "22023",
    ),
    ("SELECT reground.drop_corpus('nowhere', true)", "P0002"),
];

#[test]
fn a_refused_call_leaves_nothing_behind() -> Result<()> {
    let database = Database::create("bad_refused")?;
    let mut client = database.connect()?;
    open_turn(&mut client)?;
    client.batch_execute(
        "CREATE FUNCTION broken(query text, passages text[]) RETURNS real[] LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'down' USING ERRCODE = '58000'; END $$;
         SELECT reground.end_turn((SELECT min(turn_id) FROM reground.turns), 'Cows give milk [A1].', message_ref => 'm');
         SELECT reground.begin_turn('talk', 'words', 'farm', '[1,0]', request_id => 'r');
         SELECT reground.abandon_turn((SELECT max(turn_id) FROM reground.turns));
         SET search_path = public, pg_catalog",
    )?;
    let everything = |client: &mut Client| -> Result<String> {
        Ok(client
            .query_one(
                "SELECT concat(current_user, current_setting('search_path'), current_setting('hnsw.ef_search', true), current_setting('enable_seqscan'),
                    (SELECT md5(string_agg(f::text, '' ORDER BY chunk_id)) FROM farm AS f), (SELECT count(*) FROM farm_documents),
                    (SELECT md5(string_agg(c::text, '' ORDER BY conversation_id)) FROM reground.conversations AS c),
                    (SELECT md5(string_agg(t::text, '' ORDER BY turn_id)) FROM reground.turns AS t),
                    (SELECT md5(string_agg(s::text, '' ORDER BY doc_id, chunk_id)) FROM reground.conversation_sources AS s))",
                &[],
            )?
            .get(0))
    };
    let rows = row_counts(&mut client)?;
    let before = everything(&mut client)?;
    for (call, expected) in REFUSED {
        // Alone, and inside a transaction that continues after a savepoint.
        let outcome = client.batch_execute(call);
        ensure!(
            state(&outcome) == Some(expected),
            "{call}: {outcome:?}, expected {expected}"
        );
        ensure!(
            everything(&mut client)? == before && row_counts(&mut client)? == rows,
            "{call} left something behind"
        );
        client.batch_execute("BEGIN; SAVEPOINT here")?;
        let outcome = client.batch_execute(call);
        ensure!(
            state(&outcome) == Some(expected),
            "{call} in a transaction: {outcome:?}"
        );
        client.batch_execute("ROLLBACK TO SAVEPOINT here")?;
        ensure!(
            everything(&mut client)? == before && row_counts(&mut client)? == rows,
            "{call} left something behind after a savepoint"
        );
        // The session still works.
        client.batch_execute(
            "SELECT reground.begin_turn('in passing', 'milk', 'farm', '[1,0]'); ROLLBACK",
        )?;
        ensure!(
            everything(&mut client)? == before,
            "a rollback after {call} left something behind"
        );
    }
    Ok(())
}

/// Fails unless a call is refused with a SQLSTATE, and with a hint unless an argument is NULL.
fn refused(client: &mut Client, call: &str, expected: &str) -> Result<()> {
    let outcome = client.query(call, &[]);
    ensure!(
        state(&outcome) == Some(expected),
        "{call}: {outcome:?}, expected {expected}"
    );
    let error = outcome.err();
    let hint = error.as_ref().and_then(|error| error.as_db_error()?.hint());
    ensure!(
        hint.is_some() || expected == "22004",
        "{call}: no hint: {error:?}"
    );
    Ok(())
}

#[test]
fn reads_of_an_answer_refuse_bad_arguments() -> Result<()> {
    let database = Database::create("bad_answer")?;
    let mut client = database.connect()?;
    let turn = open_turn(&mut client)?;
    let end = "SELECT message_id FROM reground.end_turn($1, '🐄 give milk [A1].')";
    let message: i64 = client.query_one(end, &[&turn])?.get(0);
    let before = row_counts(&mut client)?;
    // Calls with an id in place of $.
    let by_message = [
        "SELECT * FROM reground.citation_evidence($)",
        "SELECT reground.answer_parts($, 'openai')",
    ];
    let by_turn = [
        "SELECT * FROM reground.turn_sources($)",
        "SELECT * FROM reground.feed_answer($, 'x')",
    ];
    let with = |call: &str, id: &str| call.replace('$', id);
    for call in by_message.iter().chain(&by_turn) {
        refused(&mut client, &with(call, "NULL"), "22004")?;
        for id in ["0", "-1", "9223372036854775807", "(-9223372036854775808)"] {
            refused(&mut client, &with(call, id), "P0002")?;
        }
    }
    for (calls, id) in [(by_message, message), (by_turn, turn)] {
        for call in calls {
            let call = with(call, &id.to_string());
            client.query(&call, &[]).with_context(|| call.clone())?;
            client.batch_execute(
                "SET reground.tenant_from = 'reground.tenant'; SET reground.tenant = 'another'",
            )?;
            refused(&mut client, &call, "P0002")?;
            client.batch_execute("RESET reground.tenant_from")?;
        }
    }
    for format in [
        "''",
        "'OpenAI'",
        "' openai'",
        "'cohere'",
        "repeat('x', 100000)",
        "'\u{1f404}'",
    ] {
        let call = format!("SELECT reground.answer_parts({message}, {format})");
        refused(&mut client, &call, "22023")?;
    }
    let call = format!("SELECT reground.answer_parts({message}, NULL)");
    refused(&mut client, &call, "22004")?;
    for arguments in ["NULL", "'x', NULL"] {
        let call = format!("SELECT * FROM reground.feed_answer({turn}, {arguments})");
        refused(&mut client, &call, "22004")?;
    }
    ensure!(row_counts(&mut client)? == before, "something was written");
    Ok(())
}

#[test]
fn an_invalid_resume_position_is_refused() -> Result<()> {
    let database = Database::create("bad_position")?;
    let mut client = database.connect()?;
    let turn = open_turn(&mut client)?;
    let feed = |resume: &str| {
        format!(
            "SELECT * FROM reground.feed_answer({turn}, E'🐄 give milk [A1].\n\n牛', resume_from => {resume})"
        )
    };
    for position in [
        // No position.
        "",
        " ",
        "x",
        "NULL",
        "0",
        "0.0.0.0.0",
        "0.0.0.0.0.0.0",
        "0.0.0.0.0.2",
        "0.0.0.0.0.-1",
        "0.0.0.0.0.0 ",
        // Negative and huge.
        "-1.0.0.0.0.0",
        "0.0.0.-1.0.0",
        "900.900.900.0.0.0",
        "4294967296.0.0.0.0.0",
        "99999999999999999999.0.0.0.0.0",
        "0.0.0.65537.0.0",
        // Within a character, and between the two units of a character.
        "1.1.1.0.0.0",
        "3.1.2.0.0.0",
        "4.1.1.0.0.0",
        "23.20.21.1.1.0",
        // Of another text.
        "4.4.4.0.0.0",
        "5.5.5.0.0.0",
    ] {
        refused(&mut client, &feed(&format!("'{position}'")), "22023")?;
    }
    for position in ["NULL", "'0.0.0.0.0.0'", "'4.1.2.0.0.0'"] {
        let rows = client.query(&feed(position), &[])?;
        ensure!(rows.len() == 1, "{position}: {rows:?}");
    }
    Ok(())
}

#[test]
fn a_read_only_transaction_refuses_all_writes() -> Result<()> {
    let database = Database::create("bad_read_only")?;
    let mut client = database.connect()?;
    let turn = open_turn(&mut client)?;
    client.batch_execute("SET default_transaction_read_only = on")?;
    for call in [
        "SELECT reground.begin_turn('c', 'milk', 'farm', '[1,0]')".to_owned(),
        format!("SELECT reground.end_turn({turn}, 'x')"),
        format!("SELECT reground.abandon_turn({turn})"),
        format!("SELECT reground.apply_rerank({turn}, NULL)"),
        "SELECT reground.pin('c', doc_id => 'cows', corpus => 'farm')".into(),
        "SELECT reground.unpin('talk', doc_id => 'cows')".into(),
        "SELECT reground.alter_conversation('c', '{}')".into(),
        "SELECT reground.create_corpus('new')".into(),
        "SELECT reground.add_corpus('new', 'farm', 'chunk_id', 'content')".into(),
        "SELECT reground.alter_corpus('farm', settings => '{\"rrf_k\": 9}')".into(),
        "SELECT reground.drop_corpus('farm')".into(),
        "SELECT reground.put_document('farm', 'd', content => 'x')".into(),
        "SELECT reground.delete_document('farm', 'cows')".into(),
        "SELECT reground.put_embeddings('farm', ARRAY['1'], ARRAY['[1,0]']::vector[])".into(),
    ] {
        let outcome = client.batch_execute(&call);
        ensure!(state(&outcome) == Some("25006"), "{call}: {outcome:?}");
    }
    for call in [
        "SELECT reground.search('farm', 'milk', '[1,0]')".to_owned(),
        format!("SELECT reground.prompt_context({turn})"),
        format!("SELECT reground.explain_turn({turn})"),
        "SELECT reground.check_corpus('farm')".into(),
        "SELECT reground.pending_embeddings('farm')".into(),
        "TABLE reground.citation_audit".into(),
        "TABLE reground.settings".into(),
    ] {
        client.batch_execute(&call).with_context(|| call.clone())?;
    }
    Ok(())
}
