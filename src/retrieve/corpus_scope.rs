//! Corpora that one question is asked of together.

use reground_grounding::passage::Metric;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::retrieve::filter::Filter;
use crate::retrieve::vector;
use crate::store::corpora::{self, Corpus};

/// A corpus, with what the filter of the question says of it.
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

/// One corpus or several, which compare embeddings alike. The first leads: its settings hold.
pub struct Corpora {
    pub first: Scope,
    pub beside: Vec<Scope>,
}

impl Corpora {
    /// Loads them by name, each once, and resolves the filter against each.
    pub fn load(tenant: &str, names: &[String], filter: Option<&Value>) -> Result<Self> {
        let mut loaded: Vec<Scope> = Vec::new();
        for name in names {
            if loaded.iter().all(|scope| scope.corpus.name != *name) {
                let corpus = corpora::load(tenant, name)?;
                let filter = Filter::resolve(&corpus, filter)?;
                loaded.push(Scope { corpus, filter });
            }
        }
        let mut loaded = loaded.into_iter();
        let first = loaded
            .next()
            .ok_or_else(|| Error::AmbiguousCorpus("no corpus was named".into()))?;
        let together = Self {
            first,
            beside: loaded.collect(),
        };
        together.check_alike()?;
        Ok(together)
    }

    /// With hashes made of the texts.
    pub fn hashed_by_us(self) -> Self {
        Self {
            first: self.first.hashed_by_us(),
            beside: self.beside.into_iter().map(Scope::hashed_by_us).collect(),
        }
    }

    /// All of them, the leading one first.
    pub fn scopes(&self) -> impl Iterator<Item = &Scope> {
        std::iter::once(&self.first).chain(&self.beside)
    }

    fn all(&self) -> impl Iterator<Item = &Corpus> {
        self.scopes().map(|scope| &scope.corpus)
    }

    /// Those that have embeddings.
    fn embedded(&self) -> impl Iterator<Item = &Corpus> {
        self.all()
            .filter(|corpus| corpus.embedding_kind().is_some())
    }

    /// Their names, the leading one first.
    pub fn names(&self) -> Vec<String> {
        self.all().map(|corpus| corpus.name.clone()).collect()
    }

    /// How they measure distance.
    pub fn metric(&self) -> Metric {
        vector::metric(self.embedded().next().unwrap_or(&self.first.corpus))
    }

    /// Refuses an embedding that they cannot compare.
    pub fn check_dimensions(&self, embedding: &[f32]) -> Result<()> {
        self.all()
            .try_for_each(|corpus| vector::check_dimensions(corpus, embedding))
    }

    /// Refuses corpora whose embeddings come from different models, as far as that can be seen.
    fn check_alike(&self) -> Result<()> {
        let like = |corpus: &Corpus| (corpus.dimensions, corpus.metric.clone());
        let described = |corpus: &Corpus| {
            let dimensions = corpus
                .dimensions
                .map(|count| format!(" in {count} dimensions"));
            format!(
                "{} compares by {}{}",
                corpus.name,
                corpus.metric,
                dimensions.unwrap_or_default()
            )
        };
        let mut embedded = self.embedded();
        let Some(one) = embedded.next() else {
            return Ok(());
        };
        match embedded.find(|other| like(other) != like(one)) {
            None => Ok(()),
            Some(other) => Err(Error::Bad {
                argument: "corpora",
                fault: format!("{}, {}", described(one), described(other)),
                hint: "Corpora that are asked together share an embedding model; ask others one after the other, with retrieve.".into(),
            }),
        }
    }
}
