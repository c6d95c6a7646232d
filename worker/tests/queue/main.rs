#![allow(clippy::unwrap_used)]
//! The worker and the real queue: no task is lost, none is done twice, and no key leaves the worker.

mod api;
mod work;

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use postgres::Client;
use reground_tests::contents::contents;
use reground_tests::server::Database;

use crate::api::{FakeApi, Mood, vector};
use crate::work::{KEY, Program, corpus, put, register, worker_role};

/// Waits until a query returns true.
fn until(client: &mut Client, what: &str, query: &str) -> Result<()> {
    for _ in 0..600 {
        if client.query_one(query, &[])?.get(0) {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    anyhow::bail!("waited in vain: {what}")
}

/// Checks that each passage has the embedding of its text, and returns their number.
fn check_embeddings(client: &mut Client) -> Result<usize> {
    let rows = client.query("SELECT content, embedding::real[] FROM tasks", &[])?;
    for row in &rows {
        let (content, embedding): (String, Option<Vec<f32>>) = (row.get(0), row.get(1));
        ensure!(
            embedding == Some(vector(&content)),
            "{content}: {embedding:?}"
        );
    }
    Ok(rows.len())
}

#[test]
fn two_workers_lose_and_repeat_nothing_when_one_is_killed_and_connections_break() -> Result<()> {
    let database = Database::create("worker_many")?;
    let mut client = database.connect()?;
    let api = FakeApi::start(Mood::Well)?;
    register(&mut client, &api, "{\"max_batch\": 64}")?;
    corpus(&mut client)?;
    for document in 0..20 {
        let texts =
            (0..500).map(|n| format!("document {document}, passage {n}{}", "!".repeat(n % 50)));
        put(&mut client, &document.to_string(), texts)?;
    }
    let role = worker_role(&mut client)?;
    let mut first = Program::start(&database, &role, &[])?;
    let second = Program::start(&database, &role, &[])?;
    until(
        &mut client,
        "some are done",
        "SELECT count(*) < 9000 FROM reground.model_tasks",
    )?;
    first.kill()?;
    client.batch_execute(&format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{role}'"
    ))?;
    until(
        &mut client,
        "the others are done",
        "SELECT count(*) = 0 FROM reground.model_tasks WHERE state = 'waiting'",
    )?;
    // What the killed worker had leased is done when its leases end.
    client.execute("UPDATE reground.model_tasks SET due_at = now() - interval '1 second' WHERE state = 'leased'", &[])?;
    until(
        &mut client,
        "all are done",
        "SELECT count(*) = 0 FROM reground.model_tasks",
    )?;
    assert_eq!(check_embeddings(&mut client)?, 10_000);
    let counted: i64 = client
        .query_one("SELECT sum(tasks)::bigint FROM reground.model_usage", &[])?
        .get(0);
    assert_eq!(counted, 10_000, "each result is stored once");
    second.stop()?;
    Ok(())
}

#[test]
fn one_bad_text_of_a_batch_fails_alone() -> Result<()> {
    let database = Database::create("worker_poison")?;
    let mut client = database.connect()?;
    let api = FakeApi::start(Mood::Well)?;
    register(&mut client, &api, "{\"max_attempts\": 1}")?;
    corpus(&mut client)?;
    put(
        &mut client,
        "d",
        (0..32).map(|n| format!("text {n}{}", if n == 17 { " poison" } else { "" })),
    )?;
    let role = worker_role(&mut client)?;
    let ended = Program::start(&database, &role, &["--once"])?.wait()?;
    assert_eq!(ended.code, Some(1), "a task failed");
    let task = client.query_one(
        "SELECT state, attempts, last_error FROM reground.model_tasks",
        &[],
    )?;
    assert_eq!((task.get::<_, &str>(0), task.get::<_, i32>(1)), ("dead", 1));
    assert!(
        !task.get::<_, &str>(2).contains("text 17"),
        "an error quotes no text"
    );
    let embedded: i64 = client
        .query_one("SELECT count(embedding) FROM tasks", &[])?
        .get(0);
    assert_eq!(embedded, 31);
    let mut times: HashMap<String, usize> = HashMap::new();
    for text in api.seen.texts.lock().unwrap().iter() {
        *times.entry(text.clone()).or_default() += 1;
    }
    assert!(
        times.values().all(|&count| count == 1),
        "no text is embedded twice"
    );
    Ok(())
}

#[test]
fn a_model_with_other_dimensions_opens_its_breaker_and_loses_nothing() -> Result<()> {
    let database = Database::create("worker_dimensions")?;
    let mut client = database.connect()?;
    let api = FakeApi::start(Mood::Long)?;
    register(&mut client, &api, "{\"max_batch\": 1}")?;
    corpus(&mut client)?;
    put(&mut client, "d", (0..8).map(|n| format!("text {n}")))?;
    let role = worker_role(&mut client)?;
    let program = Program::start(&database, &role, &[])?;
    until(
        &mut client,
        "the breaker opens",
        "SELECT count(*) = 1 FROM reground.model_health WHERE breaker = 'open'",
    )?;
    program.stop()?;
    let left: i64 = client
        .query_one("SELECT count(*) FROM reground.model_tasks WHERE state = 'waiting' AND last_error IS NOT NULL", &[])?
        .get(0);
    assert!(left >= 5, "{left}");
    let all: i64 = client
        .query_one(
            "SELECT count(*) FROM reground.model_tasks WHERE state = 'waiting'",
            &[],
        )?
        .get(0);
    assert_eq!(all, 8);
    Ok(())
}

#[test]
fn a_key_is_nowhere_but_in_the_request() -> Result<()> {
    let database = Database::create("worker_key")?;
    let mut client = database.connect()?;
    let api = FakeApi::start(Mood::Locked)?;
    register(&mut client, &api, "{}")?;
    client.execute("SELECT reground.set_model('m', key_name => 'openai')", &[])?;
    corpus(&mut client)?;
    put(&mut client, "d", (0..3).map(|n| format!("text {n}")))?;
    let role = worker_role(&mut client)?;
    // The server logs each statement of the worker.
    client.batch_execute(&format!("ALTER ROLE {role} SET log_statement = 'all'"))?;
    let program = Program::start(&database, &role, &[])?;
    until(
        &mut client,
        "the key is refused",
        "SELECT count(*) > 0 FROM reground.model_status",
    )?;
    let activity: Vec<String> = client
        .query(
            "SELECT coalesce(to_jsonb(a)::text, '') FROM pg_stat_activity AS a",
            &[],
        )?
        .iter()
        .map(|row| row.get(0))
        .collect();
    let output = program.stop()?;
    let authorizations = api.seen.authorizations.lock().unwrap().clone();
    assert!(
        authorizations
            .iter()
            .all(|value| *value == format!("Bearer {KEY}")),
        "it is sent"
    );
    assert!(!authorizations.is_empty());
    let stored = format!("{:?}", contents(&mut client)?);
    // The servers of the tests write their log beside the folder of the data.
    let logged: String = client
        .query_one(
            "SELECT encode(pg_read_binary_file(current_setting('data_directory') || '/../log'), 'escape')",
            &[],
        )?
        .get(0);
    assert!(logged.contains("complete_task") || logged.contains("fail_task"));
    let dump = database.program("pg_dump")?.context("pg_dump")?.output()?;
    assert!(dump.status.success());
    let dump = String::from_utf8_lossy(&dump.stdout);
    assert!(dump.contains("model_status"));
    for (place, text) in [
        ("a table", stored.as_str()),
        ("a dump", &dump),
        ("pg_stat_activity", &activity.join("\n")),
        ("the log of the worker", &output),
        ("the log of the server", &logged),
    ] {
        assert!(!text.contains(KEY), "the key is in {place}");
    }
    assert!(
        stored.contains("401") || stored.contains("key"),
        "the error is stored: {stored}"
    );
    Ok(())
}

#[test]
fn a_rate_limit_delays_and_counts_for_nobody() -> Result<()> {
    let database = Database::create("worker_limit")?;
    let mut client = database.connect()?;
    let api = FakeApi::start(Mood::Busy)?;
    register(&mut client, &api, "{}")?;
    corpus(&mut client)?;
    put(&mut client, "d", (0..3).map(|n| format!("text {n}")))?;
    let role = worker_role(&mut client)?;
    let ended = Program::start(&database, &role, &["--once"])?.wait()?;
    assert_eq!(ended.code, Some(0), "{}", ended.output);
    assert_eq!(check_embeddings(&mut client)?, 3);
    assert!(api.seen.calls.load(Ordering::SeqCst) >= 2);
    let failures: i64 = client
        .query_one("SELECT count(*) FROM reground.model_status", &[])?
        .get(0);
    assert_eq!(failures, 0);
    Ok(())
}

#[test]
fn a_stopped_worker_finishes_its_calls_and_hands_the_rest_back() -> Result<()> {
    let database = Database::create("worker_stop")?;
    let mut client = database.connect()?;
    let api = FakeApi::start(Mood::Well)?;
    register(&mut client, &api, "{\"max_batch\": 1, \"concurrency\": 1}")?;
    corpus(&mut client)?;
    put(&mut client, "d", (0..20).map(|n| format!("slow text {n}")))?;
    let role = worker_role(&mut client)?;
    let program = Program::start(&database, &role, &[])?;
    until(
        &mut client,
        "a task is leased",
        "SELECT count(*) > 0 FROM reground.model_tasks WHERE state = 'leased'",
    )?;
    std::thread::sleep(Duration::from_millis(500));
    program.stop()?;
    let row = client.query_one(
        "SELECT count(*) FILTER (WHERE state = 'leased'), coalesce(max(attempts), 0), count(*) FROM reground.model_tasks",
        &[],
    )?;
    let (leased, attempts, left): (i64, i32, i64) = (row.get(0), row.get(1), row.get(2));
    assert_eq!(
        (leased, attempts),
        (0, 0),
        "nothing counts against a task that was not tried"
    );
    let embedded: i64 = client
        .query_one("SELECT count(embedding) FROM tasks", &[])?
        .get(0);
    assert_eq!(embedded + left, 20);
    assert!(embedded >= 1, "the running call was finished");
    Ok(())
}

#[test]
fn changed_rows_of_a_table_are_embedded_within_seconds() -> Result<()> {
    let database = Database::create("worker_changes")?;
    let mut client = database.connect()?;
    let api = FakeApi::start(Mood::Well)?;
    register(&mut client, &api, "{}")?;
    client.batch_execute(
        "CREATE TABLE article (id integer PRIMARY KEY, body text, emb vector(2));
         INSERT INTO article SELECT n, 'article ' || n FROM generate_series(1, 100) AS n;
         SELECT reground.add_corpus('articles', 'article', 'id', 'body', embedding => 'emb', embedding_model => 'm')",
    )?;
    let role = worker_role(&mut client)?;
    let program = Program::start(&database, &role, &[])?;
    until(
        &mut client,
        "all are embedded",
        "SELECT bool_and(emb IS NOT NULL) FROM article",
    )?;
    client.batch_execute("UPDATE article SET body = 'a text of another length' WHERE id = 7; INSERT INTO article VALUES (101, 'new')")?;
    until(
        &mut client,
        "the changes are embedded",
        "SELECT bool_and(emb = format('[%s,1]', length(body))::vector) FROM article",
    )?;
    program.stop()?;
    Ok(())
}

#[test]
fn a_result_that_the_database_refuses_does_not_touch_the_others() -> Result<()> {
    let database = Database::create("worker_refusals")?;
    let mut client = database.connect()?;
    let api = FakeApi::start(Mood::Well)?;
    register(&mut client, &api, "{\"max_attempts\": 1}")?;
    client.batch_execute(
        "CREATE TABLE article (id integer PRIMARY KEY, body text, emb vector(2));
         INSERT INTO article SELECT n, 'article ' || n FROM generate_series(1, 20) AS n;
         SELECT reground.add_corpus('articles', 'article', 'id', 'body', embedding => 'emb', embedding_model => 'm');
         CREATE SEQUENCE deadlocks; GRANT USAGE ON SEQUENCE deadlocks TO PUBLIC;
         CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             IF NEW.id = 3 THEN RAISE 'shut down' USING ERRCODE = '57P01'; END IF;
             IF NEW.id = 5 AND nextval('public.deadlocks') < 3 THEN RAISE 'deadlock' USING ERRCODE = '40P01'; END IF;
             IF NEW.id = 9 THEN RAISE 'checked' USING ERRCODE = '23514'; END IF;
             IF NEW.id = 7 THEN RAISE 'locked' USING ERRCODE = '55P03'; END IF;
             RETURN NEW; END $$;
         CREATE TRIGGER refuse BEFORE UPDATE ON article FOR EACH ROW WHEN (NEW.emb IS NOT NULL) EXECUTE FUNCTION refuse()",
    )?;
    let role = worker_role(&mut client)?;
    let ended = Program::start(&database, &role, &["--once"])?.wait()?;
    assert_eq!(ended.code, Some(1), "{}", ended.output);
    let missing: Vec<i32> = client
        .query_one(
            "SELECT array_agg(id ORDER BY id) FROM article WHERE emb IS NULL",
            &[],
        )?
        .get(0);
    assert_eq!(missing, [3, 7, 9], "{}", ended.output);
    let tasks: Vec<(String, i32, String, bool)> = client
        .query(
            "SELECT state, attempts, coalesce(substring(last_error FROM '\\(([0-9A-Z]{5})\\)'), ''), due_at > now() + interval '20 seconds'
             FROM reground.model_tasks ORDER BY 3",
            &[],
        )?
        .iter()
        .map(|row| (row.get(0), row.get(1), row.get(2), row.get::<_, Option<bool>>(3) == Some(true)))
        .collect();
    let expected = [
        // A task that is handed back keeps no message.
        ("waiting", 0, ""),
        ("dead", 1, "23514"),
        ("dead", 1, "57P01"),
    ];
    for ((state, attempts, code, later), expected) in tasks.iter().zip(expected) {
        assert_eq!((state.as_str(), *attempts, code.as_str()), expected);
        assert_eq!(*later, code.is_empty(), "{code}");
    }
    assert_eq!(tasks.len(), 3);
    assert_eq!(
        api.seen.texts.lock().unwrap().len(),
        20,
        "no text is embedded twice"
    );
    Ok(())
}

#[test]
fn a_turn_is_reranked_by_the_worker() -> Result<()> {
    let database = Database::create("worker_rerank")?;
    let mut client = database.connect()?;
    let api = FakeApi::start(Mood::Well)?;
    register(&mut client, &api, "{}")?;
    client.execute(
        "SELECT reground.set_model('r', task => 'rerank', api => 'cohere', endpoint => $1)",
        &[&format!("http://{}", api.address)],
    )?;
    client.batch_execute("SELECT reground.create_corpus('tasks')")?;
    put(
        &mut client,
        "d",
        ["tea", "tea and milk", "tea and milk and sugar"]
            .map(str::to_owned)
            .into_iter(),
    )?;
    let turn: i64 = client
        .query_one(
            "SELECT max(turn_id) FROM reground.begin_turn('c', 'tea', 'tasks', settings => '{\"reranker\": \"model:r\", \"merge_adjacent\": false}')",
            &[],
        )?
        .get(0);
    let role = worker_role(&mut client)?;
    let ended = Program::start(&database, &role, &["--once"])?.wait()?;
    assert_eq!(ended.code, Some(0), "{}", ended.output);
    let best: String = client
        .query_one(
            "SELECT content FROM reground.apply_rerank($1) WHERE marker = 'A1'",
            &[&turn],
        )?
        .get(0);
    assert_eq!(best, "tea and milk and sugar");
    Ok(())
}
