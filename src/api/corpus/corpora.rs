//! Functions that create, register, change, drop and check corpora.

use std::ffi::CStr;

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_documents::{ChunkSettings, ChunkUnit};
use reground_grounding::settings::Settings;
use serde_json::{Value, json};

use crate::api::corpus::corpus_arguments::{
    checked_dimensions, checked_embedding_type, checked_keep_versions, checked_metric,
    checked_title_weight,
};
use crate::api::corpus::sync::triggers;
use crate::api::corpus::table_names::{relation_exists, table_names};
use crate::api::corpus::{embedding_model, embeddings};
use crate::api::turn::hooks;
use crate::api::{given, given_since_update, writable};
use crate::datum::Json;
use crate::error::{Error, Result, notice};
use crate::guc;
use crate::retrieve::managed::{Layout, Reading, RowColumns, TableNames};
use crate::retrieve::mapping::{
    check_documents_of_tenants, embedding_column, locate, remap, require_column,
};
use crate::retrieve::{check, managed, text_config};
use crate::rows;
use crate::session::with_settings;
use crate::sql;
use crate::store::corpora::{self, Column, Corpus, Hold, Mapping, NewCorpus, Side};
use crate::store::positions;
use crate::store::roles::Roles;
use crate::tenant;

#[pg_extern(sql = false)]
#[expect(clippy::too_many_arguments, reason = "the SQL signature")]
fn create_corpus(
    corpus: Option<&str>,
    dimensions: Option<i32>,
    schema: Option<&str>,
    embedding_type: Option<&str>,
    metric: Option<&str>,
    text_config: Option<pg_sys::Oid>,
    chunk_size: Option<i32>,
    chunk_overlap: Option<i32>,
    chunk_unit: Option<&str>,
    settings: Option<Json>,
    tenant: Option<&str>,
    text_config_per_document: Option<bool>,
    embedding_model: Option<&str>,
    title_weight: Option<i32>,
    tenant_column: Option<&str>,
    principals_column: Option<&str>,
    keep_versions: Option<i32>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("create_corpus")?;
    let distribute = given_since_update(fcinfo, 17, false, "distribute")?;
    if distribute && !sql::can_distribute() {
        return Err(Error::NoCitus.into());
    }
    let title_weight = checked_title_weight(given(title_weight, "title_weight")?)?;
    let per_document = given(text_config_per_document, "text_config_per_document")?;
    let name = named(corpus)?;
    let dimensions = embedding_model::dimensions(embedding_model, dimensions, name)?;
    let schema = given(schema, "schema")?;
    let metric = checked_metric(given(metric, "metric")?)?;
    let embedding_type = checked_embedding_type(given(embedding_type, "embedding_type")?)?;
    checked_dimensions(dimensions)?;
    let chunking = ChunkSettings::new(
        given(chunk_size, "chunk_size")?,
        given(chunk_overlap, "chunk_overlap")?,
        ChunkUnit::parse(given(chunk_unit, "chunk_unit")?).map_err(Error::from)?,
    )
    .map_err(Error::from)?;
    let (settings, roles) = checked_settings(settings)?;
    let text_config = text_config::name(given(text_config, "text_config")?)?;

    let columns = RowColumns {
        tenant: tenant_column,
        principals: principals_column,
    };
    corpora::hold_name(name)?;
    let tables = table_names(schema, name, tenant)?;
    let mapping = managed::mapping(dimensions.is_some(), per_document, columns);
    let new = NewCorpus {
        tenant,
        corpus: name,
        relation: tables.passages.clone(),
        documents: Some(tables.documents.clone()),
        history: Some(tables.history.clone()),
        managed: true,
        mapping: &mapping,
        dimensions,
        embedding_type: dimensions.map(|_| embedding_type),
        metric,
        text_config: &text_config,
        title_weight,
        keep_versions: checked_keep_versions(keep_versions)?,
        chunking: json!({"size": chunking.size, "overlap": chunking.overlap, "unit": chunking.unit}),
        settings,
        embedding_model,
        roles,
    };
    let layout = Layout {
        dimensions,
        embedding_type,
        columns,
        distribute,
    };
    create(&new, &tables, per_document, layout)?;
    Ok(())
}

