//! Sessions of the interrupt tests: one that runs the calls, one that holds locks, one that observes.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use postgres::Client;
use reground_tests::pooled::{Pooled, Reply};
use reground_tests::server::Database;

use crate::calls::TableLock;

/// How long to wait for an event; only a failing test waits that long.
const PATIENCE: Duration = Duration::from_secs(60);

/// Turn 1 has ended, turn 2 is open, turn 3 waits for a rerank, turn 4 has an answer that can be reused; a source is pinned, a passage has no embedding, and traces are old.
const WRITTEN: &str = "
    SELECT reground.set_model('chat', 'judge', 'openai'), reground.set_judging('chat', sample => 1);
    SELECT reground.create_corpus('farm', dimensions => 2, settings => '{\"reuse_answers\": true}');
    SELECT reground.put_document('farm', 'cows', passages => '[{\"content\": \"Cows give milk.\"}]');
    SELECT reground.put_document('farm', 'sheep', passages => '[{\"content\": \"Sheep give wool.\"}]');
    SELECT reground.put_embeddings('farm', ARRAY['1'], ARRAY['[1,0]']::vector[]);
    SELECT reground.pin('talk', doc_id => 'sheep', corpus => 'farm');
    SELECT reground.begin_turn('talk', 'who gives milk?', 'farm', '[1,0]', settings => '{\"provenance\": \"merkle\"}', user_ref => 'ann');
    SELECT reground.end_turn(1, 'Cows give milk [B1]. Pigs fly [Z9].', message_ref => 'first');
    SELECT reground.report_citation(1, 'cows give no milk');
    SELECT reground.begin_turn('talk', 'and wool?', 'farm', '[0,1]');
    SELECT reground.begin_turn('later', 'milk?', 'farm', '[1,0]', settings => '{\"reranker\": \"deferred\"}');
    SELECT reground.begin_turn('reuse', 'what gives wool?', 'farm', '[0,1]');
    SELECT reground.end_turn(4, (SELECT format('Sheep give wool [%s].', marker) FROM reground.turn_sources(4) WHERE doc_id = 'sheep'));
    SELECT reground.put_probe('milk', 'farm', 'who gives milk?', 'cows');
    SELECT reground.set_model('splitter', 'decompose', 'openai'), reground.set_model('checker', 'entail', 'openai');
    SELECT reground.put_gold_facts('milk', '{Cows give milk.,Goats give milk.}');
    SELECT reground.evaluate_factuality(1, 'milk', 'splitter', 'checker');
    CREATE TABLE herd (id integer PRIMARY KEY, body text NOT NULL);
    INSERT INTO herd VALUES (1, 'A herd of cows.');
    SELECT reground.add_corpus('barley', 'herd', 'id', 'body', ordinal => 'id');
    CREATE INDEX herd_body ON herd USING reground_bm25 (body);
    CREATE TABLE sheep (id integer PRIMARY KEY, body text);
    INSERT INTO sheep VALUES (1, 'A sheep.');
    SELECT reground.create_corpus('fold'), reground.create_corpus('pen');
    SELECT reground.sync_table('pen', 'sheep', 'id', 'body');
    SET reground.max_sources = '7';
    SET search_path = public, pg_catalog;
";

/// Rows that only the owner can write: old traces, an alert, for which there are too few answers here, and statements of a model.
const AGED: &str = "
    UPDATE reground.turn_traces SET traced_at = traced_at - interval '200 days';
    UPDATE reground.provenance_chain SET linked_at = linked_at - interval '200 days';
    SELECT reground.complete_task(task_id, lease_token, '{\"content\": \"{\\\"statements\\\": []}\"}') FROM reground.claim_tasks('worker');
    INSERT INTO reground.alerts (rule, corpus, state, severity, indicator, value, threshold, samples, since, first_bad_hour)
    SELECT 'low_tail', 'farm', 'firing', 'warning', 'cfs_p5', 0, 0.85, 50, hour, hour FROM date_bin('1 hour', now(), 'epoch') AS hour";

/// The database and its sessions.
pub struct Fixture {
    /// A database with the extension.
    pub database: Database,
    role: String,
    /// Holds the locks that a call waits for.
    pub blocker: Client,
    /// Reads the activity of the other sessions.
    pub observer: Client,
}

