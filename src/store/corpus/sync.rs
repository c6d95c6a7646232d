//! The tables `synchronised_tables` and `sync_queue`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::Result;
use crate::run_as::{as_owner, as_owner_scanning};
use crate::session::sees_everything;
use crate::sql;

/// Names of columns of a table by meaning.
pub type SourceColumns = BTreeMap<String, String>;

/// Meanings of columns that a document needs.
pub const REQUIRED: [&str; 2] = ["key", "content"];

/// Statements with a trigger of their own: the end of the name, and the transition tables.
pub const EVENTS: [(&str, &str); 4] = [
    ("insert", "REFERENCING NEW TABLE AS reground_new"),
    (
        "update",
        "REFERENCING OLD TABLE AS reground_old NEW TABLE AS reground_new",
    ),
    ("delete", "REFERENCING OLD TABLE AS reground_old"),
    ("truncate", ""),
];

/// A synchronised table.
#[derive(Clone, Debug, Deserialize)]
pub struct Synchronised {
    pub corpus_id: i64,
    pub corpus: String,
    /// The table, qualified and quoted; `None` if it was dropped.
    pub source: Option<String>,
    pub source_oid: u32,
    /// The owner of the table.
    pub owner: Option<u32>,
    /// The present names of the mapped columns. A column that was renamed is known by its number.
    pub columns: SourceColumns,
    /// The present types of the columns of the table.
    pub types: BTreeMap<String, String>,
    /// Whether a mapped column is computed when it is read, so that the transition tables do not have it.
    pub has_virtual: bool,
    pub mode: String,
}

impl Synchronised {
    /// The table as errors name it.
    pub fn name(&self) -> String {
        let gone = || format!("the dropped table {}", self.source_oid);
        self.source.clone().unwrap_or_else(gone)
    }

    /// Whether the writer's transaction stores the documents.
    pub fn is_immediate(&self) -> bool {
        self.mode == "immediate"
    }

    /// Mapped columns that the table does not have any more.
    pub fn missing_columns(&self) -> Vec<&str> {
        let all = self.columns.values().map(String::as_str);
        all.filter(|column| !self.types.contains_key(*column))
            .collect()
    }
}

/// The mapped columns of a registration `s`: meaning and present name of each. The number of a column counts as long as the table is
/// the registered one. A dump restores names, not numbers.
const MAPPED: &str = "SELECT m.key AS meaning, coalesce((SELECT a.attname::text FROM pg_attribute AS a WHERE a.attrelid = s.source::oid AND s.relation_id = s.source::oid \
         AND a.attnum = (s.column_numbers ->> m.key)::smallint AND NOT a.attisdropped), m.value) AS name \
     FROM jsonb_each_text(s.columns) AS m";

/// The tables of the sources, the parents before their partitions and children: oid, name and kind of each.
const TREE: &str = "WITH RECURSIVE tree (oid) AS (SELECT $1::oid UNION SELECT i.inhrelid FROM tree AS t JOIN pg_inherits AS i ON i.inhparent = t.oid) ";

/// The synchronised table of a corpus.
pub fn find(corpus_id: i64) -> Result<Option<Synchronised>> {
    as_owner(|| {
        sql::write_json(
            &format!(
                "SELECT row_to_json(r)::text FROM (SELECT s.corpus_id, k.corpus, s.source::oid::bigint AS source_oid, s.mode, \
                 (SELECT jsonb_object_agg(m.meaning, m.name) FROM ({MAPPED}) AS m) AS columns, \
                 EXISTS (SELECT FROM ({MAPPED}) AS m JOIN pg_attribute AS a ON a.attname = m.name WHERE a.attrelid = s.source::oid AND a.attgenerated = 'v') AS has_virtual, \
                 c.relowner::bigint AS owner, CASE WHEN c.oid IS NOT NULL THEN format('%I.%I', n.nspname, c.relname) END AS source, \
                 coalesce((SELECT jsonb_object_agg(a.attname, format_type(a.atttypid, -1)) FROM pg_attribute AS a \
                     WHERE a.attrelid = s.source::oid AND a.attnum > 0 AND NOT a.attisdropped), '{{}}') AS types \
             FROM reground.synchronised_tables AS s JOIN reground.corpora AS k ON k.corpus_id = s.corpus_id \
                 LEFT JOIN (pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace) ON c.oid = s.source::oid \
             WHERE s.corpus_id = $1) AS r"
            ),
            &[corpus_id.into()],
        )
    })
}

