//! Passages that applications pass, in the jsonb shape that all functions share.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::DocumentError;
use crate::{PageRange, normalise};

/// A passage that an application passes. Only the text is required. Unknown members are ignored.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(expecting = "an object with content")]
pub struct CallerPassage {
    /// Text of the passage.
    pub content: String,
    /// Id of the passage: a string or a number.
    pub chunk_id: Option<Value>,
    /// Marker with which an answer cites the passage.
    pub marker: Option<String>,
    /// Id of the document: a string or a number.
    pub doc_id: Option<Value>,
    /// Title of the document.
    pub title: Option<String>,
    /// Headings above the passage.
    pub heading: Option<String>,
    /// Address of the document.
    pub uri: Option<String>,
    /// First page, from 1.
    pub page_start: Option<u32>,
    /// Last page.
    pub page_end: Option<u32>,
    /// Start in the document's text, in characters, from 0.
    pub char_start: Option<usize>,
    /// End in the document's text (exclusive).
    pub char_end: Option<usize>,
    /// Publication date.
    pub published: Option<String>,
    /// Text search configuration or language of the text.
    pub text_config: Option<String>,
    /// Metadata of the application.
    pub metadata: Option<Map<String, Value>>,
}

/// Maximum length of an id in bytes. An index entry has room for two ids of this length.
pub const MAX_KEY_BYTES: usize = 1_000;
/// Maximum page number or character offset: PostgreSQL's integer.
const MAX_COORDINATE: u32 = i32::MAX as u32;

impl CallerPassage {
    /// Parses `[{"content": …}, …]` and normalises the texts.
    ///
    /// # Errors
    /// [`DocumentError::Passages`] for another shape, a passage without visible text, or an id longer than [`MAX_KEY_BYTES`].
    /// [`DocumentError::Coordinates`] for characters that end before they start, page 0, and coordinates beyond an integer.
    /// [`DocumentError::Metadata`] for a locator that is no text, and facts that are no texts.
    pub fn parse_list(passages: &Value) -> Result<Vec<Self>, DocumentError> {
        let mut parsed = Vec::<Self>::deserialize(passages)
            .map_err(|error| DocumentError::Passages(error.to_string()))?;
        for (ordinal, passage) in parsed.iter_mut().enumerate() {
            passage.content = normalise(&passage.content).into_owned();
            passage.check(ordinal)?;
            passage.check_metadata(ordinal)?;
        }
        Ok(parsed)
    }

    /// Checks the members of the metadata that prompts and citations use.
    fn check_metadata(&self, ordinal: usize) -> Result<(), DocumentError> {
        let is_text = |value: &Value| value.is_string() || value.is_null();
        let are_texts = |value: &Value| match value {
            Value::Array(texts) => texts.iter().all(Value::is_string),
            other => other.is_null(),
        };
        let member = |name| self.metadata.as_ref().and_then(|all| all.get(name));
        let (member, expected) = if !member("locator").is_none_or(is_text) {
            ("locator", "a text")
        } else if !member("facts").is_none_or(are_texts) {
            ("facts", "an array of texts")
        } else {
            return Ok(());
        };
        Err(DocumentError::Metadata {
            ordinal,
            member,
            expected,
        })
    }

    fn check(&self, ordinal: usize) -> Result<(), DocumentError> {
        let invalid = |coordinates| DocumentError::Coordinates {
            ordinal,
            coordinates,
        };
        if self.content.trim().is_empty() {
            return Err(DocumentError::Passages(format!(
                "the content of passage {ordinal} is empty"
            )));
        }
        for (name, key) in [("chunk_id", &self.chunk_id), ("doc_id", &self.doc_id)] {
            let length = key.as_ref().map_or(0, |key| key_text(key).len());
            if length > MAX_KEY_BYTES {
                return Err(DocumentError::Passages(format!(
                    "{name} of passage {ordinal} has {length} bytes, more than {MAX_KEY_BYTES}"
                )));
            }
        }
        match (self.char_start, self.char_end) {
            (None, None) => {}
            (Some(start), Some(end)) if start < end && end <= MAX_COORDINATE as usize => {}
            _ => return Err(invalid("characters")),
        }
        let is_page = |page: u32| (1..=MAX_COORDINATE).contains(&page);
        match (self.page_start, self.page_end) {
            (None, None) => Ok(()),
            (Some(start), end) if is_page(start) && end.is_none_or(is_page) => Ok(()),
            _ => Err(invalid("pages")),
        }
    }

    /// Returns the pages of the passage.
    #[must_use]
    pub fn pages(&self) -> Option<PageRange> {
        PageRange::of(Some(self.page_start?), self.page_end)
    }
}

/// Returns an id as text: a JSON string without quotes, any other value as JSON.
#[must_use]
pub fn key_text(key: &Value) -> String {
    match key {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_of_the_metadata_with_a_meaning_have_their_type() {
        let parse = |metadata: Value| {
            let passages = json!([{"content": "a"}, {"content": "b", "metadata": metadata}]);
            CallerPassage::parse_list(&passages).map(|passages| passages.len())
        };
        for fine in [
            json!({}),
            json!({"locator": null, "facts": null, "other": 1}),
            json!({"locator": "Genesis 1:1", "facts": ["a", "b"]}),
            json!({"facts": []}),
        ] {
            assert_eq!(parse(fine), Ok(2));
        }
        for (wrong, message) in [
            (
                json!({"locator": {"book": "Genesis"}}),
                "locator in the metadata of passage 1 is not a text",
            ),
            (
                json!({"facts": "a"}),
                "facts in the metadata of passage 1 is not an array of texts",
            ),
            (
                json!({"facts": ["a", 2]}),
                "facts in the metadata of passage 1 is not an array of texts",
            ),
        ] {
            let error = parse(wrong).unwrap_err();
            assert_eq!(error.to_string(), message);
            assert!(!error.hint().is_empty());
        }
    }
}
