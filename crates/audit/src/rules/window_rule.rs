//! Rules on a figure of the latest hours: the number of answers that they need, and when they fire and resolve.

use crate::hours::{Corpus, HOUR, Hours, Window};
use crate::indicator::{BadDirection, IndicatorValue};
use crate::rule::{Reading, Rule};

/// Maximum distance of the first bad hour from now, in hours.
pub const LOOK_BACK: i64 = 7 * 24;

/// Hysteresis: a firing alert resolves when its value is better than the threshold by this share of the distance between the
/// threshold and the best value. Without a margin, an alert near its threshold would fire and resolve in turn. With a much
/// larger margin, an alert would stay open for hours after a repair.
const MARGIN: f64 = 0.1;

/// With at least this many citations per answer of its own, a corpus is assumed to be cited by turns on other corpora. Few answers
/// contain so many citations.
const CITED_BY_OTHERS: u64 = 20;

/// A rule fires if its figure is beyond the threshold by this many standard errors. Each check looks again, so that 2 would fire by
/// chance every few days: a limit of 1 % on the first bad answer of 50.
const STANDARD_ERRORS: f64 = 3.0;

/// A rule on the hours of one corpus, or of all corpora.
#[derive(Clone, Copy, Debug)]
pub struct WindowRule<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// Rollups of this corpus, or of all.
    pub hours: &'a Hours,
    /// The corpus; `None` for all.
    pub corpus: Option<&'a Corpus>,
    /// The stored baseline, for a drop.
    pub baseline: Option<f64>,
    /// Share of bad samples on a high day of the corpus, if it is known. It is not bad, even if the threshold allows less.
    pub usual: Option<f64>,
    /// The current hour, in seconds since 1970.
    pub now: i64,
}

impl<'a> WindowRule<'a> {
    /// Returns the reading of the rule, or `None` with too few answers or samples.
    #[must_use]
    pub fn read(&self) -> Option<Reading> {
        let Self {
            rule,
            hours,
            baseline,
            usual,
            ..
        } = *self;
        let window = self.window()?;
        let figure = rule.indicator.compute(hours, window, baseline)?;
        let IndicatorValue { value, samples } = figure;
        let beyond = rule.is_bad(value);
        let allowed = rule.indicator.allowed(rule.threshold, baseline);
        let is_chance = allowed.is_some_and(|allowed| {
            let bad = match allowed.below {
                Some(limit) => hours.below(window, limit) as f64 / samples as f64,
                None => (value - rule.indicator.best()).abs(),
            };
            let share = allowed.share.max(usual.unwrap_or_default());
            let variance = share * (1.0 - share) * allowed.dispersion;
            bad - share < STANDARD_ERRORS * (variance / samples as f64).sqrt()
        });
        Some(Reading {
            value,
            samples,
            baseline,
            since: window.since,
            first_bad_hour: self.first_bad_hour(window),
            is_bad: beyond && !is_chance,
            is_over: !beyond && self.is_over(value),
        })
    }

    /// Returns whether an alert whose value is no longer bad is over. The value must be better by [`MARGIN`], or no single hour of
    /// the rule's period may be bad. Otherwise an alert near its threshold would fire and resolve in turn.
    fn is_over(&self, value: f64) -> bool {
        let rule = self.rule;
        let best = rule.indicator.best();
        let enough = rule.threshold + MARGIN * (best - rule.threshold);
        let better = match rule.indicator.bad() {
            BadDirection::Below => value >= enough,
            BadDirection::Above | BadDirection::From => value <= enough,
        };
        let period = Window {
            corpus: self.corpus,
            since: self.now + HOUR - rule.hours.max(1) * HOUR,
            until: self.now + HOUR,
        };
        better || self.first_bad_hour(period).is_none()
    }

    /// Returns the hours that a rule uses, or `None` when they contain too few answers or samples. A corpus that is mostly cited by
    /// turns on other corpora is judged by the number of its citations, because a few answers of its own must not silence it.
    fn window(&self) -> Option<Window<'a>> {
        let Self {
            rule,
            hours,
            corpus,
            baseline,
            ..
        } = *self;
        let until = self.now + HOUR;
        let period = rule.hours.max(1);
        let window = |back| Window {
            corpus,
            since: until - back * HOUR,
            until,
        };
        let minimum = rule.min_answers.max(1);
        // The answers and samples of a window are the sums over its hours, so each hour is read once.
        let counted = |window| {
            let figure = rule.indicator.compute(hours, window, baseline);
            let samples = figure.map_or(0, |figure| figure.samples);
            (hours.answers(window), samples)
        };
        let (own, citations) = counted(window(period));
        let cited_by_others = own < minimum && citations >= CITED_BY_OTHERS.saturating_mul(own);
        let first = if rule.whole_period { period } else { 1 };
        let (mut answers, mut samples) = (0, 0);
        for back in 1..=period {
            let whole = window(back);
            let (hour_answers, hour_samples) =
                counted(whole.during(whole.since, whole.since + HOUR));
            answers += hour_answers;
            samples += hour_samples;
            let judged_by = if cited_by_others { samples } else { answers };
            if back >= first && samples.min(judged_by) >= minimum {
                return Some(whole);
            }
        }
        None
    }

    /// Returns the start of the latest run of bad hours that ends within the window. The run can begin before it. Hours without a
    /// value do not end the run. Good hours after the run are skipped: a few good answers in the current hour do not end a problem.
    fn first_bad_hour(&self, window: Window<'_>) -> Option<i64> {
        let Self {
            rule,
            hours,
            baseline,
            ..
        } = *self;
        let mut first = None;
        for back in 1..=LOOK_BACK.max(rule.hours) {
            let hour = window.until - back * HOUR;
            if first.is_none() && hour < window.since {
                break;
            }
            let of_hour = window.during(hour, hour + HOUR);
            match rule.indicator.compute(hours, of_hour, baseline) {
                Some(found) if rule.is_bad(found.value) => first = Some(hour),
                Some(_) if first.is_some() => break,
                _ => {}
            }
        }
        first
    }
}
