//! The floor of `end_turn`, the least work that it must do: the text-search parser over the answer and the cited passages, and the
//! writes.
//!
//! The written rows are those that `end_turn` wrote for an earlier turn. They are copied from temporary tables, so that only the writes
//! are timed. The transaction is rolled back.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use postgres::{Client, Statement};

use crate::database::server::{self, Address};

/// A session that repeats the floor of an earlier `end_turn`.
pub struct Floor {
    client: Client,
    parser: Statement,
    writes: Writes,
    turn: Option<Ended>,
}

struct Writes {
    supersede: Statement,
    message: Statement,
    citations: Statement,
    forget: Statement,
    remember: Statement,
    turn: Statement,
    conversation: Statement,
}

impl Writes {
    fn prepare(client: &mut Client) -> Result<Self> {
        let message = columns(client, "reground.messages", "message_id")?;
        let all = columns(client, "reground.message_citations", "citation_id")?;
        let own: Vec<&str> = all
            .split(", ")
            .filter(|name| *name != "message_id")
            .collect();
        let citation = own.join(", ");
        let source = columns(client, "reground.conversation_sources", "")?;
        let key = ["conversation_id", "corpus", "doc_id", "chunk_id"];
        let updates: Vec<String> = source
            .split(", ")
            .filter(|name| !key.contains(name))
            .map(|name| format!("{name} = excluded.{name}"))
            .collect();
        let key = key.join(", ");
        Ok(Self {
            supersede: client.prepare(
                "UPDATE reground.messages SET superseded = true WHERE turn_id = $1 AND NOT superseded",
            )?,
            message: client.prepare(&format!(
                "INSERT INTO reground.messages ({message}) SELECT {message} FROM floor_message RETURNING message_id"
            ))?,
            citations: client.prepare(&format!(
                "INSERT INTO reground.message_citations (message_id, {citation}) SELECT $1, {citation} FROM floor_citations"
            ))?,
            forget: client.prepare(&format!(
                "DELETE FROM reground.conversation_sources WHERE conversation_id = $1 AND ({key}) NOT IN (SELECT {key} FROM floor_sources)"
            ))?,
            remember: client.prepare(&format!(
                "INSERT INTO reground.conversation_sources ({source}) SELECT {source} FROM floor_sources ON CONFLICT ({key}) DO UPDATE SET {}",
                updates.join(", ")
            ))?,
            turn: client.prepare(
                "UPDATE reground.turns SET state = 'ended', sources_after = $2::text::jsonb WHERE turn_id = $1",
            )?,
            conversation: client.prepare(
                "UPDATE reground.conversations SET last_ended_turn_id = $2 WHERE conversation_id = $1",
            )?,
        })
    }
}

/// An ended turn.
struct Ended {
    turn: i64,
    conversation: i64,
    /// The answer and the cited passages, as `end_turn` parses them.
    texts: Vec<String>,
    after: String,
}

/// Columns of a table except `without`, as a list in SQL.
fn columns(client: &mut Client, table: &str, without: &str) -> Result<String> {
    let row = client.query_one(
        "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute \
         WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped AND attname <> $2",
        &[&table, &without],
    )?;
    row.get::<_, Option<String>>(0)
        .with_context(|| format!("there is no table {table}"))
}

impl Floor {
    /// Connects and prepares the statements.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn connect(address: &Address) -> Result<Self> {
        let mut client = server::connect(address)?;
        client.batch_execute(
            "CREATE TEMPORARY TABLE floor_message AS SELECT * FROM reground.messages WHERE false;
             CREATE TEMPORARY TABLE floor_citations AS SELECT * FROM reground.message_citations WHERE false;
             CREATE TEMPORARY TABLE floor_sources AS SELECT * FROM reground.conversation_sources WHERE false",
        )?;
        let writes = Writes::prepare(&mut client)?;
        Ok(Self {
            parser: client.prepare(
                "SELECT tsvector_to_array(to_tsvector('pg_catalog.english', text)) FROM unnest($1::text[]) AS text",
            )?,
            writes,
            turn: None,
            client,
        })
    }

    /// Sets the turn that [`Floor::run`] repeats; it must be ended and committed.
    ///
    /// # Errors
    /// Errors of the server, or a turn without an answer.
    pub fn take(&mut self, turn: i64) -> Result<()> {
        // TRUNCATE would let every session read its catalogs again, that of begin_turn too.
        self.client.batch_execute(
            "DELETE FROM floor_message; DELETE FROM floor_citations; DELETE FROM floor_sources",
        )?;
        let row = self.client.query_one(
            "SELECT t.conversation_id, t.sources_after::text, m.answer, m.message_id, \
                 ARRAY(SELECT concat(s #>> '{passage,title}', E'\\n', s #>> '{passage,content}') FROM jsonb_array_elements(t.context) AS s \
                       WHERE EXISTS (SELECT FROM reground.message_citations AS c WHERE c.message_id = m.message_id AND c.marker = s ->> 'marker')) \
             FROM reground.turns AS t JOIN reground.messages AS m USING (turn_id) WHERE t.turn_id = $1 AND NOT m.superseded",
            &[&turn],
        )?;
        let (conversation, message): (i64, i64) = (row.get(0), row.get(3));
        let mut texts: Vec<String> = row.get(4);
        texts.push(row.get(2));
        for (statement, id) in [
            (
                "INSERT INTO floor_message SELECT * FROM reground.messages WHERE message_id = $1",
                message,
            ),
            (
                "INSERT INTO floor_citations SELECT * FROM reground.message_citations WHERE message_id = $1",
                message,
            ),
            (
                "INSERT INTO floor_sources SELECT * FROM reground.conversation_sources WHERE conversation_id = $1",
                conversation,
            ),
        ] {
            self.client.execute(statement, &[&id])?;
        }
        self.turn = Some(Ended {
            turn,
            conversation,
            texts,
            after: row.get(1),
        });
        Ok(())
    }

    /// Time of the parser and the writes for the turn of [`Floor::take`]; `None` before the first.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn run(&mut self) -> Result<Option<Duration>> {
        let Some(ended) = &self.turn else {
            return Ok(None);
        };
        let writes = &self.writes;
        let begun = Instant::now();
        let mut transaction = self.client.transaction()?;
        transaction.query(&self.parser, &[&ended.texts])?;
        transaction.execute(&writes.supersede, &[&ended.turn])?;
        let message: i64 = transaction.query_one(&writes.message, &[])?.get(0);
        transaction.execute(&writes.citations, &[&message])?;
        transaction.execute(&writes.forget, &[&ended.conversation])?;
        transaction.execute(&writes.remember, &[])?;
        transaction.execute(&writes.turn, &[&ended.turn, &ended.after])?;
        transaction.execute(&writes.conversation, &[&ended.conversation, &ended.turn])?;
        let took = begun.elapsed();
        transaction.rollback()?;
        Ok(Some(took))
    }
}
