//! Checks of the rows: texts that are too long for a passage, and addresses of several documents. A check reads a limited
//! number of rows, so that it also ends soon for a large table.

use std::collections::{BTreeMap, BTreeSet};

use reground_documents::{TRACKING_PARAMETERS, canonical_uri};
use reground_grounding::settings::Settings;
use serde::Deserialize;

use super::finding::Finding;
use crate::error::Result;
use crate::guc;
use crate::sql;
use crate::store::corpora::Corpus;

/// Rows whose lengths or addresses are compared.
const MAX_ROWS: i64 = 100_000;
/// Rows whose tokens are counted.
const MAX_COUNTED: i64 = 500;

/// Lengths of the texts that were read.
#[derive(Default, Deserialize)]
struct Lengths {
    read: i64,
    /// Texts with more bytes than the limit of tokens. A token has at least one byte.
    candidates: i64,
    /// Bytes of the longest one.
    longest: Option<i64>,
}

/// Checks whether texts are longer than `max_passage_tokens`. Of such a text, a turn shows a window only.
pub fn long_rows(corpus: &Corpus) -> Result<Option<Finding>> {
    let (server, own) = (guc::turn_settings(), &corpus.settings);
    let most = Settings::resolve(&[("server", &server), ("corpus", own)])?.max_passage_tokens;
    let limit = i32::try_from(most).unwrap_or(i32::MAX);
    let content = corpus.required("content")?;
    let texts = format!(
        "(SELECT {content}::text AS content FROM {} WHERE {content} IS NOT NULL LIMIT {MAX_ROWS}) AS x",
        corpus.relations()?
    );
    // The length of a stored text is known without reading it.
    let lengths = format!(
        "SELECT row_to_json(r)::text FROM (SELECT count(*) AS read, count(*) FILTER (WHERE octet_length(x.content) > $1) AS candidates, \
             max(octet_length(x.content)) AS longest FROM {texts}) AS r"
    );
    let lengths: Lengths = sql::read_json(&lengths, &[limit.into()])?.unwrap_or_default();
    if lengths.candidates == 0 {
        return Ok(None);
    }
    // A token of prose has four or five bytes.
    let beginnings = format!(
        "SELECT coalesce(json_agg(r.beginning), '[]')::text FROM (SELECT left(x.content, $2) AS beginning FROM {texts} \
             WHERE octet_length(x.content) > $1 LIMIT {MAX_COUNTED}) AS r"
    );
    let beginnings: Vec<String> = sql::read_json(
        &beginnings,
        &[limit.into(), limit.saturating_mul(16).into()],
    )?
    .unwrap_or_default();
    let is_long = |text: &&String| reground_tokens::prefix(text, most + 1).tokens > most;
    let long = beginnings.iter().filter(is_long).count();
    if long == 0 {
        return Ok(None);
    }
    let counted = i64::try_from(beginnings.len()).unwrap_or(i64::MAX);
    let least = match lengths.candidates > counted || lengths.read == MAX_ROWS {
        true => "at least ",
        false => "",
    };
    Ok(Some(Finding::warning(
        "content",
        format!(
            "{least}{long} of {} texts have more than {most} tokens, the longest {} bytes: a turn shows the part that fits the query",
            lengths.read,
            lengths.longest.unwrap_or_default(),
        ),
        Some(
            "Cut the texts into passages, as put_document does, so that a search finds the parts; or set max_passage_tokens."
                .into(),
        ),
    )))
}

/// Checks whether an address belongs to several documents. Its texts are then stored, found and cited twice.
pub fn repeated_addresses(corpus: &Corpus) -> Result<Option<Finding>> {
    #[derive(Deserialize)]
    struct Row {
        uri: String,
        doc_id: String,
    }
    let (Some(uri), true) = (corpus.column("uri"), corpus.mapping.contains_key("doc_id")) else {
        return Ok(None);
    };
    let statement = format!(
        "SELECT DISTINCT x.uri, x.doc_id FROM (SELECT left({uri}::text, 2000) AS uri, {} AS doc_id FROM {} WHERE {uri} IS NOT NULL LIMIT {MAX_ROWS}) AS x",
        corpus.document_text()?,
        corpus.relations()?,
    );
    let rows: Vec<Row> = sql::read_rows(&statement, &[])?;
    let mut documents: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in rows {
        let uri = canonical_uri(&row.uri, TRACKING_PARAMETERS);
        documents.entry(uri).or_default().insert(row.doc_id);
    }
    documents.retain(|_, doc_ids| doc_ids.len() > 1);
    let Some((uri, doc_ids)) = documents.first_key_value() else {
        return Ok(None);
    };
    let doc_ids: Vec<String> = doc_ids
        .iter()
        .take(3)
        .map(|id| format!("\"{id}\""))
        .collect();
    Ok(Some(Finding::warning(
        "uri",
        format!(
            "{} addresses belong to several documents, such as {uri}: {}",
            documents.len(),
            doc_ids.join(", ")
        ),
        Some("Store each address under one doc_id; delete_document removes the others.".into()),
    )))
}
