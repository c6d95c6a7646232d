//! Growth of the tables and of the write-ahead log per turn.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use postgres::Client;

use super::answer;
use super::extension::Extension;
use super::workload::Conversation;
use crate::database::server::{self, Address};
use crate::progress::Progress;

/// Growth per turn.
pub struct Sizes {
    /// Number of turns.
    pub turns: usize,
    /// Bytes of each table with its indexes and TOAST, largest first.
    pub tables: Vec<(String, f64)>,
    /// Bytes of write-ahead log.
    pub wal: f64,
}

impl Sizes {
    /// Bytes of all tables.
    pub fn total(&self) -> f64 {
        self.tables.iter().map(|(_, bytes)| bytes).sum()
    }
}

/// Runs the conversations once and measures the growth; nothing else may write meanwhile.
///
/// # Errors
/// Errors of the server.
pub fn measure(address: &Address, corpus: &str, conversations: &[Conversation]) -> Result<Sizes> {
    let mut client = server::connect(address)?;
    compact(&mut client)?;
    let (before, wal_before) = (tables(&mut client)?, wal(&mut client)?);
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
    let mut extension = Extension::connect(address, corpus)?;
    let turns: usize = conversations.iter().map(|one| one.questions.len()).sum();
    let progress = Progress::new("size: turns", turns);
    for conversation in conversations {
        let name = format!("size-{now}-{}", conversation.id);
        for question in &conversation.questions {
            let begun = extension.begin(&name, question)?;
            if let Some(answer) = answer::write(&begun.sources) {
                extension.end(begun.turn, &answer)?;
            }
            progress.step(1);
        }
    }
    progress.finish();
    let (after, wal_after) = (tables(&mut client)?, wal(&mut client)?);
    let each = |bytes: i64| bytes as f64 / turns as f64;
    let mut tables: Vec<(String, f64)> = after
        .into_iter()
        .map(|(table, bytes)| {
            let grown = bytes - before.get(&table).copied().unwrap_or(0);
            (table, each(grown))
        })
        .filter(|(_, bytes)| *bytes > 0.0)
        .collect();
    tables.sort_by(|one, other| other.1.total_cmp(&one.1));
    Ok(Sizes {
        turns,
        tables,
        wal: each(wal_after - wal_before),
    })
}

/// Returns free space to the file system, because new rows would fill it without growth.
fn compact(client: &mut Client) -> Result<()> {
    for row in client.query(
        "SELECT oid::regclass::text FROM pg_class WHERE relnamespace = 'reground'::regnamespace AND relkind = 'r' \
         AND relname IN ('conversations', 'turns', 'messages', 'message_citations', 'conversation_sources', 'conversation_markers') \
         OR relnamespace = 'reground'::regnamespace AND relkind = 'r' AND relispartition",
        &[],
    )? {
        client.batch_execute(&format!("VACUUM (FULL) {}", row.get::<_, String>(0)))?;
    }
    Ok(())
}

/// Bytes of each table of the extension; partitions count for their parent.
fn tables(client: &mut Client) -> Result<BTreeMap<String, i64>> {
    let rows = client.query(
        "SELECT coalesce(i.inhparent::regclass, c.oid::regclass)::text, sum(pg_total_relation_size(c.oid))::bigint \
         FROM pg_class AS c LEFT JOIN pg_inherits AS i ON i.inhrelid = c.oid \
         WHERE c.relnamespace = 'reground'::regnamespace AND c.relkind = 'r' GROUP BY 1",
        &[],
    )?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

fn wal(client: &mut Client) -> Result<i64> {
    let row = client.query_one(
        "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint",
        &[],
    )?;
    Ok(row.get(0))
}
