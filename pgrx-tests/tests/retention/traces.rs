//! Retention archives turns and removes their old traces, also with concurrent sessions.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use postgres::Client;

use super::aged::Aged;

/// The rows of run_retention: relation, rows, action.
type Done = Vec<(String, i64, String)>;

/// Two answered turns of `talk`, one with two answers; the moment; one more turn of `talk` and one of `fresh`.
fn aged(name: &str) -> Result<Aged> {
    let mut aged = Aged::new(
        name,
        "SELECT reground.begin_turn('talk', 'who gives milk?', 'farm');
         SELECT reground.end_turn(1, 'Nobody.', model => 'small');
         SELECT reground.end_turn(1, 'Cows give milk [A1]. They do [A1]. Pigs fly [Z9].', model => 'large');
         SELECT reground.begin_turn('talk', 'who gives wool?', 'farm');
         SELECT reground.abandon_turn(2);",
        "SELECT reground.begin_turn('talk', 'and now?', 'farm');
         SELECT reground.begin_turn('fresh', 'who gives wool?', 'farm');
         SELECT reground.end_turn(4, 'Sheep give wool [A1].');",
    )?;
    // The tests decide whether a partition is free, so autovacuum is off.
    let partitions = aged.client.query(
        "SELECT c.oid::regclass::text FROM pg_class AS c WHERE c.relispartition AND c.relkind = 'r' AND c.relname LIKE 'turn_traces%'",
        &[],
    )?;
    ensure!(partitions.len() == 16, "unexpected number of partitions");
    for row in &partitions {
        let partition: String = row.get(0);
        aged.client.batch_execute(&format!(
            "ALTER TABLE {partition} SET (autovacuum_enabled = off)"
        ))?;
    }
    Ok(aged)
}

impl Aged {
    /// Runs retention `days` after the moment, in the session `client`.
    fn run_by(&self, client: &mut Client, days: i32) -> Result<Done> {
        let rows = client.query(
            "SELECT relation, rows, action FROM reground.run_retention($1::text::timestamptz + make_interval(days => $2))",
            &[&self.moment, &days],
        )?;
        Ok(rows
            .iter()
            .map(|row| (row.get(0), row.get(1), row.get(2)))
            .collect())
    }

    fn run(&mut self, days: i32) -> Result<Done> {
        let mut client = self.database.connect()?;
        self.run_by(&mut client, days)
    }

    /// Moves the old traces to a partition of their own, as if they were a week older.
    fn part(&mut self) -> Result<String> {
        self.client.execute(
            "UPDATE reground.turn_traces SET bucket = (bucket + 15) % 16 WHERE traced_at < $1::text::timestamptz",
            &[&self.moment],
        )?;
        Ok(self
            .client
            .query_one(
                "SELECT 'turn_traces_' || lpad(min(bucket)::text, 2, '0') FROM reground.turn_traces WHERE turn_id = 1",
                &[],
            )?
            .get(0))
    }

    fn traces(&mut self) -> Result<String> {
        self.text(
            "SELECT string_agg(turn_id::text, ' ' ORDER BY turn_id) FROM reground.turn_traces",
        )
    }

    /// Numbers, kinds and statuses of verify_chain for `talk`.
    fn chain(&mut self) -> Result<String> {
        self.text("SELECT string_agg(concat_ws(' ', link_no, kind, status), ', ' ORDER BY link_no) FROM reground.verify_chain('talk')")
    }
}

fn step(relation: &str, rows: i64, action: &str) -> (String, i64, String) {
    (relation.to_owned(), rows, action.to_owned())
}

#[test]
fn a_transaction_that_goes_on_holds_up_no_turn_and_no_dump() -> Result<()> {
    let mut aged = aged("retention_on")?;
    let partition = aged.part()?;
    let mut client = aged.database.connect()?;
    aged.client.execute(
        "UPDATE reground.turn_traces SET traced_at = traced_at - interval '200 days' WHERE traced_at < $1::text::timestamptz",
        &[&aged.moment],
    )?;
    let file = format!("SELECT pg_relation_filenode('reground.{partition}')::text");
    let before = aged.text(&file)?;
    for task in [
        "SELECT * FROM reground.run_retention()",
        "SELECT * FROM reground.run_maintenance('retention')",
    ] {
        client.batch_execute(&format!("BEGIN; {task}"))?;
        let left = format!("SELECT count(*) FROM reground.{partition}");
        let left: i64 = client.query_one(&left, &[])?.get(0);
        ensure!(left == 0, "{task} left {left} traces");
        aged.client.batch_execute("BEGIN; SET LOCAL lock_timeout = '1s'; LOCK TABLE reground.turn_traces IN ACCESS SHARE MODE; COMMIT")?;
        aged.client
            .batch_execute(&format!("VACUUM reground.{partition}"))?;
        client.batch_execute("ROLLBACK")?;
    }
    ensure!(
        aged.text(&file)? == before,
        "the partition was truncated in a transaction that goes on"
    );
    // The task truncates if its transaction ends with the statement.
    client.batch_execute("SELECT * FROM reground.run_maintenance('retention')")?;
    ensure!(
        aged.text(&file)? != before,
        "the partition was not truncated"
    );
    ensure!(aged.traces()? == "3 4");
    Ok(())
}

