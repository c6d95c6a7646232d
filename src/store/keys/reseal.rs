//! Seals stored rows with the newest key of their tenant.

use std::time::{Duration, Instant};

use reground_sealing::Sealer;
use serde::{Deserialize, Serialize};

use super::keyring::{sealed_again, sealer_now};
use super::master::master;
use super::table::{self, Row};
use crate::error::{Error, Result};
use crate::run_as::{as_owner, as_owner_scanning};
use crate::sql;

/// Duration of a run. Turns of the conversations that it has sealed wait for its end.
const RUN: Duration = Duration::from_secs(2);

/// Rows that are read at a time.
const PAGE: usize = 100;

/// A table with sealed columns.
struct Table {
    /// Reads rows as JSON: those of a conversation (`$1`) after an id (`$2`), at most `$3`.
    read: &'static str,
    /// Writes them back (`$1`), to a conversation (`$2`), if they have changed.
    write: &'static str,
}

const TABLES: [Table; 5] = [
    Table {
        read: "SELECT t.turn_id AS id, t.context, t.pending_candidates FROM reground.turns AS t WHERE t.conversation_id = $1 AND t.turn_id > $2 ORDER BY 1 LIMIT $3",
        write: "UPDATE reground.turns AS t SET context = x.context, pending_candidates = x.pending_candidates \
             FROM json_to_recordset($1::json) AS x(id bigint, context jsonb, pending_candidates jsonb) WHERE t.turn_id = x.id AND t.conversation_id = $2 \
                 AND (t.context, t.pending_candidates) IS DISTINCT FROM (x.context, x.pending_candidates)",
    },
    Table {
        read: "SELECT k.binding_no AS id, k.title, k.uri, k.locator, \
                 CASE WHEN k.pages IS NOT NULL THEN to_jsonb(k.pages) WHEN k.page_start IS NOT NULL THEN jsonb_build_object('start', k.page_start, 'end', k.page_end) END AS pages \
             FROM reground.conversation_markers AS k WHERE k.conversation_id = $1 AND k.binding_no > $2 ORDER BY 1 LIMIT $3",
        write: "UPDATE reground.conversation_markers AS k SET title = x.title, uri = x.uri, locator = x.locator, pages = x.pages, page_start = NULL, page_end = NULL \
             FROM json_to_recordset($1::json) AS x(id bigint, title text, uri text, locator text, pages text) WHERE k.binding_no = x.id AND k.conversation_id = $2 \
                 AND (k.title, k.uri, k.locator, k.pages) IS DISTINCT FROM (x.title, x.uri, x.locator, x.pages)",
    },
    Table {
        read: "SELECT c.citation_id AS id, c.title, c.uri, c.locator, c.quote, c.fact_summary FROM reground.turns AS t JOIN reground.message_citations AS c ON c.turn_id = t.turn_id \
             WHERE t.conversation_id = $1 AND c.citation_id > $2 ORDER BY 1 LIMIT $3",
        write: "UPDATE reground.message_citations AS c SET title = x.title, uri = x.uri, locator = x.locator, quote = x.quote, fact_summary = x.fact_summary \
             FROM json_to_recordset($1::json) AS x(id bigint, title text, uri text, locator text, quote text, fact_summary text) WHERE c.citation_id = x.id AND c.conversation_id = $2 \
                 AND (c.title, c.uri, c.locator, c.quote, c.fact_summary) IS DISTINCT FROM (x.title, x.uri, x.locator, x.quote, x.fact_summary)",
    },
    Table {
        read: "SELECT m.message_id AS id, m.citations FROM reground.messages AS m WHERE m.conversation_id = $1 AND m.message_id > $2 AND m.citations IS NOT NULL ORDER BY 1 LIMIT $3",
        write: "UPDATE reground.messages AS m SET citations = x.citations FROM json_to_recordset($1::json) AS x(id bigint, citations jsonb) \
             WHERE m.message_id = x.id AND m.conversation_id = $2 AND m.citations IS DISTINCT FROM x.citations",
    },
    Table {
        read: "SELECT v.* FROM (SELECT row_number() OVER (ORDER BY v.citation_id, v.model, v.prompt, v.vote_no) AS id, v.citation_id, v.model, v.prompt, v.vote_no, v.passage AS content \
                 FROM reground.turns AS t JOIN reground.message_citations AS c ON c.turn_id = t.turn_id JOIN reground.judge_votes AS v ON v.citation_id = c.citation_id \
                 WHERE t.conversation_id = $1) AS v WHERE v.id > $2 ORDER BY 1 LIMIT $3",
        write: "UPDATE reground.judge_votes AS v SET passage = x.content FROM json_to_recordset($1::json) AS x(citation_id bigint, model text, prompt text, vote_no integer, content text) \
             WHERE (v.citation_id, v.model, v.prompt, v.vote_no) = (x.citation_id, x.model, x.prompt, x.vote_no) AND v.passage IS DISTINCT FROM x.content \
                 AND EXISTS (SELECT FROM reground.message_citations AS c WHERE c.citation_id = v.citation_id AND c.conversation_id = $2)",
    },
];

/// How far the rows of a tenant are sealed.
#[derive(Default, Deserialize, Serialize)]
struct Progress {
    /// The last conversation; conversations follow in the order of their references.
    after: String,
    /// Whether one was left out, because another transaction held it. Then the next pass begins again.
    #[serde(default)]
    skipped: bool,
    /// The pass begins when all transactions before this one have ended: they may store rows without the key.
    #[serde(default)]
    wait_for: Option<i64>,
}

/// A row with its id.
#[derive(Deserialize)]
struct Id {
    id: i64,
}

/// What a run has done.
#[derive(Default)]
pub struct SealedRows {
    /// Number of changed rows.
    pub changed: usize,
    /// Tenants whose rows wait for open transactions.
    pub waiting: usize,
}

