//! Two tenants with one role: each sees and changes only its own rows.

use anyhow::{Context, Result, ensure};
use postgres::Client;
use reground_tests::server::{Database, row_counts, state};

/// A database with `reground.tenant_from = app.tenant_id`, a shared corpus, a role for the application and one for the auditor.
struct Fixture {
    database: Database,
    app: String,
    auditor: String,
}

impl Fixture {
    fn build(name: &str) -> Result<Self> {
        let database = Database::create(name)?;
        let fixture = Self {
            app: format!("{}_app", database.name()),
            auditor: format!("{}_auditor", database.name()),
            database,
        };
        let mut owner = fixture.database.connect()?;
        let (name, app, auditor) = (fixture.database.name(), &fixture.app, &fixture.auditor);
        owner.batch_execute(&format!(
            "ALTER DATABASE {name} SET reground.tenant_from = 'app.tenant_id';
             CREATE ROLE {app} LOGIN IN ROLE reground_user; CREATE ROLE {auditor} LOGIN IN ROLE reground_auditor;
             SELECT set_config('app.tenant_id', 'owner', false);
             SELECT reground.create_corpus('farm', dimensions => 2);
             SELECT reground.put_document('farm', 'cows', passages => '[{{\"content\": \"Cows give milk every day.\"}}]');
             SELECT reground.put_document('farm', 'sheep', passages => '[{{\"content\": \"Sheep give wool every year.\"}}]');
             SELECT reground.put_embeddings('farm', ARRAY['1', '2'], ARRAY['[1,0]', '[0,1]']::vector[]);
             GRANT SELECT ON farm, farm_documents TO {app}"
        ))?;
        Ok(fixture)
    }

    /// A session of the application as a tenant.
    fn tenant(&self, tenant: &str) -> Result<Client> {
        let mut client = self.database.connect_as(&self.app)?;
        client.execute("SELECT set_config('app.tenant_id', $1, false)", &[&tenant])?;
        Ok(client)
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        if let Ok(mut owner) = self.database.connect() {
            for role in [&self.app, &self.auditor] {
                // The database is dropped next; the next run drops objects that remain.
                let _ = owner.batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
            }
        }
    }
}

/// A turn with a correct and an invented citation, a pin, and an open turn; returns the ids of both turns.
fn talk(client: &mut Client, conversation: &str) -> Result<(i64, i64)> {
    client.execute(
        "SELECT reground.pin($1, doc_id => 'sheep', corpus => 'farm')",
        &[&conversation],
    )?;
    let begin =
        "SELECT max(turn_id) FROM reground.begin_turn($1, 'who gives milk?', 'farm', '[1,0]')";
    let ended: i64 = client.query_one(begin, &[&conversation])?.get(0);
    client.execute(
        "SELECT reground.end_turn($1, 'Cows give milk [B1]. Pigs fly [Z9].', message_ref => 'm')",
        &[&ended],
    )?;
    let open: i64 = client.query_one(begin, &[&conversation])?.get(0);
    Ok((ended, open))
}

/// Tables and views with a tenant that a user may read.
const READABLE: [&str; 9] = [
    "conversations",
    "turns",
    "messages",
    "message_citations",
    "conversation_sources",
    "conversation_markers",
    "source_facts",
    "citation_audit",
    "turn_audit",
];

