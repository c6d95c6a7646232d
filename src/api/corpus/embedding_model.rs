//! The embedding model of a corpus: its first one, and the change to another.

use reground_models::kind::Kind;
use reground_models::registration::Registration;

use crate::api::models::embeddings::count;
use crate::error::{Error, Result, notice};
use crate::sql;
use crate::store::corpora::{self, Column, Corpus, Side};
use crate::store::models::{embeddings, registry, tasks};

/// Dimensions of the embeddings of a new corpus: those of its model, if it names one.
pub(in crate::api) fn dimensions(
    model: Option<&str>,
    given: Option<i32>,
    corpus: &str,
) -> Result<Option<i32>> {
    let Some(model) = model else {
        return Ok(given);
    };
    let model = registry::with_task(model, Kind::Embed)?;
    match (given, model.dimensions) {
        (Some(given), Some(expected)) if given != expected => Err(Error::Dimensions {
            corpus: corpus.to_owned(),
            expected,
            given: usize::try_from(given).unwrap_or_default(),
        }),
        (_, expected) => Ok(expected),
    }
}

/// Lets workers keep the embeddings of a corpus up to date that was just registered with a model.
pub(in crate::api) fn begin(tenant: &str, name: &str) -> Result<()> {
    let Some(mut corpus) = corpora::find(tenant, name)? else {
        return Ok(());
    };
    if let Some(model) = corpus.embedding_model.take() {
        assign(&mut corpus, &model)?;
        corpora::update(&corpus)?;
    }
    Ok(())
}

/// Makes `model` the embedding model of a corpus, now or when it has embedded all passages; an empty name leaves the embeddings to the
/// application.
///
/// # Errors
/// P0002 for an unknown model, 22023 for one with another task, 42501 if the caller does not own the relation, 55000 if there is no
/// column for the vectors.
pub(in crate::api) fn assign(corpus: &mut Corpus, model: &str) -> Result<()> {
    if model.is_empty() {
        return release(corpus);
    }
    let model = registry::with_task(model, Kind::Embed)?;
    check_relation(corpus)?;
    if corpus.embedding_model.as_deref() == Some(&*model.model) {
        corpus.mapping.remove("next_embedding");
        return cancel_next(corpus);
    }
    if corpus.next_embedding_model.as_deref() == Some(&*model.model) {
        return Ok(());
    }
    if !corpus.mapping.contains_key("embedding") && corpus.managed {
        add_column(corpus, "embedding", &model)?;
        corpus.dimensions = model.dimensions;
        corpus.embedding_type = Some("vector".to_owned());
    }
    corpus.embedding_column()?;
    let fits = corpus.dimensions.is_none() || corpus.dimensions == model.dimensions;
    if corpus.embedding_model.is_none() && fits {
        corpus.embedding_model = Some(model.model.clone());
        embeddings::take_over(corpus.corpus_id, &model.model)?;
    } else {
        cancel_next(corpus)?;
        make_next(corpus, &model)?;
    }
    let (passages, stale) = count(corpus, &model.model)?;
    embeddings::begin_checks(corpus.corpus_id, &model.model, passages, stale)?;
    tasks::notify()
}

/// Lets the passages of a corpus be embedded again after a change of the embedded texts. Workers find the changed texts; otherwise a
/// notice says what the application has to do.
pub(in crate::api) fn texts_changed(corpus: &Corpus) -> Result<()> {
    embeddings::compare_again(corpus.corpus_id)?;
    if corpus.embedding_model.is_none() && corpus.mapping.contains_key("embedding") {
        notice(
            format!(
                "the text that is embedded of the passages of corpus \"{}\" has changed",
                corpus.name
            ),
            "Embed what reground.pending_embeddings returns.",
        );
    }
    Ok(())
}

/// Leaves the embeddings to the application.
fn release(corpus: &mut Corpus) -> Result<()> {
    corpus.mapping.remove("next_embedding");
    cancel_next(corpus)?;
    match corpus.embedding_model.take() {
        Some(model) => embeddings::end_checks(corpus.corpus_id, &model),
        None => Ok(()),
    }
}

/// Stops the change to another model. Its column stays, without a meaning.
fn cancel_next(corpus: &mut Corpus) -> Result<()> {
    let Some(model) = corpus.next_embedding_model.take() else {
        return Ok(());
    };
    embeddings::end_checks(corpus.corpus_id, &model)
}

/// Checks that workers can write the relation as its owner, and that the caller may allow that.
pub(in crate::api) fn check_relation(corpus: &Corpus) -> Result<()> {
    let relation = corpus.relation.as_deref().unwrap_or_default();
    if !corpus.is_owned()? {
        return Err(Error::NotOwner(relation.to_owned()));
    }
    let is_table = sql::read_one::<bool>(
        "SELECT c.relkind IN ('r', 'p') FROM pg_catalog.pg_class AS c WHERE c.oid = pg_catalog.to_regclass($1)",
        &[relation.into()],
    )?;
    match is_table {
        Some(true) => Ok(()),
        _ => Err(Error::NotEmbeddable {
            corpus: corpus.name.clone(),
            problem: format!("{relation} is not a table"),
            hint: "Only the embeddings of tables are kept up to date. For a view, embed the table below it.".into(),
        }),
    }
}

