//! Replaces the passages of a document, and keeps the previous ones in the history of the corpus.

use pgrx::datum::DatumWithOid;
use reground_documents::prepare::StoredPassage;
use serde::Deserialize;

use crate::api::corpus::row_owners::RowOwners;
use crate::error::Result;
use crate::sql;
use crate::store::corpora::{self, Corpus};

/// Numbers of passages that a new version changed.
#[derive(Default, Deserialize)]
pub struct PassageChanges {
    pub reused: i64,
    pub added: i64,
    pub removed: i64,
    /// Ids of the removed passages.
    pub removed_chunk_ids: Vec<String>,
}

/// Columns of the place of a passage in a version. They are in both tables.
const PLACE: &str = "chunk_id, doc_id, version, ordinal, char_start, char_end, page_start, page_end, heading, metadata";

/// Columns of the history that the extension writes, besides [`PLACE`].
const KEPT: [&str; 5] = ["content", "content_hash", "tokens", "embedding", "is_last"];

/// Replaces the passages of the previous version. Passages with equal texts (the n-th and the n-th) keep their row, and so their
/// id, and with an equal heading their embedding. The rows of the previous version are kept in the history, if the corpus has one.
pub fn replace(
    corpus: &Corpus,
    doc_id: &str,
    version: i32,
    passages: &[StoredPassage],
    text_config: Option<&str>,
    owners: &RowOwners,
) -> Result<PassageChanges> {
    let relation = corpus.relation.as_deref().unwrap_or_default();
    let (set, column, value) = match corpus.mapping.contains_key("text_config_column") {
        true => (", text_config = $4", ", text_config", ", $4"),
        false => ("", "", ""),
    };
    let mut args: Vec<DatumWithOid<'_>> =
        vec![sql::json(passages)?.into(), doc_id.into(), version.into()];
    if !set.is_empty() {
        args.push(text_config.into());
    }
    let (owner_columns, owner_values) = owners.columns(corpus, args.len());
    args.extend(owners.args());
    let vectors = kept_vectors(corpus);
    let history = match &corpus.history {
        Some(history) => History::of(corpus, history)?,
        None => History::default(),
    };
    let History {
        returned,
        statements,
    } = history;
    let statement = format!(
        "WITH given AS MATERIALIZED ( \
             SELECT x.*, pg_catalog.row_number() OVER (PARTITION BY x.content_hash ORDER BY x.ordinal) AS nth \
             FROM pg_catalog.json_to_recordset($1::json) AS x(ordinal integer, content text, tokens integer, char_start integer, char_end integer, \
                 page_start integer, page_end integer, content_hash text, heading text, metadata jsonb)), \
         stored AS MATERIALIZED ( \
             SELECT p.content_hash, pg_catalog.row_number() OVER (PARTITION BY p.content_hash ORDER BY p.ordinal) AS nth, p.chunk_id{returned} \
             FROM {relation} AS p WHERE p.doc_id = $2), \
         reused AS ( \
             UPDATE {relation} AS p SET version = $3, ordinal = g.ordinal, content = g.content, tokens = g.tokens, char_start = g.char_start, \
                 char_end = g.char_end, page_start = g.page_start, page_end = g.page_end, heading = g.heading, metadata = g.metadata{set}{vectors} \
             FROM given AS g JOIN stored AS s ON s.content_hash = g.content_hash AND s.nth = g.nth WHERE p.doc_id = $2 AND p.chunk_id = s.chunk_id RETURNING 1), \
         removed AS ( \
             DELETE FROM {relation} AS p USING stored AS s WHERE p.doc_id = $2 AND p.chunk_id = s.chunk_id \
                 AND NOT EXISTS (SELECT FROM given AS g WHERE g.content_hash = s.content_hash AND g.nth = s.nth) \
             RETURNING p.content_hash, p.chunk_id{returned}), \
         added AS ( \
             INSERT INTO {relation} (doc_id, version, ordinal, content, tokens, char_start, char_end, page_start, page_end, content_hash, heading, metadata{column}{owner_columns}) \
             SELECT $2, $3, g.ordinal, g.content, g.tokens, g.char_start, g.char_end, g.page_start, g.page_end, g.content_hash, g.heading, g.metadata{value}{owner_values} FROM given AS g \
             WHERE NOT EXISTS (SELECT FROM stored AS s WHERE s.content_hash = g.content_hash AND s.nth = g.nth) ORDER BY g.ordinal RETURNING 1){statements} \
         SELECT pg_catalog.jsonb_build_object('reused', (SELECT count(*) FROM reused), 'removed', (SELECT count(*) FROM removed), \
             'added', (SELECT count(*) FROM added), \
             'removed_chunk_ids', (SELECT coalesce(pg_catalog.jsonb_agg(r.chunk_id::text), '[]') FROM removed AS r))::text"
    );
    Ok(sql::write_json(&statement, &args)?.unwrap_or_default())
}

/// The parts of the statement that write the history.
#[derive(Default)]
struct History {
    /// Columns of the passages that it needs, each after a comma.
    returned: String,
    /// Further statements of the WITH clause.
    statements: String,
}

