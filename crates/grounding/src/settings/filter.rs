//! Parses filters: jsonb conditions on the columns of a corpus.
//!
//! `{"lang": "en"}` is equality, `{"kind": ["a", "b"]}` is any of the values, `{"year": {">=": 2020, "<": 2024}}` is a
//! comparison, `{"retired_at": null}` is IS NULL. All conditions must hold. On a jsonb column any value means
//! containment (`@>`).

use serde_json::Value;

use crate::error::GroundingError;

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparison {
    /// The operator's name.
    #[must_use]
    pub fn operator(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }

    fn parse(operator: &str) -> Option<Self> {
        Some(match operator {
            "=" => Self::Equal,
            "<>" | "!=" => Self::NotEqual,
            "<" => Self::Less,
            "<=" => Self::LessOrEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterOrEqual,
            _ => return None,
        })
    }
}

/// The condition on a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// The column is NULL.
    IsNull,
    /// The column compares with a value, which is given as text in the column type's input syntax.
    Compare(Comparison, String),
    /// The column equals one of the values.
    AnyOf(Vec<String>),
    /// The jsonb column contains this value.
    Contains(Value),
}

/// One condition of a filter.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Name of the column, unquoted.
    pub column: String,
    /// The condition.
    pub test: Test,
}

/// Parses a filter; `is_json` returns whether a column is jsonb.
///
/// # Errors
/// [`GroundingError::InvalidFilter`] for any other form.
pub fn parse(
    filter: &Value,
    is_json: impl Fn(&str) -> bool,
) -> Result<Vec<Condition>, GroundingError> {
    let Value::Object(columns) = filter else {
        return Err(GroundingError::InvalidFilter {
            fault: format!("{} is not an object", short(filter)),
        });
    };
    let mut conditions = Vec::new();
    for (column, value) in columns {
        let mut push = |test| {
            conditions.push(Condition {
                column: column.clone(),
                test,
            });
        };
        if is_json(column) {
            push(match value {
                Value::Null => Test::IsNull,
                value => Test::Contains(value.clone()),
            });
            continue;
        }
        match value {
            Value::Null => push(Test::IsNull),
            Value::Array(values) => push(Test::AnyOf(
                values
                    .iter()
                    .map(|value| scalar(column, value))
                    .collect::<Result<_, _>>()?,
            )),
            Value::Object(comparisons) => {
                if comparisons.is_empty() {
                    return Err(fault(column, value));
                }
                for (operator, operand) in comparisons {
                    let comparison =
                        Comparison::parse(operator).ok_or_else(|| fault(column, value))?;
                    push(Test::Compare(comparison, scalar(column, operand)?));
                }
            }
            value => push(Test::Compare(Comparison::Equal, scalar(column, value)?)),
        }
    }
    Ok(conditions)
}

/// A JSON scalar as input text for the column's type.
fn scalar(column: &str, value: &Value) -> Result<String, GroundingError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(flag) => Ok(flag.to_string()),
        _ => Err(fault(column, value)),
    }
}

fn fault(column: &str, value: &Value) -> GroundingError {
    GroundingError::InvalidFilter {
        fault: format!("column \"{column}\" has the value {}", short(value)),
    }
}

/// A value for a message, truncated if it is long.
fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(filter: Value) -> Result<Vec<Condition>, GroundingError> {
        parse(&filter, |column| column == "meta")
    }

    #[test]
    fn every_form_is_parsed() {
        let conditions = read(json!({
            "lang": "en", "kind": ["a", 2], "meta": {"k": [1]}, "retired": null, "year": {"<": 2024, ">=": 2020}, "open": true
        }))
        .unwrap();
        let of = |column: &str| {
            conditions
                .iter()
                .filter(|condition| condition.column == column)
                .map(|condition| condition.test.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(of("lang"), [Test::Compare(Comparison::Equal, "en".into())]);
        assert_eq!(of("kind"), [Test::AnyOf(vec!["a".into(), "2".into()])]);
        assert_eq!(of("meta"), [Test::Contains(json!({"k": [1]}))]);
        assert_eq!(of("retired"), [Test::IsNull]);
        assert_eq!(
            of("year"),
            [
                Test::Compare(Comparison::Less, "2024".into()),
                Test::Compare(Comparison::GreaterOrEqual, "2020".into())
            ]
        );
        assert_eq!(
            of("open"),
            [Test::Compare(Comparison::Equal, "true".into())]
        );
    }

    #[test]
    fn invalid_filters_are_errors() {
        for filter in [
            json!([1]),
            json!("x"),
            json!({"a": {}}),
            json!({"a": {"like": "x"}}),
            json!({"a": [[1]]}),
            json!({"a": {"=": null}}),
        ] {
            assert!(read(filter.clone()).is_err(), "{filter}");
        }
    }
}
