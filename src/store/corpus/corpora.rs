//! The table `corpora`.

use std::cell::RefCell;
use std::collections::BTreeMap;

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use reground_grounding::settings::Settings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use super::missing_columns::map_command;
pub use super::relations::{
    Column, Corpus, INTEGERS, LONGEST_TITLE, Mapping, Past, Side, operator_schema,
};
pub use super::visible_rows::{PRINCIPALS_TYPES, TENANT_TYPES, holds_principals, holds_tenants};
use crate::error::{Error, Result};
use crate::run_as::as_owner;
use crate::sql::{self, CatalogCache, Record};
use crate::store::roles::Roles;

/// A corpus to be registered.
#[derive(Debug, Serialize)]
pub struct NewCorpus<'a> {
    pub tenant: Option<&'a str>,
    pub corpus: &'a str,
    pub relation: String,
    pub documents: Option<String>,
    pub history: Option<String>,
    pub managed: bool,
    pub mapping: &'a Mapping,
    pub dimensions: Option<i32>,
    pub embedding_type: Option<&'a str>,
    pub metric: &'a str,
    pub text_config: &'a str,
    pub title_weight: u8,
    pub keep_versions: Option<i32>,
    pub chunking: Value,
    pub settings: Value,
    pub embedding_model: Option<&'a str>,
    #[serde(skip)]
    pub roles: Roles,
}

/// A corpus that this role can read; `None` if the corpus, one of its relations or columns, or the privilege is missing, or if a
/// superuser would run code of other roles.
pub fn usable(tenant: &str, name: &str) -> Result<Option<Corpus>> {
    match load(tenant, name) {
        Ok(corpus) if corpus.is_readable()? => Ok(Some(corpus)),
        Ok(_)
        | Err(
            Error::UnknownCorpus(_)
            | Error::RelationGone(_)
            | Error::NoColumn { .. }
            | Error::MappedColumn { .. }
            | Error::UntrustedCode(_),
        ) => Ok(None),
        Err(error) => Err(error),
    }
}

/// As [`usable`], with hashes computed from the texts if the settings ask for that.
pub fn usable_under(settings: &Settings, tenant: &str, name: &str) -> Result<Option<Corpus>> {
    let corpus = usable(tenant, name)?;
    Ok(if settings.hashes_texts() {
        corpus.map(Corpus::hashed_by_us)
    } else {
        corpus
    })
}

/// Whether a corpus of `tenant` (`None`: a shared corpus) of this name would conflict with an existing one. A shared corpus conflicts with
/// those of all tenants.
pub fn is_taken(tenant: Option<&str>, name: &str) -> Result<bool> {
    Ok(as_owner(|| {
        sql::read_one::<bool>(
            "SELECT EXISTS (SELECT FROM reground.corpora WHERE corpus = $1 AND ($2::text IS NULL OR tenant IS NULL OR tenant = $2))",
            &[name.into(), tenant.into()],
        )
    })?
    .unwrap_or(false))
}

/// Expression for the types of the columns of a relation, as a jsonb object. Types outside `pg_catalog` are qualified, because it is
/// read under the pinned search_path.
const COLUMNS: &str = "(SELECT coalesce(jsonb_object_agg(a.attname, format_type(a.atttypid, -1)), '{}') \
     FROM pg_attribute AS a WHERE a.attrelid = RELATION::oid AND a.attnum > 0 AND NOT a.attisdropped)";

/// The corpus of this name that the tenant can see, if any: its own before a shared one.
pub fn find(tenant: &str, name: &str) -> Result<Option<Corpus>> {
    const VISIBLE: &str = "c.corpus = $1 AND (c.tenant IS NULL OR c.tenant = $2) ORDER BY c.tenant NULLS LAST LIMIT 1";
    let version: Option<String> = sql::read_one(
        &format!("SELECT {VERSION} FROM reground.corpora AS c WHERE {VISIBLE}"),
        &[name.into(), tenant.into()],
    )?;
    let Some(version) = version else {
        return Ok(None);
    };
    let read = |condition: &str, second: &str| {
        let query = select(condition);
        sql::with_pinned_path(|| sql::read_json(&query, &[name.into(), second.into()]))
    };
    let of_version = format!("c.corpus = $1 AND {VERSION} = $2");
    let key = (this_role(), version.clone());
    match sql::kept_by_statements(&FOUND, key, || read(&of_version, &version))? {
        // Another session has changed it since.
        None => read(VISIBLE, tenant),
        found => Ok(found),
    }
}

/// Expression for the version of a registration, and whether row-level security hides rows of its relations. The latter decides how
/// statements are planned, so it is never taken from what was kept.
const VERSION: &str = "concat_ws(' ', c.corpus_id, c.xmin, c.ctid, row_security_active(c.relation::oid), row_security_active(c.documents::oid))";

