//! A row of `check_corpus`.

use serde::Serialize;

/// A finding of `check_corpus`.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// The checked item: a key of the mapping, or an object of the corpus.
    pub item: String,
    /// `ok`, `warning` or `error`.
    pub status: &'static str,
    /// The finding.
    pub detail: String,
    /// A command that repairs the corpus.
    pub hint: Option<String>,
}

impl Finding {
    pub fn ok(item: &str, detail: impl Into<String>) -> Self {
        Self::new(item, "ok", detail, None)
    }

    pub fn warning(item: &str, detail: impl Into<String>, hint: Option<String>) -> Self {
        Self::new(item, "warning", detail, hint)
    }

    pub fn error(item: &str, detail: impl Into<String>, hint: Option<String>) -> Self {
        Self::new(item, "error", detail, hint)
    }

    fn new(
        item: &str,
        status: &'static str,
        detail: impl Into<String>,
        hint: Option<String>,
    ) -> Self {
        Self {
            item: item.to_owned(),
            status,
            detail: detail.into(),
            hint,
        }
    }
}
