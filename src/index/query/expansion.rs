//! Expansion terms of a query, each with a weight: `{"boot": 0.3}`. A word of the query itself has weight 1.

use std::collections::BTreeMap;

use reground_bm25::QueryWeight;
use serde_json::Value;

use crate::error::{Error, Result};

/// Maximum number of expansion terms in a query. Far fewer count.
const MAX_TERMS: usize = 1000;
/// Bytes of a length.
const LENGTH_BYTES: usize = size_of::<u32>();
/// Bytes of a weight.
const WEIGHT_BYTES: usize = size_of::<f64>();

/// Lexemes of the text search configuration of the index, with their weights.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expansion(BTreeMap<String, f64>);

impl Expansion {
    /// An expansion with these terms and weights.
    ///
    /// # Errors
    /// 22023 for too many terms, or a weight that is not above 0 and at most 1000.
    pub fn new(terms: BTreeMap<String, f64>) -> Result<Self> {
        let rejected = terms
            .iter()
            .find(|(_, weight)| !QueryWeight::is_valid_expansion(**weight));
        if let Some((lexeme, weight)) = rejected {
            return Err(invalid(format!("\"{lexeme}\" has the weight {weight}")));
        }
        if terms.len() > MAX_TERMS {
            return Err(invalid(format!("it has {} words", terms.len())));
        }
        Ok(Self(terms))
    }

    /// Reads a JSON object.
    ///
    /// # Errors
    /// As [`Expansion::new`], and if the value is not an object of numbers.
    pub fn of(value: &Value) -> Result<Self> {
        let object =
            (value.as_object()).ok_or_else(|| invalid("it is not a JSON object".into()))?;
        let each = object.iter().map(|(lexeme, weight)| {
            let number = weight.as_f64();
            let number =
                number.ok_or_else(|| invalid(format!("\"{lexeme}\" has the weight {weight}")));
            Ok((lexeme.clone(), number?))
        });
        Self::new(each.collect::<Result<_>>()?)
    }

    /// Parses the JSON object at the start of a text. Returns the expansion and the rest of the text; `None` if the text does
    /// not begin with JSON.
    pub fn parse_prefix(text: &str) -> Result<Option<(Self, &str)>> {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else {
            return Ok(None);
        };
        let rest = text.get(values.byte_offset()..).unwrap_or_default();
        Ok(Some((Self::of(&value)?, rest)))
    }

    /// Returns a JSON object, or an empty string for no terms.
    pub fn to_json(&self) -> Result<String> {
        Ok(match self.0.is_empty() {
            true => String::new(),
            false => serde_json::to_string(&self.0)?,
        })
    }

    /// Returns lexemes and weights, ordered by lexeme.
    pub fn terms(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0
            .iter()
            .map(|(lexeme, &weight)| (lexeme.as_str(), weight))
    }

    /// Returns the binary form: the number of terms, then for each its length, its bytes and its weight.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = (self.0.len() as u32).to_le_bytes().to_vec();
        for (lexeme, weight) in &self.0 {
            bytes.extend((lexeme.len() as u32).to_le_bytes());
            bytes.extend(lexeme.as_bytes());
            bytes.extend(weight.to_le_bytes());
        }
        bytes
    }

    /// Parses the result of [`Expansion::to_bytes`]. Returns the expansion and the remaining bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (count, mut rest) = length(bytes)?;
        let mut terms = BTreeMap::new();
        for _ in 0..count {
            let (size, after) = length(rest)?;
            let (lexeme, after) = after.split_at_checked(size)?;
            let (weight, after) = after.split_first_chunk::<WEIGHT_BYTES>()?;
            let lexeme = std::str::from_utf8(lexeme).ok()?;
            terms.insert(lexeme.to_owned(), f64::from_le_bytes(*weight));
            rest = after;
        }
        Some((Self(terms), rest))
    }
}

fn length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<LENGTH_BYTES>()?;
    Some((u32::from_le_bytes(*length) as usize, rest))
}

fn invalid(fault: String) -> Error {
    Error::Bad {
        argument: "expansion",
        fault,
        hint: format!(
            "Write an object of lexemes and weights, as in {{\"boot\": 0.3}}: at most {MAX_TERMS}, each above 0 and at most 1000."
        ),
    }
}
