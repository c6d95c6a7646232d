//! Bad arguments of the functions that read an answer.

use anyhow::{Context, Result, ensure};
use postgres::Client;
use reground_tests::server::{Database, row_counts, state};

use crate::fixture::open_turn;

/// Fails unless a call is refused with a SQLSTATE, and with a hint unless an argument is NULL.
fn refused(client: &mut Client, call: &str, expected: &str) -> Result<()> {
    let outcome = client.query(call, &[]);
    ensure!(
        state(&outcome) == Some(expected),
        "{call}: {outcome:?}, expected {expected}"
    );
    let error = outcome.err();
    let hint = error.as_ref().and_then(|error| error.as_db_error()?.hint());
    ensure!(
        hint.is_some() || expected == "22004",
        "{call}: no hint: {error:?}"
    );
    Ok(())
}

#[test]
fn reads_of_an_answer_refuse_bad_arguments() -> Result<()> {
    let database = Database::create("bad_answer")?;
    let mut client = database.connect()?;
    let turn = open_turn(&mut client)?;
    let end = "SELECT message_id FROM reground.end_turn($1, '🐄 give milk [A1].')";
    let message: i64 = client.query_one(end, &[&turn])?.get(0);
    let before = row_counts(&mut client)?;
    // Calls with an id in place of $.
    let by_message = [
        "SELECT * FROM reground.citation_evidence($)",
        "SELECT reground.answer_parts($, 'openai')",
    ];
    let by_turn = [
        "SELECT * FROM reground.turn_sources($)",
        "SELECT * FROM reground.turn_conflicts($)",
        "SELECT * FROM reground.feed_answer($, 'x')",
    ];
    let with = |call: &str, id: &str| call.replace('$', id);
    for call in by_message.iter().chain(&by_turn) {
        refused(&mut client, &with(call, "NULL"), "22004")?;
        for id in ["0", "-1", "9223372036854775807", "(-9223372036854775808)"] {
            refused(&mut client, &with(call, id), "P0002")?;
        }
    }
    for (calls, id) in [(&by_message[..], message), (&by_turn[..], turn)] {
        for call in calls {
            let call = with(call, &id.to_string());
            client.query(&call, &[]).with_context(|| call.clone())?;
            client.batch_execute(
                "SET reground.tenant_from = 'reground.tenant'; SET reground.tenant = 'another'",
            )?;
            refused(&mut client, &call, "P0002")?;
            client.batch_execute("RESET reground.tenant_from")?;
        }
    }
    for format in [
        "''",
        "'OpenAI'",
        "' openai'",
        "'cohere'",
        "repeat('x', 100000)",
        "'\u{1f404}'",
    ] {
        let call = format!("SELECT reground.answer_parts({message}, {format})");
        refused(&mut client, &call, "22023")?;
    }
    let call = format!("SELECT reground.answer_parts({message}, NULL)");
    refused(&mut client, &call, "22004")?;
    for arguments in ["NULL", "'x', NULL"] {
        let call = format!("SELECT * FROM reground.feed_answer({turn}, {arguments})");
        refused(&mut client, &call, "22004")?;
    }
    ensure!(row_counts(&mut client)? == before, "something was written");
    Ok(())
}

#[test]
fn an_invalid_resume_position_is_refused() -> Result<()> {
    let database = Database::create("bad_position")?;
    let mut client = database.connect()?;
    let turn = open_turn(&mut client)?;
    let feed = |resume: &str| {
        format!(
            "SELECT * FROM reground.feed_answer({turn}, E'🐄 give milk [A1].\n\n牛', resume_from => {resume})"
        )
    };
    for position in [
        // No position.
        "",
        " ",
        "x",
        "NULL",
        "0",
        "0.0.0.0.0",
        "0.0.0.0.0.0.0",
        "0.0.0.0.0.2",
        "0.0.0.0.0.-1",
        "0.0.0.0.0.0 ",
        // Negative and huge.
        "-1.0.0.0.0.0",
        "0.0.0.-1.0.0",
        "900.900.900.0.0.0",
        "4294967296.0.0.0.0.0",
        "99999999999999999999.0.0.0.0.0",
        "0.0.0.65537.0.0",
        // Within a character, and between the two units of a character.
        "1.1.1.0.0.0",
        "3.1.2.0.0.0",
        "4.1.1.0.0.0",
        "23.20.21.1.1.0",
        // Of another text.
        "4.4.4.0.0.0",
        "5.5.5.0.0.0",
    ] {
        refused(&mut client, &feed(&format!("'{position}'")), "22023")?;
    }
    for position in ["NULL", "'0.0.0.0.0.0'", "'4.1.2.0.0.0'"] {
        let rows = client.query(&feed(position), &[])?;
        ensure!(rows.len() == 1, "{position}: {rows:?}");
    }
    Ok(())
}