/// Prepares a column for the vectors of the next model.
fn make_next(corpus: &mut Corpus, model: &Registration) -> Result<()> {
    if corpus.managed {
        let before = corpus
            .mapping
            .get("embedding")
            .map(|column| column.column.clone());
        let name = unused_name(corpus);
        add_column(corpus, &name, model)?;
        copy_indexes(corpus, &before.unwrap_or_default(), &name)?;
        let column = Column {
            side: Side::Passages,
            column: name,
        };
        corpus.mapping.insert("next_embedding".into(), column);
    } else {
        check_next(corpus, model)?;
    }
    corpus.next_embedding_model = Some(model.model.clone());
    Ok(())
}

/// Checks the column that the owner of a registered table has mapped for the next model.
fn check_next(corpus: &Corpus, model: &Registration) -> Result<()> {
    let dimensions = model.dimensions.unwrap_or_default();
    let relation = corpus.relation.as_deref().unwrap_or_default();
    let Some(column) = corpus.mapping.get("next_embedding") else {
        let kind = corpus.vectors("embedding")?.kind;
        let name = unused_name(corpus);
        return Err(Error::NotEmbeddable {
            corpus: corpus.name.clone(),
            problem: "the vectors of the new model need a column of their own".into(),
            hint: format!(
                "ALTER TABLE {relation} ADD COLUMN {name} {kind}({dimensions}); create its index as on the present column; then \
                 SELECT reground.alter_corpus({}, mapping => '{{\"next_embedding\": \"{name}\"}}', embedding_model => {});",
                sql::literal(&corpus.name),
                sql::literal(&model.model)
            ),
        });
    };
    let (_, declared) = crate::retrieve::mapping::embedding_column(relation, &column.column)?;
    match declared {
        Some(other) if other != dimensions => Err(Error::NotEmbeddable {
            corpus: corpus.name.clone(),
            problem: format!(
                "column {} has {other} dimensions, the model {dimensions}",
                column.column
            ),
            hint: "Map a column with the dimensions of the model as next_embedding.".into(),
        }),
        _ => Ok(()),
    }
}

/// A name for a further column of vectors.
fn unused_name(corpus: &Corpus) -> String {
    let names = (2..).map(|number| format!("embedding_{number}"));
    let mut unused = names.filter(|name| !corpus.passage_columns.contains_key(name));
    unused.next().unwrap_or_default()
}

/// Adds a column for the vectors of a model to the table of a managed corpus.
fn add_column(corpus: &mut Corpus, name: &str, model: &Registration) -> Result<()> {
    let relation = corpus.relation.clone().unwrap_or_default();
    let schema = crate::retrieve::vector_schema()?;
    let kind = corpus
        .embedding_type
        .clone()
        .unwrap_or_else(|| "vector".to_owned());
    let dimensions = model.dimensions.unwrap_or_default();
    sql::run_ddl(&format!(
        "ALTER TABLE {relation} ADD COLUMN {} {schema}.{kind}({dimensions})",
        sql::ident(name)
    ))?;
    if name == "embedding" {
        sql::run_ddl(&format!(
            "ALTER TABLE {relation} ADD COLUMN embedding_model text"
        ))?;
        let column = Column {
            side: Side::Passages,
            column: name.to_owned(),
        };
        corpus.mapping.insert(name.to_owned(), column);
    }
    corpus
        .passage_columns
        .insert(name.to_owned(), format!("{schema}.{kind}"));
    Ok(())
}

/// Creates the indexes of a column of vectors on another, which is empty.
fn copy_indexes(corpus: &Corpus, from: &str, to: &str) -> Result<()> {
    let relation = corpus.relation.as_deref().unwrap_or_default();
    let commands: Vec<String> = sql::read_json(
        "SELECT coalesce(json_agg(format('CREATE INDEX ON %s USING %I (%I %I.%I)%s', $1::text, m.amname, $3::text, n.nspname, o.opcname, \
                 ' WITH (' || array_to_string(x.reloptions, ', ') || ')')), '[]')::text \
         FROM pg_index AS i JOIN pg_class AS x ON x.oid = i.indexrelid JOIN pg_am AS m ON m.oid = x.relam \
             JOIN pg_opclass AS o ON o.oid = i.indclass[0] JOIN pg_namespace AS n ON n.oid = o.opcnamespace \
             JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] \
         WHERE i.indrelid = to_regclass($1)::oid AND i.indnatts = 1 AND i.indpred IS NULL AND a.attname = $2",
        &[relation.into(), from.into(), to.into()],
    )?
    .unwrap_or_default();
    for command in &commands {
        if let Err(caught) = sql::guarded(|| sql::run_ddl(command)) {
            let problem = format!("the new column has no such index: {}", caught.described());
            notice(problem, command);
        }
    }
    Ok(())
}
