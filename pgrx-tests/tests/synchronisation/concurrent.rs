//! Corpora match their table after concurrent random statements; `REGROUND_SOAK=N` multiplies the number of statements.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use postgres::Client;
use reground_tests::server::Database;

use crate::answers::{self, ask};
use crate::corpora::{TABLES, embed, expect_equal};
use crate::writers::{Written, allowed, report, write};

/// Statements of each of the four writers.
const STATEMENTS: usize = 150;

/// Runs `work` in a session of its own until the writers have ended. Errors that it gets by chance do not count.
fn meanwhile(
    database: &Database,
    done: &AtomicBool,
    work: impl Fn(&mut Client) -> Result<(), postgres::Error>,
) -> Result<()> {
    let mut client = database.connect()?;
    while !done.load(Ordering::Relaxed) {
        allowed(work(&mut client))?;
        thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}

/// Processes the queue and embeds all passages, and checks that both corpora match the table all the time.
fn settle(client: &mut Client) -> Result<()> {
    let behind: i64 = client
        .query_one(
            "SELECT count(*) FROM reground.sync_queue WHERE last_error IS NOT NULL",
            &[],
        )?
        .get(0);
    ensure!(behind == 0, "{behind} rows wait after an error");
    let waiting: i64 = client
        .query_one(
            "SELECT count(*) FROM reground.sync_queue AS q JOIN reground.corpora AS c USING (corpus_id) WHERE c.corpus = 'now'",
            &[],
        )?
        .get(0);
    // TRUNCATE in REPEATABLE READ queues a comparison.
    if waiting == 0 {
        expect_equal(client, "now", "after the statements")?;
    }
    for _ in 0..20 {
        client.query("SELECT reground.run_maintenance('sync_queue')", &[])?;
    }
    expect_equal(client, "now", "after the queue")?;
    expect_equal(client, "later", "after the queue")?;
    for corpus in ["now", "later"] {
        let repaired: i64 = client
            .query_one("SELECT reground.resync($1)", &[&corpus])?
            .get(0);
        ensure!(
            repaired == 0,
            "resync of {corpus} found {repaired} differences"
        );
        while embed(client, corpus, 1000)? > 0 {}
        expect_equal(client, corpus, "after all passages are embedded")?;
    }
    Ok(())
}

#[test]
fn documents_match_the_table_after_concurrent_statements() -> Result<()> {
    let database = Database::create("synchronisation")?;
    let mut client = database.connect()?;
    client.batch_execute(TABLES)?;
    let factor: usize = match std::env::var("REGROUND_SOAK") {
        Ok(factor) => factor.parse().context("REGROUND_SOAK is a number")?,
        Err(_) => 1,
    };
    let begun = Instant::now();
    let done = AtomicBool::new(false);
    let written = thread::scope(|scope| -> Result<Vec<Written>> {
        let database = &database;
        let writers: Vec<_> = (1..=4)
            .map(|seed| {
                scope.spawn(move || write(&mut database.connect()?, seed, STATEMENTS * factor))
            })
            .collect();
        let done = &done;
        let worker = scope.spawn(move || {
            meanwhile(database, done, |client| {
                client
                    .query("SELECT reground.run_maintenance('sync_queue')", &[])
                    .map(drop)
            })
        });
        let embedder = scope.spawn(move || {
            meanwhile(database, done, |client| {
                embed(client, "now", 5)?;
                embed(client, "later", 5).map(drop)
            })
        });
        let tenants = [("mill", 11), ("forge", 12)]
            .map(|(tenant, seed)| scope.spawn(move || ask(database, done, tenant, seed)));
        let written: Vec<_> = writers
            .into_iter()
            .map(thread::ScopedJoinHandle::join)
            .collect();
        done.store(true, Ordering::Relaxed);
        for other in [worker, embedder] {
            other
                .join()
                .map_err(|_| anyhow::anyhow!("a session panicked"))??;
        }
        let reused = tenants.into_iter().map(|tenant| {
            tenant
                .join()
                .map_err(|_| anyhow::anyhow!("a tenant panicked"))?
        });
        answers::report(&reused.collect::<Result<Vec<_>>>()?)?;
        let joined = written
            .into_iter()
            .map(|writer| writer.map_err(|_| anyhow::anyhow!("a writer panicked"))?);
        joined.collect()
    })?;
    report(&written, begun.elapsed().as_secs_f64())?;
    settle(&mut client)
}
