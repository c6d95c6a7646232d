//! Long and odd names of documents, conversations, messages and corpora.

use anyhow::{Context, Result, ensure};
use postgres::Client;
use reground_tests::server::{Database, state};
use serde_json::json;

use crate::fixture::open_turn;

/// Uses a name as the id of a document, a conversation, a request and a message; all of them are stored unchanged.
fn use_as_id(client: &mut Client, name: &str) -> Result<()> {
    let shown: String = name.chars().take(40).collect();
    client
        .query("SELECT * FROM reground.put_document('farm', $1, content => 'Goats climb trees.', title => $1, uri => $1)", &[&name])
        .with_context(|| format!("document {shown:?}"))?;
    let found = client.query(
        "SELECT doc_id, title FROM reground.search('farm', 'goats', '[0.5,0.5]', filter => $1)",
        &[&json!({"doc_id": name})],
    )?;
    ensure!(
        found.len() == 1
            && found
                .iter()
                .all(|row| row.get::<_, &str>(0) == name && row.get::<_, &str>(1) == name),
        "document {shown:?}: {found:?}"
    );
    let begin = "SELECT turn_id, doc_id FROM reground.begin_turn($1, 'goats', 'farm', '[1,0]', request_id => $1, filter => $2)";
    let row = client
        .query_one(begin, &[&name, &json!({"doc_id": name})])
        .with_context(|| format!("conversation {shown:?}"))?;
    let turn: i64 = row.get(0);
    ensure!(
        row.get::<_, &str>(1) == name,
        "the source of {shown:?} is {:?}",
        row.get::<_, &str>(1)
    );
    for format in ["text", "xml", "json"] {
        client.query("SELECT reground.prompt_context($1, $2)", &[&turn, &format])?;
    }
    client
        .query("SELECT * FROM reground.end_turn($1, 'Goats climb trees [A1].', message_ref => $2, model => $2)", &[&turn, &name])
        .with_context(|| format!("message {shown:?}"))?;
    client.query(
        "SELECT reground.pin($1, doc_id => $1, corpus => 'farm')",
        &[&name],
    )?;
    let kept: i64 = client
        .query_one(
            "SELECT count(*) FROM reground.citation_audit WHERE conversation_ref = $1 AND message_ref = $1 AND model = $1 AND doc_id = $1 AND title = $1",
            &[&name],
        )?
        .get(0);
    ensure!(kept == 1, "the audit of {shown:?} has {kept} rows");
    ensure!(
        client
            .query_one("SELECT reground.delete_document('farm', $1)", &[&name])?
            .get::<_, bool>(0),
        "{shown:?} was not deleted"
    );
    Ok(())
}

/// Uses a name as the name of a corpus.
fn use_as_corpus(client: &mut Client, name: &str) -> Result<()> {
    client
        .query("SELECT reground.create_corpus($1)", &[&name])
        .with_context(|| format!("corpus {name:?}"))?;
    client.query(
        "SELECT * FROM reground.put_document($1, 'd', content => 'Anything.')",
        &[&name],
    )?;
    ensure!(
        client
            .query("SELECT * FROM reground.search($1, 'anything')", &[&name])?
            .len()
            == 1,
        "corpus {name:?}"
    );
    ensure!(
        !client
            .query("SELECT * FROM reground.check_corpus($1)", &[&name])?
            .is_empty(),
        "corpus {name:?}"
    );
    client.query("SELECT reground.drop_corpus($1, true)", &[&name])?;
    Ok(())
}

#[test]
fn long_and_odd_names_are_stored_unchanged() -> Result<()> {
    let database = Database::create("bad_odd")?;
    let mut client = database.connect()?;
    let turn = open_turn(&mut client)?;
    client.query("SELECT * FROM reground.end_turn($1, '')", &[&turn])?;
    let long = "i".repeat(10_000);
    let odd = [
        long.as_str(),
        "we\"ird 'name'",
        "back\\slash",
        "new\nline\ttab",
        "烏龍 😀 \u{202e}txet",
        "; DROP TABLE reground.turns; --",
        "$$; SELECT 1; $$",
        "%s %I $1 {0}",
        " leading and trailing ",
        "\u{1f}unit separator",
    ];
    for name in odd {
        use_as_id(&mut client, name)?;
    }
    // A relation name has less than 64 bytes.
    for name in odd.iter().filter(|name| name.len() < 50) {
        use_as_corpus(&mut client, name)?;
    }
    // A name that PostgreSQL would truncate must not create a table with another name.
    let outcome = client.query("SELECT reground.create_corpus($1)", &[&long]);
    ensure!(
        state(&outcome).is_some_and(|state| ["22023", "42622"].contains(&state)),
        "a corpus name of 10 kB: {outcome:?}"
    );
    Ok(())
}
