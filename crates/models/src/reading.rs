//! Strict reading of JSON answers. Messages never repeat the answer's text, because they are stored and logged.

use std::fmt;

use reground_interrupt::checked;
use serde::Deserializer;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;

/// Why an answer of a model is unusable.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum UnusableAnswer {
    /// Text around the object, such as a code block, or no object at all.
    #[error("the answer must be one JSON object, without text or code marks around it")]
    NotOnlyAnObject,
    /// Broken JSON, or text after the object.
    #[error("the answer is not valid JSON: {0}")]
    Syntax(String),
    /// A key that the schema does not have.
    #[error("the answer has a key other than {expected}")]
    UnknownKey {
        /// Keys of the schema.
        expected: &'static str,
    },
    /// The same key twice.
    #[error("the answer has the key \"{0}\" twice")]
    RepeatedKey(&'static str),
    /// A key of the schema is missing.
    #[error("the answer lacks the key \"{0}\"")]
    MissingKey(&'static str),
    /// A value of another type.
    #[error("{place} must be {expected}, but is {found}")]
    WrongType {
        /// Where.
        place: String,
        /// Type of the schema.
        expected: &'static str,
        /// Type of the answer.
        found: &'static str,
    },
    /// A word outside of the enumeration.
    #[error("\"{key}\" must be one of {expected}")]
    UnknownValue {
        /// Key.
        key: &'static str,
        /// Values of the schema.
        expected: &'static str,
    },
    /// More statements than allowed.
    #[error("the answer has {found} statements, more than {most}")]
    TooManyStatements {
        /// Number of statements.
        found: usize,
        /// Largest number.
        most: usize,
    },
    /// A statement without a visible character.
    #[error("statement {0} is empty")]
    EmptyStatement(usize),
    /// A statement that PostgreSQL cannot store.
    #[error("statement {0} contains a zero character")]
    ZeroCharacter(usize),
    /// A text that PostgreSQL cannot store.
    #[error("\"{0}\" contains a zero character")]
    ZeroCharacterIn(&'static str),
    /// A number that is not a probability.
    #[error("{0} must be a probability between 0 and 1")]
    NotAProbability(String),
    /// A span outside of the hypothesis, or an empty one.
    #[error("span {0} must be a range of characters within the hypothesis")]
    NotASpan(usize),
    /// A result of a task without the keys of its kind.
    #[error("the result must be an object with only {expected}")]
    WrongResult {
        /// Keys of the kind of task.
        expected: &'static str,
    },
}

/// The value of the only key of an object that must have no other key.
pub(crate) fn only_key(content: &str, key: &'static str) -> Result<Value, UnusableAnswer> {
    object(content, &[key], key)?
        .take(key)
        .ok_or(UnusableAnswer::MissingKey(key))
}

/// An object without other keys than these, and without repeated keys. `expected` lists them for errors.
pub(crate) fn object(
    content: &str,
    keys: &[&'static str],
    expected: &'static str,
) -> Result<Pairs, UnusableAnswer> {
    // Outside of objects, errors of the parser would repeat values.
    if !content.trim_start_matches(is_space).starts_with('{') {
        return Err(UnusableAnswer::NotOnlyAnObject);
    }
    let mut parser = serde_json::Deserializer::from_str(content);
    let syntax = |error: serde_json::Error| UnusableAnswer::Syntax(error.to_string());
    let pairs = parser.deserialize_map(PairsVisitor).map_err(syntax)?;
    parser.end().map_err(syntax)?;
    if pairs
        .0
        .iter()
        .any(|(found, _)| !keys.contains(&found.as_str()))
    {
        return Err(UnusableAnswer::UnknownKey { expected });
    }
    let count = |key: &str| pairs.0.iter().filter(|(found, _)| found == key).count();
    match keys.iter().find(|key| count(key) > 1) {
        Some(key) => Err(UnusableAnswer::RepeatedKey(key)),
        None => Ok(pairs),
    }
}

/// The keys and values of an object.
pub(crate) struct Pairs(Vec<(String, Value)>);

impl Pairs {
    /// The value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        let found = self.0.iter().find(|(found, _)| found == key);
        found.map(|(_, value)| value)
    }

    fn take(self, key: &str) -> Option<Value> {
        let found = self.0.into_iter().find(|(found, _)| found == key);
        found.map(|(_, value)| value)
    }
}

/// A span of a text that a classifier marks, in characters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    /// First character.
    pub(crate) start: usize,
    /// One past the last character.
    pub(crate) end: usize,
    /// Probability that the span is unsupported.
    pub(crate) probability: f64,
}

/// The spans of a classifier, each a range of characters within the text.
pub(crate) fn spans(list: &[Value], text: &str) -> Result<Vec<Span>, UnusableAnswer> {
    let length = checked(text.chars()).count();
    let spans = checked(list).zip(1..);
    spans
        .map(|(one, number)| span(one, number, length))
        .collect()
}

fn span(value: &Value, number: usize, length: usize) -> Result<Span, UnusableAnswer> {
    let Value::Object(fields) = value else {
        return Err(wrong_type(format!("span {number}"), "an object", value));
    };
    let at = |key: &str| {
        let place = fields.get(key).and_then(Value::as_u64);
        place.and_then(|place| usize::try_from(place).ok())
    };
    let (Some(start), Some(end)) = (at("start"), at("end")) else {
        return Err(UnusableAnswer::NotASpan(number));
    };
    if fields.len() != 3 || start >= end || end > length {
        return Err(UnusableAnswer::NotASpan(number));
    }
    let probability = fields.get("probability").and_then(Value::as_f64);
    let probability = probability.filter(|value| (0.0..=1.0).contains(value));
    let not_one = || UnusableAnswer::NotAProbability(format!("the probability of span {number}"));
    Ok(Span {
        start,
        end,
        probability: probability.ok_or_else(not_one)?,
    })
}

/// An error for a value of the wrong type.
pub(crate) fn wrong_type(
    place: impl Into<String>,
    expected: &'static str,
    found: &Value,
) -> UnusableAnswer {
    UnusableAnswer::WrongType {
        place: place.into(),
        expected,
        found: match found {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        },
    }
}

/// White space of JSON.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// Reads an object with repeated keys.
struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}
