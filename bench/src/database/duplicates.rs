//! Passages with equal text count as one: a search that returns any of them has found the judged passage.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use postgres::Client;

use crate::database::load::SCHEMA;

/// The class of each passage is its content hash, which equal passages share.
pub struct Duplicates {
    by_id: BTreeMap<String, String>,
    by_key: BTreeMap<String, String>,
}

impl Duplicates {
    /// Reads the content hashes of a corpus.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn read(client: &mut Client, corpus: &str) -> Result<Self> {
        let rows = client.query(
            &format!(
                "SELECT metadata ->> 'id', chunk_id::text, content_hash FROM {SCHEMA}.{corpus}"
            ),
            &[],
        )?;
        Ok(Self {
            by_id: rows.iter().map(|row| (row.get(0), row.get(2))).collect(),
            by_key: rows.iter().map(|row| (row.get(1), row.get(2))).collect(),
        })
    }

    /// The classes of passages, given by the ids of the data set. An id that is not in the corpus is a class of its own, so it
    /// stays in the denominator of recall.
    pub fn of_ids<'a>(&self, ids: impl IntoIterator<Item = &'a String>) -> BTreeSet<String> {
        ids.into_iter()
            .map(|id| self.by_id.get(id).unwrap_or(id).clone())
            .collect()
    }

    /// The classes of passages, given by `chunk_id`.
    pub fn of_keys<'a>(&self, keys: impl IntoIterator<Item = &'a String>) -> BTreeSet<String> {
        keys.into_iter()
            .filter_map(|key| self.by_key.get(key).cloned())
            .collect()
    }

    /// The class of a passage, given by `chunk_id`.
    pub fn class(&self, key: &str) -> String {
        let class = self.by_key.get(key);
        class.map_or_else(|| key.to_owned(), Clone::clone)
    }

    /// Turns a ranking of `chunk_id`s into a ranking of classes, each at the place of its first passage.
    pub fn ranking(&self, keys: &[String]) -> Vec<String> {
        let mut seen = BTreeSet::new();
        keys.iter()
            .map(|key| self.by_key.get(key).unwrap_or(key))
            .filter(|class| seen.insert(*class))
            .cloned()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn duplicates() -> Duplicates {
        let table = [("a", "1", "x"), ("b", "2", "x"), ("c", "3", "y")];
        Duplicates {
            by_id: table.map(|row| (row.0.into(), row.2.into())).into(),
            by_key: table.map(|row| (row.1.into(), row.2.into())).into(),
        }
    }

    #[test]
    fn equal_passages_have_the_place_of_the_first() {
        let keys = ["3", "2", "1"].map(String::from);
        assert_eq!(duplicates().ranking(&keys), ["y", "x"]);
    }

    #[test]
    fn equal_passages_are_judged_as_one() {
        let gold = duplicates().of_ids(&["a", "b"].map(String::from));
        assert_eq!(gold, BTreeSet::from(["x".to_owned()]));
    }

    #[test]
    fn a_judged_passage_outside_the_corpus_counts() {
        assert_eq!(duplicates().of_ids(&["gone".to_owned()]).len(), 1);
    }
}