#[test]
fn each_tenant_sees_its_own_rows() -> Result<()> {
    let fixture = Fixture::build("tenants_see")?;
    let mut acme = fixture.tenant("acme")?;
    let mut bolt = fixture.tenant("bolt")?;
    // The same conversation_ref names two conversations.
    talk(&mut acme, "support")?;
    for relation in READABLE {
        let seen: i64 = bolt
            .query_one(&format!("SELECT count(*) FROM reground.{relation}"), &[])?
            .get(0);
        ensure!(seen == 0, "bolt sees {seen} rows of acme in {relation}");
    }
    talk(&mut bolt, "support")?;
    for relation in READABLE {
        for (client, tenant) in [(&mut acme, "acme"), (&mut bolt, "bolt")] {
            let row = client.query_one(
                &format!(
                    "SELECT count(*), count(*) FILTER (WHERE tenant = $1) FROM reground.{relation}"
                ),
                &[&tenant],
            )?;
            let (all, own): (i64, i64) = (row.get(0), row.get(1));
            ensure!(
                own > 0 && all == own,
                "{tenant} sees {all} rows of {relation}, {own} of them its own"
            );
        }
    }
    // A change of tenant within a session has effect at once.
    acme.execute("SELECT set_config('app.tenant_id', 'nobody', false)", &[])?;
    let seen: i64 = acme
        .query_one("SELECT count(*) FROM reground.citation_audit", &[])?
        .get(0);
    ensure!(seen == 0, "nobody sees {seen} citations");
    Ok(())
}

#[test]
fn ids_of_another_tenant_do_not_exist() -> Result<()> {
    let fixture = Fixture::build("tenants_ids")?;
    let mut acme = fixture.tenant("acme")?;
    let mut bolt = fixture.tenant("bolt")?;
    let (ended, open) = talk(&mut acme, "support")?;
    let mut owner = fixture.database.connect()?;
    let before = row_counts(&mut owner)?;
    for turn in [ended, open] {
        for call in [
            "SELECT reground.prompt_context($1)",
            "SELECT reground.end_turn($1, 'Mine now [A1].')",
            "SELECT reground.end_turn($1, 'Cows give milk [B1]. Pigs fly [Z9].', message_ref => 'm')",
            "SELECT reground.abandon_turn($1)",
            "SELECT reground.apply_rerank($1, NULL)",
        ] {
            let outcome = bolt.query(call, &[&turn]);
            ensure!(state(&outcome) == Some("P0002"), "{call}: {outcome:?}");
        }
    }
    let message: i64 = acme
        .query_one("SELECT max(message_id) FROM reground.messages", &[])?
        .get(0);
    ensure!(
        bolt.query(
            "SELECT decision, reasons FROM reground.messages WHERE message_id = $1",
            &[&message]
        )?
        .is_empty(),
        "a decision of another tenant is readable"
    );
    let unpinned = bolt.query("SELECT reground.unpin('support', doc_id => 'sheep')", &[]);
    ensure!(state(&unpinned) == Some("P0002"), "{unpinned:?}");
    ensure!(row_counts(&mut owner)? == before, "bolt changed something");
    // acme continues.
    acme.query(
        "SELECT * FROM reground.end_turn($1, 'Cows give milk [B1].')",
        &[&open],
    )?;
    Ok(())
}

#[test]
fn a_corpus_of_one_tenant_is_hidden_from_the_other() -> Result<()> {
    let fixture = Fixture::build("tenants_corpus")?;
    let mut owner = fixture.database.connect()?;
    owner.batch_execute(&format!(
        "SELECT set_config('app.tenant_id', 'acme', false);
         SELECT reground.create_corpus('secret', tenant => 'acme');
         SELECT reground.put_document('secret', 'plan', content => 'The plan is to move.');
         GRANT SELECT ON secret, secret_documents TO {}",
        fixture.app
    ))?;
    let mut acme = fixture.tenant("acme")?;
    let mut bolt = fixture.tenant("bolt")?;
    ensure!(
        acme.query("SELECT * FROM reground.search('secret', 'plan')", &[])?
            .len()
            == 1,
        "acme does not find its own"
    );
    for call in [
        "SELECT reground.search('secret', 'plan')",
        "SELECT reground.begin_turn('c', 'plan', 'secret')",
        "SELECT reground.check_corpus('secret')",
        "SELECT reground.pending_embeddings('secret')",
        "SELECT reground.pin('c', doc_id => 'plan', corpus => 'secret')",
    ] {
        let outcome = bolt.query(call, &[]);
        ensure!(state(&outcome) == Some("P0002"), "{call}: {outcome:?}");
    }
    let corpora = |client: &mut Client| -> Result<i64> {
        Ok(client
            .query_one("SELECT count(*) FROM reground.corpora", &[])?
            .get(0))
    };
    ensure!(
        corpora(&mut acme)? == 2 && corpora(&mut bolt)? == 1,
        "the list of corpora is not the tenant's"
    );
    // Users may not read ids and addresses of documents, not even of their own tenant.
    for client in [&mut acme, &mut bolt] {
        let outcome = client.query("SELECT * FROM reground.documents", &[]);
        ensure!(state(&outcome) == Some("42501"), "{outcome:?}");
    }
    Ok(())
}