/// Seals stored rows of all tenants with a new key, for two seconds. It waits for no other transaction.
pub fn seal_rows() -> Result<SealedRows> {
    let mut done = SealedRows::default();
    if !super::exists() {
        return Ok(done);
    }
    let Some(master) = master()? else {
        return Ok(done);
    };
    let end = Instant::now() + RUN;
    for key in table::unfinished()? {
        // Another master key may have wrapped it.
        if let Ok(Some(sealer)) = sealer_now(&master, &key.tenant) {
            match of_tenant(&key, &sealer, end)? {
                Some(changed) => done.changed += changed,
                None => done.waiting += 1,
            }
        }
        if Instant::now() >= end {
            break;
        }
    }
    Ok(done)
}

/// Seals rows of a tenant; returns how many have changed. `None` if older transactions are open.
fn of_tenant(key: &Row, sealer: &Sealer, end: Instant) -> Result<Option<usize>> {
    let progress = key.sealed_until.as_deref();
    let mut progress: Progress = progress
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    let now = running()?;
    // After a restore, the number can be that of another server.
    let wait_for = progress.wait_for.filter(|wait_for| *wait_for <= now.own);
    let wait_for = wait_for.unwrap_or(now.own);
    progress.wait_for = Some(wait_for);
    if now.oldest < wait_for {
        table::sealed(key.key_id, Some(&sql::json(&progress)?))?;
        return Ok(None);
    }
    let mut changed = 0;
    loop {
        let Some((conversation_ref, held)) = next(&key.tenant, &progress.after)? else {
            changed += without_addresses(&key.tenant)?;
            let again = progress.skipped.then_some(Progress {
                wait_for: Some(wait_for),
                ..Progress::default()
            });
            let again = again.as_ref().map(sql::json).transpose()?;
            table::sealed(key.key_id, again.as_deref())?;
            return Ok(Some(changed));
        };
        match held {
            Some(conversation_id) => {
                for table in &TABLES {
                    changed += pages(table, &key.tenant, conversation_id, sealer)?;
                }
            }
            None => progress.skipped = true,
        }
        progress.after = conversation_ref;
        if Instant::now() >= end {
            table::sealed(key.key_id, Some(&sql::json(&progress)?))?;
            return Ok(Some(changed));
        }
    }
}

/// The transactions that write at present, by number.
#[derive(Deserialize)]
struct Running {
    /// The oldest other one. All that a snapshot does not list have a number from its xmax on.
    oldest: i64,
    /// This one. Its number is higher than that of each transaction that began to write before it.
    own: i64,
}

fn running() -> Result<Running> {
    let running = as_owner(|| {
        sql::write_json(
            "SELECT json_build_object('own', x.own, 'oldest', least(pg_snapshot_xmax(x.now)::text::bigint, \
                 (SELECT min(r.xid::text::bigint) FROM pg_snapshot_xip(x.now) AS r(xid) WHERE r.xid::text::bigint <> x.own)))::text \
             FROM (SELECT pg_current_xact_id()::text::bigint, pg_current_snapshot()) AS x(own, now)",
            &[],
        )
    })?;
    running.ok_or_else(|| Error::Stored("no snapshot".into()))
}

/// Removes the addresses of the documents of a tenant, and of shared corpora. The tables of documents of the corpora have them.
fn without_addresses(tenant: &str) -> Result<usize> {
    as_owner_scanning(|| {
        sql::run(
            "UPDATE reground.documents SET uri = NULL WHERE uri IS NOT NULL AND (tenant = $1 OR tenant IS NULL)",
            &[tenant.into()],
        )
    })
}

/// The next conversation of a tenant: its reference, and its id if this transaction now holds it.
fn next(tenant: &str, after: &str) -> Result<Option<(String, Option<i64>)>> {
    as_owner(|| {
        sql::write_json(
            "WITH next AS MATERIALIZED (SELECT v.conversation_id, v.conversation_ref FROM reground.conversations AS v \
                 WHERE v.tenant = $1 AND v.conversation_ref > $2 ORDER BY v.conversation_ref LIMIT 1), \
                 held AS MATERIALIZED (SELECT v.conversation_id FROM reground.conversations AS v WHERE v.conversation_id = (SELECT n.conversation_id FROM next AS n) \
                     FOR NO KEY UPDATE SKIP LOCKED) \
             SELECT json_build_array(n.conversation_ref, (SELECT h.conversation_id FROM held AS h))::text FROM next AS n",
            &[tenant.into(), after.into()],
        )
    })
}

/// Seals the rows of a conversation in a table; returns how many have changed.
fn pages(table: &Table, tenant: &str, conversation_id: i64, sealer: &Sealer) -> Result<usize> {
    let read = format!(
        "SELECT coalesce(json_agg(r), '[]')::text FROM ({}) AS r",
        table.read
    );
    let limit = i64::try_from(PAGE).unwrap_or(i64::MAX);
    let (mut after, mut changed) = (0, 0);
    loop {
        let rows = as_owner(|| {
            let args = [conversation_id.into(), after.into(), limit.into()];
            sql::write_one::<String>(&read, &args)
        })?;
        let rows = rows.unwrap_or_default();
        let ids: Vec<Id> = serde_json::from_str(&rows)?;
        let Some(last) = ids.last() else {
            return Ok(changed);
        };
        let sealed = sealed_again(tenant, &rows, sealer)?;
        if sealed != rows {
            changed += as_owner(|| {
                let args = [sealed.as_ref().into(), conversation_id.into()];
                sql::run(table.write, &args)
            })?;
        }
        after = last.id;
        if ids.len() < PAGE {
            return Ok(changed);
        }
    }
}
