//! Keys of tenants while other transactions are open: no row is lost, left plain or sealed with a destroyed key.

use anyhow::{Context, Result, ensure};
use postgres::Client;
use reground_tests::server::Database;

const WRITTEN: &str = "
    SELECT reground.create_corpus('farm', settings => '{\"provenance\": \"merkle\"}');
    SELECT reground.put_document('farm', 'cows', content => 'Cows give milk.', title => 'Cows')";

/// A database with a corpus, whose sessions act for the tenant `acme`.
fn written(name: &str) -> Result<Database> {
    let database = Database::create(name)?;
    let mut client = database.connect()?;
    client.batch_execute(&format!(
        "ALTER DATABASE {0} SET reground.tenant_from = 'app.tenant_id'; ALTER DATABASE {0} SET app.tenant_id = 'acme'",
        database.name()
    ))?;
    database.connect()?.batch_execute(WRITTEN)?;
    Ok(database)
}

/// A session with a master key of 64 equal digits; `None`: without one.
fn session(database: &Database, digit: Option<char>) -> Result<Client> {
    let mut client = database.connect()?;
    if let Some(digit) = digit {
        master(&mut client, digit)?;
    }
    Ok(client)
}

fn master(client: &mut Client, digit: char) -> Result<()> {
    let key = String::from(digit).repeat(64);
    client.execute(
        "SELECT set_config('reground.master_key', $1, false)",
        &[&key],
    )?;
    Ok(())
}

/// A turn with an answer.
fn talk(client: &mut Client, conversation: &str) -> Result<(), postgres::Error> {
    client.batch_execute(&format!(
        "SELECT reground.begin_turn('{conversation}', 'what do cows give?', 'farm'); \
         SELECT reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'They give milk [A1].')"
    ))
}

/// Fails unless the statement raised this SQLSTATE.
fn refused(result: Result<(), postgres::Error>, state: &str) -> Result<()> {
    let error = result.err().context("the statement succeeded")?;
    let found = error.code().map(|code| code.code().to_owned());
    ensure!(found.as_deref() == Some(state), "{error:?}");
    Ok(())
}

fn text(client: &mut Client, statement: &str) -> Result<String> {
    let row = client.query_one(statement, &[])?;
    Ok(row.get::<_, Option<String>>(0).unwrap_or_default())
}

const TITLES: &str = "SELECT string_agg(DISTINCT title, ' ') FROM reground.citation_audit";
const PLAIN: &str = "SELECT count(*)::text FROM reground.message_citations WHERE title = 'Cows'";
const STATUSES: &str = "SELECT string_agg(DISTINCT status, ' ') FROM reground.verify_chain('talk')";
/// Citations of each key, by its place among the keys that exist; 0 is a key that does not.
const BY_KEY: &str = "SELECT string_agg(x.place || ':' || x.citations, ' ' ORDER BY x.place) FROM (
    SELECT coalesce(k.place, 0) AS place, count(*) AS citations FROM reground.message_citations AS c
    LEFT JOIN (SELECT key_id, row_number() OVER (ORDER BY key_id) AS place FROM reground.tenant_keys) AS k
        ON k.key_id = substring(c.title from '^sealed:([0-9]+):')::bigint GROUP BY 1) AS x";
const ROTATE: &str = "SELECT reground.rotate_tenant_key()";
/// Keys of two tenants, so that one has a key when those of the other are destroyed.
const FIRST: &str = "SELECT reground.rotate_tenant_key(), reground.rotate_tenant_key('bolt')";
const DESTROY: &str = "SELECT reground.forget_tenant_keys('acme')";
const SEALED: &str =
    "SELECT bool_and(sealed_at IS NOT NULL)::text FROM reground.tenant_keys WHERE tenant = 'acme'";
const SEAL: &str = "SELECT reground.run_maintenance('seal_rows')";
const OLD_SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1";

