//! Checks of the relations of a corpus against the catalog: existence, privileges and owners.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::relations::{Corpus, Side};
use crate::error::{Error, Result};
use crate::run_as::as_owner;
use crate::session::with_latest_snapshot;
use crate::sql::{self, CatalogCache};
use crate::tenant;

impl Corpus {
    /// Returns the corpus if its relations and mapped columns exist, and a superuser may read them safely.
    pub fn in_place(self) -> Result<Self> {
        if self.is_gone() {
            return Err(Error::RelationGone(self.name));
        }
        // Only the worker needs the column of a model that is not in use yet.
        let needed = self
            .mapping
            .iter()
            .filter(|(meaning, _)| *meaning != "next_embedding");
        for (meaning, column) in needed {
            let (columns, relation) = match column.side {
                Side::Passages => (&self.passage_columns, &self.relation),
                Side::Documents => (&self.document_columns, &self.documents),
            };
            if !columns.contains_key(&column.column) {
                let (_, repair) = self.repair_column(meaning, column.side, columns);
                return Err(Error::MappedColumn {
                    column: column.column.clone(),
                    relation: relation.clone().unwrap_or_default(),
                    hint: match self.managed {
                        true => repair,
                        false => format!("If it was renamed, run: {repair}"),
                    },
                });
            }
        }
        if self.is_refused()? {
            return Err(Error::UntrustedCode(self.name));
        }
        Ok(self)
    }

    /// The relations that searches read: with the table of earlier passages for an earlier time.
    fn read_relations(&self) -> impl Iterator<Item = &String> {
        let history = self.history.as_ref().filter(|_| self.past.is_some());
        [&self.relation, &self.documents]
            .into_iter()
            .flatten()
            .chain(history)
    }

    /// Whether row-level security hides passages of this role, but not passages of earlier versions.
    pub fn reveals_history(&self) -> Result<bool> {
        self.lacks_policies(self.history.as_deref())
    }

    /// Whether the texts of documents could reveal passages that row-level security hides.
    pub fn reveals_documents(&self) -> Result<bool> {
        self.lacks_policies(self.documents.as_deref())
    }

    /// Whether row-level security applies to the passages and not to another table of the corpus.
    fn lacks_policies(&self, other: Option<&str>) -> Result<bool> {
        let reveals = sql::read_one::<bool>(
            "SELECT row_security_active(to_regclass($1)::oid) AND NOT row_security_active(to_regclass($2)::oid)",
            &[self.relation.as_deref().into(), other.into()],
        )?;
        Ok(reveals != Some(false))
    }

    /// Whether a superuser would run code of other roles by reading the relations.
    pub fn is_refused(&self) -> Result<bool> {
        if !sql::is_session_of_superuser() {
            return Ok(false);
        }
        // Without the locks and the snapshot, the owner could replace a table by a view unseen.
        for relation in self.read_relations() {
            sql::lock_relation(relation)?;
        }
        Ok(!with_latest_snapshot(|| self.untrusted_owners())?.is_empty())
    }

    /// Owners, other than superusers, of code that runs with the caller's rights when the relations are read: functions of a view, and
    /// casts of column types, and domains, whose base may have checks. The elements, arrays, bases and fields of a column's type count
    /// too: a conversion to JSON calls the casts of fields, and a filter with a list casts to the array. Nested views, index expressions
    /// and triggers are not considered.
    fn untrusted_owners(&self) -> Result<BTreeSet<String>> {
        let mut owners = BTreeSet::new();
        for relation in self.read_relations() {
            let found =
                sql::kept_by_statements(&OWNERS, relation.clone(), || untrusted_owners(relation))?;
            owners.extend(found);
        }
        Ok(owners)
    }

    /// Owners of such code other than this role.
    pub fn other_owners(&self) -> Result<BTreeSet<String>> {
        let mut owners = self.untrusted_owners()?;
        owners.remove(&tenant::role());
        Ok(owners)
    }

    /// Locks the relations until the transaction ends, so that they stay what a check has found.
    pub fn lock(&self) -> Result<()> {
        self.read_relations()
            .try_for_each(|relation| sql::lock_relation(relation))
    }

    /// Whether the relations are tables of one owner, and the role that mapped their columns has the rights of that owner.
    pub fn is_mapped_by_owner(&self) -> Result<bool> {
        let names: BTreeSet<String> = self.read_relations().cloned().collect();
        let count = i64::try_from(names.len()).unwrap_or(i64::MAX);
        let names: Vec<String> = names.into_iter().collect();
        let is = as_owner(|| {
            with_latest_snapshot(|| {
                sql::read_one::<bool>(
                    "SELECT count(*) = $3 AND count(DISTINCT c.relowner) = 1 \
                         AND bool_and(c.relkind IN ('r', 'p') AND coalesce(pg_has_role(k.mapped_by::oid, c.relowner, 'USAGE'), false)) \
                     FROM reground.corpora AS k JOIN pg_class AS c ON c.oid IN (k.relation::oid, k.documents::oid) \
                         JOIN pg_namespace AS n ON n.oid = c.relnamespace \
                     WHERE k.corpus_id = $1 AND format('%I.%I', n.nspname, c.relname) = ANY ($2)",
                    &[self.corpus_id.into(), names.into(), count.into()],
                )
            })
        })?;
        Ok(is == Some(true))
    }

