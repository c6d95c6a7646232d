//! Alert rules: which findings a rule makes from rollups, and how alerts change state.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::AuditError;
use crate::hours::{Corpus, HOUR, Hours, Window};
use crate::indicator::{BadDirection, Indicator, IndicatorValue};

/// Below this mean fidelity an alert is critical, also if its rule has a lower severity.
pub const CRITICAL_CFS: f64 = 0.70;

/// Maximum distance of the first bad hour from now, in hours.
pub const LOOK_BACK: i64 = 7 * 24;

/// Hysteresis: a firing alert resolves when its value is better than the threshold by this share of the distance between the
/// threshold and the best value. Without a margin, an alert near its threshold would fire and resolve in turn. With a much
/// larger margin, an alert would stay open for hours after a repair.
const MARGIN: f64 = 0.1;

/// With at least this many citations per answer of its own, a corpus is assumed to be cited by turns on other corpora. Few answers
/// contain so many citations.
const CITED_BY_OTHERS: u64 = 20;

/// Severity of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Needs a look.
    Warning,
    /// Needs an immediate repair.
    Critical,
}

impl Severity {
    /// All severities, the lowest first.
    pub const ALL: [Self; 2] = [Self::Warning, Self::Critical];

    /// Returns the name that rules use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

impl FromStr for Severity {
    type Err = AuditError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let mut all = Self::ALL.into_iter();
        all.find(|severity| severity.name() == name)
            .ok_or_else(|| AuditError::unrecognized("severity", name, &Self::ALL.map(Self::name)))
    }
}

/// Values of a user-defined rule for parameters that are not passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RuleDefaults {
    /// How far back the rule looks, in hours.
    pub hours: i64,
    /// Whether the rule uses the whole period.
    pub whole_period: bool,
    /// Minimum number of answers.
    pub min_answers: u64,
    /// Whether each corpus is checked separately.
    pub per_corpus: bool,
    /// Severity of the rule's alerts.
    pub severity: Severity,
}

impl Default for RuleDefaults {
    fn default() -> Self {
        Self {
            hours: 6,
            whole_period: false,
            min_answers: 50,
            per_corpus: true,
            severity: Severity::Warning,
        }
    }
}

/// An enabled rule.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Rule {
    /// Name of the rule.
    pub rule: String,
    /// The indicator that the rule watches.
    pub indicator: Indicator,
    /// Threshold beyond which values are bad, see [`Indicator::bad`].
    pub threshold: f64,
    /// How far back the rule looks, in hours, including the current hour.
    pub hours: i64,
    /// Whether the rule uses the whole period. Otherwise it uses the latest hours that contain `min_answers` answers.
    pub whole_period: bool,
    /// Minimum number of answers, and of samples behind the figure. With fewer, the rule makes no finding.
    pub min_answers: u64,
    /// Whether each corpus is checked separately; otherwise all corpora are checked together.
    pub per_corpus: bool,
    /// Minimum severity of the rule's alerts.
    pub severity: Severity,
}

/// How far back the rollups must be read, in hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Horizon {
    /// For answers and citations. Includes [`LOOK_BACK`], for the first bad hour.
    pub hours: i64,
    /// For stale citations.
    pub stale: i64,
}

impl Horizon {
    /// Returns the horizon that a set of rules needs.
    #[must_use]
    pub fn of(rules: &[Rule]) -> Self {
        let furthest = |watched: fn(&Rule) -> bool| {
            let hours = rules
                .iter()
                .filter(|rule| watched(rule))
                .map(|rule| rule.hours);
            hours.max().unwrap_or_default()
        };
        Self {
            hours: furthest(|_| true).max(LOOK_BACK),
            stale: furthest(|rule| rule.indicator == Indicator::Stale),
        }
    }
}

/// A stored baseline, for [`Indicator::PercentileDrop`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Baseline {
    /// Corpus; `None` for all corpora together.
    #[serde(flatten)]
    pub corpus: Option<Corpus>,
    /// Fifth percentile of the fidelity scores.
    pub cfs_p5: f64,
}

/// A new baseline to store.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NewBaseline {
    /// Corpus; `None` for all corpora together.
    #[serde(flatten)]
    pub corpus: Option<Corpus>,
    /// Fifth percentile of the fidelity scores.
    pub cfs_p5: f64,
    /// Number of answers behind the baseline.
    pub answers: u64,
}

/// Computes the baselines of all corpora together and of each corpus. Corpora without scores have none.
#[must_use]
pub fn baselines(hours: &Hours) -> Vec<NewBaseline> {
    let by_corpus = hours.by_corpus();
    let each = by_corpus
        .iter()
        .map(|(corpus, hours)| (Some(*corpus), hours));
    let baselines = std::iter::once((None, hours))
        .chain(each)
        .filter_map(|(corpus, hours)| {
            let window = Window {
                corpus,
                since: i64::MIN,
                until: i64::MAX,
            };
            let IndicatorValue { value, samples } =
                Indicator::Percentile(5).compute(hours, window, None)?;
            Some(NewBaseline {
                corpus: corpus.cloned(),
                cfs_p5: value,
                answers: samples,
            })
        });
    baselines.collect()
}

