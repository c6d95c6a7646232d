//! The lexemes of texts, as PostgreSQL makes them.

use pgrx::datum::DatumWithOid;

use crate::error::Result;
use crate::sql;

/// Characters of one text that are read: a tsvector holds 1 MB, and no passage or claim is that long.
pub const LONGEST_TEXT: i32 = 100_000;

/// The lexemes of texts, stemmed and without stop words, as the corpus' configuration reads them; in order.
pub fn of(text_config: &str, texts: &[String]) -> Result<Vec<Vec<String>>> {
    let args: [DatumWithOid<'_>; 3] = [
        text_config.into(),
        texts.to_vec().into(),
        LONGEST_TEXT.into(),
    ];
    Ok(sql::read_json(
        "SELECT coalesce(pg_catalog.json_agg(pg_catalog.tsvector_to_array(pg_catalog.to_tsvector($1::pg_catalog.regconfig, pg_catalog.left(t.text, $3))) \
             ORDER BY t.n), '[]')::text FROM pg_catalog.unnest($2::text[]) WITH ORDINALITY AS t(text, n)",
        &args,
    )?
    .unwrap_or_default())
}
