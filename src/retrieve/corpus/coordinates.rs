//! Checks the positions of passages: pages, characters and ordinal.
//!
//! A document that put_document stored has the positions of its passages and the hashes of their texts. For other tables the store has the
//! positions that maintenance has read first.

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::retrieve::catalog::is_unique;
use crate::retrieve::passages::{date_text, row_tenant};
use crate::session::{PLAIN_TEXT, with_settings};
use crate::sql;
use crate::store::corpora::{Corpus, Side};
use crate::store::positions::POSITION;

/// Passages that are compared at a time.
const BATCH: usize = 1000;

/// Bytes of a chunk id. Passages with a longer one are not recorded: an index could not contain it.
const LONGEST_ID: i32 = 1000;

/// Number of passages, and of those with a wrong position.
#[derive(Default, Deserialize)]
pub struct CoordinateCounts {
    pub passages: i64,
    pub faults: i64,
}

/// Counts the passages of a corpus that create_corpus made, of all tenants, and those with a wrong position. For maintenance, which acts for
/// no tenant.
///
/// # Errors
/// As [`wrong`].
pub fn count(corpus: &Corpus) -> Result<CoordinateCounts> {
    let passages = format!("{} AS p", corpus.relation.as_deref().unwrap_or_default());
    let wrong = wrong_among(corpus, &passages)?;
    let counts = sql::read_json(
        &format!(
            "SELECT json_build_object('passages', (SELECT count(*) FROM {passages}), 'faults', (SELECT count(*) FROM {wrong}))::text"
        ),
        &[],
    )?;
    counts.ok_or_else(|| Error::RelationGone(corpus.name.clone()))
}

/// Returns a FROM clause `r` of the passages with a wrong position that the caller may read, in a corpus that create_corpus made:
/// `r.chunk_id, r.doc_id, r.problem, r.detail`.
///
/// # Errors
/// 55000 if a relation was dropped.
pub fn wrong(corpus: &Corpus) -> Result<String> {
    wrong_among(corpus, &corpus.visible_passages()?)
}

