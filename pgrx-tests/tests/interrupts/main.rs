//! Interrupted calls: each function, at each table that it reads or writes, by a cancel, a timeout or the end of its session.
//! It stops, nothing of it stays, and the session goes on as it was.
//!
//! Another session holds a table, so a call is known to be inside the function, and how far, when the interrupt comes.

mod calls;
mod house;

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use postgres::Client;
use reground_tests::pooled::{Pooled, Reply};
use reground_tests::surface;

use calls::{Call, Held, calls};
use house::{House, process, wait_until};

/// Whose functions are called.
const ROLES: [&str; 3] = ["reground_user", "reground_admin", "reground_auditor"];

/// User, settings and whatever a session may hold on to.
fn standing(session: &mut Pooled) -> Result<String> {
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

/// The session stands as it stood before the call.
fn stands_as(session: &mut Pooled, stood: &str) -> Result<()> {
    let stands = standing(session)?;
    ensure!(stands == stood, "stood {stood}, stands {stands}");
    Ok(())
}

/// What the call gives when nobody interrupts it; nothing of it stays.
fn undisturbed(session: &mut Pooled, call: &Call) -> Result<Vec<String>> {
    undisturbed_with(session, call, &[])
}

/// The same of a call with parameters.
fn undisturbed_with(
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

/// Tables that the calls lock, or write, and are not made to wait for, by function.
fn unheld(session: &mut Pooled) -> Result<Vec<String>> {
    let mut unheld = Vec::new();
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
                unheld.push(format!("{} {does} {table}", call.function));
            }
        }
    }
    Ok(unheld)
}

#[test]
fn each_call_is_made_to_wait_at_each_table() -> Result<()> {
    let house = House::build("int_tables")?;
    let unheld = unheld(&mut house.session()?)?;
    ensure!(unheld.is_empty(), "no wait where {unheld:#?}");
    Ok(())
}

/// The call was stopped with this state, and the server complained of nothing that it had to clean up.
fn stopped_with(reply: &Reply, state: &str) -> Result<()> {
    let error = reply.error.as_deref().unwrap_or("no error");
    ensure!(error.contains(state), "expected {state}: {reply:?}");
    ensure!(reply.notices.is_empty(), "{:?}", reply.notices);
    Ok(())
}