/// An alert that has fired and is not resolved.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct OpenAlert {
    /// Id of the alert.
    pub alert_id: i64,
    /// Rule that fired the alert.
    pub rule: String,
    /// Corpus, when the rule checks each corpus separately.
    #[serde(flatten)]
    pub corpus: Option<Corpus>,
    /// Current severity.
    pub severity: Severity,
}

/// State change of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The alert is new.
    Fired,
    /// The alert has become critical.
    Escalated,
    /// The alert stays open: the value is bad, or not better by the margin yet.
    Firing,
    /// The alert is over: the value is better by the margin, or no hour of the rule's period is bad.
    Resolved,
}

/// Result of checking one rule on one corpus.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// State change of the alert.
    pub event: Event,
    /// Id of the alert; `None` for a new one.
    pub alert_id: Option<i64>,
    /// Name of the rule.
    pub rule: String,
    /// Corpus, when the rule checks each corpus separately.
    #[serde(flatten)]
    pub corpus: Option<Corpus>,
    /// Severity of the alert.
    pub severity: Severity,
    /// The indicator that the rule watches.
    pub indicator: Indicator,
    /// Value of the indicator.
    pub value: f64,
    /// Threshold beyond which values are bad.
    pub threshold: f64,
    /// The baseline, for a drop.
    pub baseline: Option<f64>,
    /// Number of answers or citations behind the value.
    pub samples: u64,
    /// Start of the window, in seconds since 1970.
    pub since: i64,
    /// First hour of the latest run of bad hours, in seconds since 1970. `None` when no single hour is bad; the start of the
    /// problem is unknown then.
    pub first_bad_hour: Option<i64>,
}

/// Input of a check.
#[derive(Clone, Debug, Deserialize)]
pub struct CheckInput {
    /// The current hour, in seconds since 1970.
    pub now: i64,
    /// Rollups of the last [`LOOK_BACK`] hours and of the periods of all rules.
    #[serde(flatten)]
    pub hours: Hours,
    /// Stored baselines.
    pub baselines: Vec<Baseline>,
    /// Alerts that are not resolved.
    pub open: Vec<OpenAlert>,
    /// Corpora with citations that users reported in the last 24 hours.
    pub reported: Vec<Corpus>,
}

impl CheckInput {
    /// Checks every rule against the rollups.
    ///
    /// A rule with too few samples neither fires nor resolves an alert; see [`CheckInput::orphans`] for alerts without any data.
    #[must_use]
    pub fn check(&self, rules: &[Rule]) -> Vec<Finding> {
        let by_corpus = self.hours.by_corpus();
        let lookups = Lookups::of(self);
        let mut findings = Vec::new();
        for rule in rules {
            if rule.per_corpus {
                for (corpus, hours) in &by_corpus {
                    findings.extend(self.check_rule(&lookups, rule, hours, Some(corpus)));
                }
            } else {
                findings.extend(self.check_rule(&lookups, rule, &self.hours, None));
            }
        }
        findings
    }

    /// Returns the open alerts that no enabled rule can have fired, and the alerts of corpora without any cell in the rollups
    /// (nobody has used them for [`LOOK_BACK`]).
    #[must_use]
    pub fn orphans(&self, rules: &[Rule]) -> Vec<i64> {
        let with_cells = self.hours.by_corpus();
        let of = |open: &&OpenAlert| {
            let mut rules = rules.iter();
            let has_rule = rules
                .any(|rule| rule.rule == open.rule && rule.per_corpus == open.corpus.is_some());
            let unused = match &open.corpus {
                Some(corpus) => !with_cells.contains_key(corpus),
                None => with_cells.is_empty(),
            };
            !has_rule || unused
        };
        self.open
            .iter()
            .filter(of)
            .map(|open| open.alert_id)
            .collect()
    }

    /// Checks one rule on the hours of one corpus, or of all corpora.
    fn check_rule(
        &self,
        lookups: &Lookups<'_>,
        rule: &Rule,
        hours: &Hours,
        corpus: Option<&Corpus>,
    ) -> Option<Finding> {
        let baseline = lookups.baseline(rule, corpus);
        let window = self.window(rule, hours, corpus, baseline)?;
        let IndicatorValue { value, samples } = rule.indicator.compute(hours, window, baseline)?;
        let open = lookups.open.get(&(rule.rule.as_str(), corpus)).copied();
        let bad = is_bad(rule, value);
        let severity = lookups.severity(rule, hours, window).max(match open {
            // A critical alert stays critical until it is resolved.
            Some(open) => open.severity,
            None => Severity::Warning,
        });
        let event = match open {
            None if bad => Event::Fired,
            None => return None,
            Some(_) if !bad && self.is_over(rule, hours, corpus, baseline, value) => {
                Event::Resolved
            }
            Some(open) if severity > open.severity => Event::Escalated,
            Some(_) => Event::Firing,
        };
        let began = self.first_bad_hour(rule, hours, window, baseline);
        let first_bad_hour = match event {
            // Without a single bad hour, the start of the window is the best estimate.
            Event::Fired => began.or(Some(window.since)),
            // The stored alert keeps the start with which it fired.
            _ => began,
        };
        Some(Finding {
            event,
            alert_id: open.map(|open| open.alert_id),
            rule: rule.rule.clone(),
            corpus: corpus.cloned(),
            severity,
            indicator: rule.indicator,
            value,
            threshold: rule.threshold,
            baseline,
            samples,
            since: window.since,
            first_bad_hour,
        })
    }