fn wrong_among(corpus: &Corpus, passages: &str) -> Result<String> {
    let (Some(_), Some(documents)) = (&corpus.relation, &corpus.documents) else {
        return Err(Error::RelationGone(corpus.name.clone()));
    };
    let lost = POSITION[1..]
        .iter()
        .map(|name| format!("e.{name} IS NOT NULL AND p.{name} IS NULL"))
        .collect::<Vec<_>>()
        .join(" OR ");
    let columns = |alias: &str| {
        POSITION[1..]
            .iter()
            .map(|name| format!("{alias}.{name}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    Ok(format!(
        "(SELECT w.chunk_id::text AS chunk_id, w.doc_id, w.problem, w.detail FROM ( \
             SELECT p.chunk_id, p.doc_id, p.ordinal, \
                    CASE WHEN d.doc_id IS NULL THEN 'no_document' \
                         WHEN {lost} THEN 'lost' \
                         WHEN p.char_start < 0 OR p.char_end <= p.char_start OR p.char_end > d.char_count OR p.page_start < 1 OR p.page_end < p.page_start \
                              OR p.page_end > d.page_count THEN 'out_of_bounds' \
                         WHEN d.positions IS NOT NULL AND (e.ordinal IS NULL OR ROW({here}) IS DISTINCT FROM ROW({stored})) THEN 'moved' \
                         WHEN e.content_hash <> left(encode(sha256(convert_to(p.content, 'UTF8')), 'hex'), 16) THEN 'other_text' END AS problem, \
                    concat_ws(', ', 'passage ' || p.ordinal, 'characters ' || p.char_start || ' to ' || p.char_end, 'pages ' || p.page_start || ' to ' || p.page_end, \
                        'stored: characters ' || e.char_start || ' to ' || e.char_end, 'stored: pages ' || e.page_start || ' to ' || e.page_end) AS detail \
             FROM {passages} \
             LEFT JOIN (SELECT d.doc_id, d.version, d.page_count, d.positions, length(d.content) AS char_count FROM {documents} AS d WHERE d.replaced_at IS NULL OFFSET 0) AS d \
                 ON d.doc_id = p.doc_id AND d.version = p.version \
             LEFT JOIN (SELECT d.doc_id, d.version, (x.place - 1)::integer AS ordinal, (x.position ->> 0)::integer AS char_start, (x.position ->> 1)::integer AS char_end, \
                               (x.position ->> 2)::integer AS page_start, (x.position ->> 3)::integer AS page_end, \
                               x.position ->> 4 AS content_hash \
                        FROM {documents} AS d CROSS JOIN LATERAL jsonb_array_elements(d.positions) WITH ORDINALITY AS x(position, place) WHERE d.replaced_at IS NULL) AS e \
                 ON e.doc_id = p.doc_id AND e.version = p.version AND e.ordinal = p.ordinal) AS w \
         WHERE w.problem IS NOT NULL ORDER BY w.doc_id, w.ordinal) AS r",
        here = columns("p"),
        stored = columns("e"),
    ))
}

/// Reads the positions of the passages of a registered corpus as the caller, and passes them to `work` in batches, as JSON arrays. Of all
/// tenants if `all`, otherwise those that the caller may read. Returns the number of passages.
pub fn present(
    corpus: &Corpus,
    all: bool,
    mut work: impl FnMut(&str) -> Result<()>,
) -> Result<i64> {
    let from = match all {
        true => corpus.all_relations()?,
        false => corpus.relations()?,
    };
    let mut passages: i64 = 0;
    let mut batch: Vec<String> = Vec::new();
    let batch_size = i64::try_from(BATCH).unwrap_or(i64::MAX);
    // The hash of the version is made from times as text.
    with_settings(&PLAIN_TEXT, || {
        sql::read_batches(&present_query(corpus, &from)?, &[], batch_size, |row| {
            batch.push(row.get(1)?.unwrap_or_default());
            passages = passages.saturating_add(1);
            match batch.len() >= BATCH {
                true => work(&array(&mut batch)),
                false => Ok(()),
            }
        })
    })?;
    if !batch.is_empty() {
        work(&array(&mut batch))?;
    }
    Ok(passages)
}

/// A JSON array of values, which are taken.
fn array(values: &mut Vec<String>) -> String {
    let array = format!("[{}]", values.join(", "));
    values.clear();
    array
}

/// Query for a JSON object per passage, as `reground::store::positions` compares it.
fn present_query(corpus: &Corpus, from: &str) -> Result<String> {
    let (key, content) = (corpus.key()?, corpus.required("content")?);
    let tenant = row_tenant(corpus);
    let positions: Vec<String> = POSITION
        .iter()
        .map(|meaning| format!("'{meaning}', {}", corpus.integer(meaning, least(meaning))))
        .collect();
    Ok(format!(
        "SELECT json_build_object('chunk_id', {key}::text, 'row_tenant', {tenant}, 'doc_id', {}, {}, 'is_out_of_bounds', {}, \
             'content_hash', encode(sha256(convert_to({content}::text, 'UTF8')), 'hex'), \
             'source_hash', encode(sha256(convert_to(nullif(concat_ws(' ', {}), ''), 'UTF8')), 'hex'))::text \
         FROM {from} WHERE {key} IS NOT NULL AND {content} IS NOT NULL AND octet_length({key}::text) <= {LONGEST_ID} \
             AND {tenant} IS NOT NULL",
        corpus.document_text()?,
        positions.join(", "),
        out_of_bounds(corpus),
        ["version", "modified_at"]
            .iter()
            .map(|meaning| date_text(corpus, meaning))
            .collect::<Vec<_>>()
            .join(", "),
    ))
}

/// Checks that positions of a registered corpus can be recorded: as maintenance reads its tables as their owner, the owner must have
/// mapped them, and a record must belong to one passage.
///
/// # Errors
/// 55000 if not.
pub fn check_recordable(corpus: &Corpus) -> Result<()> {
    let refused = |problem: &str, hint: &str| {
        Err(Error::NotRecordable {
            corpus: corpus.name.clone(),
            problem: problem.to_owned(),
            hint: hint.to_owned(),
        })
    };
    if !corpus.is_mapped_by_owner()? {
        return refused(
            "it has a view, or the owner of its tables did not map all columns",
            "The owner of the tables can drop the corpus and register it again.",
        );
    }
    let columns: Vec<&str> = ["chunk_id", "tenant_column"]
        .iter()
        .filter_map(|meaning| corpus.mapping.get(*meaning))
        .filter(|column| column.side == Side::Passages)
        .map(|column| column.column.as_str())
        .collect();
    let relation = corpus.relation.as_deref().unwrap_or_default();
    match is_unique(relation, &columns)? {
        true => Ok(()),
        false => refused(
            "the ids of its passages have no unique index",
            "Create a unique index on the column of chunk_id, or on it and tenant_column.",
        ),
    }
}

/// The least value of a position.
fn least(meaning: &str) -> i32 {
    i32::from(meaning.starts_with("page"))
}

/// Condition that a position of a registered corpus is impossible. The recorded position does not matter.
fn out_of_bounds(corpus: &Corpus) -> String {
    let number = |meaning: &str| {
        let column = corpus
            .column(meaning)
            .filter(|_| corpus.is_integer(meaning))?;
        Some(format!("{column}::numeric"))
    };
    let below = |one: &str, other: Option<String>| {
        Some(format!("coalesce({} < {}, false)", number(one)?, other?))
    };
    let zero = |meaning: &str| below(meaning, Some(format!("{}::numeric", least(meaning))));
    let conditions = POSITION
        .iter()
        .map(|meaning| zero(meaning))
        .chain([
            below("page_end", number("page_start")),
            below(
                "char_end",
                number("char_start").map(|start| format!("{start} + 1::numeric")),
            ),
            below("page_count", number("page_start")),
            below("page_count", number("page_end")),
        ])
        .flatten()
        .chain(["false".to_owned()]);
    format!("({})", conditions.collect::<Vec<_>>().join(" OR "))
}

/// Whether any position is mapped, so that it can be lost.
pub fn has_positions(corpus: &Corpus) -> bool {
    POSITION.iter().any(|meaning| corpus.is_integer(meaning))
}