/// Ids of the corpora with a synchronised table: of a tenant and the shared ones, or of all tenants.
pub fn all(tenant: Option<&str>) -> Result<Vec<i64>> {
    Ok(as_owner_scanning(|| {
        sql::write_one(
            "SELECT array_agg(s.corpus_id ORDER BY s.corpus_id) FROM reground.synchronised_tables AS s JOIN reground.corpora AS k ON k.corpus_id = s.corpus_id \
             WHERE $1::text IS NULL OR k.tenant IS NULL OR k.tenant = $1",
            &[tenant.into()],
        )
    })?
    .unwrap_or_default())
}

/// A table whose statements change the rows of a synchronised table.
#[derive(Debug, Deserialize)]
pub struct Part {
    /// Qualified and quoted.
    pub name: String,
    /// As in `pg_class.relkind`.
    pub kind: String,
    /// Names of the enabled triggers of the corpus.
    pub enabled: Vec<String>,
    /// Names of the disabled triggers of the corpus.
    pub disabled: Vec<String>,
    /// Whether a subscription changes the table.
    pub is_subscribed: bool,
}

/// A synchronised table, its partitions and its children, with their triggers.
pub fn parts(corpus_id: i64, source: u32) -> Result<Vec<Part>> {
    as_owner_scanning(|| {
        sql::read_rows(
            &format!(
                "{TREE} SELECT format('%I.%I', n.nspname, c.relname) AS name, c.relkind::text AS kind, \
                     ARRAY(SELECT g.tgname::text FROM pg_trigger AS g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal AND g.tgenabled IN ('O', 'A') \
                         AND starts_with(g.tgname, $2) AND g.tgfoid = 'reground._sync_rows'::regproc::oid) AS enabled, \
                     ARRAY(SELECT g.tgname::text FROM pg_trigger AS g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal AND g.tgenabled NOT IN ('O', 'A') \
                         AND starts_with(g.tgname, $2) AND g.tgfoid = 'reground._sync_rows'::regproc::oid) AS disabled, \
                     EXISTS (SELECT FROM pg_subscription_rel AS u WHERE u.srrelid = c.oid) AS is_subscribed \
                 FROM tree AS t JOIN pg_class AS c ON c.oid = t.oid JOIN pg_namespace AS n ON n.oid = c.relnamespace"
            ),
            &[
                pgrx::pg_sys::Oid::from_u32(source).into(),
                trigger_prefix(corpus_id).into(),
            ],
        )
    })
}

/// The beginning of the names of the triggers of a corpus.
pub fn trigger_prefix(corpus_id: i64) -> String {
    format!("reground_sync_{corpus_id}_")
}

/// Whether a table is a synchronised table, or one of its partitions or children.
pub fn is_part(source: u32, table: pgrx::pg_sys::Oid) -> Result<bool> {
    if table.to_u32() == source {
        return Ok(true);
    }
    let args = [pgrx::pg_sys::Oid::from_u32(source).into(), table.into()];
    let query = format!("{TREE} SELECT EXISTS (SELECT FROM tree AS t WHERE t.oid = $2)");
    Ok(as_owner(|| sql::write_one::<bool>(&query, &args))? == Some(true))
}

/// A trigger of the synchronisation whose table does not belong to the registration that the trigger names.
#[derive(Debug, Deserialize)]
pub struct Leftover {
    /// The table, qualified and quoted.
    pub table: String,
    pub trigger: String,
}

impl Leftover {
    /// The command that drops the trigger.
    pub fn drop_command(&self) -> String {
        format!(
            "DROP TRIGGER {} ON {};",
            sql::ident(&self.trigger),
            self.table
        )
    }
}

