//! Parses filters: jsonb conditions on the columns of a corpus.
//!
//! `{"lang": "en"}` is equality, `{"kind": ["a", "b"]}` is any of the values, `{"year": {">=": 2020, "<": 2024}}` is a
//! comparison, `{"retired_at": null}` is IS NULL, `{"lang": {"not": "en"}}` holds where the condition does not. On an array column a
//! value means that the array contains it, a list or `{"any": […]}` that it contains one of them, `{"all": […]}` that it contains all.
//! `{"$or": [FILTER, …]}` and `{"$not": FILTER}` combine filters. All conditions must hold.
//!
//! On a jsonb column a value means containment (`@>`). The operators can follow the column or a member of it:
//! `{"metadata": {"year": {">=": 2020}, "tags": {"any": ["a", "b"]}}}`.

use serde_json::{Map, Value};

use crate::error::GroundingError;

/// Maximum depth of filters and conditions in each other.
const MAX_DEPTH: usize = 16;

/// Maximum number of conditions on columns.
const MAX_CONDITIONS: usize = 1_000;

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

/// How the conditions on a column are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// jsonb: every value means containment.
    Json,
    /// An array.
    Array,
    /// Any other type.
    Scalar,
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
    /// The member at this path of the jsonb column compares with a scalar of the same JSON type.
    Member(Vec<String>, Comparison, Value),
    /// The array has one of the values.
    Overlaps(Vec<String>),
    /// The array has all the values.
    HasAll(Vec<String>),
}

/// One condition of a filter.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Name of the column, unquoted.
    pub column: String,
    /// The condition.
    pub test: Test,
}

/// A filter as a tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// All parts hold; true without parts.
    All(Vec<Tree>),
    /// At least one part holds.
    Any(Vec<Tree>),
    /// The part does not hold: it is false or NULL.
    Not(Box<Tree>),
    /// The condition on a column holds.
    Column(Condition),
}

/// Parses a filter; `kind` returns how conditions on a column are read.
///
/// # Errors
/// [`GroundingError::InvalidFilter`] for any other form.
pub fn parse(filter: &Value, kind: impl Fn(&str) -> ColumnKind) -> Result<Tree, GroundingError> {
    Parser {
        kind,
        conditions: 0,
    }
    .filter(filter, 1)
}

struct Parser<F> {
    kind: F,
    /// Conditions on columns so far.
    conditions: usize,
}

impl<F: Fn(&str) -> ColumnKind> Parser<F> {
    fn filter(&mut self, filter: &Value, depth: usize) -> Result<Tree, GroundingError> {
        check_depth(depth)?;
        let Value::Object(columns) = filter else {
            return Err(invalid(format!("{} is not an object", short(filter))));
        };
        let mut parts = Vec::new();
        for (name, value) in columns {
            match name.as_str() {
                "$or" => parts.push(self.any(value, depth)?),
                "$not" => parts.push(Tree::Not(Box::new(self.filter(value, depth + 1)?))),
                column => self.column(column, value, depth, &mut parts)?,
            }
        }
        Ok(Tree::All(parts))
    }

    fn any(&mut self, filters: &Value, depth: usize) -> Result<Tree, GroundingError> {
        match filters {
            Value::Array(filters) if !filters.is_empty() => {
                let parts = filters.iter().map(|filter| self.filter(filter, depth + 1));
                Ok(Tree::Any(parts.collect::<Result<_, _>>()?))
            }
            other => Err(invalid(format!(
                "$or has the value {}, not a list of filters",
                short(other)
            ))),
        }
    }

    /// Adds the conditions on a column.
    fn column(
        &mut self,
        column: &str,
        value: &Value,
        depth: usize,
        parts: &mut Vec<Tree>,
    ) -> Result<(), GroundingError> {
        check_depth(depth)?;
        let kind = (self.kind)(column);
        let test = match (kind, value) {
            (_, Value::Null) => Test::IsNull,
            (ColumnKind::Json, value) => return self.json(column, &[], value, depth, parts),
            (_, Value::Object(operators)) => {
                return self.operators(column, operators, kind, depth, parts);
            }
            (ColumnKind::Array, Value::Array(values)) => Test::Overlaps(scalars(column, values)?),
            (ColumnKind::Array, value) => Test::HasAll(vec![scalar(column, value)?]),
            (ColumnKind::Scalar, Value::Array(values)) => Test::AnyOf(scalars(column, values)?),
            (ColumnKind::Scalar, value) => Test::Compare(Comparison::Equal, scalar(column, value)?),
        };
        self.push(column, test, parts)
    }

