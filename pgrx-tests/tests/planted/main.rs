//! No statement of the extension uses an operator, function, type or view from a schema on the caller's search_path.
//!
//! A schema `hostile` gets objects with the names of PostgreSQL's own, and operators for pairs of types that PostgreSQL has no exact
//! operator for. Each of them counts its calls. Then every public function and relation is used with that schema on the search_path,
//! in front of pg_catalog and behind it. Every call must succeed, and nothing planted may be called. A second test plants the objects in
//! the schema of pgvector, which is on the search_path of the extension's script, before it creates the extension.

mod roles;
mod statements;

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use postgres::Client;
use reground_tests::server::Database;
use reground_tests::surface;

use roles::{Kind, Roles};
use statements::{Session, calls};

/// The search_paths of the callers.
const PATHS: [&str; 2] = ["hostile, pg_catalog, public", "pg_catalog, hostile, public"];

/// PL/pgSQL cannot call them: they have arguments of the type internal.
const NOT_CALLABLE: [&str; 2] = ["_bm25_selectivity", "_search_rows"];

/// Kinds of planted objects, and the smallest number of each kind that a database with the extension must have.
const KINDS: [(&str, i64); 5] = [
    ("operator", 100_000),
    ("function", 5_000),
    ("aggregate", 250),
    ("type", 80),
    ("view", 190),
];

/// Plants the objects in a schema. Fails if no object of a kind can be planted.
fn plant(owner: &mut Client, schema: &str) -> Result<()> {
    owner
        .batch_execute(&include_str!("plant.sql").replace("hostile", schema))
        .context("plant.sql")?;
    for (kind, _) in KINDS {
        ensure!(count(owner, schema, kind)? > 0, "no {kind} is planted");
    }
    Ok(())
}

/// How many objects of a kind are planted.
fn count(owner: &mut Client, schema: &str, kind: &str) -> Result<i64> {
    let statement = format!("SELECT count(*) FROM {schema}.planted WHERE kind = $1");
    Ok(owner.query_one(&statement, &[&kind])?.get(0))
}

/// How many objects of each kind are planted, as text. Fails if they are fewer than [`KINDS`] says.
fn counts(owner: &mut Client) -> Result<String> {
    let mut counts = Vec::new();
    for (kind, fewest) in KINDS {
        let count = count(owner, "hostile", kind)?;
        ensure!(count >= fewest, "only {count} of kind {kind} are planted");
        counts.push(format!("{count} {kind}s"));
    }
    Ok(counts.join(", "))
}

/// Statements that call a planted object, each with the index of its search_path in [`PATHS`]. In front of pg_catalog, the schema hides
/// all objects of PostgreSQL. Behind pg_catalog, only operators for pairs of types that PostgreSQL has no exact operator for are found.
const VICTIMS: [(usize, &str); 6] = [
    (0, "SELECT 1 = 1"),
    (0, "SELECT lower(pg_catalog.chr(65))"),
    (0, "SELECT max(oid) FROM pg_catalog.pg_class"),
    (0, "SELECT pg_catalog.chr(65)::text"),
    (0, "SELECT oid FROM pg_class"),
    (1, "SELECT '1'::pg_catalog.int4 = '1'::pg_catalog.numeric"),
];

/// Fails unless statements that do not protect themselves call planted objects.
fn traps_work(database: &Database) -> Result<()> {
    let mut client = database.connect()?;
    let mut owner = database.connect()?;
    for (number, (path, statement)) in (1..).zip(VICTIMS) {
        client.batch_execute(&format!("SET search_path = {}", PATHS[path]))?;
        let outcome = client.simple_query(statement);
        let error = outcome
            .err()
            .with_context(|| format!("{statement} succeeds"))?;
        let message = error.as_db_error().map_or("", |error| error.message());
        ensure!(
            message.starts_with("planted: ") && calls(&mut owner)? == number,
            "{statement} does not call a planted object: {message}"
        );
    }
    owner.batch_execute("ALTER SEQUENCE hostile.calls RESTART")?;
    Ok(())
}

/// The statements that each kind of role runs: those before its relations are read, and those after.
fn files(kind: Kind) -> [&'static [&'static str]; 2] {
    const CORPORA: &str = include_str!("corpora.sql");
    const USER: &str = include_str!("user.sql");
    const AUDITOR: &str = include_str!("auditor.sql");
    const RETENTION: &str = include_str!("retention.sql");
    const ERASE: &str = include_str!("erase.sql");
    const OLD_CONVERSATIONS: &str = include_str!("old_conversations.sql");
    const END: &str = include_str!("end.sql");
    match kind {
        Kind::User => [&[USER], &[ERASE]],
        Kind::Admin => [&[CORPORA, USER, AUDITOR], &[ERASE, END]],
        Kind::Superuser => [
            &[CORPORA, USER, AUDITOR],
            &[RETENTION, ERASE, OLD_CONVERSATIONS, END],
        ],
    }
}