#[test]
fn without_a_tenant_nothing_is_seen_or_written() -> Result<()> {
    let fixture = Fixture::build("tenants_none")?;
    talk(&mut fixture.tenant("acme")?, "support")?;
    let mut nobody = fixture.database.connect_as(&fixture.app)?;
    for empty in [false, true] {
        if empty {
            nobody.execute("SELECT set_config('app.tenant_id', '', false)", &[])?;
        }
        for call in [
            "SELECT reground.begin_turn('c', 'milk', 'farm', '[1,0]')",
            "SELECT reground.end_turn(1, 'x')",
            "SELECT reground.prompt_context(1)",
            "SELECT reground.pin('c', doc_id => 'cows', corpus => 'farm')",
            "SELECT reground.alter_conversation('c', '{}')",
        ] {
            let outcome = nobody.query(call, &[]);
            ensure!(state(&outcome) == Some("55000"), "{call}: {outcome:?}");
        }
        for relation in READABLE {
            let seen: i64 = nobody
                .query_one(&format!("SELECT count(*) FROM reground.{relation}"), &[])?
                .get(0);
            ensure!(seen == 0, "nobody sees {seen} rows of {relation}");
        }
    }
    Ok(())
}

#[test]
fn a_user_cannot_write_without_the_functions() -> Result<()> {
    let fixture = Fixture::build("tenants_around")?;
    let mut acme = fixture.tenant("acme")?;
    talk(&mut acme, "support")?;
    for statement in [
        "SET reground.tenant_from = 'app.other'",
        "SET LOCAL reground.tenant_from = ''",
        "ALTER DATABASE postgres SET reground.tenant_from = ''",
        "INSERT INTO reground.conversations (tenant, conversation_ref) VALUES ('acme', 'forged')",
        "UPDATE reground.conversations SET tenant = 'bolt'",
        "UPDATE reground.messages SET cfs = 1",
        "UPDATE reground.message_citations SET holds = true",
        "DELETE FROM reground.turns",
        "TRUNCATE reground.turn_traces",
        "INSERT INTO reground.conversation_sources SELECT * FROM reground.conversation_sources",
        "SELECT nextval(pg_get_serial_sequence('reground.turns', 'turn_id'))",
        "SELECT * FROM reground.turn_traces",
        "SELECT * FROM reground.turn_traces_00",
        "SELECT * FROM reground.turn_candidates",
        "SELECT * FROM reground.explain_turn(1)",
        "CREATE TABLE reground.mine ()",
        "CREATE POLICY mine ON reground.turns USING (true)",
        "ALTER TABLE reground.turns DISABLE ROW LEVEL SECURITY",
        "DROP EXTENSION reground CASCADE",
    ] {
        let outcome = acme.batch_execute(statement);
        ensure!(state(&outcome) == Some("42501"), "{statement}: {outcome:?}");
    }
    // A leaky function gets no row that the policy hides.
    acme.batch_execute(
        "CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RAISE EXCEPTION 'saw %', $1; END $$;
         SELECT set_config('app.tenant_id', 'bolt', false)",
    )?;
    let leaked = acme.query(
        "SELECT * FROM reground.turns WHERE pg_temp.leak(query)",
        &[],
    );
    ensure!(
        leaked.is_ok(),
        "a hidden row was shown to a function: {leaked:?}"
    );
    Ok(())
}

