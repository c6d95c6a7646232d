//! What a session has planned while the tables were empty is kept: it must still find rows by key when they are full.

use anyhow::{Result, ensure};
use reground_tests::server::Database;
use serde_json::{Value, json};

/// Conversations of each kind.
const CONVERSATIONS: usize = 12;

/// Our tables that grow with what is said, and how many of their rows were read by scans of the whole table.
const READ_WHOLE: &str = "SELECT relname, seq_tup_read FROM pg_stat_all_tables
    WHERE schemaname = 'reground' AND n_tup_ins > 0 AND seq_tup_read > 0 AND (relname ~ '^(conversation|turn|message|source_facts|provenance|rollup_queue)')";

#[test]
fn tables_that_were_empty_are_not_read_whole() -> Result<()> {
    let database = Database::create("plans")?;
    let mut client = database.connect()?;
    client.batch_execute(
        "SELECT reground.create_corpus('farm', settings => '{\"provenance\": \"merkle\", \"min_sources\": 0, \"query_history\": 3}');
         SELECT count(*) FROM generate_series(1, 30) AS n, LATERAL reground.put_document('farm', 'cow-' || n, content => 'Cow number ' || n || ' gives milk every day.');
         ANALYZE",
    )?;
    let ended = "SELECT count(*) FROM reground.end_turn($1, $2, message => $3)";
    for talk in 0..CONVERSATIONS {
        for turn in 0..3 {
            let (name, query) = (
                format!("talk-{talk}"),
                format!("milk of cow {}", talk + turn),
            );
            let row = client.query_one(
                "SELECT max(turn_id) FROM reground.begin_turn($1, $2, corpus => 'farm')",
                &[&name, &query],
            )?;
            let id: i64 = row.get(0);
            client.execute("SELECT FROM reground.retrieve($1, 'every day')", &[&id])?;
            client.execute(
                "SELECT FROM reground.add_passages($1, '[{\"text\": \"The barn is red.\"}]')",
                &[&id],
            )?;
            client.execute("SELECT reground.prompt_context($1)", &[&id])?;
            client.execute("SELECT FROM reground.history($1)", &[&name])?;
            let message = format!("{talk}-{turn}");
            client.query_one(ended, &[&id, &"Cow gives milk [A1].", &message])?;
            client.query_one(
                ended,
                &[&id, &"It is so [A1].", &format!("{message}-again")],
            )?;
        }
    }
    for batch in 0..3 {
        let turns: Vec<Value> = (0..CONVERSATIONS * 3)
            .map(|n| {
                json!({"conversation": format!("old-{batch}-{}", n / 3), "query": "q", "answer": "It floats [1]. It sinks [2].", "message": n.to_string(),
                       "passages": [{"text": "It floats."}, {"text": "It sinks."}]})
            })
            .collect();
        for again in [false, true] {
            let recorded: i64 = client
                .query_one(
                    "SELECT count(*) FILTER (WHERE recorded) FROM reground.record_turns($1)",
                    &[&Value::Array(turns.clone())],
                )?
                .get(0);
            ensure!(recorded == if again { 0 } else { turns.len() as i64 });
        }
    }
    client.batch_execute("SELECT pg_stat_force_next_flush()")?;
    let whole: Vec<(String, i64)> = client
        .query(READ_WHOLE, &[])?
        .iter()
        .map(|row| (row.get(0), row.get(1)))
        .collect();
    ensure!(whole.is_empty(), "{whole:?}");
    let grown: i64 = client
        .query_one("SELECT count(*) FROM pg_stat_all_tables WHERE schemaname = 'reground' AND n_tup_ins > 100", &[])?
        .get(0);
    ensure!(grown >= 6, "only {grown} tables have grown: hardly a test");
    Ok(())
}