    /// Adds the conditions that an object names by operators.
    fn operators(
        &mut self,
        column: &str,
        operators: &Map<String, Value>,
        kind: ColumnKind,
        depth: usize,
        parts: &mut Vec<Tree>,
    ) -> Result<(), GroundingError> {
        let unknown = || fault(column, &Value::Object(operators.clone()));
        if operators.is_empty() {
            return Err(unknown());
        }
        for (operator, operand) in operators {
            let test = match (operator.as_str(), operand, kind) {
                ("not", operand, _) => {
                    let mut inner = Vec::new();
                    self.column(column, operand, depth + 1, &mut inner)?;
                    parts.push(Tree::Not(Box::new(Tree::All(inner))));
                    continue;
                }
                ("any", Value::Array(values), ColumnKind::Array) => {
                    Test::Overlaps(scalars(column, values)?)
                }
                ("any", Value::Array(values), _) => Test::AnyOf(scalars(column, values)?),
                ("all", Value::Array(values), ColumnKind::Array) => {
                    Test::HasAll(scalars(column, values)?)
                }
                (name, operand, _) => {
                    let comparison = Comparison::parse(name).ok_or_else(unknown)?;
                    Test::Compare(comparison, scalar(column, operand)?)
                }
            };
            self.push(column, test, parts)?;
        }
        Ok(())
    }

    /// Adds the conditions on the member of a jsonb column at `path`.
    fn json(
        &mut self,
        column: &str,
        path: &[&str],
        value: &Value,
        depth: usize,
        parts: &mut Vec<Tree>,
    ) -> Result<(), GroundingError> {
        check_depth(depth)?;
        match value {
            Value::Object(operators) if are_operators(operators) => {
                for (operator, operand) in operators {
                    let part = self.json_operator(column, path, (operator, operand), depth)?;
                    parts.push(part);
                }
                Ok(())
            }
            Value::Object(members) if members.values().any(has_operators) => {
                for (name, value) in members {
                    let path = [path, &[name.as_str()]].concat();
                    self.json(column, &path, value, depth + 1, parts)?;
                }
                Ok(())
            }
            value => self.push(column, Test::Contains(nested(path, value.clone())), parts),
        }
    }

    fn json_operator(
        &mut self,
        column: &str,
        path: &[&str],
        (operator, operand): (&str, &Value),
        depth: usize,
    ) -> Result<Tree, GroundingError> {
        let mut parts = Vec::new();
        match (operator, operand) {
            ("not", operand) => {
                match path.is_empty() {
                    true => self.column(column, operand, depth + 1, &mut parts)?,
                    false => self.json(column, path, operand, depth + 1, &mut parts)?,
                }
                return Ok(Tree::Not(Box::new(Tree::All(parts))));
            }
            ("any", Value::Array(values)) => {
                // The member is one of the values, or an array with one of them.
                for value in values {
                    for value in [value.clone(), Value::Array(vec![value.clone()])] {
                        self.push(column, Test::Contains(nested(path, value)), &mut parts)?;
                    }
                }
                return Ok(Tree::Any(parts));
            }
            ("all", values) => {
                self.push(
                    column,
                    Test::Contains(nested(path, values.clone())),
                    &mut parts,
                )?;
            }
            (name, operand) => {
                let comparison = Comparison::parse(name).ok_or_else(|| fault(column, operand))?;
                let path = path.iter().map(|name| (*name).to_owned()).collect();
                self.push(
                    column,
                    Test::Member(path, comparison, operand.clone()),
                    &mut parts,
                )?;
            }
        }
        Ok(Tree::All(parts))
    }

    fn push(
        &mut self,
        column: &str,
        test: Test,
        parts: &mut Vec<Tree>,
    ) -> Result<(), GroundingError> {
        self.conditions += 1;
        if self.conditions > MAX_CONDITIONS {
            return Err(invalid(format!(
                "it has more than {MAX_CONDITIONS} conditions"
            )));
        }
        parts.push(Tree::Column(Condition {
            column: column.to_owned(),
            test,
        }));
        Ok(())
    }
}

/// Whether the members of an object in a jsonb column are operators with their operands. Other objects are contained values.
fn are_operators(members: &Map<String, Value>) -> bool {
    let is_operator = |(name, operand): (&String, &Value)| match name.as_str() {
        "not" => true,
        "any" | "all" => operand.is_array(),
        name => {
            Comparison::parse(name).is_some()
                && (operand.is_string() || operand.is_number() || operand.is_boolean())
        }
    };
    !members.is_empty() && members.iter().all(is_operator)
}

/// Whether operators follow a member of a jsonb value. Its depth is limited by the parser of JSON.
fn has_operators(value: &Value) -> bool {
    match value {
        Value::Object(members) => are_operators(members) || members.values().any(has_operators),
        _ => false,
    }
}

/// An object that has only the value at this path.
fn nested(path: &[&str], value: Value) -> Value {
    path.iter().rev().fold(value, |inner, name| {
        Value::Object(Map::from_iter([((*name).to_owned(), inner)]))
    })
}

fn check_depth(depth: usize) -> Result<(), GroundingError> {
    match depth > MAX_DEPTH {
        true => Err(invalid(format!(
            "it is nested deeper than {MAX_DEPTH} levels"
        ))),
        false => Ok(()),
    }
}

fn scalars(column: &str, values: &[Value]) -> Result<Vec<String>, GroundingError> {
    values.iter().map(|value| scalar(column, value)).collect()
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
    invalid(format!(
        "column \"{column}\" has the value {}",
        short(value)
    ))
}

fn invalid(fault: String) -> GroundingError {
    GroundingError::InvalidFilter { fault }
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
#[path = "filter_tests.rs"]
mod tests;
