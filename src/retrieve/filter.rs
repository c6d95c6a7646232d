//! Filters as WHERE clauses. Columns come from the catalog and are quoted. Values are parameters.

use pgrx::datum::DatumWithOid;
use reground_grounding::settings::filter::{self, ColumnKind, Condition, Test, Tree};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::sql::{self, PLAN_EACH_TIME};
use crate::store::corpora::{Corpus, operator_schema};
use crate::store::sync;

/// A filter that is resolved against one corpus.
#[derive(Default)]
pub struct Filter {
    /// The clause in pieces. A parameter is between two pieces.
    pieces: Vec<String>,
    values: Vec<Parameter>,
    reads_documents: bool,
}

/// The value of a parameter.
enum Parameter {
    Text(String),
    Texts(Vec<String>),
}

impl Filter {
    /// Resolves the columns of a filter: columns of the passages first, then of the documents.
    ///
    /// # Errors
    /// 22023 for a malformed filter, 42703 for an unknown column.
    pub fn resolve(corpus: &Corpus, filter: Option<&Value>) -> Result<Self> {
        let Some(filter) = filter else {
            return Ok(Self::default());
        };
        let parsed = filter::parse(filter, |column| {
            match column_of(corpus, column).map(|(_, kind)| kind.as_str()) {
                Some("jsonb") => ColumnKind::Json,
                Some(kind) if kind.ends_with("[]") => ColumnKind::Array,
                _ => ColumnKind::Scalar,
            }
        })?;
        let mut resolved = Self {
            pieces: vec![String::new()],
            ..Self::default()
        };
        resolved.add(corpus, &parsed)?;
        Ok(resolved)
    }

    /// Adds a tree to the clause.
    fn add(&mut self, corpus: &Corpus, tree: &Tree) -> Result<()> {
        match tree {
            Tree::All(parts) => self.join(corpus, parts, "true", " AND "),
            Tree::Any(parts) => self.join(corpus, parts, "false", " OR "),
            Tree::Not(part) => {
                self.push("(");
                self.add(corpus, part)?;
                self.push(") IS NOT TRUE");
                Ok(())
            }
            Tree::Column(condition) => self.condition(corpus, condition),
        }
    }

    fn join(&mut self, corpus: &Corpus, parts: &[Tree], none: &str, between: &str) -> Result<()> {
        match parts {
            [] => self.push(none),
            [part] => self.add(corpus, part)?,
            [first, others @ ..] => {
                self.push("(");
                self.add(corpus, first)?;
                for part in others {
                    self.push(between);
                    self.add(corpus, part)?;
                }
                self.push(")");
            }
        }
        Ok(())
    }

    fn condition(&mut self, corpus: &Corpus, Condition { column, test }: &Condition) -> Result<()> {
        let Some((alias, kind)) = column_of(corpus, column) else {
            return Err(unknown_column(corpus, column)?);
        };
        let sql = match corpus.metadata() {
            Some(metadata) if corpus.managed && column == "metadata" => {
                self.reads_documents = true;
                metadata
            }
            _ => format!("{alias}.{}", sql::ident(column)),
        };
        self.reads_documents |= alias == "d";
        let texts = |values: &Vec<String>| Parameter::Texts(values.clone());
        match test {
            Test::IsNull => self.push(&format!("{sql} IS NULL")),
            Test::Compare(comparison, value) => {
                let (schema, operator) = (operator_schema(kind)?, comparison.operator());
                self.push(&format!("{sql} OPERATOR({schema}.{operator}) "));
                self.parameter(Parameter::Text(value.clone()), &format!("::text::{kind}"));
            }
            Test::AnyOf(values) => {
                let schema = operator_schema(kind)?;
                self.push(&format!("{sql} OPERATOR({schema}.=) ANY ("));
                self.parameter(texts(values), &format!("::text[]::{kind}[])"));
            }
            Test::Contains(value) => {
                self.push(&format!("{sql} OPERATOR(pg_catalog.@>) "));
                self.parameter(Parameter::Text(value.to_string()), "::text::jsonb");
            }
            Test::Member(path, comparison, value) => {
                // Values of different JSON types have an order, too. A member that is missing is NULL.
                let member = format!("{sql} OPERATOR(pg_catalog.#>) ");
                let operator = comparison.operator();
                self.push(&format!("(pg_catalog.jsonb_typeof({member}"));
                self.parameter(texts(path), "::text[]) = pg_catalog.jsonb_typeof(");
                self.parameter(
                    Parameter::Text(value.to_string()),
                    &format!("::text::jsonb) AND ({member}"),
                );
                self.parameter(
                    texts(path),
                    &format!("::text[]) OPERATOR(pg_catalog.{operator}) "),
                );
                self.parameter(Parameter::Text(value.to_string()), "::text::jsonb)");
            }
            Test::Overlaps(values) => {
                self.push(&format!("{sql} OPERATOR(pg_catalog.&&) "));
                self.parameter(texts(values), &format!("::text[]::{kind}"));
            }
            Test::HasAll(values) => {
                self.push(&format!("{sql} OPERATOR(pg_catalog.@>) "));
                self.parameter(texts(values), &format!("::text[]::{kind}"));
            }
        }
        Ok(())
    }

    fn push(&mut self, text: &str) {
        if let Some(piece) = self.pieces.last_mut() {
            piece.push_str(text);
        }
    }

    /// Adds a parameter and the text after it.
    fn parameter(&mut self, value: Parameter, after: &str) {
        self.values.push(value);
        self.pieces.push(after.to_owned());
    }

    /// Whether the clause reads the relation of the documents.
    pub fn reads_documents(&self) -> bool {
        self.reads_documents
    }

    /// Returns the clause; `true` without a filter. The numbers of its parameters begin with `first`.
    pub fn clause(&self, first: usize) -> String {
        if self.pieces.is_empty() {
            return "true".to_owned();
        }
        // The planner must know the values: one can be in most rows, another in none.
        let mut clause = format!("{PLAN_EACH_TIME} ");
        for (index, piece) in self.pieces.iter().enumerate() {
            // The parameter before the second piece is the first one.
            if let Some(before) = index.checked_sub(1) {
                clause.push_str(&format!("${}", first + before));
            }
            clause.push_str(piece);
        }
        clause
    }

    /// Returns the values of the parameters, in order.
    pub fn args(&self) -> Vec<DatumWithOid<'static>> {
        let values = self.values.iter();
        let values = values.map(|value| match value {
            Parameter::Text(text) => text.clone().into(),
            Parameter::Texts(texts) => texts.clone().into(),
        });
        values.collect()
    }
}

/// The error of a column that the corpus does not have.
fn unknown_column(corpus: &Corpus, column: &str) -> Result<Error> {
    let column = column.to_owned();
    let relation = corpus.relation.clone().unwrap_or_default();
    Ok(match sync::find(corpus.corpus_id)? {
        Some(_) => Error::NoFilterColumn { column, relation },
        None => Error::NoColumn { column, relation },
    })
}

/// The alias of the relation that has a column, and the type of the column.
fn column_of<'a>(corpus: &'a Corpus, column: &str) -> Option<(&'static str, &'a String)> {
    let of = |columns: &'a std::collections::BTreeMap<String, String>, alias| {
        columns.get(column).map(|kind| (alias, kind))
    };
    of(&corpus.passage_columns, "p").or_else(|| of(&corpus.document_columns, "d"))
}
