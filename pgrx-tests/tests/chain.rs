//! Several sessions use one conversation at once: its chain has one link per turn and per answer, in one order, and all links
//! verify.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Result, anyhow, ensure};
use postgres::error::SqlState;
use reground_tests::server::Database;

const SESSIONS: usize = 4;
const TURNS: usize = 8;

/// Begins turns and gives each two answers. Odd sessions use REPEATABLE READ and retry after a serialization failure.
fn talk(database: &Database, session: usize) -> Result<()> {
    let mut client = database.connect()?;
    let level = ["READ COMMITTED", "REPEATABLE READ"][session % 2];
    client.batch_execute(&format!(
        "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level}"
    ))?;
    let mut again = |statement: &str| -> Result<i64> {
        loop {
            match client.query(statement, &[]) {
                Ok(rows) => return Ok(rows[0].get(0)),
                Err(error) if error.code() == Some(&SqlState::T_R_SERIALIZATION_FAILURE) => {}
                Err(error) => return Err(error.into()),
            }
        }
    };
    for number in 0..TURNS {
        let turn = again(&format!(
            "SELECT turn_id FROM reground.begin_turn('talk', 'who gives milk?', 'farm', request_id => '{session} {number}') LIMIT 1"
        ))?;
        for answer in ["Cows give milk [A1].", "Pigs fly [Z9]."] {
            again(&format!(
                "SELECT message_id FROM reground.end_turn({turn}, '{answer}') LIMIT 1"
            ))?;
        }
    }
    Ok(())
}

const WRITTEN: &str = "
    SELECT reground.create_corpus('farm', settings => '{\"provenance\": \"merkle\"}');
    SELECT reground.put_document('farm', 'cows', passages => '[{\"content\": \"Cows give milk.\"}]')";

/// The chain verifies at every moment, also while retention removes its first links.
#[test]
fn a_chain_that_grows_and_is_cut_always_verifies() -> Result<()> {
    let database = Database::create("chain_grows")?;
    let mut client = database.connect()?;
    client.batch_execute(WRITTEN)?;
    client.batch_execute("SELECT reground.begin_turn('talk', 'who gives milk?', 'farm'); CREATE TABLE scratch (n integer)")?;
    let talked = AtomicBool::new(false);
    let (verified, removed) = thread::scope(|scope| {
        let talking = scope.spawn(|| {
            let outcome = talk(&database, 0);
            talked.store(true, Ordering::Relaxed);
            outcome
        });
        let removing = scope.spawn(|| -> Result<i64> {
            let mut client = database.connect()?;
            let mut removed = 0;
            while !talked.load(Ordering::Relaxed) {
                let row = client.query_one("SELECT coalesce(sum(rows), 0)::bigint FROM reground.run_retention(now() + interval '91 days') WHERE relation = 'provenance_chain'", &[])?;
                removed += row.get::<_, i64>(0);
            }
            Ok(removed)
        });
        let mut verified = 0;
        // A transaction that has written takes a new snapshot for each statement of verify_chain.
        let mut transaction = client.transaction()?;
        transaction.execute("INSERT INTO scratch VALUES (1)", &[])?;
        while !removing.is_finished() {
            let rows = transaction.query("SELECT link_no, status, detail FROM reground.verify_chain('talk') WHERE status <> 'ok'", &[])?;
            ensure!(rows.is_empty(), "{rows:?}");
            verified += 1;
        }
        let removed = removing
            .join()
            .map_err(|_| anyhow!("a session panicked"))??;
        talking
            .join()
            .map_err(|_| anyhow!("a session panicked"))??;
        Ok((verified, removed))
    })?;
    ensure!(verified > 10 && removed > 10, "{verified} {removed}");
    Ok(())
}

#[test]
fn sessions_share_one_chain() -> Result<()> {
    let database = Database::create("chain_sessions")?;
    let mut client = database.connect()?;
    client.batch_execute(WRITTEN)?;
    thread::scope(|scope| {
        let sessions: Vec<_> = (0..SESSIONS)
            .map(|session| {
                let database = &database;
                scope.spawn(move || talk(database, session))
            })
            .collect();
        sessions
            .into_iter()
            .try_for_each(|session| session.join().map_err(|_| anyhow!("a session panicked"))?)
    })?;
    let row = client.query_one(
        "SELECT count(*), count(*) FILTER (WHERE status = 'ok'), min(link_no), max(link_no), count(DISTINCT message_id), count(DISTINCT turn_id) FROM reground.verify_chain('talk')",
        &[],
    )?;
    let found: Vec<i64> = (0..6).map(|column| row.get(column)).collect();
    let turns = (SESSIONS * TURNS) as i64;
    ensure!(
        found == [3 * turns, 3 * turns, 1, 3 * turns, 2 * turns, turns],
        "{found:?}"
    );
    Ok(())
}