impl History {
    /// A passage that stays gets a row with its former place only; its text is stored if the new text has other white space, and its
    /// vector if the new heading is another one. A passage that leaves the corpus gets a whole row. Columns that the owner has added to both tables are copied.
    fn of(corpus: &Corpus, history: &str) -> Result<Self> {
        let columns = corpora::columns_of(history)?;
        let is_own =
            |column: &str| PLACE.split(", ").any(|own| own == column) || KEPT.contains(&column);
        let more: Vec<String> = corpus
            .passage_columns
            .keys()
            .filter(|column| columns.contains_key(*column) && !is_own(column))
            .map(|column| sql::ident(column))
            .collect();
        let place = PLACE.split(", ").map(str::to_owned);
        let place: Vec<String> = place.chain(more).collect();
        let listed = |alias: &str| {
            let columns = place.iter().map(|column| format!("{alias}.{column}"));
            columns.collect::<Vec<_>>().join(", ")
        };
        let (embedding, removed_vector, former_vector) = match corpus.mapping.get("embedding") {
            Some(column) => (
                format!(", p.{} AS embedding_of_passage", sql::ident(&column.column)),
                "r.embedding_of_passage",
                "CASE WHEN s.heading IS DISTINCT FROM g.heading THEN s.embedding_of_passage END",
            ),
            None => (String::new(), "NULL", "NULL"),
        };
        let returned = place
            .iter()
            .filter(|column| *column != "chunk_id")
            .map(|column| format!(", p.{column}"))
            .collect::<String>();
        Ok(Self {
            returned: format!("{returned}, p.content, p.tokens{embedding}"),
            statements: format!(
                ", kept AS (INSERT INTO {history} ({columns}, content, content_hash, tokens, embedding, is_last) \
                     SELECT {removed}, r.content, r.content_hash, r.tokens, {removed_vector}, true FROM removed AS r), \
                 placed AS (INSERT INTO {history} ({columns}, content, tokens, embedding, is_last) \
                     SELECT {stored}, CASE WHEN s.content <> g.content THEN s.content END, CASE WHEN s.content <> g.content THEN s.tokens END, \
                         {former_vector}, false \
                     FROM stored AS s JOIN given AS g ON g.content_hash = s.content_hash AND g.nth = s.nth), \
                 filled AS (UPDATE {history} AS h SET content = CASE WHEN s.content <> g.content THEN coalesce(h.content, s.content) ELSE h.content END, \
                         tokens = CASE WHEN s.content <> g.content THEN coalesce(h.tokens, s.tokens) ELSE h.tokens END, \
                         embedding = coalesce(h.embedding, {former_vector}) \
                     FROM stored AS s JOIN given AS g ON g.content_hash = s.content_hash AND g.nth = s.nth \
                     WHERE h.doc_id = $2 AND h.chunk_id = s.chunk_id AND (h.content IS NULL AND s.content <> g.content OR h.embedding IS NULL AND s.heading IS DISTINCT FROM g.heading))",
                columns = place.join(", "),
                removed = listed("r"),
                stored = listed("s"),
            ),
        })
    }
}

/// Assignments that remove the vectors of a passage `p` if its embedded text changes with the heading `g`.
pub fn kept_vectors(corpus: &Corpus) -> String {
    if corpus.title_weight == 0 {
        return String::new();
    }
    let vectors = ["embedding", "next_embedding"].into_iter();
    let vectors = vectors.filter_map(|meaning| corpus.mapping.get(meaning));
    let model = corpus.passage_columns.get_key_value("embedding_model");
    let columns = vectors.map(|column| &column.column);
    let kept = columns.chain(model.map(|(name, _)| name)).map(|name| {
        let name = sql::ident(name);
        format!(", {name} = CASE WHEN p.heading IS NOT DISTINCT FROM g.heading THEN p.{name} END")
    });
    kept.collect()
}

/// Copies the vectors of passages whose headings will change into the history, for the rows of earlier versions.
pub fn keep_former_vectors(
    corpus: &Corpus,
    doc_id: &str,
    passages: &[StoredPassage],
) -> Result<()> {
    let (Some(history), Some(vector)) = (&corpus.history, corpus.mapping.get("embedding")) else {
        return Ok(());
    };
    if corpus.title_weight == 0 {
        return Ok(());
    }
    let vector = sql::ident(&vector.column);
    sql::run(
        &format!(
            "UPDATE {history} AS h SET embedding = p.{vector} \
             FROM {} AS p JOIN pg_catalog.json_to_recordset($2::json) AS g(ordinal integer, heading text) ON g.ordinal = p.ordinal \
             WHERE p.doc_id = $1 AND h.doc_id = $1 AND h.chunk_id = p.chunk_id AND h.embedding IS NULL AND p.heading IS DISTINCT FROM g.heading",
            corpus.relation.as_deref().unwrap_or_default()
        ),
        &[doc_id.into(), sql::json(passages)?.into()],
    )?;
    Ok(())
}
