//! Filters as WHERE clauses. Columns come from the catalog and are quoted. Values are parameters.

use pgrx::datum::DatumWithOid;
use reground_grounding::settings::filter::{self, Condition, Test};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::sql;
use crate::store::corpora::{Corpus, operator_schema};

/// A filter that is resolved against one corpus.
#[derive(Default)]
pub struct Filter {
    conditions: Vec<(String, Test)>,
    operators: Vec<(String, String)>,
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
        let kind = |column: &str| {
            corpus
                .passage_columns
                .get(column)
                .map(|kind| ("p", kind))
                .or_else(|| corpus.document_columns.get(column).map(|kind| ("d", kind)))
        };
        let parsed = filter::parse(filter, |column| {
            kind(column).is_some_and(|(_, kind)| kind == "jsonb")
        })?;
        let mut resolved = Self::default();
        for Condition { column, test } in parsed {
            let (alias, kind) = kind(&column).ok_or_else(|| Error::NoColumn {
                column: column.clone(),
                relation: corpus.relation.clone().unwrap_or_default(),
            })?;
            let sql = match corpus.metadata() {
                Some(metadata) if corpus.managed && column == "metadata" => metadata,
                _ => format!("{alias}.{}", sql::ident(&column)),
            };
            resolved.conditions.push((sql, test));
            resolved
                .operators
                .push((operator_schema(kind)?, kind.clone()));
        }
        Ok(resolved)
    }

    /// Returns the clause; `true` without a filter. The numbers of its parameters begin with `first`.
    pub fn clause(&self, first: usize) -> String {
        if self.conditions.is_empty() {
            return "true".into();
        }
        self.conditions
            .iter()
            .zip(&self.operators)
            .enumerate()
            .map(|(index, ((column, test), (schema, kind)))| {
                let parameter = first + index;
                match test {
                    // Its parameter is not used.
                    Test::IsNull => format!("{column} IS NULL"),
                    Test::Compare(comparison, _) => format!(
                        "{column} OPERATOR({schema}.{}) ${parameter}::text::{kind}",
                        comparison.operator()
                    ),
                    Test::AnyOf(_) => format!(
                        "{column} OPERATOR({schema}.=) ANY (${parameter}::text[]::{kind}[])"
                    ),
                    Test::Contains(_) => {
                        format!("{column} @> ${parameter}::text::jsonb")
                    }
                }
            })
            .collect::<Vec<_>>()
            .join(" AND ")
    }

    /// Returns the values of the parameters, in order.
    pub fn args(&self) -> Vec<DatumWithOid<'static>> {
        self.conditions
            .iter()
            .map(|(_, test)| match test {
                Test::IsNull => DatumWithOid::null::<String>(),
                Test::Compare(_, value) => value.clone().into(),
                Test::AnyOf(values) => values.clone().into(),
                Test::Contains(value) => value.to_string().into(),
            })
            .collect()
    }
}