/// Interrupts every call at every wait: `interrupt` runs a statement while something is held, and it is stopped with `state`.
/// `settings` are in force for the call.
fn interrupt_everywhere(
    name: &str,
    settings: &str,
    state: &str,
    interrupt: impl Fn(&mut House, &mut Pooled, &str, Held) -> Result<Reply>,
) -> Result<()> {
    let mut house = House::build(name)?;
    let functions = surface::functions(&mut house.observer, &ROLES)?;
    surface::covered(&functions, calls().map(|call| call.function))?;
    let mut session = house.session()?;
    let before = house.everything()?;
    for call in calls() {
        let expected = undisturbed(&mut session, call)?;
        for held in call.waits {
            let context = || format!("{} at {held:?}", call.function);
            let stood = standing(&mut session)?;
            session.client.batch_execute(settings)?;
            let reply = interrupt(&mut house, &mut session, &call.statement(), *held)
                .with_context(context)?;
            // A timeout is the call's alone: what looks at the session may take its time.
            session
                .client
                .batch_execute("RESET statement_timeout; RESET lock_timeout")?;
            stopped_with(&reply, state).with_context(context)?;
            stands_as(&mut session, &stood).with_context(context)?;
            let pid = process(&mut session)?;
            // Idle, it holds no snapshot.
            wait_until(
                &mut house.observer,
                pid,
                "state = 'idle' AND backend_xmin IS NULL",
                || false,
            )
            .with_context(context)?;
            ensure!(
                house.everything()? == before,
                "{} left something behind",
                context()
            );
            ensure!(
                undisturbed(&mut session, call)? == expected,
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
        |house, session, statement, held| house.while_it_waits(session, statement, held, cancel),
    )
}

// How far a call comes before its timeout is the machine's affair: no test looks on while it waits.

#[test]
fn a_call_that_timed_out_leaves_nothing_behind() -> Result<()> {
    interrupt_everywhere(
        "int_statement",
        "SET statement_timeout = '100ms'",
        "57014",
        House::until_it_gives_up,
    )
}

#[test]
fn a_call_that_gave_up_on_a_lock_leaves_nothing_behind() -> Result<()> {
    interrupt_everywhere(
        "int_lock",
        "SET lock_timeout = '100ms'",
        "55P03",
        House::until_it_gives_up,
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
fn a_transaction_goes_on_from_a_savepoint() -> Result<()> {
    let mut house = House::build("int_savepoint")?;
    let mut session = house.session()?;
    let before = house.everything()?;
    for call in calls() {
        let expected = undisturbed(&mut session, call)?;
        for held in call.waits {
            let context = || format!("{} at {held:?}", call.function);
            session.client.batch_execute(
                "BEGIN; SET LOCAL search_path = pg_temp, public; SET LOCAL reground.rrf_k = '60'; SAVEPOINT here",
            )?;
            let stood = standing(&mut session)?;
            let reply = house
                .while_it_waits(&mut session, &call.statement(), *held, cancel)
                .with_context(context)?;
            stopped_with(&reply, "57014").with_context(context)?;
            session.client.batch_execute("ROLLBACK TO SAVEPOINT here")?;
            stands_as(&mut session, &stood).with_context(context)?;
            let again = session.run(&call.statement(), &[])?;
            ensure!(
                again.rows == expected,
                "{}: the next call differs: {again:?}",
                context()
            );
            session.client.batch_execute("ROLLBACK")?;
            ensure!(
                house.everything()? == before,
                "{} left something behind",
                context()
            );
        }
    }
    Ok(())
}

#[test]
fn a_session_that_ends_within_a_call_leaves_nothing_behind() -> Result<()> {
    let mut house = House::build("int_terminate")?;
    let before = house.everything()?;
    for call in calls() {
        // The last wait: most of the writing is done.
        let Some(held) = call.waits.last() else {
            continue;
        };
        let mut session = house.session()?;
        let terminate = |observer: &mut Client, pid| -> Result<()> {
            let sent: bool = observer
                .query_one("SELECT pg_terminate_backend($1)", &[&pid])?
                .get(0);
            ensure!(sent, "no signal was sent");
            Ok(())
        };
        let context = || format!("{} at {held:?}", call.function);
        // The client may find the connection closed before it has read why.
        match house.while_it_waits(&mut session, &call.statement(), *held, terminate) {
            Ok(reply) => stopped_with(&reply, "57P01").with_context(context)?,
            Err(error) => ensure!(session.client.is_closed(), "{}: {error:#}", context()),
        }
        ensure!(
            house.everything()? == before,
            "{} left something behind",
            context()
        );
        undisturbed(&mut house.session()?, call).with_context(context)?;
    }
    Ok(())
}

#[test]
fn an_idle_transaction_takes_its_turn_with_it() -> Result<()> {
    let mut house = House::build("int_idle")?;
    let before = house.everything()?;
    for function in [
        "begin_turn",
        "end_turn",
        "apply_rerank",
        "put_document",
        "create_corpus",
    ] {
        let mut session = house.session()?;
        let pid = process(&mut session)?;
        let call = calls()
            .find(|call| call.function == function)
            .context(function)?;
        session
            .client
            .batch_execute("SET idle_in_transaction_session_timeout = '100ms'; BEGIN")?;
        let reply = session.run(&call.statement(), &[])?;
        ensure!(reply.error.is_none(), "{reply:?}");
        // The server ends it; then its locks are free and its rows are gone.
        let gone = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1";
        while house.observer.query_one(gone, &[&pid])?.get::<_, i64>(0) > 0 {
            std::thread::yield_now();
        }
        ensure!(
            session.client.batch_execute("COMMIT").is_err(),
            "the session went on"
        );
        ensure!(
            house.everything()? == before,
            "{function} left something behind"
        );
        undisturbed(&mut house.session()?, call)?;
    }
    Ok(())
}

/// Calls that compute for long over what they are given, `$1`, and what it consists of.
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

/// Characters of what they are given: more than any of them gets through before the last of the [`TIMEOUTS`].
const MANY: usize = 10 << 20;

/// Where they are interrupted: at the door, and within.
const TIMEOUTS: [&str; 4] = ["1ms", "5ms", "20ms", "50ms"];

/// That they hear it soon is counted, not timed, by the tests of the crates (`tests/interrupts.rs`): here an interrupt unwinds a
/// computation, and nothing of it stays.
#[test]
fn a_long_computation_can_be_cancelled() -> Result<()> {
    let mut house = House::build("int_long")?;
    let before = house.everything()?;
    for (call, unit) in LONG {
        let call = Call {
            function: call,
            call,
            waits: &[],
        };
        let short = [Some(unit.to_owned())];
        let long = [Some(unit.repeat(MANY / unit.chars().count()))];
        let mut session = house.session()?;
        let expected = undisturbed_with(&mut session, &call, &short)?;
        for timeout in TIMEOUTS {
            let context = || format!("{} of {unit:?} after {timeout}", call.call);
            let stood = standing(&mut session)?;
            // Set for the transaction: in force for the call, and gone with its failure.
            session
                .client
                .batch_execute(&format!("BEGIN; SET LOCAL statement_timeout = '{timeout}'"))?;
            let reply = session.run(&call.statement(), &long)?;
            stopped_with(&reply, "57014").with_context(context)?;
            session.client.batch_execute("ROLLBACK")?;
            stands_as(&mut session, &stood).with_context(context)?;
            ensure!(
                house.everything()? == before,
                "{} left something behind",
                context()
            );
            ensure!(
                undisturbed_with(&mut session, &call, &short)? == expected,
                "{}: the next call differs",
                context()
            );
        }
    }
    Ok(())
}

/// Calls that read their text to its end before they run a statement of their own, which would hear an interrupt too.
const WITHOUT_STATEMENTS: [(&str, &str); 2] = [LONG[0], LONG[2]];

/// Tries at which a noisy machine may be slower than the eighth of a text.
const TRIES: usize = 10;

/// An eighth of the text is read to its end, the whole of it is given up: that takes less. Were the interrupt heard only
/// where the text ends, it would take eight times as long, at every try.
#[test]
fn a_computation_hears_an_interrupt_before_its_end() -> Result<()> {
    let house = House::build("int_heard")?;
    let mut session = house.session()?;
    for (call, unit) in WITHOUT_STATEMENTS {
        let units = MANY / unit.chars().count();
        let call = Call {
            function: call,
            call,
            waits: &[],
        };
        let mut heard = || -> Result<bool> {
            let begun = Instant::now();
            undisturbed_with(&mut session, &call, &[Some(unit.repeat(units / 8))])?;
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
                "{} of {unit:?} was never given up sooner than an eighth of it is read",
                call.call
            );
            tries += 1;
        }
    }
    Ok(())
}
