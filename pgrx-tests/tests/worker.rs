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
    connect_as(database, None)
}

fn connect_as(database: &str, role: Option<&str>) -> Result<Client> {
    let uri = std::env::var(URI).with_context(|| {
        format!("{URI} is not set: run `make test`, which starts a server for this test")
    })?;
    let mut config: Config = uri.parse()?;
    config.dbname(database);
    if let Some(role) = role {
        config.user(role);
    }
    let mut client = config.connect(NoTls)?;
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
    CREATE FUNCTION traps.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN INSERT INTO traps.paths VALUES (current_setting('search_path')); RETURN NULL; END $$;
    CREATE TRIGGER note AFTER INSERT OR UPDATE ON reground.answer_rollup FOR EACH ROW EXECUTE FUNCTION traps.note();
    ALTER DATABASE reground SET search_path = traps, pg_catalog, public;";

/// Tasks with the interval of the worker as their period. The other tasks must not run.
const PERIODS: &str = "
    SELECT reground.set_maintenance(task, enabled => task IN ('refresh_audit', 'check_alerts'), period => '1 second') FROM reground.maintenance_tasks WHERE built_in;";

/// Statements of a role that is no superuser: a corpus over a view whose function runs with the rights of its caller.
const VIEWED: &str = "
    SET search_path = public;
    CREATE TABLE shelf (id text PRIMARY KEY, body text NOT NULL);
    INSERT INTO shelf VALUES ('1', 'Oat bread takes an hour.');
    CREATE TABLE readers (who text);
    GRANT INSERT ON readers TO PUBLIC;
    CREATE FUNCTION reader() RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
        BEGIN
            RESET ROLE;
        EXCEPTION WHEN insufficient_privilege THEN NULL;
        END;
        INSERT INTO public.readers VALUES (current_user);
        RETURN true;
    END $$;
    CREATE VIEW viewed AS SELECT id, body FROM shelf WHERE reader();
    GRANT SELECT ON viewed TO worker_asker;
    SELECT reground.add_corpus('viewed', 'public.viewed', 'id', 'body');";

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

/// Waits until a query returns true.
fn wait_until(client: &mut Client, query: &str) -> Result<()> {
    let asked = Instant::now();
    while !client.query_one(query, &[])?.get::<_, bool>(0) {
        ensure!(asked.elapsed() < PATIENCE, "never true: {query}");
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// A task that waits is visible in pg_stat_activity and maintenance_status, other sessions skip it, and a cancel ends only this task.
fn check_activity(client: &mut Client, other: &mut Client) -> Result<()> {
    const WAITS: &str = "SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'reground maintenance' AND datname = 'reground' \
        AND query = 'SELECT * FROM reground.run_maintenance(''refresh_audit'')' AND state = 'active' AND wait_event_type = 'Lock'";
    let mut transaction = client.transaction()?;
    transaction.batch_execute("LOCK TABLE reground.rollup_queue")?;
    wait_until(other, WAITS)?;
    wait_until(
        other,
        "SELECT bool_and(running = (task = 'refresh_audit')) FROM reground.maintenance_status",
    )?;
    let skipped = other.query(
        "SELECT task FROM reground.run_maintenance('refresh_audit')",
        &[],
    )?;
    ensure!(skipped.is_empty(), "a running task was run again");
    let open = "SELECT count(*) = 1 FROM reground.maintenance_runs WHERE finished_at IS NULL";
    wait_until(other, open)?;
    other.execute(
        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE backend_type = 'reground maintenance' AND datname = 'reground'",
        &[],
    )?;
    wait_until(
        other,
        "SELECT EXISTS (SELECT FROM reground.maintenance_runs WHERE task = 'refresh_audit' AND sqlstate = '57014' AND finished_at IS NOT NULL)",
    )?;
    transaction.rollback()?;
    // The launcher is started again after it was terminated.
    other.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'reground maintenance launcher'",
        &[],
    )?;
    wait_until(
        other,
        "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'reground maintenance launcher')",
    )?;
    let now = "CREATE TEMPORARY TABLE ended AS SELECT clock_timestamp() AS at";
    other.batch_execute(now)?;
    wait_until(
        other,
        "SELECT EXISTS (SELECT FROM reground.maintenance_runs, ended WHERE task = 'refresh_audit' AND started_at > ended.at AND finished_at IS NOT NULL AND error IS NULL)",
    )
}

/// The worker is a superuser. It runs the probes of a corpus over a view, as the role that put them.
fn check_probes(client: &mut Client) -> Result<()> {
    client.batch_execute(
        "CREATE ROLE worker_owner LOGIN IN ROLE reground_admin; CREATE ROLE worker_asker LOGIN IN ROLE reground_user; GRANT CREATE ON SCHEMA public TO worker_owner;",
    )?;
    connect_as("reground", Some("worker_owner"))?.batch_execute(VIEWED)?;
    connect_as("reground", Some("worker_asker"))?.batch_execute(
        "SELECT reground.put_probe('oats', 'viewed', 'How long does oat bread take?', '1')",
    )?;
    client.batch_execute(
        "TRUNCATE public.readers; SELECT reground.set_maintenance('probes', enabled => true)",
    )?;
    wait_until(
        client,
        "SELECT EXISTS (SELECT FROM reground.probe_results WHERE tenant = 'worker_asker')",
    )?;
    let found: bool = client
        .query_one(
            "SELECT bool_and(found) FROM reground.probe_results WHERE tenant = 'worker_asker'",
            &[],
        )?
        .get(0);
    ensure!(found, "a probe of a corpus over a view was not run");
    let readers: Vec<String> = client
        .query_one("SELECT array_agg(DISTINCT who) FROM public.readers", &[])?
        .get(0);
    assert_eq!(readers, ["worker_asker"]);
    Ok(())
}

fn waiting(client: &mut Client) -> Result<i64> {
    Ok(client
        .query_one("SELECT answers FROM reground.audit_backlog", &[])?
        .get(0))
}

/// Waits for the notification of the expected rule.
fn notified(listener: &mut Client) -> Result<String> {
    let mut notifications = listener.notifications();
    let mut told = notifications.timeout_iter(PATIENCE);
    loop {
        let notification = told.next()?.context("no notification")?;
        if notification.payload().contains("\"lost_generation\"") {
            return Ok(notification.payload().to_owned());
        }
    }
}

#[test]
fn the_worker_notifies_about_an_injected_fault() -> Result<()> {
    // One database is maintained, another one is not.
    let mut server = connect("postgres")?;
    for database in ["reground", "elsewhere"] {
        server.batch_execute(&format!("DROP DATABASE IF EXISTS {database} WITH (FORCE)"))?;
        server.batch_execute(&format!("CREATE DATABASE {database}"))?;
    }
    server.batch_execute("DROP ROLE IF EXISTS worker_owner, worker_asker")?;
    let (mut client, mut listener) = (connect("reground")?, connect("reground")?);
    let mut elsewhere = connect("elsewhere")?;
    client.batch_execute(PREPARED)?;
    client.batch_execute(PERIODS)?;
    client.batch_execute(TRAPS)?;
    elsewhere.batch_execute(PREPARED)?;
    answer(&mut elsewhere, 0)?;
    listener.batch_execute("LISTEN reground_alerts")?;
    let injected = Instant::now();
    for number in 0..55 {
        answer(&mut client, number)?;
    }
    let payload = notified(&mut listener)?;
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
    check_activity(&mut client, &mut listener)?;
    check_probes(&mut client)
}
