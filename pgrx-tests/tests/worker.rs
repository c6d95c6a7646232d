//! Maintenance in the background, on a server that preloads the library: without any call, a fault causes a notification.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use postgres::fallible_iterator::FallibleIterator;
use postgres::{Client, Config, NoTls};

/// A server that preloads the library and maintains the database `reground` every second, as `make test` starts it.
const URI: &str = "REGROUND_TEST_WORKER_URI";

/// How long to wait for events that need seconds; the documented limit for detection is 15 minutes.
const PATIENCE: Duration = Duration::from_secs(120);

fn connect(database: &str) -> Result<Client> {
    let uri = std::env::var(URI).with_context(|| {
        format!("{URI} is not set: run `make test`, which starts a server for this test")
    })?;
    let mut config: Config = uri.parse()?;
    let mut client = config.dbname(database).connect(NoTls)?;
    client.batch_execute("SET client_min_messages = error")?;
    Ok(client)
}

const PREPARED: &str = "
    CREATE EXTENSION reground CASCADE;
    SELECT reground.create_corpus('worked');
    SELECT reground.put_document('worked', 'rye.md', content => 'Rye bread rises slowly in a cold kitchen.');";

/// Hostile settings of a database owner: a search_path with operators before those of
/// PostgreSQL. The worker is a superuser, so such an operator would run as one. A trigger records the search_path of the worker.
const TRAPS: &str = "
    CREATE SCHEMA traps;
    CREATE TABLE traps.caught (who name);
    CREATE FUNCTION traps.equal(name, name) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN INSERT INTO traps.caught VALUES (current_user); RETURN true; END $$;
    CREATE OPERATOR traps.= (LEFTARG = name, RIGHTARG = name, FUNCTION = traps.equal);
    CREATE TABLE traps.paths (path text);
    CREATE FUNCTION traps.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO traps.paths VALUES (current_setting('search_path')); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER note AFTER INSERT OR UPDATE ON reground.answer_rollup DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION traps.note();
    ALTER DATABASE reground SET search_path = traps, pg_catalog, public;";

/// A conversation of one turn, with an answer that cites an unknown source.
fn answer(client: &mut Client, number: usize) -> Result<()> {
    let turn: i64 = client
        .query_one(
            "SELECT turn_id FROM reground.begin_turn($1, 'How does rye bread rise?', 'worked') LIMIT 1",
            &[&format!("worked-{number}")],
        )?
        .get(0);
    client.query(
        "SELECT count(*) FROM reground.end_turn($1, 'Rye bread rises fast [Z9].')",
        &[&turn],
    )?;
    Ok(())
}

fn waiting(client: &mut Client) -> Result<i64> {
    Ok(client
        .query_one("SELECT answers FROM reground.audit_backlog", &[])?
        .get(0))
}

#[test]
fn the_worker_notifies_about_an_injected_fault() -> Result<()> {
    // One database is maintained, another one is not.
    let mut server = connect("postgres")?;
    for database in ["reground", "elsewhere"] {
        server.batch_execute(&format!("DROP DATABASE IF EXISTS {database} WITH (FORCE)"))?;
        server.batch_execute(&format!("CREATE DATABASE {database}"))?;
    }
    let (mut client, mut listener) = (connect("reground")?, connect("reground")?);
    let mut elsewhere = connect("elsewhere")?;
    client.batch_execute(PREPARED)?;
    client.batch_execute(TRAPS)?;
    elsewhere.batch_execute(PREPARED)?;
    answer(&mut elsewhere, 0)?;
    listener.batch_execute("LISTEN reground_alerts")?;
    let injected = Instant::now();
    for number in 0..55 {
        answer(&mut client, number)?;
    }
    let mut notifications = listener.notifications();
    let mut told = notifications.timeout_iter(PATIENCE);
    let payload = loop {
        let notification = told.next()?.context("no notification")?;
        if notification.payload().contains("\"lost_generation\"") {
            break notification.payload().to_owned();
        }
    };
    println!(
        "notified {:.1} s after the first faulty answer began: {payload}",
        injected.elapsed().as_secs_f64()
    );
    ensure!(
        payload.contains("\"fired\"") && payload.contains("\"critical\""),
        "{payload}"
    );
    // A round may have run before the last of them. One more round runs here, and none there.
    answer(&mut client, 55)?;
    let asked = Instant::now();
    while waiting(&mut client)? > 0 {
        ensure!(asked.elapsed() < PATIENCE, "no further round");
        thread::sleep(Duration::from_millis(100));
    }
    let caught: i64 = client
        .query_one("SELECT count(*) FROM traps.caught", &[])?
        .get(0);
    ensure!(
        caught == 0,
        "the worker called what the owner of the database put in its way"
    );
    let paths: Vec<String> = client
        .query_one("SELECT array_agg(DISTINCT path) FROM traps.paths", &[])?
        .get(0);
    assert_eq!(paths, ["pg_catalog, pg_temp"]);
    ensure!(
        waiting(&mut elsewhere)? == 1,
        "a database that is not named is maintained"
    );
    Ok(())
}
