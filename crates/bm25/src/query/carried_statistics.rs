//! Statistics that a query carries. Indexes on several servers then give comparable scores, and need not know each other.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Parameters;
use crate::index::pages::meta::IndexSettings;
use crate::index::score::Statistics;
use crate::index::terms::Weights;

/// Documents of sixteen servers; the address of a row has 48 bits. Sums of these numbers do not overflow.
const MOST_DOCUMENTS: u64 = 1 << 52;
/// Words of all documents.
const MOST_WORDS: u64 = 1 << 60;

/// Statistics of the words of a query in one or several indexes, and how these indexes make words of texts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarriedStatistics {
    /// Text search configuration. A name without a schema is in pg_catalog.
    text_config: String,
    /// Weights of the fields.
    weights: String,
    k1: f64,
    b: f64,
    documents: u64,
    length: u64,
    /// Number of documents that contain a word.
    frequencies: BTreeMap<String, u64>,
}

impl CarriedStatistics {
    /// The statistics of these lexemes in indexes with these settings.
    #[must_use]
    pub fn new(settings: &IndexSettings, statistics: &Statistics, lexemes: &[&str]) -> Self {
        let words = lexemes.iter().map(|&lexeme| lexeme.to_owned());
        Self {
            text_config: settings.plain_text_config().to_owned(),
            weights: settings.weights.to_string(),
            k1: settings.k1,
            b: settings.b,
            documents: statistics.documents,
            length: statistics.length,
            frequencies: words.zip(statistics.frequencies.iter().copied()).collect(),
        }
    }

    /// Adds those of other indexes; `None` if they make other words or scores of a text.
    #[must_use]
    pub fn and(mut self, other: Self) -> Option<Self> {
        if self.settings() != other.settings() {
            return None;
        }
        self.documents = self.documents.saturating_add(other.documents);
        self.length = self.length.saturating_add(other.length);
        for (lexeme, frequency) in other.frequencies {
            let sum = self.frequencies.entry(lexeme).or_default();
            *sum = sum.saturating_add(frequency);
        }
        Some(self)
    }

    fn settings(&self) -> (&str, &str, f64, f64) {
        (&self.text_config, &self.weights, self.k1, self.b)
    }

    /// Whether there are no documents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// Whether an index makes the same words and scores of a text.
    #[must_use]
    pub fn fit(&self, index: &IndexSettings) -> bool {
        let weights = index.weights.to_string();
        self.settings() == (index.plain_text_config(), &weights, index.k1, index.b)
    }

    /// Whether an index can have these statistics and settings.
    #[must_use]
    pub fn are_possible(&self) -> bool {
        self.documents <= MOST_DOCUMENTS
            && self.length <= MOST_WORDS
            && (self.frequencies.values()).all(|&frequency| frequency <= MOST_DOCUMENTS)
            && self.scoring().is_some()
    }

    /// Text search configuration. A name without a schema is in pg_catalog.
    #[must_use]
    pub fn text_config(&self) -> &str {
        &self.text_config
    }

    /// The weights of the fields and the parameters; `None` if they are not valid.
    #[must_use]
    pub fn scoring(&self) -> Option<(Weights, Parameters)> {
        let weights = self.weights.parse().ok()?;
        Some((weights, Parameters::new(self.k1, self.b).ok()?))
    }

    /// The statistics of lexemes, in their order. A lexeme that is not carried is in no document.
    pub fn statistics<'a>(&self, lexemes: impl IntoIterator<Item = &'a str>) -> Statistics {
        let frequency = |lexeme| self.frequencies.get(lexeme).copied().unwrap_or_default();
        Statistics {
            documents: self.documents,
            length: self.length,
            frequencies: lexemes.into_iter().map(frequency).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(k1: f64) -> IndexSettings {
        IndexSettings {
            k1,
            text_config: "pg_catalog.english".to_owned(),
            ..IndexSettings::default()
        }
    }

    fn of(documents: u64, length: u64, frequencies: &[u64]) -> Statistics {
        Statistics {
            documents,
            length,
            frequencies: frequencies.to_vec(),
        }
    }

    #[test]
    fn sums_are_those_of_one_index() {
        let one = CarriedStatistics::new(&settings(1.2), &of(10, 50, &[3, 0]), &["red", "shoe"]);
        let other = CarriedStatistics::new(&settings(1.2), &of(7, 30, &[1, 2]), &["red", "shoe"]);
        let sum = one.and(other).expect("the same settings");
        assert_eq!(
            sum.statistics(["shoe", "car", "red"]),
            of(17, 80, &[2, 0, 4])
        );
        assert!(sum.fit(&settings(1.2)));
        assert!(!sum.fit(&settings(1.1)));
    }

    #[test]
    fn other_settings_are_not_added() {
        let of_settings = |k1| CarriedStatistics::new(&settings(k1), &of(1, 1, &[1]), &["red"]);
        assert_eq!(of_settings(1.2).and(of_settings(1.3)), None);
    }

    #[test]
    fn impossible_values_are_found() {
        let carried = CarriedStatistics::new(&settings(1.2), &of(1, 1, &[1]), &["red"]);
        assert!(carried.are_possible());
        let changes: [fn(&mut CarriedStatistics); 5] = [
            |carried| carried.b = 2.0,
            |carried| carried.documents = u64::MAX,
            |carried| carried.length = u64::MAX,
            |carried| carried.frequencies = BTreeMap::from([("shoe".to_owned(), u64::MAX)]),
            |carried| carried.weights = "x".to_owned(),
        ];
        for change in changes {
            let mut changed = carried.clone();
            change(&mut changed);
            assert!(!changed.are_possible(), "{changed:?}");
        }
    }
}