#[test]
fn a_setting_from_before_the_library_is_loaded_has_no_effect() -> Result<()> {
    let fixture = Fixture::build("tenants_early")?;
    for value in ["app.mine", ""] {
        let mut early = fixture.tenant("acme")?;
        // Before the first call, PostgreSQL accepts the unknown setting from anybody.
        let _ = early.batch_execute(&format!(
            "SET reground.tenant_from = '{value}'; SET app.mine = 'bolt'"
        ));
        let tenant: String = early
            .query_one("SELECT reground.current_tenant()", &[])?
            .get(0);
        ensure!(tenant == "acme", "a user set the tenant {tenant}");
    }
    Ok(())
}

#[test]
fn an_auditor_reads_everything_and_writes_nothing() -> Result<()> {
    let fixture = Fixture::build("tenants_audit")?;
    for tenant in ["acme", "bolt"] {
        talk(&mut fixture.tenant(tenant)?, "support")?;
    }
    let mut auditor = fixture.database.connect_as(&fixture.auditor)?;
    for relation in READABLE.iter().chain(&["turn_traces", "turn_candidates"]) {
        let tenants: i64 = auditor
            .query_one(
                &format!("SELECT count(DISTINCT tenant) FROM reground.{relation}"),
                &[],
            )?
            .get(0);
        ensure!(
            tenants == 2,
            "the auditor sees {tenants} tenants in {relation}"
        );
    }
    let turn: i64 = auditor
        .query_one("SELECT min(turn_id) FROM reground.turns", &[])?
        .get(0);
    ensure!(
        !auditor
            .query("SELECT * FROM reground.explain_turn($1)", &[&turn])?
            .is_empty(),
        "nothing explained"
    );
    auditor.batch_execute(
        "SELECT set_config('app.tenant_id', 'acme', false), reground.current_tenant()",
    )?;
    for statement in [
        "SELECT reground.begin_turn('c', 'milk', 'farm', '[1,0]')",
        "SELECT reground.end_turn(1, 'x')",
        "SELECT reground.pin('c', doc_id => 'cows', corpus => 'farm')",
        "SELECT reground.abandon_turn(1)",
        "UPDATE reground.messages SET superseded = true",
        "DELETE FROM reground.message_citations",
        "INSERT INTO reground.turn_traces SELECT * FROM reground.turn_traces",
        "SET reground.tenant_from = ''",
    ] {
        let outcome = auditor.batch_execute(statement);
        ensure!(state(&outcome) == Some("42501"), "{statement}: {outcome:?}");
    }
    Ok(())
}

#[test]
fn row_level_security_filters_found_and_carried_sources() -> Result<()> {
    let fixture = Fixture::build("tenants_rls")?;
    let mut owner = fixture.database.connect()?;
    owner.batch_execute(
        "ALTER TABLE farm ENABLE ROW LEVEL SECURITY;
         CREATE POLICY shown ON farm USING (doc_id <> 'sheep' OR current_setting('app.tenant_id', true) = 'acme')",
    )?;
    let mut acme = fixture.tenant("acme")?;
    let mut bolt = fixture.tenant("bolt")?;
    let documents = |client: &mut Client| -> Result<Vec<String>> {
        let found = client.query(
            "SELECT doc_id FROM reground.search('farm', 'milk wool', '[1,1]') ORDER BY doc_id",
            &[],
        )?;
        Ok(found.iter().map(|row| row.get(0)).collect())
    };
    ensure!(
        documents(&mut acme)? == ["cows", "sheep"],
        "acme: {:?}",
        documents(&mut acme)?
    );
    ensure!(
        documents(&mut bolt)? == ["cows"],
        "bolt: {:?}",
        documents(&mut bolt)?
    );
    let pinned = bolt.query(
        "SELECT reground.pin('c', doc_id => 'sheep', corpus => 'farm')",
        &[],
    );
    ensure!(state(&pinned) == Some("P0002"), "{pinned:?}");

    // Sources that acme may no longer see are not used, pinned or not.
    let (_, open) = talk(&mut acme, "support")?;
    acme.query(
        "SELECT * FROM reground.end_turn($1, 'Sheep give wool [A1].')",
        &[&open],
    )?;
    owner.batch_execute(
        "DROP POLICY shown ON farm; CREATE POLICY shown ON farm USING (doc_id <> 'sheep')",
    )?;
    let rows = acme.query("SELECT doc_id, content FROM reground.begin_turn('support', 'and wool?', 'farm', '[0,1]', intent => 'drill_down')", &[])?;
    let shown: Vec<Option<String>> = rows.iter().map(|row| row.get(0)).collect();
    ensure!(
        !shown.contains(&Some("sheep".into())),
        "a hidden source was carried: {shown:?}"
    );
    Ok(())
}

