//! Refused calls, alone and within a transaction.

use anyhow::{Result, ensure};
use postgres::Client;
use reground_tests::server::{Database, row_counts, state};

use crate::fixture::open_turn;

/// Calls that are refused, with their SQLSTATE.
const REFUSED: [(&str, &str); 22] = [
    ("SELECT reground.search('nowhere', 'x')", "P0002"),
    ("SELECT reground.search('farm', 'x', '[1,0,0]')", "22023"),
    (
        "SELECT reground.search('farm', 'x', '[1,0]', filter => '{\"nope\": 1}')",
        "42703",
    ),
    (
        "SELECT reground.begin_turn('fresh', 'x', 'nowhere')",
        "P0002",
    ),
    (
        "SELECT reground.begin_turn('fresh', 'x', 'farm', '[1,0,0]')",
        "22023",
    ),
    (
        "SELECT reground.begin_turn('fresh', 'x', 'farm', '[1,0]', filter => '{\"nope\": 1}')",
        "42703",
    ),
    (
        "SELECT reground.begin_turn('fresh', 'x', 'farm', '[1,0]', filter => '{\"version\": \"one\"}')",
        "22P02",
    ),
    (
        "SELECT reground.begin_turn('fresh', 'x', 'farm', '[1,0]', settings => '{\"max_sources\": 0}')",
        "22023",
    ),
    (
        "SELECT reground.begin_turn('fresh', 'x', 'farm', '[1,0]', settings => '{\"reranker\": \"nowhere\"}')",
        "22023",
    ),
    (
        "SELECT reground.begin_turn('fresh', 'x', 'farm', '[1,0]', settings => '{\"reranker\": \"public.broken\"}')",
        "58000",
    ),
    ("SELECT reground.begin_turn('fresh', NULL, 'farm')", "22004"),
    (
        "SELECT reground.begin_turn('talk', 'other words', 'farm', '[1,0]', request_id => 'r')",
        "23505",
    ),
    ("SELECT reground.end_turn(0, 'x')", "P0002"),
    (
        "SELECT reground.end_turn((SELECT min(turn_id) FROM reground.turns), 'another answer [A1]', message_ref => 'm')",
        "23505",
    ),
    (
        "SELECT reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'late [A1]')",
        "55000",
    ),
    (
        "SELECT reground.pin('fresh', doc_id => 'nowhere', corpus => 'farm')",
        "P0002",
    ),
    (
        "SELECT reground.alter_conversation('fresh', '{\"nope\": 1}')",
        "22023",
    ),
    (
        "SELECT reground.create_corpus('farm', dimensions => 3)",
        "42710",
    ),
    (
        "SELECT reground.create_corpus('new', dimensions => 99999)",
        "22023",
    ),
    (
        "SELECT reground.put_document('farm', 'd', passages => '[{\"content\": \"fine\"}, {\"page_start\": 1}]')",
        "22023",
    ),
    (
        "SELECT reground.put_embeddings('farm', ARRAY['1', '2'], ARRAY['[0.5,0.5]', '[1]']::vector[])",
        "22023",
    ),
    ("SELECT reground.drop_corpus('nowhere', true)", "P0002"),
];

#[test]
fn a_refused_call_leaves_nothing_behind() -> Result<()> {
    let database = Database::create("bad_refused")?;
    let mut client = database.connect()?;
    open_turn(&mut client)?;
    client.batch_execute(
        "CREATE FUNCTION broken(query text, passages text[]) RETURNS real[] LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'down' USING ERRCODE = '58000'; END $$;
         SELECT reground.end_turn((SELECT min(turn_id) FROM reground.turns), 'Cows give milk [A1].', message_ref => 'm');
         SELECT reground.begin_turn('talk', 'words', 'farm', '[1,0]', request_id => 'r');
         SELECT reground.abandon_turn((SELECT max(turn_id) FROM reground.turns));
         SET search_path = public, pg_catalog",
    )?;
    let everything = |client: &mut Client| -> Result<String> {
        Ok(client
            .query_one(
                "SELECT concat(current_user, current_setting('search_path'), current_setting('hnsw.ef_search', true), current_setting('enable_seqscan'),
                    (SELECT md5(string_agg(f::text, '' ORDER BY chunk_id)) FROM farm AS f), (SELECT count(*) FROM farm_documents),
                    (SELECT md5(string_agg(c::text, '' ORDER BY conversation_id)) FROM reground.conversations AS c),
                    (SELECT md5(string_agg(t::text, '' ORDER BY turn_id)) FROM reground.turns AS t),
                    (SELECT md5(string_agg(s::text, '' ORDER BY doc_id, chunk_id)) FROM reground.conversation_sources AS s))",
                &[],
            )?
            .get(0))
    };
    let rows = row_counts(&mut client)?;
    let before = everything(&mut client)?;
    for (call, expected) in REFUSED {
        // Alone, and inside a transaction that continues after a savepoint.
        let outcome = client.batch_execute(call);
        ensure!(
            state(&outcome) == Some(expected),
            "{call}: {outcome:?}, expected {expected}"
        );
        ensure!(
            everything(&mut client)? == before && row_counts(&mut client)? == rows,
            "{call} left something behind"
        );
        client.batch_execute("BEGIN; SAVEPOINT here")?;
        let outcome = client.batch_execute(call);
        ensure!(
            state(&outcome) == Some(expected),
            "{call} in a transaction: {outcome:?}"
        );
        client.batch_execute("ROLLBACK TO SAVEPOINT here")?;
        ensure!(
            everything(&mut client)? == before && row_counts(&mut client)? == rows,
            "{call} left something behind after a savepoint"
        );
        // The session still works.
        client.batch_execute(
            "SELECT reground.begin_turn('in passing', 'milk', 'farm', '[1,0]'); ROLLBACK",
        )?;
        ensure!(
            everything(&mut client)? == before,
            "a rollback after {call} left something behind"
        );
    }
    Ok(())
}