/// Settings of Citus: the shards get our indexes, one after another. Over several connections to a server, Citus blocks itself when it
/// shortens the names of indexes.
const CREATING_SHARDS: [(&CStr, &CStr); 2] = [
    (c"citus.enable_ddl_propagation", c"on"),
    (c"citus.multi_shard_modify_mode", c"sequential"),
];

/// Makes the tables of a corpus and registers it, unless an equal one exists.
fn create(
    new: &NewCorpus<'_>,
    tables: &TableNames,
    per_document: bool,
    layout: Layout<'_>,
) -> Result<()> {
    match registered_alike(new)? {
        Some(corpus) if corpus.is_distributed()? == layout.distribute => Ok(()),
        Some(_) => Err(Error::CorpusExists(new.corpus.to_owned())),
        None => {
            make_tables(new, tables, per_document, layout)?;
            corpora::insert(new)?;
            embedding_model::begin(&owner_tenant(new.tenant)?, new.corpus)
        }
    }
}

/// The tenant whose corpora contain a corpus of `tenant`: the caller's, for a shared one.
fn owner_tenant(tenant: Option<&str>) -> Result<String> {
    match tenant {
        Some(tenant) => Ok(tenant.to_owned()),
        None => Ok(tenant::if_any()),
    }
}

/// Makes the tables of a managed corpus. Errors: 42P07 if one of them exists.
fn make_tables(
    new: &NewCorpus<'_>,
    tables: &TableNames,
    per_document: bool,
    layout: Layout<'_>,
) -> Result<()> {
    for relation in [&tables.passages, &tables.documents, &tables.history] {
        if relation_exists(relation)? {
            return Err(Error::RelationExists(relation.clone()));
        }
    }
    let reading = Reading {
        text_config: new.text_config,
        per_document,
        title_weight: new.title_weight,
    };
    let make = || managed::make_tables(tables, reading, layout);
    match layout.distribute {
        true => with_settings(&CREATING_SHARDS, make),
        false => make(),
    }
}

#[pg_extern(sql = false)]
#[expect(clippy::too_many_arguments, reason = "the SQL signature")]
fn add_corpus(
    corpus: Option<&str>,
    relation: Option<pg_sys::Oid>,
    chunk_id: Option<&str>,
    content: Option<&str>,
    doc_id: Option<&str>,
    embedding: Option<&str>,
    documents: Option<pg_sys::Oid>,
    documents_doc_id: Option<&str>,
    title: Option<&str>,
    uri: Option<&str>,
    published: Option<&str>,
    modified_at: Option<&str>,
    version: Option<&str>,
    ordinal: Option<&str>,
    page_start: Option<&str>,
    page_end: Option<&str>,
    page_count: Option<&str>,
    char_start: Option<&str>,
    char_end: Option<&str>,
    metadata: Option<&str>,
    metric: Option<&str>,
    text_config: Option<pg_sys::Oid>,
    settings: Option<Json>,
    tenant: Option<&str>,
    text_config_column: Option<&str>,
    embedding_model: Option<&str>,
    heading: Option<&str>,
    title_weight: Option<i32>,
    tenant_column: Option<&str>,
    principals_column: Option<&str>,
) -> std::result::Result<(), ErrorReport> {
    writable("add_corpus")?;
    let registration = Registration {
        tenant,
        corpus: named(corpus)?,
        relation: relation_name(given(relation, "relation")?)?,
        documents: documents.map(relation_name).transpose()?,
        metric: checked_metric(given(metric, "metric")?)?,
        text_config: text_config::name(given(text_config, "text_config")?)?,
        title_weight: checked_title_weight(given(title_weight, "title_weight")?)?,
        settings: checked_settings(settings)?,
        embedding,
        embedding_model,
    };
    if registration.documents.is_some() && (doc_id.is_none() || documents_doc_id.is_none()) {
        return Err(Error::Bad {
            argument: "documents",
            fault: "doc_id and documents_doc_id are needed to join it".into(),
            hint:
                "Name the column of relation as doc_id, and that of documents as documents_doc_id."
                    .into(),
        }
        .into());
    }
    let columns = [
        ("chunk_id", Some(given(chunk_id, "chunk_id")?)),
        ("content", Some(given(content, "content")?)),
        ("doc_id", doc_id),
        ("embedding", embedding),
        ("ordinal", ordinal),
        ("char_start", char_start),
        ("char_end", char_end),
        ("page_start", page_start),
        ("page_end", page_end),
        ("title", title),
        ("heading", heading),
        ("uri", uri),
        ("published", published),
        ("modified_at", modified_at),
        ("version", version),
        ("page_count", page_count),
        ("metadata", metadata),
        ("text_config_column", text_config_column),
        ("tenant_column", tenant_column),
        ("principals_column", principals_column),
    ];
    registration.add(&columns, documents_doc_id)?;
    Ok(())
}

