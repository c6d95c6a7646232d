//! Words that a query borrows, each with a weight on the scale on which a word of its own has 1: `{"boot": 0.3}`.

use std::collections::BTreeMap;

use reground_bm25::QueryWeight;
use serde_json::Value;

use crate::error::{Error, Result};

/// Words that a query may borrow; those that count are far fewer.
const MOST: usize = 1000;
/// Bytes of a length.
const LENGTH: usize = size_of::<u32>();
/// Bytes of a weight.
const WEIGHT: usize = size_of::<f64>();

/// Borrowed lexemes, as the configuration of the index makes them, with their weights.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expansion(BTreeMap<String, f64>);

impl Expansion {
    /// From lexemes and weights.
    ///
    /// # Errors
    /// 22023 for too many, and for a weight that is not above 0 and at most 1000.
    pub fn new(terms: BTreeMap<String, f64>) -> Result<Self> {
        let wrong = terms
            .iter()
            .find(|(_, weight)| !QueryWeight::is_valid_expansion(**weight));
        if let Some((lexeme, weight)) = wrong {
            return Err(refused(format!("\"{lexeme}\" has the weight {weight}")));
        }
        if terms.len() > MOST {
            return Err(refused(format!("it has {} words", terms.len())));
        }
        Ok(Self(terms))
    }

    /// From a JSON object.
    ///
    /// # Errors
    /// As [`Expansion::new`], and for what is no object of numbers.
    pub fn of(value: &Value) -> Result<Self> {
        let object =
            (value.as_object()).ok_or_else(|| refused("it is not a JSON object".into()))?;
        let each = object.iter().map(|(lexeme, weight)| {
            let number = weight.as_f64();
            let number =
                number.ok_or_else(|| refused(format!("\"{lexeme}\" has the weight {weight}")));
            Ok((lexeme.clone(), number?))
        });
        Self::new(each.collect::<Result<_>>()?)
    }

    /// The one that a text begins with, and what comes after it; `None` where the text begins with no JSON.
    pub fn leading(text: &str) -> Result<Option<(Self, &str)>> {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else {
            return Ok(None);
        };
        let rest = text.get(values.byte_offset()..).unwrap_or_default();
        Ok(Some((Self::of(&value)?, rest)))
    }

    /// As a JSON object; empty for none.
    pub fn to_json(&self) -> Result<String> {
        Ok(match self.0.is_empty() {
            true => String::new(),
            false => serde_json::to_string(&self.0)?,
        })
    }

    /// Lexemes and weights, by lexeme.
    pub fn terms(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0
            .iter()
            .map(|(lexeme, &weight)| (lexeme.as_str(), weight))
    }

    /// As bytes: how many, then of each its length, itself and its weight.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = (self.0.len() as u32).to_le_bytes().to_vec();
        for (lexeme, weight) in &self.0 {
            bytes.extend((lexeme.len() as u32).to_le_bytes());
            bytes.extend(lexeme.as_bytes());
            bytes.extend(weight.to_le_bytes());
        }
        bytes
    }

    /// Reads [`Expansion::to_bytes`]; with what comes after it.
    pub fn from_bytes(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (count, mut rest) = length(bytes)?;
        let mut terms = BTreeMap::new();
        for _ in 0..count {
            let (size, after) = length(rest)?;
            let (lexeme, after) = after.split_at_checked(size)?;
            let (weight, after) = after.split_first_chunk::<WEIGHT>()?;
            let lexeme = std::str::from_utf8(lexeme).ok()?;
            terms.insert(lexeme.to_owned(), f64::from_le_bytes(*weight));
            rest = after;
        }
        Some((Self(terms), rest))
    }
}

fn length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<LENGTH>()?;
    Some((u32::from_le_bytes(*length) as usize, rest))
}

fn refused(fault: String) -> Error {
    Error::Bad {
        argument: "expansion",
        fault,
        hint: format!(
            "Write an object of lexemes and weights, as in {{\"boot\": 0.3}}: at most {MOST}, each above 0 and at most 1000."
        ),
    }
}