/// Where triggers are searched that are left over.
pub enum Place {
    /// A table, its partitions and its children.
    Tree(u32),
    /// All tables with a trigger of a corpus, or of no corpus that is synchronised.
    Corpus(i64),
}

/// Triggers that are left over, for example those of a detached partition or of a loaded file of the structure of another database.
pub fn leftovers(place: &Place) -> Result<Vec<Leftover>> {
    let (source, corpus_id) = match *place {
        Place::Tree(source) => (Some(pgrx::pg_sys::Oid::from_u32(source)), None),
        Place::Corpus(corpus_id) => (None, Some(corpus_id)),
    };
    as_owner_scanning(|| {
        sql::read_rows(
            "WITH RECURSIVE parts (argument, oid) AS ( \
                     SELECT convert_to(s.corpus_id::text, 'UTF8') || decode('00', 'hex'), s.source::oid FROM reground.synchronised_tables AS s \
                     UNION SELECT p.argument, i.inhrelid FROM parts AS p JOIN pg_inherits AS i ON i.inhparent = p.oid), \
                 tree (oid) AS (SELECT $1::oid UNION SELECT i.inhrelid FROM tree AS t JOIN pg_inherits AS i ON i.inhparent = t.oid) \
             SELECT format('%I.%I', n.nspname, c.relname) AS \"table\", g.tgname::text AS trigger \
             FROM pg_trigger AS g JOIN pg_class AS c ON c.oid = g.tgrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace \
             WHERE g.tgfoid = 'reground._sync_rows'::regproc::oid AND NOT g.tgisinternal \
                 AND NOT EXISTS (SELECT FROM parts AS p WHERE p.oid = c.oid AND p.argument = g.tgargs) \
                 AND CASE WHEN $1 IS NULL THEN g.tgargs = convert_to($2::text, 'UTF8') || decode('00', 'hex') OR NOT EXISTS (SELECT FROM parts AS p WHERE p.argument = g.tgargs) \
                     ELSE EXISTS (SELECT FROM tree AS t WHERE t.oid = c.oid) END \
             ORDER BY n.nspname, c.relname, g.tgname",
            &[source.into(), corpus_id.into()],
        )
    })
}

/// Stores the present names and numbers of the mapped columns.
pub fn store_numbers(corpus_id: i64) -> Result<()> {
    as_owner(|| {
        sql::run(
            &format!(
                "UPDATE reground.synchronised_tables AS u SET columns = n.columns, relation_id = u.source::oid, column_numbers = n.column_numbers \
                 FROM (SELECT s.corpus_id, jsonb_object_agg(m.meaning, m.name) AS columns, coalesce(jsonb_object_agg(m.meaning, a.attnum) FILTER (WHERE a.attnum IS NOT NULL), '{{}}') AS column_numbers \
                     FROM reground.synchronised_tables AS s CROSS JOIN LATERAL ({MAPPED}) AS m \
                         LEFT JOIN pg_attribute AS a ON a.attrelid = s.source::oid AND a.attname = m.name AND NOT a.attisdropped \
                     WHERE s.corpus_id = $1 GROUP BY s.corpus_id) AS n \
                 WHERE u.corpus_id = n.corpus_id AND (u.columns, u.relation_id, u.column_numbers) IS DISTINCT FROM (n.columns, u.source::oid, n.column_numbers)"
            ),
            &[corpus_id.into()],
        )
    })?;
    Ok(())
}

