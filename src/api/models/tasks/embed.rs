//! Embeddings of passages. The relation of a corpus is read and written as its owner.

use std::collections::{BTreeMap, HashMap};

use reground_models::embedding;
use reground_models::error::ModelError;
use reground_models::settings::ModelSettings;
use serde::Deserialize;
use serde_json::Value;

use super::prepared::Prepared;
use crate::error::Result;
use crate::run_as::as_relation_owner;
use crate::sql;
use crate::store::corpora::{self, Corpus, Hold, operator_schema};
use crate::store::models::tasks::Task;
use crate::store::models::{embeddings, registry, tasks};

/// Expression for the hash of the text that is embedded of a passage.
pub fn text_hash(corpus: &Corpus) -> Result<String> {
    let text = corpus.embedded_text()?;
    Ok(format!("encode(sha256(convert_to({text}, 'UTF8')), 'hex')"))
}

/// Condition that a passage has a text to embed.
pub fn has_text(content: &str) -> String {
    format!("btrim({content}::text, E' \\t\\r\\n') <> ''")
}

/// Prepares claimed tasks, those of a corpus together.
pub fn prepare(tasks: &[Task]) -> Result<Vec<Prepared>> {
    let mut by_corpus: BTreeMap<i64, Vec<&Task>> = BTreeMap::new();
    for task in tasks {
        by_corpus
            .entry(task.corpus_id.unwrap_or_default())
            .or_default()
            .push(task);
    }
    let mut prepared: HashMap<i64, Prepared> = HashMap::new();
    for (corpus_id, claimed) in by_corpus {
        let texts = sql::guarded(|| texts(corpus_id, &claimed));
        for task in claimed.iter().copied() {
            let outcome = match &texts {
                Err(_) => Prepared::Delayed,
                Ok(texts) => request(task, texts.get(&task.subject))?,
            };
            prepared.insert(task.task_id, outcome);
        }
        // The fault is of the corpus, not of its passages.
        if let Err(caught) = texts {
            delay(corpus_id, &claimed, &caught.described())?;
        }
    }
    let outcomes = tasks
        .iter()
        .map(|task| prepared.remove(&task.task_id).unwrap_or(Prepared::Gone));
    Ok(outcomes.collect())
}

/// Gives back the tasks of a corpus that cannot be read, for a minute.
fn delay(corpus_id: i64, claimed: &[&Task], error: &str) -> Result<()> {
    let Some(first) = claimed.first() else {
        return Ok(());
    };
    let task_ids = claimed.iter().map(|task| task.task_id).collect();
    tasks::delay_corpus(corpus_id, &first.model, task_ids, error)?;
    embeddings::note_error(corpus_id, &first.model, error)
}

/// The text to embed of a passage.
#[derive(Deserialize)]
struct PassageText {
    chunk_id: String,
    content: String,
    hash: String,
}

/// The present texts of the passages of a corpus that have one; none if the corpus no longer uses the model.
fn texts(corpus_id: i64, tasks: &[&Task]) -> Result<HashMap<String, PassageText>> {
    let model = tasks
        .first()
        .map(|task| task.model.as_str())
        .unwrap_or_default();
    let Some(corpus) = corpora::by_id(corpus_id)? else {
        return Ok(HashMap::new());
    };
    if corpus.embedding_meaning(model).is_none() {
        return Ok(HashMap::new());
    }
    let chunk_ids: Vec<String> = tasks.iter().map(|task| task.subject.clone()).collect();
    let rows: Vec<PassageText> = as_relation_owner(corpus.clone(), |corpus| {
        let content = corpus.required("content")?;
        sql::read_rows(
            &format!(
                "SELECT g.chunk_id, {} AS content, {} AS hash FROM unnest($1::text[]) AS g(chunk_id) \
                 JOIN {} AS p ON {} WHERE {}",
                corpus.embedded_text()?,
                text_hash(corpus)?,
                corpus.relation.as_deref().unwrap_or_default(),
                has_key(corpus, "g.chunk_id")?,
                has_text(&content),
            ),
            &[chunk_ids.into()],
        )
    })?;
    Ok(rows
        .into_iter()
        .map(|row| (row.chunk_id.clone(), row))
        .collect())
}

