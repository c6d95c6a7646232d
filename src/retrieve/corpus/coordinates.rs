//! Checks the positions of passages: the text of the document at the position of a passage is the passage.

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::sql;
use crate::store::corpora::Corpus;

/// Number of passages, and of those with a wrong position.
#[derive(Deserialize)]
pub struct CoordinateCounts {
    pub passages: i64,
    pub faults: i64,
}

/// Counts the passages of a corpus of all tenants, and those with a wrong position. For maintenance, which acts for no tenant.
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

/// Returns a FROM clause `r` of the passages with a wrong position that the caller may read: `r.chunk_id, r.doc_id, r.problem, r.detail`.
///
/// # Errors
/// 55000 if the corpus was not made by create_corpus, 42P01 if a relation was dropped.
pub fn wrong(corpus: &Corpus) -> Result<String> {
    wrong_among(corpus, &corpus.visible_passages()?)
}

fn wrong_among(corpus: &Corpus, passages: &str) -> Result<String> {
    if !corpus.managed {
        return Err(Error::NotManaged(corpus.name.clone()));
    }
    let (Some(_), Some(documents)) = (&corpus.relation, &corpus.documents) else {
        return Err(Error::RelationGone(corpus.name.clone()));
    };
    Ok(format!(
        "(SELECT w.chunk_id::text AS chunk_id, w.doc_id, w.problem, w.detail FROM ( \
             SELECT p.chunk_id, p.doc_id, p.ordinal, \
                    CASE WHEN d.doc_id IS NULL THEN 'no_document' \
                         WHEN p.char_start < 0 OR p.char_end <= p.char_start OR p.char_end > length(d.content) OR p.page_start < 1 OR p.page_end < p.page_start \
                              OR p.page_end > d.page_count THEN 'out_of_bounds' \
                         WHEN substr(d.content, p.char_start + 1, p.char_end - p.char_start) <> p.content THEN 'text_elsewhere' \
                         WHEN p.page_start < p.page_before OR p.char_start < p.char_before THEN 'out_of_order' END AS problem, \
                    concat_ws(', ', 'characters ' || p.char_start || ' to ' || p.char_end, 'pages ' || p.page_start || ' to ' || p.page_end) AS detail \
             FROM (SELECT p.*, max(p.page_start) OVER before AS page_before, lag(p.char_start) OVER before AS char_before FROM {passages} \
                   WINDOW before AS (PARTITION BY p.doc_id, p.version ORDER BY p.ordinal ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS p \
             LEFT JOIN {documents} AS d ON d.doc_id = p.doc_id AND d.version = p.version) AS w \
         WHERE w.problem IS NOT NULL ORDER BY w.doc_id, w.ordinal) AS r"
    ))
}
