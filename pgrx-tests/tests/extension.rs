//! Creates and drops the extension: repeatedly, in either order with pgvector, in open sessions, and over tables of an
//! earlier installation.

use anyhow::{Context, Result, ensure};
use postgres::{Client, Statement};
use reground_tests::server::{Database, state};

/// A corpus and a conversation with one ended turn, and their expected rows.
const CONVERSATION: [&str; 7] = [
    "SELECT reground.create_corpus('farm', dimensions => 2)",
    "SELECT reground.put_document('farm', 'cows', passages => '[{\"content\": \"Cows give milk.\"}]', title => 'Cows')",
    "SELECT reground.put_embeddings('farm', ARRAY['1'], ARRAY['[1,0]']::vector[])",
    "SELECT reground.pin('talk', doc_id => 'cows', corpus => 'farm')",
    "SELECT reground.begin_turn('talk', 'who gives milk?', 'farm', '[1,0]')",
    "SELECT reground.prompt_context(1), reground.end_turn(1, 'Cows give milk [A1].')",
    "SELECT reground.search('farm', 'milk', '[1,0]')",
];

/// Runs the conversation; fails unless all ids start at 1, as in a new database.
fn converse(client: &mut Client) -> Result<()> {
    for statement in CONVERSATION {
        client.query(statement, &[]).context(statement)?;
    }
    let row = client.query_one(
        "SELECT turn_id, marker, status, source_state FROM reground.citation_audit",
        &[],
    )?;
    let said: (i64, String, String, String) = (row.get(0), row.get(1), row.get(2), row.get(3));
    ensure!(
        said == (1, "A1".into(), "resolved_current".into(), "current".into()),
        "{said:?}"
    );
    Ok(())
}

