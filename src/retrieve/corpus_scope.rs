//! The corpora that one turn searches together.

use reground_grounding::passage::Metric;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::retrieve::filter::Filter;
use crate::retrieve::{past, vector};
use crate::store::corpora::{self, Corpus};

/// A corpus, with the filter resolved against its columns.
pub struct Scope {
    pub corpus: Corpus,
    pub filter: Filter,
}

impl Scope {
    fn hashed_by_us(self) -> Self {
        Self {
            corpus: self.corpus.hashed_by_us(),
            filter: self.filter,
        }
    }
}

/// One or several corpora with comparable embeddings. The settings of the first apply.
pub struct Corpora {
    pub first: Scope,
    pub beside: Vec<Scope>,
    /// Time whose versions are searched; `None` for the current ones.
    pub as_of: Option<String>,
}

impl Corpora {
    /// Loads the corpora, each once, and resolves the filter against each.
    ///
    /// # Errors
    /// Errors of [`corpora::load`], [`past::at`] and [`Filter::resolve`]; 22023 for no name and for embeddings that cannot be compared.
    pub fn load(
        tenant: &str,
        names: &[String],
        filter: Option<&Value>,
        as_of: Option<&str>,
    ) -> Result<Self> {
        let mut loaded: Vec<Scope> = Vec::new();
        for name in names {
            if loaded.iter().all(|scope| scope.corpus.name != *name) {
                let corpus = past::at(corpora::load(tenant, name)?, as_of)?;
                let filter = Filter::resolve(&corpus, filter)?;
                loaded.push(Scope { corpus, filter });
            }
        }
        let mut loaded = loaded.into_iter();
        let first = loaded
            .next()
            .ok_or_else(|| Error::AmbiguousCorpus("no corpus was named".into()))?;
        let scope = Self {
            first,
            beside: loaded.collect(),
            as_of: as_of.map(str::to_owned),
        };
        scope.check_embeddings()?;
        Ok(scope)
    }

    /// The same corpora, with content hashes computed from the texts.
    pub fn hashed_by_us(self) -> Self {
        Self {
            first: self.first.hashed_by_us(),
            beside: self.beside.into_iter().map(Scope::hashed_by_us).collect(),
            as_of: self.as_of,
        }
    }

    /// All corpora, the first one first.
    pub fn scopes(&self) -> impl Iterator<Item = &Scope> {
        std::iter::once(&self.first).chain(&self.beside)
    }

    fn all(&self) -> impl Iterator<Item = &Corpus> {
        self.scopes().map(|scope| &scope.corpus)
    }

    /// The corpora with embeddings.
    fn embedded(&self) -> impl Iterator<Item = &Corpus> {
        self.all()
            .filter(|corpus| corpus.embedding_kind().is_some())
    }

    /// The names of the corpora, in order.
    pub fn names(&self) -> Vec<String> {
        self.all().map(|corpus| corpus.name.clone()).collect()
    }

    /// The metric of the embeddings.
    pub fn metric(&self) -> Metric {
        vector::metric(self.embedded().next().unwrap_or(&self.first.corpus))
    }

    /// Checks the number of dimensions of an embedding, and the model that it was computed with, if the caller names it.
    /// Corpora without embeddings are searched by words only, but at least one must have them.
    ///
    /// # Errors
    /// As for [`vector::check_dimensions`] and [`Corpus::check_embedding_model`].
    pub fn check_embedding(&self, embedding: &[f32], model: Option<&str>) -> Result<()> {
        let with_embeddings: Vec<&Corpus> = self
            .all()
            .filter(|corpus| corpus.mapping.contains_key("embedding"))
            .collect();
        if with_embeddings.is_empty() {
            return vector::check_dimensions(&self.first.corpus, embedding);
        }
        with_embeddings.into_iter().try_for_each(|corpus| {
            corpus.check_embedding_model(model)?;
            vector::check_dimensions(corpus, embedding)
        })
    }

    /// Refuses corpora with different metrics or dimensions, because their embeddings come from different models.
    fn check_embeddings(&self) -> Result<()> {
        let is_like = |one: &Corpus, other: &Corpus| {
            let same_model = one.embedding_model.is_none()
                || other.embedding_model.is_none()
                || one.embedding_model == other.embedding_model;
            same_model && (one.dimensions, &one.metric) == (other.dimensions, &other.metric)
        };
        let described = |corpus: &Corpus| {
            let dimensions = corpus
                .dimensions
                .map(|count| format!(" with {count} dimensions"));
            let model = corpus.embedding_model.as_ref();
            let model = model.map(|model| format!(" and model {model}"));
            format!(
                "{} uses {}{}{}",
                corpus.name,
                corpus.metric,
                dimensions.unwrap_or_default(),
                model.unwrap_or_default()
            )
        };
        let mut embedded = self.embedded();
        let Some(one) = embedded.next() else {
            return Ok(());
        };
        match embedded.find(|other| !is_like(other, one)) {
            None => Ok(()),
            Some(other) => Err(Error::Bad {
                argument: "corpora",
                fault: format!("{}, {}", described(one), described(other)),
                hint: "Corpora that are searched together need the same embedding model. Search others one after the other, with retrieve.".into(),
            }),
        }
    }
}
