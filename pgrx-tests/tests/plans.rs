//! Plans that a session made on empty tables must not stay in use when the tables are full, even if nobody has run
//! ANALYZE. Nor may a plan for one filter, tenant or group of principals stay in use for another one.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Result, ensure};
use postgres::Client;
use reground_tests::server::Database;
use serde_json::{Value, json};

/// Conversations per round, and turns per conversation.
const CONVERSATIONS: usize = 4;
const TURNS: usize = 3;

/// Rounds in which plans are made for the tables of that time; a statement is planned again at its eighth use.
const FIRST: usize = 8;

/// All rounds: a plan that reads a whole table then reads about three times as many rows as after the first rounds.
const ROUNDS: usize = 24;

/// Held by each test. Transactions of another test delay the pruning of rows, so a table has more pages and can get another plan.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Rows and index entries read so far from the tables that grow with each turn.
const READ: &str = "SELECT t.relname, t.seq_tup_read + (SELECT coalesce(sum(i.idx_tup_read), 0)::bigint FROM pg_stat_all_indexes AS i WHERE i.relid = t.relid)
    FROM pg_stat_all_tables AS t WHERE t.schemaname = 'reground' AND t.relname ~ $1";
const GROWING: &str = "^(conversation|turn|message|provenance|rollup_queue|drift|shadow)";

type Reads = BTreeMap<String, i64>;

