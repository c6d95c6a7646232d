//! Passages as applications hand them over: one shape wherever they do.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::DocumentError;
use crate::{PageRange, normalise};

/// A passage as applications hand it over. Only the text is required; members that are not listed are left alone.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(expecting = "an object with a text")]
pub struct GivenPassage {
    /// Its text.
    pub text: String,
    /// Its key: a text or a number.
    pub id: Option<Value>,
    /// What an answer cites it by.
    pub marker: Option<String>,
    /// Its document's key: a text or a number.
    pub doc_id: Option<Value>,
    /// Title of the document.
    pub title: Option<String>,
    /// Address of the document.
    pub uri: Option<String>,
    /// First page, from 1.
    pub page_start: Option<u32>,
    /// Last page.
    pub page_end: Option<u32>,
    /// First character in the document's text, from 0.
    pub char_start: Option<usize>,
    /// One past the last.
    pub char_end: Option<usize>,
    /// Publication date.
    pub published: Option<String>,
    /// What it is read by: a text search configuration or a language.
    pub text_config: Option<String>,
    /// Whatever else there is.
    pub metadata: Option<Map<String, Value>>,
}

/// Bytes of the longest key: an entry of an index has room for two of them.
pub const LONGEST_KEY: usize = 1_000;
/// The greatest page or character that PostgreSQL's integer holds.
const MOST: u32 = i32::MAX as u32;

impl GivenPassage {
    /// Reads `[{"text": …}, …]`. Texts are normalised.
    ///
    /// # Errors
    /// Another shape, a passage without visible text, a key beyond [`LONGEST_KEY`], characters that end before they start, page 0,
    /// places beyond what an integer holds.
    pub fn list(passages: &Value) -> Result<Vec<Self>, DocumentError> {
        let mut given = Vec::<Self>::deserialize(passages)
            .map_err(|error| DocumentError::Passages(error.to_string()))?;
        for (ordinal, passage) in given.iter_mut().enumerate() {
            passage.text = normalise(&passage.text).into_owned();
            passage.check(ordinal)?;
        }
        Ok(given)
    }

    fn check(&self, ordinal: usize) -> Result<(), DocumentError> {
        let impossible = |coordinates| DocumentError::Coordinates {
            ordinal,
            coordinates,
        };
        if self.text.trim().is_empty() {
            return Err(DocumentError::Passages(format!(
                "the text of passage {ordinal} is empty"
            )));
        }
        for (name, key) in [("id", &self.id), ("doc_id", &self.doc_id)] {
            let length = key.as_ref().map_or(0, |key| key_text(key).len());
            if length > LONGEST_KEY {
                return Err(DocumentError::Passages(format!(
                    "{name} of passage {ordinal} has {length} bytes, more than {LONGEST_KEY}"
                )));
            }
        }
        match (self.char_start, self.char_end) {
            (None, None) => {}
            (Some(start), Some(end)) if start < end && end <= MOST as usize => {}
            _ => return Err(impossible("characters")),
        }
        let is_page = |page: u32| (1..=MOST).contains(&page);
        match (self.page_start, self.page_end) {
            (None, None) => Ok(()),
            (Some(start), end) if is_page(start) && end.is_none_or(is_page) => Ok(()),
            _ => Err(impossible("pages")),
        }
    }

    /// The pages it stands on.
    #[must_use]
    pub fn pages(&self) -> Option<PageRange> {
        PageRange::of(Some(self.page_start?), self.page_end)
    }
}

/// A key as text: of a JSON text its letters, of a number its digits.
#[must_use]
pub fn key_text(key: &Value) -> String {
    match key {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