/// Whether a column is of a type, or PostgreSQL has a cast to it. Texts are not converted: a row that is no such value would fail.
pub fn converts(source: u32, column: &str, target: &str) -> Result<bool> {
    let found = as_owner(|| {
        sql::read_one::<bool>(
            "WITH RECURSIVE kinds (oid) AS ( \
                 SELECT a.atttypid FROM pg_attribute AS a WHERE a.attrelid = $1 AND a.attname = $2 AND NOT a.attisdropped \
                 UNION SELECT t.typbasetype FROM kinds AS k JOIN pg_type AS t ON t.oid = k.oid AND t.typtype = 'd') \
             SELECT EXISTS (SELECT FROM kinds AS k JOIN pg_type AS t ON t.oid = k.oid JOIN pg_type AS w ON w.oid = $3::regtype \
                 WHERE k.oid = w.oid OR t.typcategory = 'A' AND w.typcategory = 'A' \
                     OR EXISTS (SELECT FROM pg_cast AS c WHERE c.castsource = k.oid AND c.casttarget = w.oid))",
            &[
                pgrx::pg_sys::Oid::from_u32(source).into(),
                column.into(),
                target.into(),
            ],
        )
    })?;
    Ok(found == Some(true))
}

/// Registers a table.
pub fn insert(
    corpus_id: i64,
    source: pgrx::pg_sys::Oid,
    columns: &SourceColumns,
    mode: &str,
) -> Result<()> {
    let columns = sql::json(columns)?;
    as_owner(|| {
        sql::run(
            "INSERT INTO reground.synchronised_tables (corpus_id, tenant, source, columns, mode) \
             SELECT k.corpus_id, k.tenant, $2::oid::regclass, $3::jsonb, $4 FROM reground.corpora AS k WHERE k.corpus_id = $1",
            &[corpus_id.into(), source.into(), columns.into(), mode.into()],
        )
    })?;
    store_numbers(corpus_id)
}

/// Removes the registration of a table.
pub fn delete(corpus_id: i64) -> Result<()> {
    for table in ["synchronised_tables", "sync_queue"] {
        let statement = format!("DELETE FROM reground.{table} AS x WHERE x.corpus_id = $1");
        as_owner(|| sql::run(&statement, &[corpus_id.into()]))?;
    }
    Ok(())
}

/// Stores the result of a comparison or of a run of the queue. A comparison also stores the present names and numbers of the columns.
pub fn note(corpus_id: i64, is_compared: bool, error: Option<&str>) -> Result<()> {
    as_owner(|| {
        sql::run(
            "UPDATE reground.synchronised_tables SET compared_at = CASE WHEN $2 THEN clock_timestamp() ELSE compared_at END, last_error = $3 \
             WHERE corpus_id = $1 AND ($2 OR last_error IS DISTINCT FROM $3)",
            &[corpus_id.into(), is_compared.into(), error.into()],
        )
    })?;
    if is_compared {
        store_numbers(corpus_id)?;
    }
    Ok(())
}

/// An entry of the queue.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Queued {
    /// Key of a row; `None` for the whole table.
    pub doc_id: Option<String>,
    pub attempts: i32,
    /// Error of the last attempt.
    pub last_error: Option<String>,
}

/// Conditions that the entry `q` is of the row `g`, and that it is of the whole table. The index has the hash of a key, because a key can
/// be too long for an index.
const IS_ROW: &str =
    "hashtextextended(q.doc_id, 0) = hashtextextended(g.doc_id, 0) AND q.doc_id = g.doc_id";
const IS_WHOLE: &str = "hashtextextended(q.doc_id, 0) IS NULL AND q.doc_id IS NULL";

/// Condition that the corpus `k` has no entry that satisfies a condition. The lock keeps an entry until the transaction ends, so that it
/// is processed after the change of the row; an entry that another session processes does not count. A snapshot of an earlier time could
/// show an entry that is gone, whose lock is an error.
fn has_no_entry(condition: &str) -> String {
    match sees_everything() {
        true => format!(
            "NOT EXISTS (SELECT FROM reground.sync_queue AS q WHERE q.corpus_id = k.corpus_id AND {condition} FOR KEY SHARE SKIP LOCKED)"
        ),
        false => "true".to_owned(),
    }
}