/// Objects in the schema that are not part of the extension.
fn left_in_schema(client: &mut Client) -> Result<Vec<String>> {
    let rows = client.query(
        "SELECT relname::text FROM pg_class WHERE relnamespace = to_regnamespace('reground')
         UNION ALL SELECT proname::text FROM pg_proc WHERE pronamespace = to_regnamespace('reground')
         UNION ALL SELECT typname::text FROM pg_type WHERE typnamespace = to_regnamespace('reground')",
        &[],
    )?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Runs a statement that must be refused; returns its SQLSTATE, message and hint.
fn refusal(client: &mut Client, statement: &str) -> Result<(String, String, String)> {
    let error = client
        .batch_execute(statement)
        .err()
        .with_context(|| format!("{statement} was not refused"))?;
    let said = error.as_db_error().context("the connection is lost")?;
    Ok((
        said.code().code().to_owned(),
        said.message().to_owned(),
        said.hint().unwrap_or_default().to_owned(),
    ))
}

#[test]
fn a_recreated_extension_is_empty() -> Result<()> {
    let database = Database::create("ext_again")?;
    let mut client = database.connect()?;
    for round in [
        "DROP EXTENSION reground; CREATE EXTENSION reground",
        "BEGIN; DROP EXTENSION reground CASCADE; CREATE EXTENSION reground; COMMIT",
        "DROP EXTENSION reground, vector CASCADE; CREATE EXTENSION vector; CREATE EXTENSION reground",
        "BEGIN; DROP EXTENSION vector CASCADE; CREATE EXTENSION reground CASCADE; COMMIT",
    ] {
        // In the session of the earlier conversation, without a corpus of the same name.
        converse(&mut client).context(round)?;
        client.batch_execute("DROP TABLE farm, farm_documents, farm_history")?;
        client.batch_execute(round).context(round)?;
    }
    converse(&mut client)?;
    // A rolled-back drop changes nothing.
    client.batch_execute("BEGIN; DROP EXTENSION reground CASCADE; ROLLBACK")?;
    client.batch_execute("SELECT reground.begin_turn('talk', 'and now?', 'farm', '[1,0]')")?;
    Ok(())
}

#[test]
fn drop_extension_keeps_objects_of_the_application() -> Result<()> {
    let database = Database::create("ext_drop")?;
    let mut client = database.connect()?;
    converse(&mut client)?;
    client.batch_execute(
        "CREATE VIEW answers AS SELECT message_ref, status FROM reground.citation_audit",
    )?;
    let (code, message, _) = refusal(&mut client, "DROP EXTENSION reground")?;
    ensure!(code == "2BP01", "{code} {message}");
    let (code, message, _) = refusal(&mut client, "DROP EXTENSION vector")?;
    ensure!(code == "2BP01", "{code} {message}");
    // A single member cannot be dropped.
    for member in [
        "TABLE reground.turns",
        "FUNCTION reground.end_turn",
        "VIEW reground.turn_audit",
        "TABLE reground.turn_traces_03",
    ] {
        let (code, message, _) = refusal(&mut client, &format!("DROP {member} CASCADE"))?;
        ensure!(code == "2BP01", "{member}: {code} {message}");
    }
    client.batch_execute("DROP EXTENSION reground CASCADE")?;
    let left = left_in_schema(&mut client)?;
    ensure!(left.is_empty(), "left behind: {left:?}");
    let tables: i64 = client
        .query_one(
            "SELECT (SELECT count(*) FROM farm) + (SELECT count(*) FROM farm_documents)",
            &[],
        )?
        .get(0);
    ensure!(tables == 2, "the corpus' tables have {tables} rows");
    ensure!(
        state(&client.query("SELECT * FROM answers", &[])) == Some("42P01"),
        "the view stayed"
    );
    // The roles remain, because other databases use them; they have no privileges here.
    let may: bool = client
        .query_one(
            "SELECT bool_or(has_schema_privilege(r, n.oid, 'CREATE')) IS TRUE FROM pg_namespace AS n, \
                 unnest(ARRAY['reground_user', 'reground_auditor', 'reground_admin']) AS r WHERE n.nspname = 'reground'",
            &[],
        )?
        .get(0);
    ensure!(!may, "a role may create in the remaining schema");
    Ok(())
}

#[test]
fn existing_tables_are_not_overwritten() -> Result<()> {
    let database = Database::create("ext_leftover")?;
    let mut client = database.connect()?;
    converse(&mut client)?;
    client.batch_execute("DROP EXTENSION reground CASCADE; CREATE EXTENSION reground")?;
    let (code, message, hint) = refusal(
        &mut client,
        "SELECT reground.create_corpus('farm', dimensions => 2)",
    )?;
    ensure!(
        code == "42P07" && message.contains("farm") && hint.contains("reground.add_corpus"),
        "{code} {message} {hint}"
    );
    // One existing table is enough to refuse, and no other table is created.
    client.batch_execute("CREATE TABLE barn_documents ()")?;
    let (code, message, _) = refusal(&mut client, "SELECT reground.create_corpus('barn')")?;
    ensure!(
        code == "42P07" && message.contains("barn_documents"),
        "{code} {message}"
    );
    let barn: bool = client
        .query_one("SELECT to_regclass('barn') IS NULL", &[])?
        .get(0);
    ensure!(barn, "a corpus was created in part");
    // The command of the hint.
    client.batch_execute(
        "SELECT reground.add_corpus('farm', 'farm', 'chunk_id', 'content', doc_id => 'doc_id', embedding => 'embedding',
             documents => 'farm_documents', documents_doc_id => 'doc_id', title => 'title', page_start => 'page_start', version => 'version')",
    )?;
    let row = client.query_one(
        "SELECT doc_id, title FROM reground.search('farm', 'milk', '[1,0]')",
        &[],
    )?;
    ensure!(
        row.get::<_, &str>(0) == "cows" && row.get::<_, &str>(1) == "Cows",
        "{row:?}"
    );
    let findings = client.query(
        "SELECT item, detail FROM reground.check_corpus('farm') WHERE status = 'error'",
        &[],
    )?;
    ensure!(findings.is_empty(), "{findings:?}");
    client
        .batch_execute("SELECT reground.begin_turn('talk', 'who gives milk?', 'farm', '[1,0]')")?;
    Ok(())
}

/// One statement for each function that SQL can call, with NULL for each argument.
fn every_function(client: &mut Client) -> Result<Vec<(String, Statement)>> {
    let calls = client.query(
        "SELECT format('SELECT * FROM %s(%s)', p.oid::regproc, coalesce((SELECT string_agg('NULL::' || t::regtype, ', ' ORDER BY n)
             FROM unnest(p.proargtypes) WITH ORDINALITY AS a(t, n)), ''))
         FROM pg_proc AS p WHERE p.pronamespace = 'reground'::regnamespace AND p.prokind = 'f' AND p.prorettype <> 'trigger'::regtype AND NOT 'internal'::regtype = ANY (p.proargtypes) ORDER BY p.proname",
        &[],
    )?;
    calls
        .iter()
        .map(|call| {
            let call: String = call.get(0);
            let prepared = client.prepare(&call).with_context(|| call.clone())?;
            Ok((call, prepared))
        })
        .collect()
}

