//! The rule on traffic that stops.

use reground_interrupt::check_interrupt;
use serde::Deserialize;

use crate::hours::{Corpus, HOUR, Hours, Window};
use crate::rule::{Reading, Rule};

/// Number of earlier weeks that are compared.
pub const WEEKS: i64 = 4;

/// Hours of a week.
const WEEK: i64 = 7 * 24;

/// Answers of an hour of an earlier week.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct EarlierCell {
    /// Start of the hour, in seconds since 1970.
    pub hour: i64,
    /// Corpus of the turns.
    #[serde(flatten)]
    pub corpus: Corpus,
    /// Number of answers.
    pub answers: u64,
}

/// A rule on one corpus, or on all.
#[derive(Clone, Copy, Debug)]
pub struct TrafficRule<'a> {
    /// The rule. Its threshold is the smallest share of the expected answers.
    pub rule: &'a Rule,
    /// Rollups of this corpus, or of all.
    pub hours: &'a Hours,
    /// The corpus; `None` for all.
    pub corpus: Option<&'a Corpus>,
    /// Answers of the corpus, or of all, in the same hours of the last [`WEEKS`] weeks.
    pub earlier: &'a [&'a EarlierCell],
    /// The current hour, in seconds since 1970. It is not over, so no answers are expected of it, but its answers count.
    pub now: i64,
}

impl TrafficRule<'_> {
    /// Returns the reading: the answers of the latest hours, as few as usually have `min_answers`, as a share of those expected. Expected
    /// is the smallest number of the earlier weeks, so that a holiday or a weekend is not expected to be busy. `None` if the whole
    /// period usually has fewer.
    #[must_use]
    pub fn read(&self) -> Option<Reading> {
        let least = self.rule.min_answers.max(1);
        let (since, expected) = (1..=self.rule.hours.max(1)).find_map(|back| {
            let since = self.now - back * HOUR;
            let expected = self.expected(since)?;
            (expected >= least).then_some((since, expected))
        })?;
        let answers = self.hours.answers(Window {
            corpus: self.corpus,
            since,
            until: self.now + HOUR,
        });
        let value = answers as f64 / expected as f64;
        Some(Reading {
            value: value.min(1.0),
            samples: answers,
            baseline: None,
            since,
            first_bad_hour: (value < self.rule.threshold).then_some(since),
            is_bad: value < self.rule.threshold,
            // Half of the usual traffic is no stop.
            is_over: value >= self.rule.threshold.max(0.5),
        })
    }

    /// Returns the smallest number of answers in the same hours of an earlier week, or `None` without such a week.
    fn expected(&self, since: i64) -> Option<u64> {
        let weeks = (1..=WEEKS).filter_map(|week| {
            let back = week * WEEK * HOUR;
            let hours = since - back..self.now - back;
            check_interrupt(self.earlier.len());
            let own = self
                .earlier
                .iter()
                .filter(|cell| hours.contains(&cell.hour));
            let sum: u64 = own.map(|cell| cell.answers).sum();
            (sum > 0).then_some(sum)
        });
        weeks.min()
    }
}