/// Queues changed rows. In READ COMMITTED, an entry that waits is used again.
pub fn queue(corpus_id: i64, doc_ids: Vec<Option<String>>) -> Result<()> {
    let query = format!(
        "INSERT INTO reground.sync_queue (tenant, corpus_id, doc_id) \
         SELECT k.tenant, k.corpus_id, g.doc_id FROM reground.corpora AS k CROSS JOIN unnest($2::text[]) AS g(doc_id) \
         WHERE k.corpus_id = $1 AND CASE WHEN g.doc_id IS NULL THEN {} ELSE {} END",
        has_no_entry(&format!("{IS_WHOLE} AND q.due_at <= clock_timestamp()")),
        has_no_entry(&format!("{IS_ROW} AND q.due_at <= clock_timestamp()"))
    );
    as_owner(|| sql::run(&query, &[corpus_id.into(), doc_ids.into()]))?;
    Ok(())
}

/// Queues rows that a comparison found, without those that wait for another attempt. Returns their number.
pub fn queue_found(corpus_id: i64, doc_ids: Vec<String>) -> Result<i64> {
    let queued = as_owner(|| {
        sql::run(
            &format!(
                "INSERT INTO reground.sync_queue (tenant, corpus_id, doc_id) \
             SELECT k.tenant, k.corpus_id, g.doc_id FROM reground.corpora AS k CROSS JOIN unnest($2::text[]) AS g(doc_id) \
             WHERE k.corpus_id = $1 AND NOT EXISTS (SELECT FROM reground.sync_queue AS q WHERE q.corpus_id = k.corpus_id AND {IS_ROW})"
            ),
            &[corpus_id.into(), doc_ids.into()],
        )
    })?;
    Ok(i64::try_from(queued).unwrap_or(i64::MAX))
}

/// Removes the entries of rows that are about to be read, also those that are not due.
pub fn unqueue(corpus_id: i64, doc_ids: Vec<String>) -> Result<()> {
    if !sees_everything() {
        return Ok(());
    }
    as_owner(|| {
        sql::run(
            "DELETE FROM reground.sync_queue AS q WHERE q.queue_id IN ( \
                 SELECT n.queue_id FROM reground.sync_queue AS n WHERE n.corpus_id = $1 AND n.doc_id = ANY ($2) \
                     AND hashtextextended(n.doc_id, 0) = ANY (ARRAY(SELECT hashtextextended(g.doc_id, 0) FROM unnest($2::text[]) AS g(doc_id))) FOR UPDATE SKIP LOCKED)",
            &[corpus_id.into(), doc_ids.into()],
        )
    })?;
    Ok(())
}

/// Queues rows whose documents could not be stored: again after 1, 2, 4, … minutes, at most a day. In READ COMMITTED, the whole table
/// has one entry.
pub fn queue_again(corpus_id: i64, entry: &Queued) -> Result<()> {
    let query = format!(
        "INSERT INTO reground.sync_queue (tenant, corpus_id, doc_id, attempts, due_at, last_error) \
             SELECT k.tenant, k.corpus_id, $2, $3 + 1, clock_timestamp() + make_interval(mins => (2 ^ least($3, 10))::integer), $4 \
             FROM reground.corpora AS k WHERE k.corpus_id = $1 AND ($2 IS NOT NULL OR {})",
        has_no_entry(IS_WHOLE)
    );
    as_owner(|| {
        sql::run(
            &query,
            &[
                corpus_id.into(),
                entry.doc_id.as_deref().into(),
                entry.attempts.into(),
                entry.last_error.as_deref().into(),
            ],
        )
    })?;
    Ok(())
}

/// Takes entries that are due from the queue; `in_any_case` also those that are not.
pub fn take(corpus_id: i64, most: i64, in_any_case: bool) -> Result<Vec<Queued>> {
    Ok(as_owner(|| {
        sql::write_json(
            "WITH taken AS (DELETE FROM reground.sync_queue AS q WHERE q.queue_id IN ( \
                 SELECT n.queue_id FROM reground.sync_queue AS n WHERE n.corpus_id = $1 AND ($3 OR n.due_at <= clock_timestamp()) \
                 ORDER BY n.queue_id LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING q.doc_id, q.attempts) \
             SELECT json_agg(r)::text FROM (SELECT t.doc_id, max(t.attempts) AS attempts FROM taken AS t GROUP BY t.doc_id ORDER BY t.doc_id COLLATE \"C\" NULLS FIRST) AS r",
            &[corpus_id.into(), most.into(), in_any_case.into()],
        )
    })?
    .unwrap_or_default())
}