/// The arguments of `add_corpus` without the mapped columns.
struct Registration<'a> {
    tenant: Option<&'a str>,
    corpus: &'a str,
    relation: String,
    documents: Option<String>,
    metric: &'a str,
    text_config: String,
    title_weight: u8,
    /// Settings, and the roles that call the functions in them.
    settings: (Value, Roles),
    embedding: Option<&'a str>,
    embedding_model: Option<&'a str>,
}

impl Registration<'_> {
    /// Registers the corpus, unless it is registered with equal arguments.
    fn add(self, columns: &[(&str, Option<&str>)], documents_doc_id: Option<&str>) -> Result<()> {
        let mapping = self.mapping(columns, documents_doc_id)?;
        let (embedding_type, dimensions) = match self.embedding {
            Some(column) => embedding_column(&self.relation, column)?,
            None => (None, None),
        };
        if embedding_type.is_some() {
            embedding_model::dimensions(self.embedding_model, dimensions, self.corpus)?;
        }
        let (settings, roles) = self.settings;
        let new = NewCorpus {
            tenant: self.tenant,
            corpus: self.corpus,
            relation: self.relation,
            documents: self.documents,
            history: None,
            managed: false,
            mapping: &mapping,
            dimensions,
            embedding_type: embedding_type.as_deref(),
            metric: self.metric,
            text_config: &self.text_config,
            title_weight: self.title_weight,
            keep_versions: None,
            chunking: json!({}),
            settings,
            embedding_model: self.embedding_model,
            roles,
        };
        if registered_alike(&new)?.is_none() {
            corpora::insert(&new)?;
            embedding_model::begin(&owner_tenant(new.tenant)?, new.corpus)?;
            if let Some(corpus) = corpora::find(&owner_tenant(new.tenant)?, new.corpus)? {
                suggest_indexes(&corpus)?;
            }
            // A role may register a table that it may not read.
            if let Some(corpus) = corpora::usable(&owner_tenant(new.tenant)?, new.corpus)?
                && corpus.embedding_kind().is_some()
                && !corpus.uses_a_model()
            {
                embeddings::adopt(&corpus)?;
            }
        }
        Ok(())
    }

    /// Finds the relation of each column.
    fn mapping(
        &self,
        columns: &[(&str, Option<&str>)],
        documents_doc_id: Option<&str>,
    ) -> Result<Mapping> {
        let mut mapping = Mapping::new();
        for &(meaning, column) in columns {
            if let Some(column) = column {
                let found = locate(&self.relation, self.documents.as_deref(), meaning, column)?;
                mapping.insert(meaning.to_owned(), found);
            }
        }
        if let (Some(documents), Some(column)) = (&self.documents, documents_doc_id) {
            require_column(documents, column)?;
            mapping.insert(
                "documents_doc_id".into(),
                Column {
                    side: Side::Documents,
                    column: column.into(),
                },
            );
        }
        check_documents_of_tenants(self.documents.as_deref(), &mapping)?;
        Ok(mapping)
    }
}

/// Prints the commands for missing indexes.
fn suggest_indexes(corpus: &Corpus) -> Result<()> {
    for finding in check::indexes(corpus)? {
        if let (Some(command), "warning") = (finding.hint, finding.status) {
            notice(format!("{}: {}", finding.item, finding.detail), &command);
        }
    }
    Ok(())
}

