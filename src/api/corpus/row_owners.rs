//! The tenant and the principals of the rows that `put_document` writes.

use pgrx::datum::DatumWithOid;

use crate::api::given;
use crate::error::{Error, Result};
use crate::sql;
use crate::store::corpora::Corpus;
use crate::store::documents::Current;

/// Values of the columns with the tenant and the principals; `None` for a column that the corpus does not have.
#[derive(Clone, Default)]
pub struct RowOwners {
    tenant: Option<String>,
    principals: Option<Vec<String>>,
}

impl RowOwners {
    /// Returns the current tenant, and the given principals or else those of the document, which must be locked.
    ///
    /// # Errors
    /// 22023 for principals that the corpus has no column for, and for a new document without principals; 22004 for NULL in the array;
    /// 55000 if no tenant is set.
    pub fn of(
        corpus: &Corpus,
        doc_id: &str,
        latest: Option<&Current>,
        principals: Option<Vec<Option<String>>>,
    ) -> Result<Self> {
        let has_column = corpus.mapping.contains_key("principals_column");
        if principals.is_some() && !has_column {
            return Err(Error::Bad {
                argument: "principals",
                fault: format!("corpus \"{}\" has no column for them", corpus.name),
                hint: "Create the corpus with principals_column => ….".into(),
            });
        }
        let principals = match principals {
            Some(names) => {
                let names = names.into_iter();
                let names = names.map(|name| given(name, "an element of principals"));
                Some(names.collect::<Result<Vec<String>>>()?)
            }
            None => present_principals(corpus, doc_id, latest)?,
        };
        Ok(Self {
            tenant: match corpus.has_tenants() {
                true => corpus.row_tenant()?,
                false => None,
            },
            principals,
        })
    }

    /// Returns the tenant and the principals of a row of a synchronised table, for the columns that the corpus has.
    ///
    /// # Errors
    /// 22004 without a tenant that the corpus has a column for.
    pub fn of_row(
        corpus: &Corpus,
        tenant: Option<&str>,
        principals: Option<Vec<String>>,
    ) -> Result<Self> {
        let tenant = match corpus.has_tenants() {
            true => Some(
                tenant
                    .ok_or(Error::Null("the tenant of the row"))?
                    .to_owned(),
            ),
            false => None,
        };
        let has_column = corpus.mapping.contains_key("principals_column");
        Ok(Self {
            tenant,
            principals: has_column.then(|| principals.unwrap_or_default()),
        })
    }

    /// The tenant, if the corpus has a column for it.
    pub fn tenant(&self) -> Option<&str> {
        self.tenant.as_deref()
    }

    /// Returns the names and the parameters of the columns, each after a comma. `before` is the number of the parameters before them.
    pub fn columns(&self, corpus: &Corpus, before: usize) -> (String, String) {
        let present = [
            ("tenant_column", self.tenant.is_some()),
            ("principals_column", self.principals.is_some()),
        ];
        let present = present.into_iter().filter(|(_, is_there)| *is_there);
        let columns = present.filter_map(|(meaning, _)| corpus.mapping.get(meaning));
        let mut names = String::new();
        let mut values = String::new();
        for (column, number) in columns.zip(before + 1..) {
            names.push_str(&format!(", {}", sql::ident(&column.column)));
            values.push_str(&format!(", ${number}"));
        }
        (names, values)
    }

    /// Returns the values of the columns, in their order.
    pub fn args(&self) -> impl Iterator<Item = DatumWithOid<'static>> {
        let tenant = self.tenant.clone().map(DatumWithOid::from);
        let principals = self.principals.clone().map(DatumWithOid::from);
        tenant.into_iter().chain(principals)
    }

    /// Sets the principals of a document in all its versions, so that a permission that is withdrawn covers the earlier ones too.
    pub fn set_principals(&self, corpus: &Corpus, doc_id: &str) -> Result<()> {
        let (Some(principals), Some(column)) =
            (&self.principals, corpus.mapping.get("principals_column"))
        else {
            return Ok(());
        };
        let name = sql::ident(&column.column);
        let tables = [&corpus.relation, &corpus.documents, &corpus.history];
        for relation in tables.into_iter().flatten() {
            sql::run(
                &format!(
                    "UPDATE {relation} AS x SET {name} = $2 WHERE x.doc_id = $1 AND x.{name} IS DISTINCT FROM $2"
                ),
                &[doc_id.into(), principals.clone().into()],
            )?;
        }
        Ok(())
    }
}

/// The principals of the latest version of a document, deleted or not; `None` if the corpus has no column for them.
///
/// # Errors
/// 22023 if there is no version: without principals, nobody could read the document. 42501 if a policy hides the version.
fn present_principals(
    corpus: &Corpus,
    doc_id: &str,
    latest: Option<&Current>,
) -> Result<Option<Vec<String>>> {
    let Some(column) = corpus.mapping.get("principals_column") else {
        return Ok(None);
    };
    let Some(latest) = latest else {
        return Err(Error::Bad {
            argument: "principals",
            fault: format!("none are given for the new document \"{doc_id}\""),
            hint: "Pass the users and groups that may read it, or '{}' if nobody may.".into(),
        });
    };
    let present = sql::write_one::<Vec<String>>(
        &format!(
            "SELECT coalesce(array_remove(d.{}::text[], NULL), '{{}}') FROM {} AS d WHERE d.doc_id = $1 AND d.version = $2",
            sql::ident(&column.column),
            corpus.documents.as_deref().unwrap_or_default()
        ),
        &[doc_id.into(), latest.version.into()],
    )?;
    present
        .map(Some)
        .ok_or_else(|| Error::DocumentOfOtherPrincipals {
            corpus: corpus.name.clone(),
            doc_id: doc_id.to_owned(),
        })
}
