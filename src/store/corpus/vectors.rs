//! The columns of a corpus that contain vectors, and the models that compute them.

use super::relations::Corpus;
use crate::error::{Error, Result};

/// A column of vectors.
pub struct VectorColumn {
    /// Name of the column.
    pub name: String,
    /// Its type, qualified.
    pub kind: String,
}

impl Corpus {
    /// The column of the embeddings as SQL.
    ///
    /// # Errors
    /// 55000 if no such column is mapped, 42804 if the column no longer contains vectors.
    pub fn embedding_column(&self) -> Result<String> {
        let column = self
            .column("embedding")
            .ok_or_else(|| Error::NoEmbeddingColumn(self.name.clone()))?;
        match self.embedding_kind() {
            Some(_) => Ok(column),
            None => Err(Error::NotEmbeddings {
                corpus: self.name.clone(),
                kind: self
                    .column_type("embedding")
                    .unwrap_or("unknown")
                    .to_owned(),
            }),
        }
    }

    /// The present type of the embedding column: `vector` or `halfvec` of pgvector; `None` for any other type. The owner of a type of
    /// the same name in another schema could define operators for it that run with the rights of the caller.
    pub fn embedding_kind(&self) -> Option<&'static str> {
        self.vector_kind("embedding")
    }

    fn vector_kind(&self, meaning: &str) -> Option<&'static str> {
        let (schema, kind) = self.column_type(meaning)?.rsplit_once('.')?;
        ["vector", "halfvec"]
            .into_iter()
            .find(|known| kind == *known && self.vector_schema.as_deref() == Some(schema))
    }

    /// The meaning of the column for vectors of a model: `embedding`, or `next_embedding`; `None` if the corpus does not use the model.
    pub fn embedding_meaning(&self, model: &str) -> Option<&'static str> {
        if self.embedding_model.as_deref() == Some(model) {
            Some("embedding")
        } else if self.next_embedding_model.as_deref() == Some(model) {
            Some("next_embedding")
        } else {
            None
        }
    }

    /// Whether workers compute embeddings of the corpus.
    pub fn uses_a_model(&self) -> bool {
        self.embedding_model.is_some() || self.next_embedding_model.is_some()
    }

    /// A column of vectors, by its meaning.
    ///
    /// # Errors
    /// 55000 if no such column is mapped, 42804 if it does not contain vectors.
    pub fn vectors(&self, meaning: &str) -> Result<VectorColumn> {
        let column = self
            .mapping
            .get(meaning)
            .ok_or_else(|| Error::NoEmbeddingColumn(self.name.clone()))?;
        match (self.vector_kind(meaning), &self.vector_schema) {
            (Some(kind), Some(schema)) => Ok(VectorColumn {
                name: column.column.clone(),
                kind: format!("{schema}.{kind}"),
            }),
            _ => Err(Error::NotEmbeddings {
                corpus: self.name.clone(),
                kind: self.column_type(meaning).unwrap_or("unknown").to_owned(),
            }),
        }
    }

    /// Checks the model that the embedding of a call was computed with, if the call and the corpus name one.
    ///
    /// # Errors
    /// 22023 if they differ.
    pub fn check_embedding_model(&self, given: Option<&str>) -> Result<()> {
        match (&self.embedding_model, given) {
            (Some(expected), Some(given)) if expected != given => Err(Error::OtherEmbeddingModel {
                corpus: self.name.clone(),
                expected: expected.clone(),
                given: given.to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Quoted name of pgvector's schema.
    ///
    /// # Errors
    /// P0002 if pgvector is not installed.
    pub fn vector_schema(&self) -> Result<&str> {
        let schema = self.vector_schema.as_deref();
        schema.ok_or_else(|| Error::Unknown("extension", "vector".into()))
    }
}
