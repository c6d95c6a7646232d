//! Accumulating rules: whether a share of events has risen above what is usual for the corpus.
//!
//! Each rule is a CUSUM test (Page, "Continuous inspection schemes", 1954) of two hypotheses: the usual share p₀, and p₁ = p₀ + the
//! rule's threshold. The evidence is the sum of the log-likelihood ratios of the hours, never below 0, so it accumulates over
//! hours and days and needs no window: a large fault of a busy corpus is found within minutes, a small one of a quiet corpus within
//! a day or two. The hour after which the sum was last 0 estimates the start of the fault.
//!
//! Events of an answer, and of an hour, depend on each other. So each ratio is divided by the dispersion: the variance of the events of
//! an hour in the usual weeks, relative to independent trials (quasi-likelihood; McCullagh and Nelder, "Generalized Linear Models",
//! 1989, chapter 9). Days differ, too. So p₀ is the share of a high day, by the variance of days beyond that of their hours.
//!
//! The evidence is computed for the whole corpus, for each document type and for each model, and the largest counts. A fault of one type
//! would otherwise be diluted by the others. A part without usual figures, such as a new model, is compared with the corpus.

use std::collections::{BTreeMap, BTreeSet};

use reground_interrupt::check_interrupt;

use crate::counts::{CountCell, Kind, Part, UsualCell};
use crate::hours::HOUR;
use crate::rule::{Reading, Rule};

/// Evidence at which a rule fires: a log-likelihood ratio. Chosen on simulated quiet months (`make bench-alerts`).
const FIRES: f64 = 11.0;

/// The evidence does not accumulate beyond this, so that an alert resolves soon after a repair.
const MOST: f64 = 1.5 * FIRES;

/// Evidence at which an alert resolves.
const RESOLVES: f64 = FIRES / 2.0;

/// A usual share below this part of the threshold counts as this part. Otherwise two events would be evidence where there are none usually.
const SMALLEST_USUAL: f64 = 0.25;

/// A day whose mean is higher by this many standard deviations of days is usual.
const HIGH_DAYS: f64 = 1.5;

/// A month has few days whose mean is higher by this many standard deviations of days.
const HIGHEST_DAYS: f64 = 2.5;

/// Number of hours with trials that the usual share is based on, at least.
const FEWEST_HOURS: f64 = 24.0;

/// A part of a corpus has usual figures of its own from this share of the corpus's trials on, and otherwise those of the corpus.
const OWN_FIGURES: f64 = 0.02;

/// The usual distribution of a kind of events.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Usual {
    /// Share of events, or mean.
    mean: f64,
    /// The mean of a high day.
    high: f64,
    /// Standard deviation of a day's mean beyond that of its hours.
    day_deviation: f64,
    /// Variance of a trial, including the dependence of the trials of an hour.
    variance: f64,
    trials: f64,
}

impl Usual {
    fn of(cell: &UsualCell) -> Option<Self> {
        let trials = cell.trials;
        if trials <= 0.0 || cell.hours < FEWEST_HOURS {
            return None;
        }
        let mean = cell.events / trials;
        // The sums over hours and over days of (events − mean · trials)².
        let squares = cell.events_squared - 2.0 * mean * cell.events_trials
            + mean * mean * cell.trials_squared;
        let of_days = cell.day_events_squared - 2.0 * mean * cell.day_events_trials
            + mean * mean * cell.day_trials_squared;
        let variance = squares.max(0.0) / trials * cell.hours / (cell.hours - 1.0);
        // Days with independent hours have the sum of their hours. The rest is the variance of a day's mean.
        let daily = ((of_days - squares) / cell.day_trials_squared).max(0.0);
        let day_deviation = daily.sqrt();
        Some(Self {
            mean,
            high: mean + HIGH_DAYS * day_deviation,
            day_deviation,
            variance,
            trials,
        })
    }

    /// Returns the log-likelihood ratio of an hour for a rise by `threshold`.
    fn evidence(&self, kind: Kind, threshold: f64, events: f64, trials: f64) -> f64 {
        if kind == Kind::AnswerMs {
            // A normal distribution of the logarithm, with a mean that is longer by this factor.
            let rise = 1000.0 * threshold.ln_1p();
            let variance = self.variance.max(1.0);
            return rise / variance * (events - trials * (self.high + rise / 2.0));
        }
        let least = (SMALLEST_USUAL * threshold).max(f64::MIN_POSITIVE);
        let before = self.high.max(least).min(0.99);
        let after = (before + threshold).min((1.0 + before) / 2.0);
        let dispersion = (self.variance / (self.mean * (1.0 - self.mean))).max(1.0);
        let dispersion = if dispersion.is_finite() {
            dispersion
        } else {
            1.0
        };
        let ratio = events * (after / before).ln()
            + (trials - events) * ((1.0 - after) / (1.0 - before)).ln();
        ratio / dispersion
    }
}

