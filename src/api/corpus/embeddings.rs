//! Embeddings that the application computes: the passages that wait for one, and the vectors.

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use serde::Deserialize;

use crate::api::models::tasks::embed::{has_key, text_hash};
use crate::api::{given, writable};
use crate::error::{Error, Result};
use crate::retrieve::vector_schema;
use crate::rows;
use crate::sql;
use crate::store::corpora::{self, Corpus, Hold, operator_schema};
use crate::store::models::embeddings;
use crate::tenant;

/// Passages whose texts are compared at a time.
const BATCH: i64 = 1000;

/// Bytes of a chunk id. The texts of passages with a longer one are not recorded: an index could not contain it.
const LONGEST_ID: i32 = 1000;

#[pg_extern(sql = false)]
fn pending_embeddings(
    corpus: Option<&str>,
    max_results: Option<i32>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let corpus = embedded(corpora::load(&tenant::if_any(), given(corpus, "corpus")?)?)?;
    let limit = i64::from(given(max_results, "max_results")?);
    if limit < 0 {
        return Err(Error::Bad {
            argument: "max_results",
            fault: limit.to_string(),
            hint: "0 or more.".into(),
        }
        .into());
    }
    let order = format!(
        "{} IS NULL ORDER BY {} LIMIT $1",
        corpus.embedding_column()?,
        corpus.key()?
    );
    let passages = corpus.embedded_passages()?;
    let missing = format!("{} FROM {passages} WHERE {order}", pending(&corpus)?);
    let mut rows: Vec<serde_json::Value> = sql::read_rows(&missing, &[limit.into()])?;
    let found = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    if found < limit {
        rows.extend(changed(&corpus, limit.saturating_sub(found))?);
    }
    rows::emit(fcinfo, &rows)?;
    Ok(())
}

/// The columns of `pending_embeddings`.
fn pending(corpus: &Corpus) -> Result<String> {
    Ok(format!(
        "SELECT {}::text AS chunk_id, {}::text AS doc_id, {} AS content, {} AS content_hash",
        corpus.key()?,
        corpus.document()?,
        corpus.embedded_text()?,
        text_hash(corpus)?
    ))
}

/// The name that the texts of the vectors are recorded with: that of the registered model, or none.
fn recorded_model(corpus: &Corpus) -> &str {
    corpus.embedding_model.as_deref().unwrap_or_default()
}

/// Passages whose vector is of an earlier text, as rows of `pending_embeddings`.
fn changed(corpus: &Corpus, most: i64) -> Result<Vec<serde_json::Value>> {
    let mut found: Vec<String> = Vec::new();
    let passages = corpus.embedded_passages()?;
    embedded_texts(corpus, &passages, |chunk_ids, hashes| {
        let model = recorded_model(corpus);
        found.extend(embeddings::changed_texts(
            corpus.corpus_id,
            model,
            chunk_ids,
            hashes,
        )?);
        Ok(())
    })?;
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let query = format!(
        "{} FROM unnest($1::text[]) AS g(chunk_id) JOIN {} ON {} ORDER BY {} LIMIT $2",
        pending(corpus)?,
        corpus.embedded_passages()?,
        has_key(corpus, "g.chunk_id")?,
        corpus.key()?
    );
    sql::read_rows(&query, &[found.into(), most.into()])
}