thread_local! {
    /// Corpora by role and version.
    static FOUND: RefCell<CatalogCache<(pg_sys::Oid, String), Option<Corpus>>> = RefCell::default();
}

/// The relation of a corpus of exactly this tenant, qualified and quoted; `None` if there is none.
pub fn relation_of(tenant: &str, name: &str) -> Result<Option<String>> {
    as_owner(|| {
        sql::read_one(
            "SELECT format('%I.%I', n.nspname, p.relname) FROM reground.corpora AS c JOIN pg_class AS p ON p.oid = c.relation::oid \
                 JOIN pg_namespace AS n ON n.oid = p.relnamespace WHERE c.corpus = $1 AND c.tenant = $2",
            &[name.into(), tenant.into()],
        )
    })
}

/// The corpus of this id, of any tenant.
pub fn by_id(corpus_id: i64) -> Result<Option<Corpus>> {
    as_owner(|| sql::write_json(&select("c.corpus_id = $1"), &[corpus_id.into()]))
}

/// Query for the corpora `c` under a condition.
fn select(condition: &str) -> String {
    format!(
        "SELECT row_to_json(r)::text FROM (SELECT c.corpus_id, c.tenant, c.corpus, c.managed, c.mapping, c.dimensions, c.embedding_type, \
             c.metric, c.text_config, c.title_weight, c.keep_versions, c.chunking, c.settings, c.embedding_model, c.next_embedding_model, \
             c.reranker_role::oid::bigint AS reranker_role, c.intent_role::oid::bigint AS intent_role, c.documents IS NOT NULL AS has_documents, \
             array_remove(ARRAY[c.relation::oid::bigint, c.documents::oid::bigint], NULL) AS tables, \
             (SELECT format('%I.%I', n.nspname, p.relname) FROM pg_class p \
                 JOIN pg_namespace n ON n.oid = p.relnamespace WHERE p.oid = c.relation::oid) AS relation, \
             (SELECT format('%I.%I', n.nspname, p.relname) FROM pg_class p \
                 JOIN pg_namespace n ON n.oid = p.relnamespace WHERE p.oid = c.documents::oid) AS documents, \
             (SELECT format('%I.%I', n.nspname, p.relname) FROM pg_class p \
                 JOIN pg_namespace n ON n.oid = p.relnamespace WHERE p.oid = c.history::oid) AS history, \
             EXISTS (SELECT FROM pg_class AS p WHERE p.oid IN (c.relation::oid, c.documents::oid) \
                 AND (p.relkind NOT IN ('r', 'p', 'm') OR row_security_active(p.oid))) AS has_policies, \
             coalesce((SELECT p.relkind IN ('r', 'p', 'm') AND has_table_privilege(p.oid, 'SELECT') FROM pg_class AS p WHERE p.oid = c.relation::oid), false) AS shows_addresses, \
             (SELECT quote_ident(n.nspname) FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname = 'vector') AS vector_schema, \
             {} AS passage_columns, {} AS document_columns \
         FROM reground.corpora AS c WHERE {condition}) AS r",
        COLUMNS.replace("RELATION", "c.relation"),
        COLUMNS.replace("RELATION", "c.documents"),
    )
}

/// Types of the columns of a relation.
pub fn columns_of(relation: &str) -> Result<BTreeMap<String, String>> {
    let statement = format!(
        "SELECT {}::text",
        COLUMNS.replace("RELATION", "to_regclass($1)")
    );
    let columns = sql::with_pinned_path(|| sql::read_json(&statement, &[relation.into()]))?;
    Ok(columns.unwrap_or_default())
}

/// The lock on the registration of a corpus, by purpose.
#[derive(Clone, Copy)]
pub enum Hold {
    /// For writing its relations: prevents that it is dropped.
    Write,
    /// For changing its registration: one session at a time.
    Alter,
    /// For dropping it: waits for all writers.
    Drop,
}

impl Hold {
    fn clause(self) -> &'static str {
        match self {
            Self::Write => "KEY SHARE",
            Self::Alter => "NO KEY UPDATE",
            Self::Drop => "UPDATE",
        }
    }
}

/// The corpus of this id, of any tenant, with its registration locked; `None` if it was dropped.
pub fn held_by_id(corpus_id: i64, hold: Hold) -> Result<Option<Corpus>> {
    as_owner(|| {
        sql::run(
            &format!(
                "SELECT FROM reground.corpora WHERE corpus_id = $1 FOR {}",
                hold.clause()
            ),
            &[corpus_id.into()],
        )
    })?;
    by_id(corpus_id)
}

