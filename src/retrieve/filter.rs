//! A filter as a WHERE clause. Columns come from the catalog and are quoted, values are bound.

use pgrx::datum::DatumWithOid;
use reground_grounding::settings::filter::{self, Condition, Test};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::sql;
use crate::store::corpora::{Corpus, operator_schema};

/// A filter against one corpus, ready to be put into a statement.
#[derive(Default)]
pub struct Filter {
    conditions: Vec<(String, Test)>,
    operators: Vec<(String, String)>,
}

impl Filter {
    /// Resolves the columns of a filter: those of the passages' relation first, then of the documents'.
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

    /// The clause, `true` when nothing is filtered; parameters are numbered from `first`.
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
                    // The parameter is bound all the same: numbering stays plain.
                    Test::IsNull => format!("({column} IS NULL AND ${parameter}::text IS NULL)"),
                    Test::Compare(comparison, _) => format!(
                        "{column} OPERATOR({schema}.{}) ${parameter}::text::{kind}",
                        comparison.operator()
                    ),
                    Test::AnyOf(_) => format!(
                        "{column} OPERATOR({schema}.=) ANY (${parameter}::text[]::{kind}[])"
                    ),
                    Test::Contains(_) => {
                        format!("{column} @> ${parameter}::text::pg_catalog.jsonb")
                    }
                }
            })
            .collect::<Vec<_>>()
            .join(" AND ")
    }

    /// The values, in the order of [`Filter::clause`].
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