#[test]
fn a_row_of_a_transaction_that_saw_no_key_is_sealed_later() -> Result<()> {
    let database = written("keys_plain")?;
    let mut open = session(&database, None)?;
    open.batch_execute("BEGIN")?;
    talk(&mut open, "talk")?;
    let mut admin = session(&database, Some('5'))?;
    admin.batch_execute(&format!("SELECT reground.rotate_tenant_key(); {SEAL}"))?;
    ensure!(text(&mut admin, SEALED)? == "false");
    open.batch_execute("COMMIT")?;
    ensure!(text(&mut admin, PLAIN)? == "1");
    admin.batch_execute(SEAL)?;
    // Other tests of the server write at the same time.
    while text(&mut admin, SEALED)? == "false" {
        admin.batch_execute(SEAL)?;
    }
    ensure!(text(&mut admin, PLAIN)? == "0");
    ensure!(text(&mut admin, TITLES)? == "Cows" && text(&mut admin, STATUSES)? == "ok");
    // Without the master key, nothing plain is stored.
    refused(talk(&mut open, "talk"), "42501")?;
    open.batch_execute("SET app.tenant_id = 'bolt'")?;
    refused(talk(&mut open, "talk"), "42501")
}

/// The number of the transaction is higher than that of the one that makes the key, and no later one has ended.
#[test]
fn a_row_of_a_later_transaction_that_saw_no_key_is_sealed_later() -> Result<()> {
    let database = written("keys_later")?;
    let mut admin = session(&database, Some('5'))?;
    admin.batch_execute("BEGIN; SELECT reground.rotate_tenant_key()")?;
    let mut open = session(&database, None)?;
    open.batch_execute("BEGIN")?;
    talk(&mut open, "talk")?;
    admin.batch_execute(&format!("COMMIT; {SEAL}"))?;
    ensure!(text(&mut admin, SEALED)? == "false");
    open.batch_execute("COMMIT")?;
    while text(&mut admin, SEALED)? == "false" {
        admin.batch_execute(SEAL)?;
    }
    ensure!(text(&mut admin, PLAIN)? == "0");
    Ok(())
}

#[test]
fn a_transaction_with_an_old_snapshot_stores_nothing_without_the_key() -> Result<()> {
    let database = written("keys_snapshot")?;
    let mut admin = session(&database, Some('5'))?;
    let mut old = session(&database, None)?;
    old.batch_execute(OLD_SNAPSHOT)?;
    admin.batch_execute("SELECT reground.rotate_tenant_key()")?;
    // It does not see the key, and stores nothing plain.
    refused(talk(&mut old, "talk"), "42501")?;
    old.batch_execute("ROLLBACK")?;

    // A key made with an old snapshot would have the old master key.
    master(&mut old, '5')?;
    old.batch_execute(&format!("SET app.tenant_id = 'bolt'; {OLD_SNAPSHOT}"))?;
    admin.batch_execute("SELECT reground.change_master_key(repeat('6', 64))")?;
    refused(talk(&mut old, "talk"), "40001")?;
    old.batch_execute("ROLLBACK")?;

    // Nor is one left out when the master key changes.
    master(&mut admin, '6')?;
    admin.batch_execute(OLD_SNAPSHOT)?;
    let change = "SELECT reground.change_master_key(repeat('7', 64))";
    refused(admin.batch_execute(change), "25001")?;
    admin.batch_execute("ROLLBACK; BEGIN; SELECT 1")?;
    master(&mut old, '6')?;
    talk(&mut old, "talk")?;
    admin.batch_execute(&format!("{change}; COMMIT"))?;
    master(&mut old, '7')?;
    ensure!(text(&mut old, TITLES)? == "Cows");
    Ok(())
}

#[test]
fn two_sessions_do_not_make_the_first_key_with_two_master_keys() -> Result<()> {
    let database = written("keys_first")?;
    let mut first = session(&database, Some('5'))?;
    let mut second = session(&database, Some('6'))?;
    let make = "SELECT reground.rotate_tenant_key()";
    first.batch_execute(&format!("BEGIN; {make}"))?;
    second.batch_execute("SET lock_timeout = '100ms'; SET app.tenant_id = 'bolt'")?;
    refused(second.batch_execute(make), "55P03")?;
    first.batch_execute("COMMIT")?;
    refused(second.batch_execute(make), "42501")
}