/// Passes ids and hashes of the texts of those `passages` (a FROM item `p`) that have a vector to `read`, some at a time.
fn embedded_texts(
    corpus: &Corpus,
    passages: &str,
    mut read: impl FnMut(Vec<String>, Vec<String>) -> Result<()>,
) -> Result<()> {
    let key = corpus.key()?;
    let query = format!(
        "SELECT {key}::text, {} FROM {passages} WHERE {} IS NOT NULL AND {} IS NOT NULL AND octet_length({key}::text) <= {LONGEST_ID}",
        text_hash(corpus)?,
        corpus.embedding_column()?,
        corpus.required("content")?,
    );
    let (mut chunk_ids, mut hashes): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    sql::read_batches(&query, &[], BATCH, |row| {
        chunk_ids.push(row.get(1)?.unwrap_or_default());
        hashes.push(row.get(2)?.unwrap_or_default());
        if chunk_ids.len() >= usize::try_from(BATCH).unwrap_or(usize::MAX) {
            read(std::mem::take(&mut chunk_ids), std::mem::take(&mut hashes))?;
        }
        Ok(())
    })?;
    read(chunk_ids, hashes)
}

/// Records the vectors of a new corpus as those of its present texts, so that later changes of a text are found.
pub(in crate::api) fn adopt(corpus: &Corpus) -> Result<()> {
    // Of all tenants.
    let passages = format!("{} AS p", corpus.relation.as_deref().unwrap_or_default());
    embedded_texts(corpus, &passages, |chunk_ids, hashes| {
        embeddings::record(corpus.corpus_id, recorded_model(corpus), chunk_ids, hashes)
    })
}

#[pg_extern(sql = false)]
fn put_embeddings(
    corpus: Option<&str>,
    chunk_ids: Option<Vec<Option<String>>>,
    embeddings: Option<pgrx::AnyArray>,
    model: Option<&str>,
    content_hashes: Option<Vec<Option<String>>>,
) -> std::result::Result<i32, ErrorReport> {
    writable("put_embeddings")?;
    let name = given(corpus, "corpus")?;
    let corpus = embedded(corpora::held(&tenant::if_any(), name, Hold::Write)?.in_place()?)?;
    let chunk_ids = given(chunk_ids, "chunk_ids")?;
    let embeddings = given(embeddings, "embeddings")?;
    let chunk_ids = chunk_ids
        .into_iter()
        .map(|chunk_id| given(chunk_id, "an element of chunk_ids"))
        .collect::<Result<Vec<String>>>()?;
    let schema = vector_schema()?;
    // SAFETY: the argument is declared vector[] in sql/install, and oid() is the type of the array that was passed.
    let bound = unsafe { DatumWithOid::new(embeddings.datum(), embeddings.oid()) };
    check_embeddings(&corpus, &schema, &chunk_ids, &bound)?;
    check_hashes(content_hashes.as_deref(), chunk_ids.len())?;
    corpus.check_embedding_model(model)?;
    let column = corpus.vectors("embedding")?;
    let set_model = if corpus.managed {
        ", embedding_model = $3"
    } else {
        ""
    };
    let key_type = corpus.column_type("chunk_id").unwrap_or("text");
    let equals = format!("OPERATOR({}.=)", operator_schema(key_type)?);
    let key = corpus.key()?;
    // An UPDATE of a distributed table cannot compute the hash, which is not immutable. It compares the text, which can change meanwhile.
    let statement = format!(
        "WITH given AS (SELECT DISTINCT ON (e.chunk_id) e.chunk_id, e.embedding, e.hash FROM ROWS FROM (unnest($1::text[]), unnest($2), unnest($4::text[])) WITH ORDINALITY AS e(chunk_id, embedding, hash, n) \
             ORDER BY e.chunk_id, e.n DESC), \
         present AS MATERIALIZED (SELECT g.chunk_id, g.embedding, {text} AS content, {hash} AS hash FROM given AS g JOIN {relation} AS p ON {key} {equals} g.chunk_id::{key_type} \
             WHERE g.hash IS NULL OR g.hash = {hash}), \
         stored AS (UPDATE {relation} AS p SET {} = g.embedding::{}{set_model} FROM present AS g \
             WHERE {key} {equals} g.chunk_id::{key_type} AND {} AND {text} IS NOT DISTINCT FROM g.content RETURNING {key}::text AS chunk_id, g.hash) \
         SELECT json_build_object('chunk_ids', coalesce(json_agg(s.chunk_id), '[]'), 'hashes', coalesce(json_agg(s.hash), '[]'))::text FROM stored AS s",
        sql::ident(&column.name),
        column.kind,
        corpus.embeddable()?,
        relation = corpus.relation.as_deref().unwrap_or_default(),
        text = corpus.embedded_text()?,
        hash = text_hash(&corpus)?,
    );
    // SAFETY: as above; the datum lives as long as this call.
    let bound = unsafe { DatumWithOid::new(embeddings.datum(), embeddings.oid()) };
    let args = [chunk_ids.into(), bound, model.into(), content_hashes.into()];
    let stored: StoredEmbeddings = sql::write_json(&statement, &args)?.unwrap_or_default();
    let count = i32::try_from(stored.chunk_ids.len()).unwrap_or(i32::MAX);
    embeddings::record(
        corpus.corpus_id,
        recorded_model(&corpus),
        stored.chunk_ids.clone(),
        stored.hashes,
    )?;
    if let Some(model) = &corpus.embedding_model {
        embeddings::end_tasks(corpus.corpus_id, model, stored.chunk_ids)?;
    }
    Ok(count)
}