#[test]
fn old_traces_are_removed_and_archived() -> Result<()> {
    let mut aged = aged("retention_goes")?;
    ensure!(aged.run(89)?.is_empty(), "nothing is 90 days old");
    ensure!(aged.traces()? == "1 2 3 4");
    let partition = aged.part()?;
    let done = aged.run(90)?;
    let expected = [
        step("turn_archive", 2, "archived"),
        step("chain_checkpoints", 1, "made"),
        step("provenance_chain", 4, "removed"),
        step(&partition, 2, "truncated"),
    ];
    ensure!(done == expected, "{done:?}");
    ensure!(aged.traces()? == "3 4");
    // The archive equals the rows of the tables.
    let archived = aged.text(
        "SELECT string_agg(concat_ws(' ', turn_id, conversation_ref, turn_no, corpus, model, candidate_count, source_count, citation_count, holding_count, decision, markers::text, doc_ids::text, chunk_ids::text, encode(hash_prefixes, 'hex')), '; ' ORDER BY turn_id) FROM reground.turn_archive",
    )?;
    let hash = aged.text("SELECT encode(substring(sha256('Cows give milk.') FOR 8), 'hex')")?;
    let expected = format!(
        "1 talk 1 farm large 2 2 3 2 regenerate {{A1}} {{cows}} {{1}} {hash}; 2 talk 2 farm 3 2 {{}} {{}} {{}} "
    );
    ensure!(archived == expected, "{archived}");
    let same = aged.text(
        "SELECT (a.cfs = m.cfs AND a.begun_at = t.begun_at AND a.decision = m.decision)::text FROM reground.turn_archive AS a JOIN reground.turns AS t USING (turn_id) JOIN reground.messages AS m ON m.turn_id = t.turn_id AND NOT m.superseded WHERE a.turn_id = 1",
    )?;
    ensure!(same == "true", "the archive differs");
    // Turns, messages and citations remain.
    let stays = aged.text("SELECT concat_ws(' ', (SELECT count(*) FROM reground.turns), (SELECT count(*) FROM reground.messages), (SELECT count(*) FROM reground.message_citations))")?;
    ensure!(stays == "4 3 4", "{stays}");
    // The chain starts after the checkpoint and continues.
    ensure!(aged.chain()? == "5 turn ok", "{}", aged.chain()?);
    aged.client
        .batch_execute("SELECT reground.end_turn(3, 'Cows give milk [A1].')")?;
    ensure!(
        aged.chain()? == "5 turn ok, 6 answer ok",
        "{}",
        aged.chain()?
    );
    // A second run finds nothing.
    ensure!(aged.run(90)?.is_empty(), "the second run removed rows");
    // Changed and deleted checkpoints are detected.
    aged.client
        .batch_execute("BEGIN; UPDATE reground.chain_checkpoints SET digest = sha256('x')")?;
    ensure!(
        aged.chain()?.starts_with("5 turn chain_broken"),
        "{}",
        aged.chain()?
    );
    aged.client
        .batch_execute("ROLLBACK; BEGIN; DELETE FROM reground.chain_checkpoints")?;
    ensure!(
        aged.chain()?.starts_with("1 missing, 2 missing"),
        "{}",
        aged.chain()?
    );
    aged.client.batch_execute(
        "ROLLBACK; BEGIN; DELETE FROM reground.provenance_chain WHERE link_no = 5",
    )?;
    ensure!(
        aged.chain()?.starts_with("5 missing, 6 answer ok"),
        "{}",
        aged.chain()?
    );
    aged.client.batch_execute("ROLLBACK")?;
    // All links and traces are old now; later the archive is, too.
    let done = aged.run(91)?;
    ensure!(done.len() == 4 && aged.traces()?.is_empty(), "{done:?}");
    ensure!(aged.chain()?.is_empty(), "{}", aged.chain()?);
    let kept = aged.text("SELECT string_agg(link_no::text, ' ' ORDER BY link_no) FROM reground.chain_checkpoints AS k JOIN reground.conversations AS c USING (conversation_id) WHERE c.conversation_ref = 'talk'")?;
    ensure!(kept == "4 6", "{kept}");
    let done = aged.run(730)?;
    ensure!(done == [step("turn_archive", 2, "removed")], "{done:?}");
    aged.client
        .batch_execute("SELECT reground.begin_turn('talk', 'still there?', 'farm')")?;
    ensure!(aged.chain()? == "7 turn ok", "{}", aged.chain()?);
    Ok(())
}