#[test]
fn destroying_keys_waits_for_what_they_seal() -> Result<()> {
    let database = written("keys_destroyed")?;
    let mut open = session(&database, Some('5'))?;
    open.batch_execute(FIRST)?;
    let mut admin = session(&database, Some('5'))?;
    admin.batch_execute("SET lock_timeout = '100ms'")?;
    let mut old = session(&database, Some('5'))?;
    old.batch_execute(OLD_SNAPSHOT)?;
    open.batch_execute("BEGIN")?;
    talk(&mut open, "talk")?;
    for forget in [
        "SELECT reground.forget_tenant_keys('acme')",
        "SELECT reground.forget_tenant('acme')",
    ] {
        refused(admin.batch_execute(forget), "55P03")?;
    }
    open.batch_execute("COMMIT")?;
    admin.batch_execute("SELECT reground.forget_tenant_keys('acme')")?;
    ensure!(text(&mut open, TITLES)? == "erased");
    let statuses = text(&mut open, STATUSES)?;
    ensure!(statuses == "content_erased", "{statuses}");
    // A transaction that still sees the key does not use it.
    refused(talk(&mut old, "other"), "40001")?;
    old.batch_execute("ROLLBACK")?;
    talk(&mut old, "other")?;
    ensure!(text(&mut open, TITLES)? == "Cows erased");
    Ok(())
}

/// A transaction looks up its keys once, until it changes them.
#[test]
fn a_transaction_seals_with_the_keys_that_it_makes() -> Result<()> {
    let database = written("keys_made")?;
    let mut open = session(&database, Some('5'))?;
    open.batch_execute(&format!("{FIRST}; BEGIN"))?;
    talk(&mut open, "talk")?;
    open.batch_execute(ROTATE)?;
    talk(&mut open, "talk")?;
    ensure!(text(&mut open, BY_KEY)? == "1:1 3:1");
    open.batch_execute(DESTROY)?;
    talk(&mut open, "talk")?;
    ensure!(text(&mut open, BY_KEY)? == "1:1 3:1 4:1");
    open.batch_execute("SET LOCAL app.tenant_id = 'bolt'")?;
    open.batch_execute(WRITTEN)?;
    talk(&mut open, "talk")?;
    open.batch_execute("COMMIT")?;
    let by_key = text(&mut open, BY_KEY)?;
    ensure!(by_key == "1:1 2:1 3:1 4:1", "{by_key}");
    ensure!(text(&mut open, TITLES)? == "Cows erased");
    Ok(())
}

/// A rollback to a savepoint removes the key that was made since, and the lock that keeps others from destroying one.
#[test]
fn a_part_that_is_rolled_back_leaves_no_key() -> Result<()> {
    let database = written("keys_rolled_back")?;
    let mut open = session(&database, Some('5'))?;
    open.batch_execute(&format!("{FIRST}; BEGIN"))?;
    talk(&mut open, "talk")?;
    open.batch_execute(&format!("SAVEPOINT made; {ROTATE}"))?;
    talk(&mut open, "talk")?;
    ensure!(text(&mut open, BY_KEY)? == "1:1 3:1");
    open.batch_execute("ROLLBACK TO made")?;
    talk(&mut open, "talk")?;
    open.batch_execute("COMMIT")?;
    let by_key = text(&mut open, BY_KEY)?;
    ensure!(by_key == "1:2", "{by_key}");

    open.batch_execute("BEGIN; SELECT pg_current_xact_id(); SAVEPOINT held")?;
    talk(&mut open, "other")?;
    open.batch_execute("ROLLBACK TO held")?;
    session(&database, Some('5'))?.batch_execute(DESTROY)?;
    talk(&mut open, "other")?;
    open.batch_execute("COMMIT")?;
    // A transaction remembers nothing of the one before it.
    for _ in 0..2 {
        session(&database, Some('5'))?.batch_execute(DESTROY)?;
        talk(&mut open, "other")?;
    }
    let by_key = text(&mut open, BY_KEY)?;
    ensure!(by_key == "1:2 3:1 4:1 5:1", "{by_key}");
    Ok(())
}