#[test]
fn a_turn_runs_as_its_caller_throughout() -> Result<()> {
    let fixture = Fixture::build("tenants_caller")?;
    let mut acme = fixture.tenant("acme")?;
    let user = |client: &mut Client| -> Result<String> {
        Ok(client
            .query_one(
                "SELECT concat(current_user, ' ', current_setting('search_path'))",
                &[],
            )?
            .get(0))
    };
    let before = user(&mut acme)?;
    talk(&mut acme, "support")?;
    ensure!(
        user(&mut acme)? == before,
        "the user or the search_path was left changed"
    );
    let refused = acme.query(
        "SELECT reground.begin_turn('support', 'x', 'farm', filter => '{\"nope\": 1}')",
        &[],
    );
    ensure!(state(&refused) == Some("42703"), "{refused:?}");
    ensure!(
        user(&mut acme)? == before,
        "an error left the user or the search_path changed"
    );
    let tenant: String = acme
        .query_one("SELECT DISTINCT tenant FROM reground.turns", &[])
        .context("one tenant")?
        .get(0);
    ensure!(tenant == "acme", "rows were written for {tenant}");
    Ok(())
}

#[test]
fn a_pin_without_a_corpus_runs_no_code_of_roles_that_the_caller_did_not_choose() -> Result<()> {
    let fixture = Fixture::build("tenants_pin")?;
    // Another role's view, whose function fails when it is called.
    fixture.database.connect()?.batch_execute(&format!(
        "CREATE SCHEMA stall AUTHORIZATION {auditor};
         CREATE TABLE stall.goods AS SELECT 'hammer' AS id, 'A red hammer.' AS body;
         CREATE FUNCTION stall.spy(text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'called'; END $$;
         CREATE VIEW stall.listed AS SELECT id, stall.spy(body) AS body FROM stall.goods;
         ALTER VIEW stall.listed OWNER TO {auditor};
         ALTER TABLE stall.goods OWNER TO {auditor};
         GRANT USAGE ON SCHEMA stall TO {app};
         GRANT SELECT ON stall.listed TO {app};
         SELECT set_config('app.tenant_id', 'owner', false);
         SELECT reground.add_corpus('goods', 'stall.listed', 'id', 'body')",
        auditor = fixture.auditor,
        app = fixture.app,
    ))?;
    let mut client = fixture.tenant("acme")?;
    let pinned = client.execute("SELECT reground.pin('talk', doc_id => 'cows')", &[]);
    ensure!(pinned.is_ok(), "{pinned:?}");
    let hidden = client.execute("SELECT reground.pin('talk-2', chunk_id => 'hammer')", &[]);
    ensure!(state(&hidden) == Some("P0002"), "{hidden:?}");
    // A caller who names the corpus has chosen to trust its owner.
    let named = client.execute(
        "SELECT reground.pin('talk-3', chunk_id => 'hammer', corpus => 'goods')",
        &[],
    );
    ensure!(state(&named) == Some("P0001"), "{named:?}");
    Ok(())
}