    /// Returns whether an alert whose value is no longer bad is over. The value must be better by [`MARGIN`], or no single hour of
    /// the rule's period may be bad. Otherwise an alert near its threshold would fire and resolve in turn.
    fn is_over(
        &self,
        rule: &Rule,
        hours: &Hours,
        corpus: Option<&Corpus>,
        baseline: Option<f64>,
        value: f64,
    ) -> bool {
        let best = match rule.indicator.bad() {
            BadDirection::Below => 1.0,
            BadDirection::Above | BadDirection::From => 0.0,
        };
        let enough = rule.threshold + MARGIN * (best - rule.threshold);
        let better = match rule.indicator.bad() {
            BadDirection::Below => value >= enough,
            BadDirection::Above | BadDirection::From => value <= enough,
        };
        let period = Window {
            corpus,
            since: self.now + HOUR - rule.hours.max(1) * HOUR,
            until: self.now + HOUR,
        };
        better || self.first_bad_hour(rule, hours, period, baseline).is_none()
    }

    /// Returns the hours that a rule uses, or `None` when they contain too few answers or samples. A corpus that is mostly cited by
    /// turns on other corpora is judged by the number of its citations, because a few answers of its own must not silence it.
    fn window<'a>(
        &self,
        rule: &Rule,
        hours: &Hours,
        corpus: Option<&'a Corpus>,
        baseline: Option<f64>,
    ) -> Option<Window<'a>> {
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
    fn first_bad_hour(
        &self,
        rule: &Rule,
        hours: &Hours,
        window: Window<'_>,
        baseline: Option<f64>,
    ) -> Option<i64> {
        let mut first = None;
        for back in 1..=LOOK_BACK.max(rule.hours) {
            let hour = window.until - back * HOUR;
            if first.is_none() && hour < window.since {
                break;
            }
            let of_hour = window.during(hour, hour + HOUR);
            match rule.indicator.compute(hours, of_hour, baseline) {
                Some(found) if is_bad(rule, found.value) => first = Some(hour),
                Some(_) if first.is_some() => break,
                _ => {}
            }
        }
        first
    }
}

/// Lookup tables of a check.
struct Lookups<'a> {
    open: BTreeMap<(&'a str, Option<&'a Corpus>), &'a OpenAlert>,
    baselines: BTreeMap<Option<&'a Corpus>, f64>,
    reported: BTreeSet<&'a Corpus>,
}

impl<'a> Lookups<'a> {
    fn of(input: &'a CheckInput) -> Self {
        let open = input.open.iter();
        let baselines = input.baselines.iter();
        Self {
            open: open
                .map(|open| ((open.rule.as_str(), open.corpus.as_ref()), open))
                .collect(),
            baselines: baselines
                .map(|baseline| (baseline.corpus.as_ref(), baseline.cfs_p5))
                .collect(),
            reported: input.reported.iter().collect(),
        }
    }

    fn baseline(&self, rule: &Rule, corpus: Option<&Corpus>) -> Option<f64> {
        if rule.indicator != Indicator::PercentileDrop {
            return None;
        }
        self.baselines.get(&corpus).copied()
    }

    /// Returns [`Severity::Critical`] for a low mean fidelity or reports of users, otherwise the severity of the rule.
    fn severity(&self, rule: &Rule, hours: &Hours, window: Window<'_>) -> Severity {
        let mean = hours.mean(window);
        let complained = match window.corpus {
            Some(corpus) => self.reported.contains(corpus),
            None => !self.reported.is_empty(),
        };
        if mean.is_some_and(|mean| mean < CRITICAL_CFS) || complained {
            Severity::Critical
        } else {
            rule.severity
        }
    }
}

/// Checks that a threshold is in [0, 1].
///
/// # Errors
/// Returns [`AuditError::Threshold`] when it is not.
pub fn threshold(value: f64) -> Result<f64, AuditError> {
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err(AuditError::Threshold(value))
    }
}

fn is_bad(rule: &Rule, value: f64) -> bool {
    match rule.indicator.bad() {
        BadDirection::Below => value < rule.threshold,
        BadDirection::Above => value > rule.threshold,
        BadDirection::From => value > 0.0 && value >= rule.threshold,
    }
}