#[pg_extern(sql = false)]
#[expect(clippy::too_many_arguments, reason = "the SQL signature")]
fn alter_corpus(
    corpus: Option<&str>,
    settings: Option<Json>,
    mapping: Option<Json>,
    metric: Option<&str>,
    text_config: Option<pg_sys::Oid>,
    text_config_per_document: Option<bool>,
    embedding_model: Option<&str>,
    title_weight: Option<i32>,
    keep_versions: Option<i32>,
) -> std::result::Result<(), ErrorReport> {
    writable("alter_corpus")?;
    let name = named(corpus)?;
    let tenant = tenant::if_any();
    // The mapped columns need not exist: this function repairs a mapping with a missing column.
    let mut corpus = corpora::held(&tenant, name, Hold::Alter)?;
    if corpus.relation.is_none() {
        return Err(Error::RelationGone(corpus.name).into());
    }
    let were_titles = corpus.mapped_titles();
    if settings.is_some() {
        let changes = Json::object(settings, "settings")?;
        let merged = merged(corpus.settings, changes.clone());
        let (settings, roles) = hooks::registered(merged, &changes, corpus.roles)?;
        Settings::check(&settings).map_err(Error::from)?;
        check_target(&settings, &changes)?;
        corpus.settings = settings;
        corpus.roles = roles;
    }
    if let Some(changes) = Json::optional(mapping, "mapping")? {
        // The worker reads and writes the mapped columns as the owner of the table.
        if corpus.uses_a_model() {
            embedding_model::check_relation(&corpus)?;
        }
        remap(&mut corpus, &changes)?;
        // Other columns can have other positions.
        positions::forget_all(corpus.corpus_id)?;
        corpora::remapped(corpus.corpus_id)?;
    }
    if let Some(metric) = metric {
        corpus.metric = checked_metric(metric)?.to_owned();
    }
    corpus.keep_versions = checked_keep_versions(keep_versions)?.or(corpus.keep_versions);
    let was_weight = corpus.title_weight;
    if let Some(weight) = title_weight {
        corpus.title_weight = checked_title_weight(weight)?;
    }
    let config = match text_config {
        Some(config) => text_config::name(config)?,
        None => corpus.text_config.clone(),
    };
    let same_config = config == corpus.text_config;
    read_by(&mut corpus, config, text_config_per_document, was_weight)?;
    if let Some(model) = embedding_model {
        embedding_model::assign(&mut corpus, model)?;
    }
    corpora::update(&corpus)?;
    if corpus.mapped_titles() != were_titles {
        embedding_model::texts_changed(&corpus)?;
    }
    if (corpus.title_weight != was_weight || !same_config) && !corpus.managed {
        suggest_indexes(&corpus)?;
    }
    Ok(())
}

/// Changes how the texts of a corpus are read. Rebuilds the lexemes and the index of tables made by create_corpus where that is needed.
fn read_by(
    corpus: &mut Corpus,
    text_config: String,
    per_document: Option<bool>,
    was_weight: u8,
) -> Result<()> {
    let was_per_document = corpus.mapping.contains_key("text_config_column");
    let per_document = match per_document {
        Some(_) if !corpus.managed => {
            return Err(Error::Bad {
                argument: "text_config_per_document",
                fault: "create_corpus did not make the tables".into(),
                hint: "Map the column with the configuration of each row: mapping => '{\"text_config_column\": \"lang\"}'.".into(),
            });
        }
        Some(per_document) => per_document,
        None => was_per_document,
    };
    let reading = Reading {
        text_config: &text_config,
        per_document,
        title_weight: corpus.title_weight,
    };
    let is_changed = (&text_config, per_document) != (&corpus.text_config, was_per_document);
    // DROP TEXT SEARCH CONFIGURATION … CASCADE takes the generated column with it.
    let is_damaged = corpus.column_type("lexemes").is_none();
    if corpus.managed && (is_changed || is_damaged) {
        managed::reread(corpus, reading)?;
        // The column of the embeddings can have another name since a change of the model.
        let kept = [
            "embedding",
            "next_embedding",
            "tenant_column",
            "principals_column",
        ]
        .map(|meaning| corpus.mapping.remove_entry(meaning));
        corpus.mapping = managed::mapping(false, per_document, RowColumns::default());
        corpus.mapping.extend(kept.into_iter().flatten());
    } else if corpus.managed && was_weight != corpus.title_weight {
        managed::reindex(corpus, reading)?;
    }
    corpus.text_config = text_config;
    Ok(())
}

