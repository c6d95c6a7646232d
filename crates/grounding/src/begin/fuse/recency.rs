//! Recency: a fused score is reduced by the age of its document, by a bounded share.
//!
//! An exponential decay without a bound would hide every old document behind any new one. With the bound, a passage that
//! is far better stays in front at any age.

use std::collections::BTreeMap;

use super::ranking::SearchResults;
use crate::settings::Settings;

/// The largest share of a score that age takes. Half of it is taken at the age of one half-life.
const LARGEST_SHARE: f64 = 0.25;

/// The factor for an age in seconds: 1 for a new document or a date in the future, and never below 3/4.
pub(super) fn factor(age: f64, half_life: f64) -> f64 {
    let kept = (-age.max(0.0) / half_life).exp2();
    1.0 - LARGEST_SHARE * (1.0 - kept)
}

/// The score with a factor. Score fusion can make a score negative; such a score stays, because a factor would raise it.
pub(super) fn reduced(score: f64, factor: f64) -> f64 {
    score - score.max(0.0) * (1.0 - factor)
}

/// The factors of the candidates of a search.
pub(super) struct Recency<'a> {
    factors: BTreeMap<&'a str, f64>,
    /// The median of these factors, for candidates without a date.
    median: f64,
}

impl<'a> Recency<'a> {
    /// The factors by name; `None` if the setting is off, or the search has no time. Of twins, the newest date counts.
    pub fn of(
        results: &'a SearchResults,
        settings: &Settings,
        name: impl Fn(&'a str) -> Option<&'a str>,
    ) -> Option<Self> {
        let half_life = settings.recency_half_life?;
        let time = results.time?;
        let mut factors: BTreeMap<&str, f64> = BTreeMap::new();
        for (key, date) in &results.dates {
            if let Some(key) = name(key) {
                let newest = factors.entry(key).or_default();
                *newest = newest.max(factor(time - date, half_life));
            }
        }
        let median = median(factors.values().copied().collect());
        Some(Self { factors, median })
    }

    /// The factor of a candidate.
    pub fn factor(&self, key: &str) -> f64 {
        self.factors.get(key).copied().unwrap_or(self.median)
    }
}

/// The median: the mean of the two middle values of an even number, and 1 without a value.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let upper = values.get(values.len() / 2);
    let lower = values.get(values.len().saturating_sub(1) / 2);
    match (lower, upper) {
        (Some(lower), Some(upper)) => f64::midpoint(*lower, *upper),
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::begin::fuse::rows;
    use crate::fixtures::list;
    use crate::passage::Branch;
    use crate::settings::Fusion;

    const DAY: f64 = 86_400.0;

    fn settings(fusion: Fusion, half_life: Option<f64>) -> Settings {
        Settings {
            fusion,
            recency_half_life: half_life,
            ..Settings::default()
        }
    }

    fn found(dates: &[(&str, f64)]) -> SearchResults {
        SearchResults {
            lists: vec![
                list(Branch::Lexical, &["a", "b", "c", "d"]),
                list(Branch::Vector, &["b", "a", "d", "c"]),
            ],
            dates: dates
                .iter()
                .map(|(key, date)| ((*key).to_owned(), *date))
                .collect(),
            time: Some(1000.0 * DAY),
            ..SearchResults::default()
        }
    }

    #[test]
    fn half_of_the_share_is_taken_at_the_half_life() {
        assert_eq!(factor(0.0, DAY), 1.0);
        assert_eq!(factor(-5.0 * DAY, DAY), 1.0);
        assert_eq!(factor(DAY, DAY), 0.875);
        assert_eq!(factor(f64::MAX, DAY), 0.75);
    }

    #[test]
    fn a_newer_passage_passes_a_slightly_better_one() {
        for fusion in [Fusion::Rrf, Fusion::Scores] {
            let results = found(&[("a", 1000.0 * DAY), ("b", 0.0), ("c", 0.0), ("d", 0.0)]);
            let before = rows(&results, &settings(fusion, None));
            let after = rows(&results, &settings(fusion, Some(30.0 * DAY)));
            assert_eq!(after[0].chunk_id, "a");
            assert_eq!(after[0].recency, Some(1.0));
            assert!(before.iter().all(|row| row.recency.is_none()));
        }
    }

    #[test]
    fn an_old_passage_that_is_far_better_stays_first() {
        let mut results = found(&[
            ("a", 0.0),
            ("b", 1000.0 * DAY),
            ("c", 1000.0 * DAY),
            ("d", 1000.0 * DAY),
        ]);
        results.lists = vec![list(Branch::Lexical, &["a", "b", "c", "d"])];
        results.lists[0].hits[0].value = 100.0;
        let after = rows(&results, &settings(Fusion::Scores, Some(DAY)));
        assert_eq!(after[0].chunk_id, "a");
    }

    /// A passage without a date is neither preferred to all dated ones nor put behind them.
    #[test]
    fn a_passage_without_a_date_gets_the_median() {
        let results = found(&[("a", 1000.0 * DAY), ("b", 970.0 * DAY), ("c", 0.0)]);
        let after = rows(&results, &settings(Fusion::Rrf, Some(30.0 * DAY)));
        let undated = after.iter().find(|row| row.chunk_id == "d").unwrap();
        assert_eq!(undated.recency, Some(0.875));
        let two = found(&[("a", 1000.0 * DAY), ("b", 970.0 * DAY)]);
        let after = rows(&two, &settings(Fusion::Rrf, Some(30.0 * DAY)));
        let undated = after.iter().find(|row| row.chunk_id == "d").unwrap();
        assert_eq!(undated.recency, Some(0.9375));
        let none = rows(&found(&[]), &settings(Fusion::Rrf, Some(30.0 * DAY)));
        assert!(none.iter().all(|row| row.recency == Some(1.0)));
    }

    proptest! {
        #[test]
        fn the_factor_is_bounded_and_falls_with_age(one in -1e9..1e12_f64, other in -1e9..1e12_f64, half_life in 1.0..1e10_f64) {
            let (new, old) = (one.min(other), one.max(other));
            prop_assert!((0.75..=1.0).contains(&factor(one, half_life)));
            prop_assert!(factor(new, half_life) >= factor(old, half_life));
        }

        /// A score never rises, loses at most a quarter, and equal factors keep the order.
        #[test]
        fn a_score_never_rises(one in -2.0..2.0_f64, other in -2.0..2.0_f64, age in 0.0..1e12_f64) {
            let factor = factor(age, 1e7);
            let after = reduced(one, factor);
            prop_assert!(after <= one && after >= one - one.max(0.0) * LARGEST_SHARE - 1e-12);
            prop_assert!(one < other || reduced(other, factor) <= after);
        }

        /// Off, nothing changes, whatever the dates.
        #[test]
        fn off_changes_nothing(dates in prop::collection::vec(0.0..1e9_f64, 4)) {
            let keys = ["a", "b", "c", "d"];
            let dated: Vec<(&str, f64)> = keys.into_iter().zip(dates).collect();
            let settings = settings(Fusion::Scores, None);
            prop_assert_eq!(rows(&found(&dated), &settings), rows(&found(&[]), &settings));
        }

        /// Documents of one date keep their order.
        #[test]
        fn equal_dates_keep_the_order(date in 0.0..1e9_f64, half_life in 1.0..1e9_f64) {
            let dated = ["a", "b", "c", "d"].map(|key| (key, date));
            let keys = |half_life| -> Vec<String> {
                let rows = rows(&found(&dated), &settings(Fusion::Scores, half_life));
                rows.into_iter().map(|row| row.chunk_id).collect()
            };
            prop_assert_eq!(keys(None), keys(Some(half_life)));
        }
    }
}