/// The queued rows of a corpus.
#[derive(Debug, Default, Deserialize)]
pub struct QueueState {
    /// Whether there are none.
    pub is_empty: bool,
    /// Rows whose last attempt failed.
    pub failed: i64,
    /// Whether the comparison of the whole table failed.
    pub is_whole: bool,
    /// The latest error.
    pub error: Option<String>,
}

impl QueueState {
    /// The failures in words; `None` without one.
    pub fn problem(&self) -> Option<String> {
        let error = self.error.as_deref()?;
        Some(match (self.is_whole, self.failed) {
            (true, _) => format!("the table cannot be compared: {error}"),
            (_, 1) => format!("a row cannot be stored: {error}"),
            (_, count) => format!("{count} rows cannot be stored: {error}"),
        })
    }
}

/// The queue of a corpus.
pub fn queue_state(corpus_id: i64) -> Result<QueueState> {
    Ok(as_owner(|| {
        sql::write_json(
            "SELECT json_build_object('is_empty', count(*) = 0, 'failed', count(DISTINCT q.doc_id) FILTER (WHERE q.last_error IS NOT NULL), \
                 'is_whole', count(*) FILTER (WHERE q.last_error IS NOT NULL AND q.doc_id IS NULL) > 0, \
                 'error', (SELECT e.last_error FROM reground.sync_queue AS e WHERE e.corpus_id = $1 AND e.last_error IS NOT NULL \
                     ORDER BY e.doc_id IS NOT NULL, e.queue_id DESC LIMIT 1))::text \
             FROM reground.sync_queue AS q WHERE q.corpus_id = $1",
            &[corpus_id.into()],
        )
    })?
    .unwrap_or_default())
}

/// The rows of some documents whose hash is not that of the stored document: a row without content must have none.
pub fn differing(
    corpus_id: i64,
    doc_ids: Vec<String>,
    hashes: Vec<String>,
    have_content: Vec<bool>,
) -> Result<Vec<String>> {
    Ok(as_owner(|| {
        sql::write_one(
            "SELECT array_agg(g.doc_id) FROM ROWS FROM (unnest($2::text[]), unnest($3::text[]), unnest($4::boolean[])) AS g(doc_id, hash, has_content) \
             LEFT JOIN reground.documents AS d ON d.corpus_id = $1 AND d.doc_id = g.doc_id AND d.replaced_at IS NULL \
             WHERE CASE WHEN g.has_content THEN d.source_hash IS DISTINCT FROM g.hash ELSE d.doc_id IS NOT NULL END",
            &[
                corpus_id.into(),
                doc_ids.into(),
                hashes.into(),
                have_content.into(),
            ],
        )
    })?
    .unwrap_or_default())
}

/// Ids of the present documents of a corpus after one, in order.
pub fn present(corpus_id: i64, after: &str, most: i64) -> Result<Vec<String>> {
    Ok(as_owner(|| {
        sql::write_one(
            "SELECT array_agg(r.doc_id) FROM (SELECT d.doc_id FROM reground.documents AS d \
                 WHERE d.corpus_id = $1 AND d.doc_id > $2 AND d.replaced_at IS NULL ORDER BY d.doc_id LIMIT $3) AS r",
            &[corpus_id.into(), after.into(), most.into()],
        )
    })?
    .unwrap_or_default())
}

/// Lets the queue of a corpus wait for the writers of its table, and they for it: the queue stores rows that it read before.
pub fn hold_off_queue(corpus_id: i64) -> Result<()> {
    as_owner(|| sql::share_key("reground.sync_queue", corpus_id, ""))
}

/// Waits for the writers of a table, and keeps them from storing documents until the transaction ends.
pub fn hold_off_writers(corpus_id: i64) -> Result<()> {
    as_owner(|| sql::lock_key("reground.sync_queue", corpus_id, ""))
}
