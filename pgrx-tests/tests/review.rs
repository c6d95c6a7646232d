//! Faults found in a review, each with a test.

use anyhow::Result;
use postgres::Client;
use reground_tests::server::Database;

/// A corpus over a table of the application.
const CHUNKS: &str = "
    CREATE TABLE chunks (id int PRIMARY KEY, doc int, body text, emb vector(3), page int, meta jsonb);
    INSERT INTO chunks VALUES (1, 1, 'reset the password here', '[1,0,0]', 1, '{}');
    SELECT reground.add_corpus('help', relation => 'chunks', chunk_id => 'id', doc_id => 'doc', content => 'body', embedding => 'emb',
        page_start => 'page', metadata => 'meta');";

fn show(client: &mut Client, setting: &str) -> Result<String> {
    Ok(client.query_one(&format!("SHOW {setting}"), &[])?.get(0))
}

#[test]
fn a_reranker_of_another_role_leaves_the_session_as_it_was() -> Result<()> {
    let database = Database::create("review_reranker")?;
    let mut client = database.connect()?;
    let role = format!("{}_other", database.name());
    client.batch_execute(CHUNKS)?;
    client.batch_execute(&format!(
        "CREATE ROLE {role}; GRANT reground_user TO {role}; CREATE SCHEMA other AUTHORIZATION {role}; SET ROLE {role};
         CREATE FUNCTION other.bends(query text, passages text[]) RETURNS real[] LANGUAGE plpgsql AS $$
         BEGIN
             PERFORM set_config('search_path', 'other, public', false), set_config('TimeZone', 'Asia/Tokyo', false);
             RETURN (SELECT array_agg(1::real) FROM unnest(passages));
         END $$;
         CREATE FUNCTION other.makes(query text, passages text[]) RETURNS real[] LANGUAGE plpgsql AS $$
         BEGIN CREATE TEMP TABLE left_behind (x int); RETURN NULL; END $$;
         RESET ROLE;"
    ))?;
    let before = (
        show(&mut client, "search_path")?,
        show(&mut client, "TimeZone")?,
    );
    // The tenant is the role: here a superuser continues the conversation of another role.
    let begin = |conversation: &str, reranker: &str| {
        format!(
            "INSERT INTO reground.conversations (tenant, conversation_ref, settings, reranker_role)
             VALUES (current_user, '{conversation}', '{{\"reranker\": \"{reranker}\"}}', '{role}');
             SELECT * FROM reground.begin_turn('{conversation}', 'reset', corpus => 'help', embedding => '[1,0,0]')"
        )
    };
    client.batch_execute(&begin("bent", "other.bends"))?;
    let after = (
        show(&mut client, "search_path")?,
        show(&mut client, "TimeZone")?,
    );
    assert_eq!(before, after);
    let refused = client
        .batch_execute(&begin("made", "other.makes"))
        .expect_err("a temporary table in the caller's session");
    assert_eq!(refused.code().map(|code| code.code()), Some("42501"));
    client.batch_execute(&format!("DROP OWNED BY {role} CASCADE; DROP ROLE {role}"))?;
    Ok(())
}

#[test]
fn operators_of_the_callers_path_are_not_called() -> Result<()> {
    let database = Database::create("review_operators")?;
    let mut client = database.connect()?;
    client.batch_execute(CHUNKS)?;
    client.batch_execute(
        "CREATE FUNCTION public.trap(int[], int[]) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
         CREATE OPERATOR public.>= (LEFTARG = int[], RIGHTARG = int[], FUNCTION = public.trap);
         CREATE OPERATOR public.< (LEFTARG = int[], RIGHTARG = int[], FUNCTION = public.trap);
         SELECT * FROM reground.search('help', 'reset', '[1,0,0]');
         DROP EXTENSION reground CASCADE;
         CREATE EXTENSION reground;",
    )?;
    Ok(())
}

#[test]
fn odd_rows_do_not_stop_a_search() -> Result<()> {
    let database = Database::create("review_rows")?;
    let mut client = database.connect()?;
    client.batch_execute(CHUNKS)?;
    client.batch_execute(
        "INSERT INTO chunks VALUES (2, NULL, 'poison reset row', '[0,1,0]', -1, '{\"n\": 1e400}'), (3, 3, 'no angle to reset', '[0,0,0]', 1, NULL);
         INSERT INTO chunks SELECT 4, 4, 'reset', '[0,0,1]', 1, (repeat('[', 200) || repeat(']', 200))::jsonb;",
    )?;
    let rows = client.query(
        "SELECT chunk_id, doc_id, locator, metadata::text, vector_rank FROM reground.search('help', 'reset', '[1,0,0]') ORDER BY chunk_id",
        &[],
    )?;
    let keys: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(keys, ["1", "2", "3", "4"]);
    assert_eq!(
        rows[1].get::<_, String>(1),
        "2",
        "a passage without a document stands for itself"
    );
    assert_eq!(
        rows[1].get::<_, Option<String>>(2),
        None,
        "page -1 is no page"
    );
    assert_eq!(
        rows[2].get::<_, Option<i32>>(4),
        None,
        "a zero vector is near nothing"
    );
    Ok(())
}

#[test]
fn padded_keys_are_found() -> Result<()> {
    let database = Database::create("review_keys")?;
    let mut client = database.connect()?;
    client.batch_execute(
        "CREATE TABLE padded (id char(8) PRIMARY KEY, lang char(2), body text, emb vector(2));
         INSERT INTO padded VALUES ('abc', 'en', 'hello there', '[1,0]');
         SELECT reground.add_corpus('padded', relation => 'padded', chunk_id => 'id', content => 'body', embedding => 'emb')",
    )?;
    let found = client.query(
        "SELECT chunk_id FROM reground.search('padded', 'hello', '[1,0]', filter => '{\"lang\": \"en\"}')",
        &[],
    )?;
    assert_eq!(found.len(), 1);
    Ok(())
}