#[test]
fn young_traces_of_a_shared_partition_stay() -> Result<()> {
    let mut aged = aged("retention_shared")?;
    let done = aged.run(90)?;
    ensure!(
        done.iter().any(
            |(relation, rows, action)| relation.starts_with("turn_traces_")
                && *rows == 2
                && action == "deleted"
        ),
        "{done:?}"
    );
    ensure!(aged.traces()? == "3 4");
    Ok(())
}

#[test]
fn retention_does_not_wait_for_readers() -> Result<()> {
    let mut aged = aged("retention_read")?;
    let partition = aged.part()?;
    let mut reader = aged.database.connect()?;
    reader.batch_execute("BEGIN; SELECT count(*) FROM reground.turn_traces")?;
    let mut keeper = aged.database.connect()?;
    keeper.batch_execute("SET statement_timeout = '20s'")?;
    let done = aged.run_by(&mut keeper, 90)?;
    ensure!(done.contains(&step(&partition, 2, "deleted")), "{done:?}");
    ensure!(aged.traces()? == "3 4");
    reader.batch_execute("COMMIT")?;
    Ok(())
}

#[test]
fn an_old_snapshot_truncates_nothing() -> Result<()> {
    let mut aged = aged("retention_snapshot")?;
    let partition = aged.part()?;
    let mut keeper = aged.database.connect()?;
    keeper.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")?;
    // A young trace is added to the partition, outside the snapshot.
    aged.client.batch_execute(&format!(
        "INSERT INTO reground.{partition} SELECT (jsonb_populate_record(x, jsonb_build_object('turn_id', 99, 'traced_at', now() + interval '1 hour', 'bucket', (SELECT min(bucket) FROM reground.{partition})))).* \
         FROM reground.turn_traces AS x WHERE x.turn_id = 4"
    ))?;
    let done = aged.run_by(&mut keeper, 90)?;
    keeper.batch_execute("COMMIT")?;
    ensure!(done.contains(&step(&partition, 2, "deleted")), "{done:?}");
    ensure!(aged.traces()? == "3 4 99", "{}", aged.traces()?);
    Ok(())
}

#[test]
fn turns_begin_and_end_during_a_run() -> Result<()> {
    let mut aged = aged("retention_turns")?;
    aged.part()?;
    let mut keeper = aged.database.connect()?;
    keeper.batch_execute("BEGIN")?;
    let done = aged.run_by(&mut keeper, 90)?;
    ensure!(
        done.iter().any(|(_, _, action)| action == "deleted"),
        "{done:?}"
    );
    // Not committed yet: a turn begins in the conversation whose old links were removed.
    aged.client.batch_execute(
        "SET statement_timeout = '20s'; SELECT reground.begin_turn('talk', 'meanwhile?', 'farm')",
    )?;
    // A second run waits for the first and finds nothing. Another session checks, because activity does not change within a transaction.
    let mut observer = aged.database.connect()?;
    let waits = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%run_retention%')";
    let second = thread::scope(|scope| -> Result<Done> {
        let running = scope.spawn(|| aged.run(90));
        let mut come_to_wait = || -> Result<()> {
            let begun = Instant::now();
            while !observer.query_one(waits, &[])?.get::<_, bool>(0) {
                ensure!(!running.is_finished(), "it did not wait");
                ensure!(
                    begun.elapsed() < Duration::from_secs(60),
                    "it does not come to wait"
                );
                thread::sleep(Duration::from_millis(20));
            }
            Ok(())
        };
        let waited = come_to_wait();
        // Without this commit the second run would wait for ever.
        keeper.batch_execute("COMMIT")?;
        waited?;
        running.join().map_err(|_| anyhow!("a session panicked"))?
    })?;
    ensure!(second.is_empty(), "the second run removed rows: {second:?}");
    aged.client
        .batch_execute("SELECT reground.end_turn(3, 'Cows give milk [A1].')")?;
    ensure!(
        aged.chain()? == "5 turn ok, 6 turn ok, 7 answer ok",
        "{}",
        aged.chain()?
    );
    Ok(())
}

