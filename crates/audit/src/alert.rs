//! Alert rules: which findings a rule makes from rollups, and how alerts change state.

use std::collections::{BTreeMap, BTreeSet};

use reground_citations::LossStage;
use reground_interrupt::checked;
use serde::{Deserialize, Serialize};

use crate::counts::{CountCell, Kind, UsualCell};
use crate::hours::{Corpus, HOUR, Hours, Window};
use crate::indicator::{Indicator, IndicatorValue};
use crate::rise::{RiseRule, share_on_high_days};
use crate::rule::{Reading, Rule, Severity};
use crate::traffic::{EarlierCell, TrafficRule};
use crate::window_rule::{LOOK_BACK, WindowRule};

/// Hours whose events are usual: four weeks.
pub const USUAL_HOURS: i64 = 28 * 24;

/// Below this mean fidelity an alert is critical, also if its rule has a lower severity.
pub const CRITICAL_CFS: f64 = 0.70;

/// How far back the rollups must be read, in hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Horizon {
    /// For answers and citations. Includes [`LOOK_BACK`], for the first bad hour.
    pub hours: i64,
    /// For stale citations.
    pub stale: i64,
    /// For events that accumulate. The usual figures are those of the [`USUAL_HOURS`] before.
    pub counts: i64,
    /// For the traffic of earlier weeks.
    pub traffic: i64,
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
            counts: furthest(|rule| matches!(rule.indicator, Indicator::Rise(_))),
            traffic: furthest(|rule| rule.indicator == Indicator::Traffic),
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
    /// Events of the hours of the accumulating rules.
    #[serde(default)]
    pub counts: Vec<CountCell>,
    /// Events of the weeks before these hours.
    #[serde(default)]
    pub usual: Vec<UsualCell>,
    /// Answers in the same hours of earlier weeks.
    #[serde(default)]
    pub earlier: Vec<EarlierCell>,
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
            if rule.is_per_corpus() {
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
            let has_rule = rules.any(|rule| {
                rule.rule == open.rule && rule.is_per_corpus() == open.corpus.is_some()
            });
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
        let reading = self.read(lookups, rule, hours, corpus)?;
        let open = lookups.open.get(&(rule.rule.as_str(), corpus)).copied();
        let window = Window {
            corpus,
            since: reading.since,
            until: self.now + HOUR,
        };
        let severity = lookups.severity(rule, hours, window).max(match open {
            // A critical alert stays critical until it is resolved.
            Some(open) => open.severity,
            None => Severity::Warning,
        });
        let event = match open {
            None if reading.is_bad => Event::Fired,
            None => return None,
            Some(_) if reading.is_over => Event::Resolved,
            Some(open) if severity > open.severity => Event::Escalated,
            Some(_) => Event::Firing,
        };
        let first_bad_hour = match event {
            // Without a single bad hour, the start of the window is the best estimate.
            Event::Fired => reading.first_bad_hour.or(Some(reading.since)),
            // The stored alert keeps the start with which it fired.
            _ => reading.first_bad_hour,
        };
        Some(Finding {
            event,
            alert_id: open.map(|open| open.alert_id),
            rule: rule.rule.clone(),
            corpus: corpus.cloned(),
            severity,
            indicator: rule.indicator,
            value: reading.value,
            threshold: rule.threshold,
            baseline: reading.baseline,
            samples: reading.samples,
            since: reading.since,
            first_bad_hour,
        })
    }

    fn read(
        &self,
        lookups: &Lookups<'_>,
        rule: &Rule,
        hours: &Hours,
        corpus: Option<&Corpus>,
    ) -> Option<Reading> {
        match rule.indicator {
            Indicator::Rise(kind) => {
                let (cells, usual) = (of(&lookups.counts, corpus), of(&lookups.usual, corpus));
                let now = self.now;
                RiseRule {
                    rule,
                    kind,
                    cells,
                    usual,
                    now,
                }
                .read()
            }
            Indicator::Traffic => {
                let (earlier, now) = (of(&lookups.earlier, corpus), self.now);
                TrafficRule {
                    rule,
                    hours,
                    corpus,
                    earlier,
                    now,
                }
                .read()
            }
            _ => {
                let (baseline, now) = (lookups.baseline(rule, corpus), self.now);
                let usual = lookups.usual_losses(rule, corpus);
                WindowRule {
                    rule,
                    hours,
                    corpus,
                    baseline,
                    usual,
                    now,
                }
                .read()
            }
        }
    }
}

/// Lookup tables of a check.
struct Lookups<'a> {
    open: BTreeMap<(&'a str, Option<&'a Corpus>), &'a OpenAlert>,
    baselines: BTreeMap<Option<&'a Corpus>, f64>,
    reported: BTreeSet<&'a Corpus>,
    counts: ByCorpus<'a, CountCell>,
    usual: ByCorpus<'a, UsualCell>,
    earlier: ByCorpus<'a, EarlierCell>,
}

/// The cells of each corpus, and of all.
type ByCorpus<'a, T> = BTreeMap<Option<&'a Corpus>, Vec<&'a T>>;

fn by_corpus<T>(cells: &[T], corpus: impl Fn(&T) -> &Corpus) -> ByCorpus<'_, T> {
    let mut all: ByCorpus<'_, T> = BTreeMap::new();
    for cell in checked(cells) {
        all.entry(Some(corpus(cell))).or_default().push(cell);
        all.entry(None).or_default().push(cell);
    }
    all
}

fn of<'c, 'a, T>(cells: &'c ByCorpus<'a, T>, corpus: Option<&'c Corpus>) -> &'c [&'a T] {
    cells.get(&corpus).map_or(&[], Vec::as_slice)
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
            counts: by_corpus(&input.counts, |cell| &cell.corpus),
            usual: by_corpus(&input.usual, |cell| &cell.corpus),
            earlier: by_corpus(&input.earlier, |cell| &cell.corpus),
        }
    }

    fn baseline(&self, rule: &Rule, corpus: Option<&Corpus>) -> Option<f64> {
        if rule.indicator != Indicator::PercentileDrop {
            return None;
        }
        self.baselines.get(&corpus).copied()
    }

    /// The share of citations that fail on a high day of a corpus, for the stage that loses them. Every corpus has citations that the text
    /// of their source does not support. With a fixed limit alone, a corpus near it would have an alert on each bad day.
    fn usual_losses(&self, rule: &Rule, corpus: Option<&Corpus>) -> Option<f64> {
        let of_generation = rule.indicator == Indicator::Survival(LossStage::Generation);
        let corpus = corpus.filter(|_| of_generation)?;
        share_on_high_days(
            of(&self.usual, Some(corpus)),
            Kind::Failing,
            rule.min_answers,
        )
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
