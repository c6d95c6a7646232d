//! Calls in a read-only transaction.

use anyhow::{Context, Result, ensure};
use reground_tests::server::{Database, state};

use crate::fixture::open_turn;

#[test]
fn a_read_only_transaction_refuses_all_writes() -> Result<()> {
    let database = Database::create("bad_read_only")?;
    let mut client = database.connect()?;
    let turn = open_turn(&mut client)?;
    client.batch_execute("SET default_transaction_read_only = on")?;
    for call in [
        "SELECT reground.begin_turn('c', 'milk', 'farm', '[1,0]')".to_owned(),
        format!("SELECT reground.end_turn({turn}, 'x')"),
        format!("SELECT reground.abandon_turn({turn})"),
        format!("SELECT reground.apply_rerank({turn}, NULL)"),
        "SELECT reground.pin('c', doc_id => 'cows', corpus => 'farm')".into(),
        "SELECT reground.unpin('talk', doc_id => 'cows')".into(),
        "SELECT reground.alter_conversation('c', '{}')".into(),
        "SELECT reground.create_corpus('new')".into(),
        "SELECT reground.add_corpus('new', 'farm', 'chunk_id', 'content')".into(),
        "SELECT reground.alter_corpus('farm', settings => '{\"rrf_k\": 9}')".into(),
        "SELECT reground.drop_corpus('farm')".into(),
        "SELECT reground.put_document('farm', 'd', content => 'x')".into(),
        "SELECT reground.delete_document('farm', 'cows')".into(),
        "SELECT reground.put_embeddings('farm', ARRAY['1'], ARRAY['[1,0]']::vector[])".into(),
    ] {
        let outcome = client.batch_execute(&call);
        ensure!(state(&outcome) == Some("25006"), "{call}: {outcome:?}");
    }
    for call in [
        "SELECT reground.search('farm', 'milk', '[1,0]')".to_owned(),
        format!("SELECT reground.prompt_context({turn})"),
        format!("SELECT reground.turn_conflicts({turn})"),
        format!("SELECT reground.explain_turn({turn})"),
        "SELECT reground.check_corpus('farm')".into(),
        "SELECT reground.pending_embeddings('farm')".into(),
        "TABLE reground.citation_audit".into(),
        "TABLE reground.settings".into(),
    ] {
        client.batch_execute(&call).with_context(|| call.clone())?;
    }
    Ok(())
}