#[test]
fn a_conversation_continues_without_a_missing_corpus() -> Result<()> {
    let database = Database::create("review_gone")?;
    let mut client = database.connect()?;
    client.batch_execute(CHUNKS)?;
    client.batch_execute(
        "CREATE TABLE others AS TABLE chunks;
         SELECT reground.add_corpus('others', relation => 'others', chunk_id => 'id', content => 'body', embedding => 'emb');
         SELECT reground.begin_turn('c', 'reset', corpus => 'others', embedding => '[1,0,0]');
         SELECT reground.end_turn(1, 'Reset it here [A1].');
         ALTER TABLE others RENAME COLUMN body TO words;
         SELECT reground.begin_turn('c', 'reset', corpus => 'help', embedding => '[1,0,0]');
         DROP TABLE others;
         SELECT reground.begin_turn('c', 'reset', corpus => 'help', embedding => '[1,0,0]');
         SELECT reground.pin('d', chunk_id => '1');",
    )?;
    Ok(())
}

#[test]
fn rerank_scores_of_any_size_are_traced() -> Result<()> {
    let database = Database::create("review_scores")?;
    let mut client = database.connect()?;
    client.batch_execute(CHUNKS)?;
    client.batch_execute(
        "INSERT INTO chunks VALUES (2, 2, 'reset again', '[0,1,0]', 1, '{}'), (3, 3, 'reset once more', '[0,0,1]', 1, '{}');
         SELECT reground.begin_turn('c', 'reset', corpus => 'help', embedding => '[1,0,0]', settings => '{\"reranker\": \"deferred\"}');
         SELECT reground.apply_rerank(1, '[{\"index\": 0, \"score\": 1e308}, {\"index\": 1, \"score\": 1e-60}, {\"index\": 2, \"score\": 0}]');",
    )?;
    let state: String = client
        .query_one("SELECT state FROM reground.turns", &[])?
        .get(0);
    assert_eq!(state, "open");
    // A trace has single precision, in which these numbers do not exist.
    let scores: Vec<f32> = client
        .query(
            "SELECT rerank_score FROM reground.explain_turn(1) ORDER BY rerank_score DESC",
            &[],
        )?
        .iter()
        .map(|row| row.get(0))
        .collect();
    assert_eq!(scores, [f32::MAX, 0.0, 0.0]);
    // Infinity would be a string in JSON.
    let numbers: i64 = client
        .query_one(
            "SELECT count(*) FROM reground.provenance_nodes WHERE turn_id = 1 AND jsonb_typeof(details -> 'rerank_score') = 'number'",
            &[],
        )?
        .get(0);
    assert_eq!(numbers, 3);
    Ok(())
}

#[test]
fn every_role_reads_the_views_that_it_is_granted() -> Result<()> {
    let database = Database::create("review_views")?;
    let mut client = database.connect()?;
    client.batch_execute(CHUNKS)?;
    client.batch_execute(
        "SELECT reground.begin_turn('c', 'reset', corpus => 'help', embedding => '[1,0,0]');
         SELECT reground.end_turn(1, 'Reset it here [A1].');",
    )?;
    let mut read = 0;
    for role in ["reground_user", "reground_auditor", "reground_admin"] {
        let granted = client.query(
            "SELECT oid::regclass::text FROM pg_class
             WHERE relnamespace = 'reground'::regnamespace AND relkind IN ('v', 'r', 'p') AND has_table_privilege($1, oid, 'SELECT')",
            &[&role],
        )?;
        client.batch_execute(&format!("SET ROLE {role}"))?;
        for row in granted {
            let relation: String = row.get(0);
            // Each column is read, because a count would skip columns whose function may not be called.
            client.batch_execute(&format!(
                "CREATE TEMP TABLE seen AS SELECT * FROM {relation}; DROP TABLE seen"
            ))?;
            read += 1;
        }
        client.batch_execute("RESET ROLE")?;
    }
    assert!(read > 20, "{read} relations were read");
    Ok(())
}

#[test]
fn a_version_that_is_no_number_is_reported() -> Result<()> {
    let database = Database::create("review_revision")?;
    let mut client = database.connect()?;
    client.batch_execute(
        "CREATE TABLE revised (id int PRIMARY KEY, body text, rev text);
         INSERT INTO revised VALUES (1, 'hello there', 'v2');
         SELECT reground.add_corpus('revised', relation => 'revised', chunk_id => 'id', content => 'body', version => 'rev');",
    )?;
    let status = "SELECT status, hint FROM reground.check_corpus('revised') WHERE item = 'version'";
    let finding = client.query_one(status, &[])?;
    assert_eq!(finding.get::<_, String>(0), "warning");
    let found = client.query("SELECT FROM reground.search('revised', 'hello')", &[])?;
    assert_eq!(found.len(), 1);
    client.batch_execute(&finding.get::<_, String>(1))?;
    assert!(
        client.query(status, &[])?.is_empty(),
        "the hint does not repair the corpus"
    );
    Ok(())
}

#[test]
fn a_zero_query_vector_gives_a_warning() -> Result<()> {
    let database = Database::create("review_zero")?;
    let mut client = database.connect()?;
    client.batch_execute(CHUNKS)?;
    client.batch_execute(
        "SELECT reground.begin_turn('c', 'reset', corpus => 'help', embedding => '[0,0,0]')",
    )?;
    let warnings: Vec<String> = client
        .query_one("SELECT warnings FROM reground.turns", &[])?
        .get(0);
    assert!(
        warnings.contains(&"short_branch".to_owned()),
        "{warnings:?}"
    );
    Ok(())
}