#[pg_extern(sql = false)]
fn drop_corpus(
    corpus: Option<&str>,
    drop_tables: Option<bool>,
) -> std::result::Result<(), ErrorReport> {
    writable("drop_corpus")?;
    let name = named(corpus)?;
    let tenant = tenant::if_any();
    // Before the registration is locked: a writer of the table locks the table first.
    if let Some(corpus) = corpora::find(&tenant, name)? {
        triggers::drop_all(corpus.corpus_id)?;
    }
    let corpus = corpora::held(&tenant, name, Hold::Drop)?;
    if given(drop_tables, "drop_tables")? && corpus.managed {
        let tables = [&corpus.relation, &corpus.documents, &corpus.history];
        for relation in tables.into_iter().flatten() {
            sql::run_ddl(&format!("DROP TABLE {relation}"))?;
        }
    }
    corpora::delete(corpus.corpus_id)?;
    Ok(())
}

#[pg_extern(sql = false)]
fn check_corpus(
    corpus: Option<&str>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let name = named(corpus)?;
    let corpus = corpora::find(&tenant::if_any(), name)?
        .ok_or_else(|| Error::UnknownCorpus(name.to_owned()))?;
    rows::emit(fcinfo, &check::findings(&corpus)?)?;
    Ok(())
}

/// A corpus name that is given and not empty.
pub(in crate::api) fn named(corpus: Option<&str>) -> Result<&str> {
    match given(corpus, "corpus")? {
        "" => Err(Error::Bad {
            argument: "corpus",
            fault: "the name is empty".into(),
            hint: String::new(),
        }),
        name => Ok(name),
    }
}

/// Checks settings; returns them with the roles that call the functions in them.
fn checked_settings(settings: Option<Json>) -> Result<(Value, Roles)> {
    let settings = Json::object(settings, "settings")?;
    let (settings, roles) = hooks::registered(settings.clone(), &settings, Roles::default())?;
    Settings::check(&settings)?;
    check_target(&settings, &settings)?;
    Ok((settings, roles))
}

/// Checks that changes to the settings of a corpus leave an accuracy_target that turns can reach. Errors: 22023.
fn check_target(settings: &Value, changes: &Value) -> Result<()> {
    if !Settings::changes_target(changes) {
        return Ok(());
    }
    let server = guc::turn_settings();
    let layers = [("server", &server), ("corpus", settings)];
    Ok(Settings::check_target(&layers)?)
}

/// Qualified and quoted name of a relation.
fn relation_name(relation: pg_sys::Oid) -> Result<String> {
    sql::read_one(
        "SELECT pg_catalog.format('%I.%I', n.nspname, c.relname) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
         WHERE c.oid = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')",
        &[relation.into()],
    )?
    .ok_or_else(|| Error::Unknown("table or view", relation.to_u32().to_string()))
}

/// The corpus of an equal registration, if it exists. Errors: 42710 if a different one has the name.
fn registered_alike(new: &NewCorpus<'_>) -> Result<Option<Corpus>> {
    corpora::hold_name(new.corpus)?;
    let tenant = owner_tenant(new.tenant)?;
    if let Some(stored) = corpora::stored(&tenant, new.corpus)? {
        let registered = corpora::find(&tenant, new.corpus)?;
        if registered.as_ref().is_some_and(Corpus::is_gone) {
            return Err(Error::RelationGone(new.corpus.to_owned()));
        }
        let mut exists = true;
        for relation in [Some(&new.relation), new.documents.as_ref()]
            .into_iter()
            .flatten()
        {
            exists &= relation_exists(relation)?;
        }
        if exists && corpora::would_store(new)? == stored {
            return Ok(registered);
        }
    }
    if corpora::is_taken(new.tenant, new.corpus)? {
        return Err(Error::CorpusExists(new.corpus.to_owned()));
    }
    Ok(None)
}

/// Merges changes into an object; null removes a member.
pub(in crate::api) fn merged(base: Value, changes: Value) -> Value {
    match (base, changes) {
        (Value::Object(mut base), Value::Object(changes)) => {
            for (name, value) in changes {
                if value.is_null() {
                    base.remove(&name);
                } else {
                    base.insert(name, value);
                }
            }
            Value::Object(base)
        }
        (_, changes) => changes,
    }
}
