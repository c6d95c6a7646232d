//! Writers that run random transactions, and their counts.

use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use postgres::{Client, SimpleQueryMessage};
use reground_tests::chance::Chance;

use crate::statements::{KINDS, statement};

/// The ways in which [`write`] runs a statement.
const WAYS: [&str; 7] = [
    "alone",
    "rolled back",
    "with a second one",
    "before a savepoint that is rolled back",
    "in a savepoint that is released",
    "before an exception in a block",
    "in REPEATABLE READ",
];

/// What a writer has done.
#[derive(Default)]
pub struct Written {
    /// Committed statements that changed rows, or a TRUNCATE, by kind.
    kinds: [usize; KINDS.len()],
    /// Transactions without an error, by way.
    ways: [usize; WAYS.len()],
    /// Statements that were sent, also those of transactions with an error.
    statements: usize,
    /// Transactions that ended with an error, for example a deadlock.
    errors: usize,
}

/// Runs a statement, and returns the number of rows that it changed.
fn run(client: &mut Client, statement: &str) -> Result<u64, postgres::Error> {
    let messages = client.simple_query(statement)?;
    let rows = messages.iter().map(|message| match message {
        SimpleQueryMessage::CommandComplete(rows) => *rows,
        _ => 0,
    });
    Ok(rows
        .sum::<u64>()
        .max(u64::from(statement.starts_with("TRUNCATE"))))
}

/// Runs a transaction of one or two random statements.
fn transaction(
    client: &mut Client,
    chance: &mut Chance,
    number: usize,
    written: &mut Written,
) -> Result<(), postgres::Error> {
    let way = chance.below(12) % WAYS.len();
    let ((kind, one), (more_kind, more)) = (statement(chance, number), statement(chance, number));
    let mut counts = vec![(kind, 0)];
    written.statements += 1;
    match way {
        1 => {
            client.batch_execute("BEGIN")?;
            run(client, &one)?;
            client.batch_execute("ROLLBACK")?;
        }
        2 => {
            client.batch_execute("BEGIN")?;
            counts[0].1 = run(client, &one)?;
            written.statements += 1;
            counts.push((more_kind, run(client, &more)?));
            client.batch_execute("COMMIT")?;
        }
        3 | 4 => {
            client.batch_execute("BEGIN")?;
            counts[0].1 = run(client, &one)?;
            client.batch_execute("SAVEPOINT a; SAVEPOINT b")?;
            written.statements += 1;
            let rows = run(client, &more)?;
            if way == 3 {
                client.batch_execute("ROLLBACK TO a; COMMIT")?;
            } else {
                client.batch_execute("RELEASE a; COMMIT")?;
                counts.push((more_kind, rows));
            }
        }
        5 => {
            written.statements += 1;
            client.batch_execute(&format!(
                "DO $$ BEGIN {one}; BEGIN {more}; RAISE EXCEPTION 'undone'; EXCEPTION WHEN raise_exception THEN NULL; END; END $$"
            ))?;
        }
        6 => {
            client.batch_execute(
                "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM texts",
            )?;
            // Others write meanwhile.
            thread::sleep(Duration::from_millis(5));
            counts[0].1 = run(client, &one)?;
            client.batch_execute("COMMIT")?;
        }
        _ => counts[0].1 = run(client, &one)?,
    }
    written.ways[way] += 1;
    for (kind, rows) in counts {
        written.kinds[kind] += usize::from(rows > 0);
    }
    Ok(())
}

/// Errors that concurrent writers get by chance: foreign and unique keys, serialization failures and deadlocks, two rows of MERGE that
/// meet.
const ALLOWED: [&str; 5] = ["23503", "23505", "40001", "40P01", "21000"];

/// Returns an error that is not [`ALLOWED`], and otherwise whether there was one.
pub fn allowed<T>(outcome: Result<T, postgres::Error>) -> Result<bool> {
    match outcome {
        Ok(_) => Ok(false),
        Err(error)
            if ALLOWED
                .iter()
                .any(|code| error.code().is_some_and(|found| found.code() == *code)) =>
        {
            Ok(true)
        }
        Err(error) => Err(error.into()),
    }
}

/// Runs random transactions. An error of a statement rolls its transaction back.
pub fn write(client: &mut Client, seed: u64, statements: usize) -> Result<Written> {
    let mut chance = Chance::of(seed);
    let mut written = Written::default();
    while written.statements < statements {
        let number = written.statements * 10 + usize::try_from(seed)?;
        let outcome = transaction(client, &mut chance, number, &mut written);
        if allowed(outcome).with_context(|| format!("statement {number}"))? {
            written.errors += 1;
            client.batch_execute("ROLLBACK")?;
        }
    }
    Ok(written)
}

/// Prints what the writers did. Fails if a kind or a way is missing from more than a thousand statements.
pub fn report(written: &[Written], seconds: f64) -> Result<()> {
    let sum = |of: &dyn Fn(&Written) -> usize| written.iter().map(of).sum::<usize>();
    let all = sum(&|writer| writer.statements);
    let mut lines = vec![format!(
        "{all} statements of {} writers in {seconds:.0} s, {} transactions with an error",
        written.len(),
        sum(&|writer| writer.errors),
    )];
    for (kind, name) in KINDS.iter().enumerate() {
        let count = sum(&|writer| writer.kinds[kind]);
        ensure!(count > 0 || all < 1000, "no {name} has changed rows");
        lines.push(format!("{count:6} {name}"));
    }
    for (way, name) in WAYS.iter().enumerate() {
        let count = sum(&|writer| writer.ways[way]);
        ensure!(count > 0 || all < 1000, "no transaction {name}");
        lines.push(format!("{count:6} {name}"));
    }
    println!("{}", lines.join("\n"));
    Ok(())
}