/// The corpus of this name that the tenant can see, with its registration locked until the transaction ends. Every writer calls this
/// before it locks a relation, so that two writers cannot deadlock.
pub fn held(tenant: &str, name: &str, hold: Hold) -> Result<Corpus> {
    let lock = hold.clause();
    let unknown = || Error::UnknownCorpus(name.to_owned());
    as_owner(|| {
        sql::write_one::<i64>(
            &format!(
                "SELECT c.corpus_id FROM reground.corpora AS c WHERE c.corpus = $1 AND (c.tenant IS NULL OR c.tenant = $2) \
                 ORDER BY c.tenant NULLS LAST LIMIT 1 FOR {lock}"
            ),
            &[name.into(), tenant.into()],
        )
    })?
    .ok_or_else(unknown)?;
    // Read after the wait, because the previous holder of the lock may have changed the corpus.
    find(tenant, name)?.ok_or_else(unknown)
}

/// Lets other sessions that register a corpus of this name, for any tenant, wait until the transaction ends.
pub fn hold_name(name: &str) -> Result<()> {
    sql::lock_key("reground.corpora", 0, name)
}

/// The text search configuration of a corpus that the tenant can see.
pub fn text_config(tenant: &str, name: &str) -> Result<Option<String>> {
    sql::read_one(
        "SELECT c.text_config FROM reground.corpora AS c WHERE c.corpus = $1 AND (c.tenant IS NULL OR c.tenant = $2) \
         ORDER BY c.tenant NULLS LAST LIMIT 1",
        &[name.into(), tenant.into()],
    )
}

/// The corpus of this name.
///
/// # Errors
/// The corpus is unknown, or one of its relations or columns is missing.
pub fn load(tenant: &str, name: &str) -> Result<Corpus> {
    find(tenant, name)?
        .ok_or_else(|| Error::UnknownCorpus(name.to_owned()))?
        .in_place()
}

/// Names of the corpora that the tenant can see.
pub fn names(tenant: &str) -> Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Row {
        corpus: String,
    }
    let rows: Vec<Row> = sql::read_rows(
        "SELECT corpus FROM reground.corpora WHERE tenant IS NULL OR tenant = $1 ORDER BY corpus",
        &[tenant.into()],
    )?;
    Ok(rows.into_iter().map(|row| row.corpus).collect())
}

/// Names of the corpora that the tenant can see and that may hide rows from this role: by row-level security, as views, by columns of
/// tenants or principals, or because the role may not read them.
pub fn hiding(tenant: &str) -> Result<Vec<String>> {
    let names = sql::read_one::<Vec<String>>(
        "SELECT array_agg(DISTINCT c.corpus) FROM reground.corpora AS c WHERE (c.tenant IS NULL OR c.tenant = $1) \
         AND (c.mapping ?| '{tenant_column,principals_column}' \
             OR EXISTS (SELECT FROM pg_class AS r WHERE r.oid IN (c.relation::oid, c.documents::oid) \
                 AND (r.relkind NOT IN ('r', 'p', 'm') OR row_security_active(r.oid) \
                     OR NOT has_schema_privilege(r.relnamespace, 'USAGE') OR NOT has_table_privilege(r.oid, 'SELECT'))))",
        &[tenant.into()],
    )?;
    Ok(names.unwrap_or_default())
}

/// The stored row of a corpus as JSON, to compare with [`would_store`].
pub fn stored(tenant: &str, name: &str) -> Result<Option<Value>> {
    sql::read_json(
        "SELECT to_jsonb(r)::text FROM (SELECT c.tenant, c.corpus, c.relation::oid::bigint AS relation, c.documents::oid::bigint AS documents, \
             c.managed, c.mapping, c.dimensions, c.embedding_type, c.metric, c.text_config, c.title_weight, c.keep_versions, c.chunking, c.settings, c.embedding_model \
         FROM reground.corpora AS c WHERE c.corpus = $1 AND (c.tenant IS NULL OR c.tenant = $2) ORDER BY c.tenant NULLS LAST LIMIT 1) AS r",
        &[name.into(), tenant.into()],
    )
}

/// Columns of [`NewCorpus`], with the relations as text.
const NEW_CORPUS: Record = Record(&[
    "tenant text, corpus text, relation text, documents text, history text, managed boolean, mapping jsonb, dimensions integer, embedding_type text",
    "metric text, text_config text, title_weight integer, keep_versions integer, chunking jsonb, settings jsonb, embedding_model text",
]);