/// Condition that a passage has the chunk id in a text expression.
pub fn has_key(corpus: &Corpus, chunk_id: &str) -> Result<String> {
    let kind = corpus.column_type("chunk_id").unwrap_or("text");
    let schema = operator_schema(kind)?;
    Ok(format!(
        "{} OPERATOR({schema}.=) {chunk_id}::{kind}",
        corpus.key()?
    ))
}

fn request(task: &Task, text: Option<&PassageText>) -> Result<Prepared> {
    let Some(text) = text else {
        return Ok(Prepared::Gone);
    };
    if task.input_hash.as_ref() != Some(&text.hash) {
        tasks::set_input(task.task_id, &text.hash)?;
    }
    let settings = match registry::find(&task.model)? {
        Some(model) => ModelSettings::read(&model.settings)?,
        None => return Ok(Prepared::Gone),
    };
    let cut = embedding::cut(&text.content, settings.max_input_tokens);
    Ok(Prepared::Request(embedding::request(cut)))
}

/// Stores an embedding, if the passage still has the text that was embedded. Otherwise the next comparison queues it again.
pub fn complete(task: &Task, result: Value) -> Result<()> {
    let corpus_id = task.corpus_id.unwrap_or_default();
    let model = registry::find(&task.model)?;
    let corpus = corpora::held_by_id(corpus_id, Hold::Write)?;
    let (Some(model), Some(corpus)) = (model, corpus) else {
        return Ok(());
    };
    let embedding = embedding::read(result, model.dimensions.unwrap_or_default())?;
    let Some(meaning) = corpus.embedding_meaning(&task.model) else {
        return Ok(());
    };
    let hash = task.input_hash.clone().unwrap_or_default();
    // Code of the table can fail, also on purpose. That is a fault of the passage.
    let stored = sql::guarded(|| {
        as_relation_owner(corpus, |corpus| {
            store(corpus, meaning, &task.subject, &embedding, &hash)
        })
    });
    match stored {
        Ok(Stored::Kept) => embeddings::record(
            corpus_id,
            &task.model,
            vec![task.subject.clone()],
            vec![hash],
        ),
        Ok(Stored::NotKept) => {
            Err(ModelError::Result("the table did not keep the vector".into()).into())
        }
        Ok(Stored::Gone) => Ok(()),
        Err(caught) if caught.is_passing() => caught.rethrow(),
        Err(caught) => Err(ModelError::Result(caught.described()).into()),
    }
}

/// What became of a vector.
enum Stored {
    Kept,
    /// A trigger of the table has changed or refused the row.
    NotKept,
    /// The passage is gone, or has another text.
    Gone,
}

/// Writes a vector.
fn store(
    corpus: &Corpus,
    meaning: &str,
    chunk_id: &str,
    embedding: &[f32],
    hash: &str,
) -> Result<Stored> {
    let column = corpus.vectors(meaning)?;
    let relation = corpus.relation.as_deref().unwrap_or_default();
    let name = sql::ident(&column.name);
    let has_key = has_key(corpus, "$1")?;
    let text = corpus.embedded_text()?;
    let is_passage = format!("{has_key} AND {} = $2", text_hash(corpus)?);
    // An UPDATE of a distributed table cannot compute the hash, which is not immutable. It compares the text, which can change meanwhile.
    let kept = sql::write_one::<bool>(
        &format!(
            "WITH present AS MATERIALIZED (SELECT {text} AS content FROM {relation} AS p WHERE {is_passage}) \
             UPDATE {relation} AS p SET {name} = $3::text::{} FROM present AS g WHERE {has_key} AND {text} = g.content RETURNING p.{name} IS NOT NULL",
            column.kind
        ),
        &[chunk_id.into(), hash.into(), sql::json(embedding)?.into()],
    )?;
    let is_there = || {
        sql::write_one::<bool>(
            &format!("SELECT true FROM {relation} AS p WHERE {is_passage}"),
            &[chunk_id.into(), hash.into()],
        )
    };
    Ok(match kept {
        Some(true) => Stored::Kept,
        Some(false) => Stored::NotKept,
        None if is_there()?.is_some() => Stored::NotKept,
        None => Stored::Gone,
    })
}