#[test]
fn sessions_outlive_the_extension() -> Result<()> {
    let database = Database::create("ext_sessions")?;
    let mut owner = database.connect()?;
    let mut old = database.connect()?;
    converse(&mut old)?;
    let mut prepared = every_function(&mut old)?;
    for relation in ["turns", "citation_audit", "turn_candidates", "settings"] {
        let read = format!("SELECT count(*) FROM reground.{relation}");
        prepared.push((read.clone(), old.prepare(&read)?));
    }
    // Twice, so that cached plans are used.
    for (_, statement) in prepared.iter().cycle().take(2 * prepared.len()) {
        let _ = old.query(statement, &[]);
    }
    for (gone, back) in [
        (
            "DROP EXTENSION reground CASCADE",
            "CREATE EXTENSION reground",
        ),
        // pgvector is created again with other oids.
        (
            "DROP EXTENSION vector CASCADE",
            "CREATE EXTENSION reground CASCADE",
        ),
    ] {
        owner.batch_execute(gone)?;
        for (call, statement) in &prepared {
            let outcome = old.query(statement, &[]);
            ensure!(
                // The function, table, type or schema does not exist.
                state(&outcome)
                    .is_some_and(|code| ["42883", "42P01", "42704", "3F000"].contains(&code)),
                "{call} without the extension: {outcome:?}"
            );
        }
        owner.batch_execute("DROP TABLE farm, farm_documents, farm_history")?;
        owner.batch_execute(back)?;
        // The old session uses the new extension.
        for (call, statement) in &prepared {
            let outcome = old.query(statement, &[]);
            ensure!(
                !matches!(state(&outcome), Some("42883" | "42P01" | "XX000")),
                "{call} with the new extension: {outcome:?}"
            );
        }
        converse(&mut old).context(gone)?;
    }
    Ok(())
}

#[test]
fn pgvector_is_required_in_any_schema() -> Result<()> {
    let database = Database::empty("ext_vector")?;
    let mut client = database.connect()?;
    let (code, message, hint) = refusal(&mut client, "CREATE EXTENSION reground")?;
    ensure!(
        message.contains("\"vector\"") && hint.contains("CASCADE"),
        "{code} {message} {hint}"
    );
    client.batch_execute(
        "CREATE SCHEMA elsewhere; CREATE EXTENSION vector SCHEMA elsewhere; CREATE EXTENSION reground",
    )?;
    // Functions that name no types of pgvector also work with a search_path without it.
    client.batch_execute("SET search_path = public")?;
    for statement in CONVERSATION {
        let statement = statement.replace("::vector[]", "::elsewhere.vector[]");
        client.batch_execute(&statement).context(statement)?;
    }
    Ok(())
}

#[test]
fn only_a_superuser_creates_it_and_only_in_its_schema() -> Result<()> {
    let database = Database::empty("ext_rights")?;
    let mut owner = database.connect()?;
    let role = format!("{}_owner", database.name());
    owner.batch_execute(&format!(
        "CREATE EXTENSION vector; CREATE ROLE {role} LOGIN; ALTER DATABASE {} OWNER TO {role}; CREATE SCHEMA other",
        database.name()
    ))?;
    // The owner of the database cannot create it either.
    let mut client = database.connect_as(&role)?;
    let (code, message, hint) = refusal(&mut client, "CREATE EXTENSION reground")?;
    ensure!(
        code == "42501" && message.contains("reground") && hint.contains("superuser"),
        "{code} {message} {hint}"
    );
    let (code, message, _) = refusal(&mut owner, "CREATE EXTENSION reground SCHEMA other")?;
    ensure!(
        code == "0A000" && message.contains("\"reground\""),
        "{code} {message}"
    );
    ensure!(
        left_in_schema(&mut owner)?.is_empty(),
        "a refused extension left objects"
    );
    owner.batch_execute("CREATE EXTENSION reground")?;
    let (code, message, _) = refusal(&mut owner, "ALTER EXTENSION reground SET SCHEMA other")?;
    ensure!(code == "0A000", "{code} {message}");
    // The owner of the database calls the functions and owns the tables, but neither the schema nor the extension.
    let mut client = database.connect_as(&role)?;
    client.batch_execute("SELECT reground.current_tenant(); TABLE reground.turns")?;
    for statement in ["DROP EXTENSION reground", "CREATE TABLE reground.mine ()"] {
        let (code, message, _) = refusal(&mut client, statement)?;
        ensure!(code == "42501", "{statement}: {code} {message}");
    }
    owner.batch_execute(&format!(
        "ALTER DATABASE {} OWNER TO CURRENT_USER; DROP OWNED BY {role}; DROP ROLE {role}",
        database.name()
    ))?;
    Ok(())
}

#[test]
fn a_database_in_another_encoding_is_refused() -> Result<()> {
    let database = Database::empty("ext_encoding")?;
    let mut owner = database.connect()?;
    let name = format!("{}_latin", database.name());
    owner.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))?;
    owner.batch_execute(&format!(
        "CREATE DATABASE {name} TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'"
    ))?;
    let mut latin = database.config()?.dbname(&name).connect(postgres::NoTls)?;
    let refused = refusal(&mut latin, "CREATE EXTENSION reground CASCADE");
    let left = left_in_schema(&mut latin);
    drop(latin);
    owner.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)"))?;
    let (code, message, hint) = refused?;
    ensure!(
        code == "0A000" && message.contains("LATIN1") && hint.contains("UTF8"),
        "{code} {message} {hint}"
    );
    ensure!(left?.is_empty(), "a refused extension left objects");
    Ok(())
}