/// The row that a registration would store, in the form of [`stored`].
pub fn would_store(new: &NewCorpus<'_>) -> Result<Value> {
    let row = sql::json(new)?;
    Ok(sql::read_json(
        &format!(
            "SELECT to_jsonb(r)::text FROM (SELECT x.tenant, x.corpus, x.relation::regclass::oid::bigint AS relation, \
                 x.documents::regclass::oid::bigint AS documents, x.managed, x.mapping, x.dimensions, x.embedding_type, x.metric, x.text_config, x.title_weight, x.keep_versions, \
                 x.chunking, x.settings, x.embedding_model \
             FROM json_to_record($1::json) AS x({NEW_CORPUS})) AS r"
        ),
        &[row.into()],
    )?
    .unwrap_or_default())
}

/// Registers a corpus.
pub fn insert(new: &NewCorpus<'_>) -> Result<()> {
    let row = sql::json(new)?;
    let role = this_role();
    // The owner of our tables may not use the schema of the relations.
    let [relation, documents, history] = oids(new)?;
    as_owner(|| {
        sql::run(
            &format!(
                "INSERT INTO reground.corpora (tenant, corpus, relation, documents, history, managed, mapping, dimensions, embedding_type, metric, text_config, title_weight, \
                     keep_versions, chunking, settings, embedding_model, reranker_role, intent_role, mapped_by) \
                 SELECT x.tenant, x.corpus, $5::oid::regclass, $6::oid::regclass, $7::oid::regclass, x.managed, x.mapping, x.dimensions, x.embedding_type, x.metric, \
                     x.text_config, x.title_weight, x.keep_versions, x.chunking, x.settings, x.embedding_model, $2::oid::regrole, $3::oid::regrole, $4::oid::regrole \
                 FROM json_to_record($1::json) AS x({NEW_CORPUS})"
            ),
            &[
                row.into(),
                new.roles.reranker_role.map(pg_sys::Oid::from_u32).into(),
                new.roles.intent_role.map(pg_sys::Oid::from_u32).into(),
                role.into(),
                relation.into(),
                documents.into(),
                history.into(),
            ],
        )
    })?;
    Ok(())
}

/// The oids of the relations of a new corpus, resolved as the caller: of its passages, its documents and their history.
fn oids(new: &NewCorpus<'_>) -> Result<[Option<pg_sys::Oid>; 3]> {
    let names = [
        Some(&new.relation),
        new.documents.as_ref(),
        new.history.as_ref(),
    ];
    let mut oids = [None; 3];
    for (oid, name) in oids.iter_mut().zip(names) {
        if let Some(name) = name {
            *oid = sql::write_one("SELECT $1::regclass::oid", &[name.as_str().into()])?;
        }
    }
    Ok(oids)
}

/// Clears the role that mapped the columns of a corpus, if another role changes the mapping. Maintenance would otherwise read the new columns
/// with the rights of the first.
pub fn remapped(corpus_id: i64) -> Result<()> {
    let role = this_role();
    as_owner(|| {
        sql::run(
            "UPDATE reground.corpora AS c SET mapped_by = NULL WHERE c.corpus_id = $1 AND c.mapped_by::oid <> $2",
            &[corpus_id.into(), role.into()],
        )
    })?;
    Ok(())
}

fn this_role() -> pg_sys::Oid {
    // SAFETY: reads a variable of the backend.
    unsafe { pg_sys::GetUserId() }
}

/// Stores the properties that `alter_corpus` can change.
pub fn update(corpus: &Corpus) -> Result<()> {
    let args: [DatumWithOid<'_>; 13] = [
        corpus.corpus_id.into(),
        sql::json(&corpus.settings)?.into(),
        sql::json(&corpus.mapping)?.into(),
        corpus.metric.as_str().into(),
        corpus.text_config.as_str().into(),
        corpus.dimensions.into(),
        corpus.embedding_type.as_deref().into(),
        corpus.roles.reranker_role.map(pg_sys::Oid::from_u32).into(),
        corpus.roles.intent_role.map(pg_sys::Oid::from_u32).into(),
        corpus.embedding_model.as_deref().into(),
        corpus.next_embedding_model.as_deref().into(),
        i32::from(corpus.title_weight).into(),
        corpus.keep_versions.into(),
    ];
    as_owner(|| {
        sql::run(
            "UPDATE reground.corpora SET settings = $2::jsonb, mapping = $3::jsonb, metric = $4, text_config = $5, dimensions = $6, embedding_type = $7, \
                 reranker_role = $8::oid::regrole, intent_role = $9::oid::regrole, embedding_model = $10, next_embedding_model = $11, title_weight = $12, keep_versions = $13 \
             WHERE corpus_id = $1",
            &args,
        )
    })?;
    Ok(())
}

/// Deletes the registration of a corpus, with its rows in `documents` and `edges`.
pub fn delete(corpus_id: i64) -> Result<()> {
    as_owner(|| {
        sql::run(
            "DELETE FROM reground.corpora WHERE corpus_id = $1",
            &[corpus_id.into()],
        )
    })?;
    Ok(())
}