    /// Whether this role may read the relations.
    pub fn is_readable(&self) -> Result<bool> {
        for relation in self.read_relations() {
            let may = sql::read_one::<bool>(
                "SELECT has_schema_privilege(c.relnamespace, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') \
                 FROM pg_class AS c WHERE c.oid = to_regclass($1)::oid",
                &[relation.as_str().into()],
            )?;
            if may != Some(true) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether rows may be hidden from this role, by row-level security, by a view, or by the column of tenants or principals.
    pub fn may_hide_rows(&self) -> Result<bool> {
        if self.restricts_rows() {
            return Ok(true);
        }
        for relation in [&self.relation, &self.documents].into_iter().flatten() {
            let hides = sql::read_one::<bool>(
                "SELECT c.relkind NOT IN ('r', 'p', 'm') OR row_security_active(c.oid) FROM pg_class AS c WHERE c.oid = to_regclass($1)",
                &[relation.as_str().into()],
            )?;
            if hides != Some(false) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether this role may write the passages.
    pub fn is_writable(&self) -> Result<bool> {
        Ok(sql::read_one::<bool>(
            "SELECT has_table_privilege(to_regclass($1), 'INSERT, UPDATE')",
            &[self.relation.as_deref().into()],
        )?
        .unwrap_or(false))
    }

    /// Whether this role may delete rows of its relations.
    pub fn is_deletable(&self) -> Result<bool> {
        let tables = [&self.relation, &self.documents, &self.history];
        for relation in tables.into_iter().flatten() {
            let may = sql::read_one::<bool>(
                "SELECT has_table_privilege(to_regclass($1), 'DELETE')",
                &[relation.as_str().into()],
            )?;
            if may != Some(true) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether this role owns the relation of the passages or is a member of the owner.
    pub fn is_owned(&self) -> Result<bool> {
        Ok(sql::read_one::<bool>(
            "SELECT pg_has_role(c.relowner, 'USAGE') FROM pg_class AS c WHERE c.oid = to_regclass($1)",
            &[self.relation.as_deref().into()],
        )?
        .unwrap_or(false))
    }
}

thread_local! {
    /// The owners of code in a relation, by its name.
    static OWNERS: RefCell<CatalogCache<String, Vec<String>>> = RefCell::default();
}

/// As [`Corpus::untrusted_owners`], for one relation.
fn untrusted_owners(relation: &str) -> Result<Vec<String>> {
    // Its generic plan is cheap, so PostgreSQL keeps it. OFFSET 0 makes it look up each type by its oid. Types below 16384 are built in,
    // and contain only such types.
    let found: Option<Vec<String>> = sql::read_json(
        "SELECT json_agg(o.rolname)::text FROM ( \
             SELECT r.rolname FROM pg_class AS c JOIN pg_roles AS r ON r.oid = c.relowner AND NOT r.rolsuper \
             WHERE c.oid = to_regclass($1)::oid AND c.relkind = 'v' \
             UNION ALL \
             SELECT u.rolname FROM ( \
                 WITH RECURSIVE parts (oid) AS ( \
                     SELECT a.atttypid FROM pg_attribute AS a \
                     WHERE a.attrelid = to_regclass($1)::oid AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid >= 16384::oid \
                     UNION \
                     SELECT v.oid FROM parts AS p CROSS JOIN LATERAL ( \
                         SELECT unnest(ARRAY[e.typelem, e.typarray, e.typbasetype] \
                             || ARRAY(SELECT f.atttypid FROM pg_attribute AS f WHERE f.attrelid = e.typrelid AND f.attnum > 0 AND NOT f.attisdropped)) \
                         FROM pg_type AS e WHERE e.oid = p.oid OFFSET 0) AS v (oid) \
                     WHERE v.oid >= 16384::oid) \
                 SELECT p.oid FROM parts AS p) AS p \
             CROSS JOIN LATERAL ( \
                 SELECT r.rolname FROM pg_type AS t JOIN pg_roles AS r ON r.oid = t.typowner AND NOT r.rolsuper \
                 WHERE t.oid = p.oid AND (t.typtype = 'd' \
                     OR EXISTS (SELECT FROM pg_cast AS k WHERE t.oid IN (k.castsource, k.casttarget) AND k.castfunc <> 0)) OFFSET 0) AS u \
         ) AS o",
        &[relation.into()],
    )?;
    Ok(found.unwrap_or_default())
}