/// Returns the share of events of a kind on the highest days of a corpus; `None` without usual figures of at least this many trials.
#[must_use]
pub fn share_on_highest_days(usual: &[&UsualCell], kind: Kind, trials: u64) -> Option<f64> {
    let mut cells = usual.iter();
    let whole = cells.find(|cell| cell.kind == kind && cell.part == Part::Corpus)?;
    let usual = Usual::of(whole)?;
    (usual.trials >= trials as f64).then_some(usual.mean + HIGHEST_DAYS * usual.day_deviation)
}

/// The evidence for a rise in one part of a corpus.
#[derive(Clone, Debug, PartialEq)]
struct Evidence {
    evidence: f64,
    /// First hour of the rise.
    since: i64,
    events: f64,
    trials: f64,
    usual: f64,
}

/// A rule on one corpus.
#[derive(Clone, Copy, Debug)]
pub struct RiseRule<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// What it watches.
    pub kind: Kind,
    /// Events of the corpus in the hours of the rule's period, of this kind and others.
    pub cells: &'a [&'a CountCell],
    /// Usual figures of the corpus.
    pub usual: &'a [&'a UsualCell],
    /// The current hour, in seconds since 1970.
    pub now: i64,
}

impl RiseRule<'_> {
    /// Returns the reading, or `None` without usual figures.
    #[must_use]
    pub fn read(&self) -> Option<Reading> {
        let of_kind = self.usual.iter().filter(|usual| usual.kind == self.kind);
        let usual: BTreeMap<&Part, Usual> = of_kind
            .filter_map(|cell| Some((&cell.part, Usual::of(cell)?)))
            .collect();
        let whole = usual.get(&Part::Corpus).copied();
        let whole = whole.filter(|whole| whole.trials >= self.rule.min_answers as f64)?;
        let all = self.parts().into_iter().map(|part| {
            let own = usual.get(&part).copied();
            let own = own.filter(|own| own.trials >= OWN_FIGURES * whole.trials);
            self.accumulate(&part, own.unwrap_or(whole))
        });
        // Of equal ones, the corpus comes first: a large fault of the corpus has the largest evidence in each part.
        let stronger = |a: Evidence, b: Evidence| if b.evidence > a.evidence { b } else { a };
        let strongest = all.reduce(stronger)?;
        let share = strongest.events / strongest.trials.max(f64::MIN_POSITIVE);
        let (value, baseline) = match self.kind {
            Kind::AnswerMs => (
                ((share - strongest.usual) / 1000.0).exp_m1(),
                (strongest.usual / 1000.0).exp(),
            ),
            Kind::Failing => (share - strongest.usual, 1.0 - strongest.usual),
            _ => (share - strongest.usual, strongest.usual),
        };
        Some(Reading {
            value,
            samples: strongest.trials as u64,
            baseline: Some(baseline),
            since: strongest.since,
            first_bad_hour: (strongest.evidence > 0.0).then_some(strongest.since),
            is_bad: strongest.evidence >= FIRES,
            is_over: strongest.evidence <= RESOLVES,
        })
    }

    /// Returns the whole corpus, and its document types and models if there are several.
    fn parts(&self) -> Vec<Part> {
        let own = || self.cells.iter().filter(|cell| cell.kind == self.kind);
        let types: BTreeSet<&String> = own()
            .filter_map(|cell| cell.document_type.as_ref())
            .collect();
        let models: BTreeSet<&String> = own().filter_map(|cell| cell.model.as_ref()).collect();
        let mut parts = vec![Part::Corpus];
        if types.len() > 1 {
            parts.extend(types.into_iter().map(|own| Part::DocumentType(own.clone())));
        }
        if models.len() > 1 {
            parts.extend(models.into_iter().map(|own| Part::Model(own.clone())));
        }
        parts
    }

    /// Accumulates the evidence of a part, hour by hour.
    fn accumulate(&self, part: &Part, usual: Usual) -> Evidence {
        let mut hours: BTreeMap<i64, (f64, f64)> = BTreeMap::new();
        let first = self.now + HOUR - self.rule.hours.max(1) * HOUR;
        check_interrupt(self.cells.len());
        for cell in self.cells {
            let is_own = cell.kind == self.kind && part.includes(cell) && cell.hour >= first;
            if is_own && cell.trials > 0.0 {
                let sums = hours.entry(cell.hour).or_default();
                sums.0 += cell.events;
                sums.1 += cell.trials;
            }
        }
        let none = |since| Evidence {
            evidence: 0.0,
            since,
            events: 0.0,
            trials: 0.0,
            usual: usual.mean,
        };
        let mut sum = none(self.now);
        for (hour, (events, trials)) in hours {
            if sum.evidence == 0.0 {
                sum = none(hour);
            }
            sum.evidence += usual.evidence(self.kind, self.rule.threshold, events, trials);
            sum.evidence = sum.evidence.clamp(0.0, MOST);
            sum.events += events;
            sum.trials += trials;
        }
        sum
    }
}