impl Fixture {
    /// Builds the database. The role is no superuser, so that a call must switch to the owner and back.
    pub fn build(name: &str) -> Result<Self> {
        let database = Database::create(name)?;
        let role = format!("{}_app", database.name());
        let mut blocker = database.connect()?;
        blocker.batch_execute(&format!(
            "CREATE ROLE {role} LOGIN IN ROLE reground_admin, reground_auditor; GRANT CREATE ON SCHEMA public TO {role}"
        ))?;
        let observer = database.connect()?;
        let mut fixture = Self {
            database,
            role,
            blocker,
            observer,
        };
        fixture.session()?.client.batch_execute(WRITTEN)?;
        fixture.blocker.batch_execute(AGED)?;
        Ok(fixture)
    }

    /// Opens a session of the application.
    pub fn session(&self) -> Result<Pooled> {
        let mut session = Pooled::connect(&self.database, &self.role)?;
        session.client.batch_execute(
            "SET client_min_messages = warning; SET reground.max_sources = '7'; SET search_path = public, pg_catalog",
        )?;
        Ok(session)
    }

    /// Returns a hash of all rows for every table.
    pub fn table_hashes(&mut self) -> Result<Vec<(String, Option<String>)>> {
        let tables = self.observer.query(
            "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relnamespace IN ('reground'::regnamespace, 'public'::regnamespace) ORDER BY 1",
            &[],
        )?;
        tables
            .iter()
            .map(|table| {
                let table: String = table.get(0);
                let hash = self
                    .observer
                    .query_one(
                        &format!(
                            "SELECT md5(string_agg(t::text, '' ORDER BY t::text)) FROM {table} AS t"
                        ),
                        &[],
                    )?
                    .get(0);
                Ok((table, hash))
            })
            .collect()
    }

    /// Runs `statement` in `session` while `held` is locked. The settings of the session contain a timeout, which
    /// ends the statement.
    pub fn run_until_timeout(
        &mut self,
        session: &mut Pooled,
        statement: &str,
        held: TableLock,
    ) -> Result<Reply> {
        self.blocker
            .batch_execute(&format!("BEGIN; {}", held.lock()))
            .with_context(|| format!("{held:?}"))?;
        let reply = session.run(statement, &[]);
        self.blocker.batch_execute("ROLLBACK")?;
        reply
    }

    /// Runs `statement` in `session` while `held` is locked; once it waits, calls `act` with its process id.
    pub fn run_until_waiting(
        &mut self,
        session: &mut Pooled,
        statement: &str,
        held: TableLock,
        act: impl FnOnce(&mut Client, i32) -> Result<()>,
    ) -> Result<Reply> {
        let pid = process(session)?;
        self.blocker
            .batch_execute(&format!("BEGIN; {}", held.lock()))
            .with_context(|| format!("{held:?}"))?;
        let (reply, acted) = thread::scope(|scope| {
            let call = scope.spawn(|| session.run(statement, &[]));
            let acted = wait_until(&mut self.observer, pid, "wait_event_type = 'Lock'", || {
                call.is_finished()
            })
            .and_then(|()| act(&mut self.observer, pid));
            // The call must be able to end, also after a failure.
            if acted.is_err() {
                let _ = self.blocker.batch_execute("ROLLBACK");
            }
            (call.join(), acted)
        });
        self.blocker.batch_execute("ROLLBACK")?;
        acted.with_context(|| format!("{held:?}"))?;
        match reply {
            Ok(reply) => reply,
            Err(_) => bail!("the thread of the call panicked"),
        }
    }
}

/// Returns the process id of a session.
pub fn process(session: &mut Pooled) -> Result<i32> {
    Ok(session
        .client
        .query_one("SELECT pg_backend_pid()", &[])?
        .get(0))
}

/// Waits until pg_stat_activity fulfils the condition for a process.
pub fn wait_until(
    observer: &mut Client,
    pid: i32,
    condition: &str,
    over: impl Fn() -> bool,
) -> Result<()> {
    let begun = Instant::now();
    let query = format!("SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND {condition}");
    loop {
        // Checked first: after the end of the call it can no longer wait.
        let over = over();
        if observer.query_one(&query, &[&pid])?.get::<_, i64>(0) == 1 {
            return Ok(());
        }
        ensure!(!over, "the call ended before {condition}");
        ensure!(begun.elapsed() < PATIENCE, "never {condition}");
        thread::sleep(Duration::from_millis(1));
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = self.blocker.batch_execute(&format!(
            "ROLLBACK; DROP OWNED BY {0} CASCADE; DROP ROLE {0}",
            self.role
        ));
    }
}
