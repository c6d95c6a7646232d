//! The words of a query with their weights, to find the part of a long text that answers it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::query::cues::Cues;
use crate::query::plan::SubQuery;
use crate::query::words::{content_keys, key_of};

/// Keys of words, as [`content_keys`] makes them, with weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QueryWords(BTreeMap<String, f64>);

impl QueryWords {
    /// The words of the lexical queries of a turn. A content word of a query weighs 1, a term of the query expansion has
    /// its weight there.
    #[must_use]
    pub fn of(queries: &[SubQuery]) -> Self {
        let mut weights: BTreeMap<String, f64> = BTreeMap::new();
        for query in queries {
            for (term, &weight) in &query.terms {
                let of_key = weights.entry(key_of(term).to_owned()).or_default();
                *of_key = of_key.max(weight);
            }
        }
        let cues = Cues::built_in();
        let own = queries
            .iter()
            .flat_map(|query| content_keys(&query.text, cues));
        weights.extend(own.map(|key| (key, 1.0)));
        Self(weights)
    }

    /// The keys with their weights, in the order of the keys.
    pub fn weights(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(key, weight)| (key.as_str(), *weight))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_words_weigh_more_than_added_terms() {
        let query = SubQuery {
            text: "What about the administrators?".into(),
            terms: BTreeMap::from([("administr".to_owned(), 0.1), ("password".to_owned(), 0.2)]),
            ..SubQuery::default()
        };
        let words = QueryWords::of(&[query]);
        let words: Vec<_> = words.weights().collect();
        assert_eq!(words, [("admin", 1.0), ("passw", 0.2)]);
    }
}