fn read_so_far(client: &mut Client) -> Result<Reads> {
    client.batch_execute("SELECT pg_stat_force_next_flush()")?;
    let rows = client.query(READ, &[&GROWING])?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

/// Runs new conversations.
fn talk(client: &mut Client, round: usize) -> Result<()> {
    let ended = "SELECT count(*) FROM reground.end_turn($1, $2, message_ref => $3)";
    for (talk, turn) in (0..CONVERSATIONS).flat_map(|t| (0..TURNS).map(move |n| (t, n))) {
        let (name, message) = (format!("{round}-{talk}"), format!("{round}-{talk}-{turn}"));
        let query = format!("milk of cow {}", talk + turn);
        let row = client.query_one(
            "SELECT max(turn_id) FROM reground.begin_turn($1, $2, corpus => 'farm')",
            &[&name, &query],
        )?;
        let id: i64 = row.get(0);
        client.execute("SELECT FROM reground.retrieve($1, 'every day')", &[&id])?;
        client.execute(
            "SELECT FROM reground.add_passages($1, '[{\"content\": \"The barn is red.\"}]')",
            &[&id],
        )?;
        client.execute("SELECT reground.prompt_context($1)", &[&id])?;
        client.execute("SELECT FROM reground.history($1)", &[&name])?;
        client.query_one(ended, &[&id, &"Cow gives milk [A1].", &message])?;
        client.query_one(
            ended,
            &[&id, &"It is so [A1].", &format!("{message}-again")],
        )?;
    }
    Ok(())
}

/// Imports conversations, and repeats the import.
fn import(client: &mut Client, round: usize) -> Result<()> {
    let turns: Vec<Value> = (0..CONVERSATIONS * TURNS)
        .map(|n| {
            json!({"conversation_ref": format!("old-{round}-{}", n / TURNS), "query": "q", "answer": "It floats [1]. It sinks [2].", "message_ref": n.to_string(),
                   "passages": [{"content": "It floats."}, {"content": "It sinks."}]})
        })
        .collect();
    for expected in [turns.len() as i64, 0] {
        let row = client.query_one(
            "SELECT count(*) FILTER (WHERE recorded) FROM reground.record_turns($1)",
            &[&Value::Array(turns.clone())],
        )?;
        ensure!(row.get::<_, i64>(0) == expected);
    }
    Ok(())
}

/// Repeats the same work in one session: the rows that a round reads must not grow with the rows that earlier rounds wrote.
fn reads_do_not_grow(name: &str, work: fn(&mut Client, usize) -> Result<()>) -> Result<()> {
    let _alone = alone();
    for (known, analyze) in [("never", ""), ("empty", "ANALYZE")] {
        let database = Database::create(&format!("plans_{name}_{known}"))?;
        let mut client = database.connect()?;
        client.batch_execute(
            "SELECT reground.create_corpus('farm', settings => '{\"provenance\": \"merkle\", \"query_history\": 3}');
             SELECT count(*) FROM generate_series(1, 30) AS n, LATERAL reground.put_document('farm', 'cow-' || n, content => 'Cow number ' || n || ' gives milk every day.')",
        )?;
        client.batch_execute(analyze)?;
        let mut so_far = Reads::new();
        let mut read_in = Vec::new();
        for round in 0..ROUNDS {
            work(&mut client, round)?;
            let now = read_so_far(&mut client)?;
            let before = |table: &String| so_far.get(table).copied().unwrap_or_default();
            read_in.push(
                now.iter()
                    .map(|(table, read)| (table.clone(), read - before(table)))
                    .collect::<Reads>(),
            );
            so_far = now;
        }
        let (first, last) = (&read_in[FIRST], &read_in[ROUNDS - 1]);
        let grown: Vec<_> = last
            .iter()
            .map(|(table, last)| (table, first[table], *last))
            .filter(|(_, first, last)| *last > first + first / 2)
            .collect();
        ensure!(
            grown.is_empty(),
            "analysed {known}, read in an early round and in the last: {grown:?}"
        );
        ensure!(
            first.values().sum::<i64>() > 100,
            "too few rows were read: {first:?}"
        );
    }
    Ok(())
}

#[test]
fn turns_read_no_more_in_full_tables() -> Result<()> {
    reads_do_not_grow("talk", talk)
}

#[test]
fn imports_read_no_more_in_full_tables() -> Result<()> {
    reads_do_not_grow("import", import)
}

/// Statistics can be wrong in any way, so an answer marks what it cites within its conversation even in a plan that merges whole indexes.
#[test]
fn an_answer_reads_the_markers_of_its_conversation_in_each_plan() -> Result<()> {
    let _alone = alone();
    let database = Database::create("plans_markers")?;
    let mut client = database.connect()?;
    client.batch_execute(
        "SELECT reground.create_corpus('farm');
         SELECT count(*) FROM reground.put_document('farm', 'cow', content => 'A cow gives milk.');
         SELECT count(*) FROM generate_series(1, 400) AS n, LATERAL reground.record_turns(jsonb_build_array(jsonb_build_object(
             'conversation_ref', 'old-' || n, 'query', 'q', 'answer', 'It floats [1].', 'message_ref', '1', 'passages', '[{\"content\": \"It floats.\"}]'::jsonb)));
         ANALYZE",
    )?;
    let row = client.query_one(
        "SELECT max(turn_id) FROM reground.begin_turn('new', 'milk of a cow', corpus => 'farm')",
        &[],
    )?;
    let turn: i64 = row.get(0);
    client.batch_execute("SET enable_nestloop = off; SET enable_hashjoin = off")?;
    let before = read_so_far(&mut client)?["conversation_markers"];
    client.execute(
        "SELECT FROM reground.end_turn($1, 'A cow gives milk [A1].')",
        &[&turn],
    )?;
    let read = read_so_far(&mut client)?["conversation_markers"] - before;
    ensure!((1..50).contains(&read), "{read} entries and rows were read");
    Ok(())
}

/// A plan for a group with few rows reads them all through the index on the groups. For a group with most rows it would read and sort
/// most of the table, so the passages must then come from the index on the text.
#[test]
fn a_plan_for_few_rows_is_not_kept_for_many() -> Result<()> {
    let _alone = alone();
    let database = Database::create("plans_rows")?;
    let mut client = database.connect()?;
    client.batch_execute(
        "CREATE TABLE notes (id integer PRIMARY KEY, body text, readers text[], tenant text);
         INSERT INTO notes SELECT n, 'The cow ' || n || ' gives milk' || repeat(' daily', n % 17), ARRAY['all', CASE n % 500 WHEN 0 THEN 'few' END], CASE n % 500 WHEN 0 THEN 'small' ELSE 'large' END FROM generate_series(1, 20000) AS n;
         CREATE INDEX ON notes USING reground_bm25 (body);
         CREATE INDEX notes_readers ON notes USING gin (readers);
         CREATE INDEX notes_tenant ON notes (tenant);
         ANALYZE notes;
         SELECT reground.add_corpus('filtered', relation => 'notes', chunk_id => 'id', content => 'body');
         SELECT reground.add_corpus('of_principals', relation => 'notes', chunk_id => 'id', content => 'body', principals_column => 'readers');
         SELECT reground.add_corpus('of_tenants', relation => 'notes', chunk_id => 'id', content => 'body', tenant_column => 'tenant');
         SET reground.principals_from = 'app.principals';
         SET reground.tenant_from = 'app.tenant';",
    )?;
    let mut read_for = |corpus: &str, group: &str, tenant: &str, filter: Value| -> Result<i64> {
        let read = "SELECT sum(idx_tup_read)::bigint FROM pg_stat_all_indexes WHERE indexrelname IN ('notes_readers', 'notes_tenant')";
        client.batch_execute(&format!("SET app.principals = '{{{group}}}'; SET app.tenant = '{tenant}'; SELECT pg_stat_force_next_flush()"))?;
        let before: i64 = client.query_one(read, &[])?.get(0);
        for _ in 0..12 {
            let found = client.query(
                "SELECT chunk_id FROM reground.search($1, 'milk cow', filter => $2)",
                &[&corpus, &filter],
            )?;
            ensure!(found.len() == 10, "{} passages", found.len());
        }
        client.batch_execute("SELECT pg_stat_force_next_flush()")?;
        Ok(client.query_one(read, &[])?.get::<_, i64>(0) - before)
    };
    for (corpus, filters) in [
        (
            "filtered",
            [
                json!({"readers": {"any": ["few"]}}),
                json!({"readers": {"any": ["all"]}}),
            ],
        ),
        (
            "filtered",
            [json!({"tenant": "small"}), json!({"tenant": "large"})],
        ),
        ("of_principals", [json!({}), json!({})]),
        ("of_tenants", [json!({}), json!({})]),
    ] {
        let [few, all] = filters;
        let for_few = read_for(corpus, "few", "small", few.clone())?;
        let for_all = read_for(corpus, "all", "large", all)?;
        ensure!(
            for_few > 0,
            "{corpus}, {few}: the index on the groups was not used for a small one"
        );
        ensure!(
            for_all == 0,
            "{corpus}, {few}: {for_all} rows were read through the index on the groups"
        );
    }
    Ok(())
}
