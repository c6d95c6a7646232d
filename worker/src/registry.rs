//! What the server shows of the databases: their models, and whether they are connected.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::model::Model;

/// The models of all databases.
#[derive(Default)]
pub struct Registry(Mutex<BTreeMap<String, Entry>>);

#[derive(Default)]
struct Entry {
    connected: bool,
    models: Vec<Model>,
}

/// Why a name does not determine a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// No database has it.
    #[error("no embedding model of this name")]
    Unknown,
    /// Two databases have different models of this name.
    #[error("the databases have different models of this name")]
    Ambiguous,
}

impl Registry {
    /// Sets the models of a database.
    pub fn set_models(&self, database: &str, models: &[Model]) {
        let mut entries = self.entries();
        entries.entry(database.to_owned()).or_default().models = models.to_vec();
    }

    /// Sets whether a database is connected.
    pub fn set_connected(&self, database: &str, connected: bool) {
        let mut entries = self.entries();
        entries.entry(database.to_owned()).or_default().connected = connected;
    }

    /// Returns each database and whether it is connected.
    pub fn databases(&self) -> BTreeMap<String, bool> {
        let entries = self.entries();
        let connected = entries
            .iter()
            .map(|(name, entry)| (name.clone(), entry.connected));
        connected.collect()
    }

    /// Returns the embedding model of this name. The model of a database that is not connected at the moment stays known.
    ///
    /// # Errors
    /// [`NameError`] if there is none, or more than one.
    pub fn embedding_model(&self, name: &str) -> Result<Model, NameError> {
        let entries = self.entries();
        let mut found = entries
            .values()
            .flat_map(|entry| &entry.models)
            .filter(|model| model.name == name && model.task == "embed");
        let first = found.next().ok_or(NameError::Unknown)?;
        if found.all(|other| other == first) {
            Ok(first.clone())
        } else {
            Err(NameError::Ambiguous)
        }
    }

    fn entries(&self) -> MutexGuard<'_, BTreeMap<String, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::model;

    #[test]
    fn equal_models_of_two_databases_are_one() {
        let registry = Registry::default();
        let name = || registry.embedding_model("m").map(|model| model.api_model);
        assert_eq!(name(), Err(NameError::Unknown));
        registry.set_models("a", &[model("embed"), model("judge")]);
        registry.set_models("b", &[model("embed")]);
        assert_eq!(name(), Ok("api-m".into()));
        let mut other = model("embed");
        other.dimensions = Some(3);
        registry.set_models("b", &[other]);
        assert_eq!(name(), Err(NameError::Ambiguous));
    }
}
