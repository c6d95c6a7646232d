//! Interrupts each function at each table that it reads or writes, by a cancel, a timeout or the end of its session.
//! The call stops, its changes are gone, and the session works as before.
//!
//! Another session locks the table, so the position of the call is known when the interrupt comes.

mod calls;
mod fixture;

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use postgres::Client;
use reground_tests::pooled::{Pooled, Reply};
use reground_tests::surface;

use calls::{Call, TableLock, calls};
use fixture::{Fixture, process, wait_until};

/// Roles whose functions are called.
const ROLES: [&str; 3] = ["reground_user", "reground_admin", "reground_auditor"];

/// Functions that record some errors instead of raising them, and their SQLSTATE. A state of a source that cannot be read is NULL.
const RECORDED: [(&str, &str); 2] = [("run_maintenance", "55P03"), ("_cited_row", "55P03")];

/// The user, the settings, the cursors and the advisory locks of a session.
fn session_state(session: &mut Pooled) -> Result<String> {
    Ok(session
        .client
        .query_one(
            "SELECT concat_ws(' | ', current_user, session_user, current_schemas(true)::text,
                (SELECT string_agg(name || '=' || setting, ' ' ORDER BY name) FROM pg_settings WHERE source NOT IN ('default', 'configuration file', 'command line')),
                (SELECT count(*) || ' cursors' FROM pg_cursors),
                (SELECT count(*) || ' advisory locks' FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'))",
            &[],
        )?
        .get(0))
}

/// Fails unless the state of the session is as before the call.
fn check_session_state(session: &mut Pooled, before_call: &str) -> Result<()> {
    let after_call = session_state(session)?;
    ensure!(
        after_call == before_call,
        "the session state was {before_call} and is {after_call}"
    );
    Ok(())
}

/// The rows of a call without an interrupt; it is rolled back.
fn rows_without_interrupt(session: &mut Pooled, call: &Call) -> Result<Vec<String>> {
    rows_with_parameters(session, call, &[])
}

/// The same for a call with parameters.
fn rows_with_parameters(
    session: &mut Pooled,
    call: &Call,
    parameters: &[Option<String>],
) -> Result<Vec<String>> {
    session.client.batch_execute("BEGIN")?;
    let reply = session.run(&call.statement(), parameters)?;
    session.client.batch_execute("ROLLBACK")?;
    ensure!(
        reply.error.is_none(),
        "{} is refused: {reply:?}",
        call.function
    );
    Ok(reply.rows)
}

/// Tables that a call locks or writes, without a wait in its list; by function.
fn missing_waits(session: &mut Pooled) -> Result<Vec<String>> {
    let mut missing_waits = Vec::new();
    for call in calls() {
        session.client.batch_execute("BEGIN")?;
        session.run(&call.statement(), &[])?;
        let touched = session.client.query(
            "SELECT l.relation::regclass::text, bool_or(l.mode NOT IN ('AccessShareLock', 'RowShareLock')) FROM pg_locks AS l \
             JOIN pg_class AS c ON c.oid = l.relation \
             WHERE l.pid = pg_backend_pid() AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND l.relation::regclass::text !~ '^(pg_|barn)' GROUP BY 1",
            &[],
        )?;
        session.client.batch_execute("ROLLBACK")?;
        for row in touched {
            let (table, writes): (String, bool) = (row.get(0), row.get(1));
            if !call.waits.iter().any(|held| held.stops(&table, writes)) {
                let does = if writes { "writes" } else { "reads" };
                missing_waits.push(format!("{} {does} {table}", call.function));
            }
        }
    }
    Ok(missing_waits)
}

#[test]
fn each_call_is_made_to_wait_at_each_table() -> Result<()> {
    let fixture = Fixture::build("int_tables")?;
    let missing_waits = missing_waits(&mut fixture.session()?)?;
    ensure!(
        missing_waits.is_empty(),
        "no wait is listed for {missing_waits:#?}"
    );
    Ok(())
}

/// Functions that create, change or drop a table, an index or a trigger.
const DDL: [&str; 4] = ["create_corpus", "alter_corpus", "sync_table", "stop_sync"];

/// Locks that a call keeps until its transaction ends and that VACUUM or pg_dump would wait for, by function. They do not wait for those
/// on sequences.
fn kept_locks(session: &mut Pooled) -> Result<Vec<String>> {
    let mut kept = Vec::new();
    for call in calls().filter(|call| !DDL.contains(&call.function)) {
        session.client.batch_execute("BEGIN")?;
        session.run(&call.statement(), &[])?;
        let locks = session.client.query(
            "SELECT DISTINCT l.mode || ' on ' || l.relation::regclass FROM pg_locks AS l JOIN pg_class AS c ON c.oid = l.relation \
             WHERE l.pid = pg_backend_pid() AND c.relkind <> 'S' AND l.mode NOT IN ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock') ORDER BY 1",
            &[],
        )?;
        session.client.batch_execute("ROLLBACK")?;
        for row in locks {
            let lock: String = row.get(0);
            kept.push(format!("{}: {lock}", call.function));
        }
    }
    Ok(kept)
}

#[test]
fn no_call_keeps_a_lock_that_vacuum_or_a_dump_waits_for() -> Result<()> {
    let fixture = Fixture::build("int_kept")?;
    let kept = kept_locks(&mut fixture.session()?)?;
    ensure!(kept.is_empty(), "{kept:#?}");
    Ok(())
}

/// Fails unless the call stopped with this SQLSTATE and without a warning about cleanup.
fn stopped_with(reply: &Reply, state: &str) -> Result<()> {
    let error = reply.error.as_deref().unwrap_or("no error");
    ensure!(error.contains(state), "expected {state}: {reply:?}");
    ensure!(reply.notices.is_empty(), "{:?}", reply.notices);
    Ok(())
}

/// Interrupts each call at each wait: `interrupt` runs a statement while a table is locked, and it must stop with `state`.
/// `settings` apply to the call.
fn interrupt_everywhere(
    name: &str,
    settings: &str,
    state: &str,
    interrupt: impl Fn(&mut Fixture, &mut Pooled, &str, TableLock) -> Result<Reply>,
) -> Result<()> {
    let mut fixture = Fixture::build(name)?;
    let functions = surface::functions(&mut fixture.observer, &ROLES)?;
    surface::covered(&functions, calls().map(|call| call.function))?;
    let mut session = fixture.session()?;
    let before = fixture.table_hashes()?;
    for call in calls().filter(|call| !RECORDED.contains(&(call.function, state))) {
        let expected = rows_without_interrupt(&mut session, call)?;
        for held in call.waits {
            let context = || format!("{} at {held:?}", call.function);
            let before_call = session_state(&mut session)?;
            session.client.batch_execute(settings)?;
            let reply = interrupt(&mut fixture, &mut session, &call.statement(), *held)
                .with_context(context)?;
            // The timeout applies to the call only, and not to the checks.
            session
                .client
                .batch_execute("RESET statement_timeout; RESET lock_timeout")?;
            stopped_with(&reply, state).with_context(context)?;
            check_session_state(&mut session, &before_call).with_context(context)?;
            let pid = process(&mut session)?;
            // An idle session must hold no snapshot.
            wait_until(
                &mut fixture.observer,
                pid,
                "state = 'idle' AND backend_xmin IS NULL",
                || false,
            )
            .with_context(context)?;
            ensure!(
                fixture.table_hashes()? == before,
                "{} left something behind",
                context()
            );
            ensure!(
                rows_without_interrupt(&mut session, call)? == expected,
                "{}: the next call differs",
                context()
            );
        }
    }
    Ok(())
}

#[test]
fn a_cancelled_call_leaves_nothing_behind() -> Result<()> {
    interrupt_everywhere(
        "int_cancel",
        "",
        "57014",
        |fixture, session, statement, held| {
            fixture.run_until_waiting(session, statement, held, cancel)
        },
    )
}

// How far a call gets before its timeout depends on the machine, so these tests do not wait for a lock wait.

#[test]
fn a_call_that_timed_out_leaves_nothing_behind() -> Result<()> {
    interrupt_everywhere(
        "int_statement",
        "SET statement_timeout = '50ms'",
        "57014",
        Fixture::run_until_timeout,
    )
}

#[test]
fn a_call_with_a_lock_timeout_leaves_nothing_behind() -> Result<()> {
    interrupt_everywhere(
        "int_lock",
        "SET lock_timeout = '10ms'",
        "55P03",
        Fixture::run_until_timeout,
    )
}

fn cancel(observer: &mut Client, pid: i32) -> Result<()> {
    let sent: bool = observer
        .query_one("SELECT pg_cancel_backend($1)", &[&pid])?
        .get(0);
    ensure!(sent, "no cancel was sent");
    Ok(())
}

#[test]
fn a_transaction_continues_from_a_savepoint() -> Result<()> {
    let mut fixture = Fixture::build("int_savepoint")?;
    let mut session = fixture.session()?;
    let before = fixture.table_hashes()?;
    for call in calls() {
        let expected = rows_without_interrupt(&mut session, call)?;
        for held in call.waits {
            let context = || format!("{} at {held:?}", call.function);
            session.client.batch_execute(
                "BEGIN; SET LOCAL search_path = pg_temp, public; SET LOCAL reground.rrf_k = '60'; SAVEPOINT here",
            )?;
            let before_call = session_state(&mut session)?;
            let reply = fixture
                .run_until_waiting(&mut session, &call.statement(), *held, cancel)
                .with_context(context)?;
            stopped_with(&reply, "57014").with_context(context)?;
            session.client.batch_execute("ROLLBACK TO SAVEPOINT here")?;
            check_session_state(&mut session, &before_call).with_context(context)?;
            let again = session.run(&call.statement(), &[])?;
            ensure!(
                again.rows == expected,
                "{}: the next call differs: {again:?}",
                context()
            );
            session.client.batch_execute("ROLLBACK")?;
            ensure!(
                fixture.table_hashes()? == before,
                "{} left something behind",
                context()
            );
        }
    }
    Ok(())
}

#[test]
fn a_session_that_ends_within_a_call_leaves_nothing_behind() -> Result<()> {
    let mut fixture = Fixture::build("int_terminate")?;
    let before = fixture.table_hashes()?;
    for call in calls() {
        // At the last wait, most rows are already written.
        let Some(held) = call.waits.last() else {
            continue;
        };
        let mut session = fixture.session()?;
        let terminate = |observer: &mut Client, pid| -> Result<()> {
            let sent: bool = observer
                .query_one("SELECT pg_terminate_backend($1)", &[&pid])?
                .get(0);
            ensure!(sent, "no signal was sent");
            Ok(())
        };
        let context = || format!("{} at {held:?}", call.function);
        // The connection may be closed before the client has read the error.
        match fixture.run_until_waiting(&mut session, &call.statement(), *held, terminate) {
            Ok(reply) => stopped_with(&reply, "57P01").with_context(context)?,
            Err(error) => ensure!(session.client.is_closed(), "{}: {error:#}", context()),
        }
        ensure!(
            fixture.table_hashes()? == before,
            "{} left something behind",
            context()
        );
        rows_without_interrupt(&mut fixture.session()?, call).with_context(context)?;
    }
    Ok(())
}

#[test]
fn an_idle_transaction_timeout_removes_its_turn() -> Result<()> {
    let mut fixture = Fixture::build("int_idle")?;
    let before = fixture.table_hashes()?;
    for function in [
        "begin_turn",
        "end_turn",
        "apply_rerank",
        "put_document",
        "create_corpus",
    ] {
        let mut session = fixture.session()?;
        let pid = process(&mut session)?;
        let call = calls()
            .find(|call| call.function == function)
            .context(function)?;
        session
            .client
            .batch_execute("SET idle_in_transaction_session_timeout = '100ms'; BEGIN")?;
        let reply = session.run(&call.statement(), &[])?;
        ensure!(reply.error.is_none(), "{reply:?}");
        // The server ends the session; then its locks are free and its rows are gone.
        let gone = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1";
        while fixture.observer.query_one(gone, &[&pid])?.get::<_, i64>(0) > 0 {
            std::thread::yield_now();
        }
        ensure!(
            session.client.batch_execute("COMMIT").is_err(),
            "the session went on"
        );
        ensure!(
            fixture.table_hashes()? == before,
            "{function} left something behind"
        );
        rows_without_interrupt(&mut fixture.session()?, call)?;
    }
    Ok(())
}

/// Calls with a long computation on `$1`, and the text that `$1` repeats.
const LONG: [(&str, &str); 6] = [
    (
        "put_document('farm', 'prose', content => $1)",
        "The quick brown fox jumps over the lazy dog. ",
    ),
    ("put_document('farm', 'word', content => $1)", "x"),
    ("put_document('farm', 'pages', content => $1)", "a\u{c}"),
    ("end_turn(2, $1)", "x"),
    ("end_turn(2, $1)", "["),
    ("begin_turn('fresh', $1, 'farm', '[1,0]')", "quick fox "),
];

/// Characters of the argument: no call finishes it before the last of the [`TIMEOUTS`].
const MANY: usize = 10 << 20;

/// Interrupts at the start and during the computation.
const TIMEOUTS: [&str; 4] = ["1ms", "5ms", "20ms", "50ms"];

/// The tests of the crates (`tests/interrupts.rs`) count how soon a computation stops. Here an interrupt unwinds a
/// computation, and its changes are gone.
#[test]
fn a_long_computation_can_be_cancelled() -> Result<()> {
    let mut fixture = Fixture::build("int_long")?;
    let before = fixture.table_hashes()?;
    for (call, unit) in LONG {
        let call = Call {
            function: call,
            call,
            waits: &[],
        };
        let short = [Some(unit.to_owned())];
        let long = [Some(unit.repeat(MANY / unit.chars().count()))];
        let mut session = fixture.session()?;
        let expected = rows_with_parameters(&mut session, &call, &short)?;
        for timeout in TIMEOUTS {
            let context = || format!("{} of {unit:?} after {timeout}", call.call);
            let before_call = session_state(&mut session)?;
            // Set for the transaction: it applies to the call and ends with its failure.
            session
                .client
                .batch_execute(&format!("BEGIN; SET LOCAL statement_timeout = '{timeout}'"))?;
            let reply = session.run(&call.statement(), &long)?;
            stopped_with(&reply, "57014").with_context(context)?;
            session.client.batch_execute("ROLLBACK")?;
            check_session_state(&mut session, &before_call).with_context(context)?;
            ensure!(
                fixture.table_hashes()? == before,
                "{} left something behind",
                context()
            );
            ensure!(
                rows_with_parameters(&mut session, &call, &short)? == expected,
                "{}: the next call differs",
                context()
            );
        }
    }
    Ok(())
}

/// Calls that read all of their text before their first statement, because a statement would also check for interrupts.
const WITHOUT_STATEMENTS: [(&str, &str); 2] = [LONG[0], LONG[2]];

/// Attempts, because a busy machine may be slower than an eighth of the text.
const TRIES: usize = 10;

/// Reading an eighth of the text takes longer than stopping in the whole text. If the computation checked for interrupts only
/// at the end of the text, it would take eight times as long, in each attempt.
#[test]
fn a_computation_checks_for_interrupts_before_its_end() -> Result<()> {
    let fixture = Fixture::build("int_heard")?;
    let mut session = fixture.session()?;
    for (call, unit) in WITHOUT_STATEMENTS {
        let units = MANY / unit.chars().count();
        let call = Call {
            function: call,
            call,
            waits: &[],
        };
        let mut heard = || -> Result<bool> {
            let begun = Instant::now();
            rows_with_parameters(&mut session, &call, &[Some(unit.repeat(units / 8))])?;
            let eighth = begun.elapsed();
            session
                .client
                .batch_execute("BEGIN; SET LOCAL statement_timeout = '50ms'")?;
            let begun = Instant::now();
            let reply = session.run(&call.statement(), &[Some(unit.repeat(units))])?;
            let given_up = begun.elapsed();
            session.client.batch_execute("ROLLBACK")?;
            stopped_with(&reply, "57014").with_context(|| call.call)?;
            Ok(given_up < eighth)
        };
        let mut tries = 1;
        while !heard()? {
            ensure!(
                tries < TRIES,
                "{} of {unit:?} never stopped sooner than an eighth of it is read",
                call.call
            );
            tries += 1;
        }
    }
    Ok(())
}