/// Passages whose embeddings were stored, with the hashes of their texts.
#[derive(Default, Deserialize)]
struct StoredEmbeddings {
    chunk_ids: Vec<String>,
    hashes: Vec<String>,
}

/// Checks that there is a hash for each id, if hashes are given.
fn check_hashes(hashes: Option<&[Option<String>]>, expected: usize) -> Result<()> {
    match hashes {
        Some(hashes) if hashes.len() != expected => Err(Error::Bad {
            argument: "content_hashes",
            fault: format!("{} hashes for {expected} chunk_ids", hashes.len()),
            hint: "Pass one hash for each element of chunk_ids, in the same order.".into(),
        }),
        _ => Ok(()),
    }
}

/// Checks that there is an embedding for each id, none of them NULL, and all with the dimensions of the corpus.
fn check_embeddings(
    corpus: &Corpus,
    schema: &str,
    chunk_ids: &[String],
    embeddings: &DatumWithOid<'_>,
) -> Result<()> {
    #[derive(Deserialize)]
    struct Shape {
        count: usize,
        nulls: usize,
        sizes: Vec<usize>,
    }
    let shape: Shape = sql::read_json(
        &format!(
            "SELECT pg_catalog.jsonb_build_object('count', count(*), 'nulls', count(*) - count(e), \
                 'sizes', coalesce(pg_catalog.jsonb_agg(DISTINCT {schema}.vector_dims(e)) FILTER (WHERE e IS NOT NULL), '[]'))::text \
             FROM pg_catalog.unnest($1) AS e"
        ),
        std::slice::from_ref(embeddings),
    )?
    .unwrap_or(Shape {
        count: 0,
        nulls: 0,
        sizes: Vec::new(),
    });
    if shape.count != chunk_ids.len() {
        return Err(Error::Bad {
            argument: "embeddings",
            fault: format!(
                "{} embeddings for {} chunk_ids",
                shape.count,
                chunk_ids.len()
            ),
            hint: "Pass one embedding for each element of chunk_ids, in the same order.".into(),
        });
    }
    if shape.nulls > 0 {
        return Err(Error::Null("an element of embeddings"));
    }
    match corpus.dimensions {
        Some(expected) => {
            match shape
                .sizes
                .into_iter()
                .find(|size| usize::try_from(expected) != Ok(*size))
            {
                Some(given) => Err(Error::Dimensions {
                    corpus: corpus.name.clone(),
                    expected,
                    given,
                }),
                None => Ok(()),
            }
        }
        None => Ok(()),
    }
}

/// Returns the corpus. Errors: 55000 if it has no embedding column.
fn embedded(corpus: Corpus) -> Result<Corpus> {
    corpus.embedding_column()?;
    Ok(corpus)
}