/// A trace whose turn is not archived remains, in a partition of its own or not.
#[test]
fn traces_without_an_archived_turn_remain() -> Result<()> {
    for apart in [false, true] {
        let mut aged = aged(if apart {
            "retention_kept_1"
        } else {
            "retention_kept_0"
        })?;
        if apart {
            aged.part()?;
        }
        aged.client.batch_execute(
            "CREATE FUNCTION pass_over() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
             CREATE TRIGGER pass_over BEFORE INSERT ON reground.turn_archive FOR EACH ROW WHEN (new.turn_id = 1) EXECUTE FUNCTION pass_over()",
        )?;
        aged.run(90)?;
        ensure!(aged.traces()? == "1 3 4", "{apart}: {}", aged.traces()?);
        aged.client
            .batch_execute("DROP TRIGGER pass_over ON reground.turn_archive")?;
        aged.run(90)?;
        ensure!(aged.traces()? == "3 4", "{apart}: {}", aged.traces()?);
    }
    Ok(())
}

#[test]
fn an_incomplete_chain_is_kept() -> Result<()> {
    let mut aged = aged("retention_broken")?;
    aged.client.batch_execute(
        "DELETE FROM reground.provenance_chain WHERE conversation_id = 1 AND link_no = 2",
    )?;
    let before = aged.chain()?;
    let done = aged.run(90)?;
    ensure!(
        done.contains(&step("provenance_chain", 1, "kept: not whole")),
        "{done:?}"
    );
    ensure!(aged.chain()? == before, "{before}: {}", aged.chain()?);
    Ok(())
}

#[test]
fn privileges_and_length_of_retention() -> Result<()> {
    let mut aged = aged("retention_may")?;
    let role = format!("{}_role", aged.database.name());
    aged.client.batch_execute(&format!(
        "CREATE ROLE {role} IN ROLE reground_user, reground_auditor"
    ))?;
    let refused = |client: &mut Client, statement: &str| -> Result<String> {
        let error = client
            .batch_execute(statement)
            .err()
            .context(statement.to_owned())?;
        Ok(error
            .code()
            .map(|code| code.code().to_owned())
            .unwrap_or_default())
    };
    let mut client = aged.database.connect()?;
    // A setting exists once the library is loaded.
    client.batch_execute(&format!(
        "SELECT reground.current_tenant(); SET ROLE {role}"
    ))?;
    ensure!(refused(&mut client, "SELECT reground.run_retention()")? == "42501");
    ensure!(refused(&mut client, "DELETE FROM reground.turn_archive")? == "42501");
    ensure!(refused(&mut client, "SET reground.trace_retention_days = 10")? == "42501");
    client.batch_execute(&format!(
        "RESET ROLE; GRANT reground_admin TO {role}; SET ROLE {role}"
    ))?;
    client.batch_execute(
        "SELECT reground.run_retention(); SELECT reground.run_retention(now() - interval '1 year')",
    )?;
    // Admins cannot shorten the retention, also not by the argument.
    for ahead in ["infinity", "tomorrow", "now() + interval '1 minute'"] {
        let moment = if ahead.contains('(') {
            ahead.to_owned()
        } else {
            format!("'{ahead}'")
        };
        ensure!(
            refused(
                &mut client,
                &format!("SELECT reground.run_retention({moment})")
            )? == "42501",
            "{ahead}"
        );
    }
    client.batch_execute("RESET ROLE")?;
    for wrong in ["99", "0", "'long'"] {
        ensure!(
            refused(
                &mut client,
                &format!("SET reground.trace_retention_days = {wrong}")
            )? == "22023",
            "{wrong}"
        );
    }
    ensure!(refused(&mut client, "SET reground.archive_retention_days = 0")? == "22023");
    ensure!(refused(&mut client, "SELECT reground.run_retention(NULL)")? == "22004");
    ensure!(
        refused(
            &mut client,
            "BEGIN READ ONLY; SELECT reground.run_retention()"
        )? == "25006"
    );
    client.batch_execute("ROLLBACK; SET reground.trace_retention_days = 7")?;
    let done = aged.run_by(&mut client, 7)?;
    ensure!(
        done.contains(&step("turn_archive", 2, "archived")),
        "{done:?}"
    );
    client.batch_execute("SET reground.archive_retention_days = 3")?;
    let done = aged.run_by(&mut client, 7)?;
    ensure!(done == [step("turn_archive", 2, "removed")], "{done:?}");
    // The archive is not longer than the retention of traces: young traces are removed without an archived row.
    let done = aged.run_by(&mut client, 40)?;
    ensure!(aged.traces()?.is_empty(), "{done:?}");
    client.batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}"))?;
    Ok(())
}