/// Functions of the schema reground that these statements call.
fn called_functions(files: [&[&str]; 2]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in files.into_iter().flatten() {
        for after in file.split("reground.").skip(1) {
            let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let (name, rest) = after.split_at(end.unwrap_or(after.len()));
            if rest.starts_with('(') {
                names.insert(name.to_owned());
            }
        }
    }
    names
}

/// Fails where a function that the role may call is in none of its statements.
fn every_function_is_called(owner: &mut Client, role: &str, kind: Kind) -> Result<()> {
    let functions = surface::functions(owner, &[role])?
        .into_iter()
        .filter(|name| !NOT_CALLABLE.contains(&name.as_str()))
        .collect();
    let called = called_functions(files(kind));
    surface::covered(&functions, called.iter().map(String::as_str))
        .with_context(|| format!("functions of {role}"))
}

/// Creates the application's tables of one run, under the default search_path.
fn build_application(owner: &mut Client, run: &str, role: &str) -> Result<()> {
    let tables = include_str!("application.sql")
        .replace("{r}", run)
        .replace("{role}", role);
    owner.batch_execute(&tables).context("application.sql")
}

#[test]
fn nothing_planted_is_ever_called() -> Result<()> {
    let database = Database::create("planted")?;
    let roles = Roles::create(&database)?;
    let mut owner = database.connect()?;
    owner.batch_execute("CREATE SCHEMA store")?;
    let started = std::time::Instant::now();
    plant(&mut owner, "hostile")?;
    let planted = counts(&mut owner)?;
    println!("planted {planted} in {:.1?}", started.elapsed());
    let mut owner = database.connect()?;
    traps_work(&database)?;
    roles.grant(&mut owner)?;

    let mut admin = Session::open(&database, roles.name(Kind::Admin))?;
    let mut statements = 0;
    let mut failures = Vec::new();
    for kind in [Kind::User, Kind::Admin, Kind::Superuser] {
        let role = roles.name(kind);
        every_function_is_called(&mut owner, role, kind)?;
        let relations = surface::relations(&mut owner, &[role])?;
        let mut session = Session::open(&database, role)?;
        for (number, path) in PATHS.iter().enumerate() {
            let run = format!("{}{number}", kind.letter());
            build_application(&mut owner, &run, role)?;
            session.begin(&run, path)?;
            if kind == Kind::User {
                admin.begin(&run, path)?;
                admin.run_file(include_str!("corpora.sql"), &mut owner)?;
            }
            let [before, after] = files(kind);
            for file in before {
                roles.grant(&mut owner)?;
                session.run_file(file, &mut owner)?;
            }
            session.read(&relations, &mut owner)?;
            for file in after {
                session.run_file(file, &mut owner)?;
            }
        }
        statements += session.statements;
        failures.append(&mut session.failures);
    }
    statements += admin.statements;
    failures.append(&mut admin.failures);

    let called = calls(&mut owner)?;
    println!("planted {planted}; called {called}; statements {statements}");
    ensure!(
        failures.is_empty() && called == 0,
        "{} of {statements} statements fail, {called} calls of planted objects:\n{}",
        failures.len(),
        failures.join("\n")
    );
    Ok(())
}

/// Objects of the extension, with the objects in the schema public that they use, except for types of pgvector.
const USED_OF_PUBLIC: &str = "
    WITH members AS (
        SELECT d.classid, d.objid FROM pg_depend AS d JOIN pg_extension AS e ON e.oid = d.refobjid
        WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND e.extname = 'reground'
    ), parts AS (
        SELECT d.classid, d.objid FROM pg_depend AS d JOIN members AS m ON (m.classid, m.objid) = (d.refclassid, d.refobjid)
        UNION SELECT classid, objid FROM members
    )
    SELECT concat(pg_describe_object(d.classid, d.objid, 0), ' uses ', pg_describe_object(d.refclassid, d.refobjid, 0))
    FROM pg_depend AS d JOIN parts AS p ON (p.classid, p.objid) = (d.classid, d.objid),
        pg_identify_object(d.refclassid, d.refobjid, 0) AS o
    WHERE o.schema = 'public' AND o.identity NOT IN ('public.vector', 'public.vector[]') ORDER BY 1";

#[test]
fn nothing_planted_gets_into_the_extension() -> Result<()> {
    let database = Database::empty("planted_before")?;
    let mut owner = database.connect()?;
    owner.batch_execute("CREATE EXTENSION vector SCHEMA public")?;
    plant(&mut owner, "public")?;
    let mut owner = database.connect()?;
    owner.batch_execute("SET search_path = pg_catalog; CREATE EXTENSION reground")?;
    let rows = owner.query(USED_OF_PUBLIC, &[])?;
    let uses: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    ensure!(uses.is_empty(), "{}", uses.join("\n"));
    Ok(())
}
