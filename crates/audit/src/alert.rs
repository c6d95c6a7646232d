//! When to call someone: rules, what they read of the rollups, and what becomes of the alerts (I14, I15).

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::AuditError;
use crate::hours::{Corpus, HOUR, Hours, Part};
use crate::indicator::{Bad, Indicator, Value};

/// Mean fidelity under which an alert is critical, whatever its rule says (I14).
pub const CRITICAL_CFS: f64 = 0.70;

/// How far back the beginning of what is wrong is looked for, in hours.
pub const LOOK_BACK: i64 = 7 * 24;

/// By how much a value must be better than its threshold for a firing alert to be over, as a share of what lies between the threshold
/// and the best value: the recovery threshold of monitoring systems, without which one near its threshold fires and resolves with each
/// answer. With much more, an alert would stay for hours on a fault that is mended.
const MARGIN: f64 = 0.1;

/// Citations for each answer of its own from which on a corpus is taken to be cited by turns on others: an answer that writes as many
/// is rare.
const CITED_ELSEWHERE: u64 = 20;

/// How bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// To look at.
    Warning,
    /// To mend now.
    Critical,
}

impl Severity {
    /// All, from the least on.
    pub const ALL: [Self; 2] = [Self::Warning, Self::Critical];

    /// The name as rules have it.
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
            .ok_or_else(|| AuditError::UnknownSeverity(name.to_owned()))
    }
}

/// What a rule of one's own has where nothing is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Defaults {
    /// How far back it looks, in hours.
    pub hours: i64,
    /// Whether it takes all of that.
    pub whole_period: bool,
    /// Answers under which it says nothing.
    pub min_messages: u64,
    /// Whether each corpus is looked at alone.
    pub per_corpus: bool,
    /// Of its alerts.
    pub severity: Severity,
}

impl Default for Defaults {
    fn default() -> Self {
        Self {
            hours: 6,
            whole_period: false,
            min_messages: 50,
            per_corpus: true,
            severity: Severity::Warning,
        }
    }
}

/// A rule in force.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Rule {
    /// Its name.
    pub rule: String,
    /// What it watches.
    pub indicator: Indicator,
    /// From where on that is bad.
    pub threshold: f64,
    /// How far back it looks, in hours, the running one included.
    pub hours: i64,
    /// Whether it takes all of that; else the latest hours, as few as have `min_messages`.
    pub whole_period: bool,
    /// Answers under which it says nothing, and answers or citations that its figure is of.
    pub min_messages: u64,
    /// Whether each corpus is looked at alone; else all at once.
    pub per_corpus: bool,
    /// Of its alerts, at least.
    pub severity: Severity,
}

/// How far back rules look, in hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Horizon {
    /// For what the rollups hold: the beginning of what is wrong included.
    pub hours: i64,
    /// For what is stale by now.
    pub stale: i64,
}

impl Horizon {
    /// What rules need.
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

/// The stored figure that a drop is from.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Baseline {
    /// Its corpus; `None` for all.
    #[serde(flatten)]
    pub corpus: Option<Corpus>,
    /// Fifth percentile of the fidelity scores.
    pub cfs_p5: f64,
}

/// A baseline to be stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Taken {
    /// Its corpus; `None` for all.
    #[serde(flatten)]
    pub corpus: Option<Corpus>,
    /// Fifth percentile of the fidelity scores.
    pub cfs_p5: f64,
    /// Answers that it is of.
    pub answers: u64,
}

/// What some hours look like, as a whole and corpus by corpus; nothing of those without scores.
#[must_use]
pub fn baselines(hours: &Hours) -> Vec<Taken> {
    let by_corpus = hours.by_corpus();
    let each = by_corpus
        .iter()
        .map(|(corpus, hours)| (Some(*corpus), hours));
    let taken = std::iter::once((None, hours))
        .chain(each)
        .filter_map(|(corpus, hours)| {
            let part = Part {
                corpus,
                since: i64::MIN,
                until: i64::MAX,
            };
            let Value { value, samples } = Indicator::Percentile(5).of(hours, part, None)?;
            Some(Taken {
                corpus: corpus.cloned(),
                cfs_p5: value,
                answers: samples,
            })
        });
    taken.collect()
}

/// An alert that has been fired and is not resolved.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Open {
    /// Its id.
    pub alert_id: i64,
    /// Rule that fired it.
    pub rule: String,
    /// Corpus, where the rule looks at each.
    #[serde(flatten)]
    pub corpus: Option<Corpus>,
    /// As it stands.
    pub severity: Severity,
}

/// What becomes of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// It is new.
    Fired,
    /// It has become critical.
    Escalated,
    /// It goes on, bad or not yet good enough.
    Firing,
    /// It is over: good by a margin, or for the whole period of its rule.
    Resolved,
}

/// What a check found of one rule and corpus.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// What becomes of the alert.
    pub event: Event,
    /// Its id; `None` while it is new.
    pub alert_id: Option<i64>,
    /// The rule.
    pub rule: String,
    /// Corpus, where the rule looks at each.
    #[serde(flatten)]
    pub corpus: Option<Corpus>,
    /// How bad.
    pub severity: Severity,
    /// What the rule watches.
    pub indicator: Indicator,
    /// Its value.
    pub value: f64,
    /// From where on that is bad.
    pub threshold: f64,
    /// What a drop is from.
    pub baseline: Option<f64>,
    /// Answers or citations that the value is of.
    pub samples: u64,
    /// First hour that was looked at, in seconds since 1970.
    pub since: i64,
    /// First hour of the latest run of bad ones, in seconds since 1970; `None` where no hour is bad by itself, which says nothing
    /// of when it began.
    pub first_bad_hour: Option<i64>,
}

/// What a check needs to know.
#[derive(Clone, Debug, Deserialize)]
pub struct Situation {
    /// The running hour, in seconds since 1970.
    pub now: i64,
    /// What the rollups hold of the last [`LOOK_BACK`] hours, and of all that the rules look at.
    #[serde(flatten)]
    pub hours: Hours,
    /// Figures that drops are from.
    pub baselines: Vec<Baseline>,
    /// Alerts that are not resolved.
    pub open: Vec<Open>,
    /// Corpora of which users have reported citations within the last day.
    pub reported: Vec<Corpus>,
}

impl Situation {
    /// Holds every rule against the rollups.
    ///
    /// A rule that has too little to go by neither fires nor resolves; see [`Situation::orphans`] for what nothing is known of any more.
    #[must_use]
    pub fn check(&self, rules: &[Rule]) -> Vec<Finding> {
        let by_corpus = self.hours.by_corpus();
        let known = Known::of(self);
        let mut findings = Vec::new();
        for rule in rules {
            if rule.per_corpus {
                for (corpus, hours) in &by_corpus {
                    findings.extend(self.look(&known, rule, hours, Some(corpus)));
                }
            } else {
                findings.extend(self.look(&known, rule, &self.hours, None));
            }
        }
        findings
    }

    /// Open alerts that no rule in force could have fired, and those of corpora of which nothing was heard for so long
    /// ([`LOOK_BACK`]): nobody asks there any more.
    #[must_use]
    pub fn orphans(&self, rules: &[Rule]) -> Vec<i64> {
        let heard = self.hours.by_corpus();
        let of = |open: &&Open| {
            let mut rules = rules.iter();
            let known = rules
                .any(|rule| rule.rule == open.rule && rule.per_corpus == open.corpus.is_some());
            let silent = match &open.corpus {
                Some(corpus) => !heard.contains_key(corpus),
                None => heard.is_empty(),
            };
            !known || silent
        };
        self.open
            .iter()
            .filter(of)
            .map(|open| open.alert_id)
            .collect()
    }

    /// Looks at the hours of one corpus, or of all.
    fn look(
        &self,
        known: &Known<'_>,
        rule: &Rule,
        hours: &Hours,
        corpus: Option<&Corpus>,
    ) -> Option<Finding> {
        let baseline = known.baseline(rule, corpus);
        let part = self.window(rule, hours, corpus, baseline)?;
        let Value { value, samples } = rule.indicator.of(hours, part, baseline)?;
        let open = known.open.get(&(rule.rule.as_str(), corpus)).copied();
        let bad = is_bad(rule, value);
        let severity = known.severity(rule, hours, part).max(match open {
            // What was critical stays so until it is over.
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
        let began = self.first_bad_hour(rule, hours, part, baseline);
        let first_bad_hour = match event {
            // Then it began where the rule looks, for all that is known.
            Event::Fired => began.or(Some(part.since)),
            // What is firing keeps the beginning that it was fired with.
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
            since: part.since,
            first_bad_hour,
        })
    }

    /// Whether an alert whose value is no longer bad is over: it is better by a margin, or no hour of the rule's period is bad by
    /// itself. Near its threshold it would fire and resolve in turn.
    fn is_over(
        &self,
        rule: &Rule,
        hours: &Hours,
        corpus: Option<&Corpus>,
        baseline: Option<f64>,
        value: f64,
    ) -> bool {
        let best = match rule.indicator.bad() {
            Bad::Below => 1.0,
            Bad::Above | Bad::From => 0.0,
        };
        let enough = rule.threshold + MARGIN * (best - rule.threshold);
        let better = match rule.indicator.bad() {
            Bad::Below => value >= enough,
            Bad::Above | Bad::From => value <= enough,
        };
        let period = Part {
            corpus,
            since: self.now + HOUR - rule.hours.max(1) * HOUR,
            until: self.now + HOUR,
        };
        better || self.first_bad_hour(rule, hours, period, baseline).is_none()
    }

    /// The hours that a rule takes, or `None` where they have too little: so many answers, and as many answers or citations that
    /// the figure is of. A corpus that is mostly cited by turns on others is judged by these citations: a few answers of its own
    /// must not silence it.
    fn window<'a>(
        &self,
        rule: &Rule,
        hours: &Hours,
        corpus: Option<&'a Corpus>,
        baseline: Option<f64>,
    ) -> Option<Part<'a>> {
        let until = self.now + HOUR;
        let period = rule.hours.max(1);
        let part = |back| Part {
            corpus,
            since: until - back * HOUR,
            until,
        };
        let least = rule.min_messages.max(1);
        // Answers and samples of a part are those of its hours, so each hour is looked at once.
        let counted = |part| {
            let figure = rule.indicator.of(hours, part, baseline);
            let samples = figure.map_or(0, |figure| figure.samples);
            (hours.answers(part), samples)
        };
        let (own, citations) = counted(part(period));
        let cited_elsewhere = own < least && citations >= CITED_ELSEWHERE.saturating_mul(own);
        let first = if rule.whole_period { period } else { 1 };
        let (mut answers, mut samples) = (0, 0);
        for back in 1..=period {
            let whole = part(back);
            let (answers_then, samples_then) =
                counted(whole.during(whole.since, whole.since + HOUR));
            answers += answers_then;
            samples += samples_then;
            let judged_by = if cited_elsewhere { samples } else { answers };
            if back >= first && samples.min(judged_by) >= least {
                return Some(whole);
            }
        }
        None
    }

    /// Goes back to the latest bad hour of those that the rule looks at, and from there as long as every hour that has a value is
    /// bad. The hours after it may be good: a few good answers at the start of the running one end nothing.
    fn first_bad_hour(
        &self,
        rule: &Rule,
        hours: &Hours,
        part: Part<'_>,
        baseline: Option<f64>,
    ) -> Option<i64> {
        let mut first = None;
        for back in 1..=LOOK_BACK.max(rule.hours) {
            let hour = part.until - back * HOUR;
            if first.is_none() && hour < part.since {
                break;
            }
            let of_hour = part.during(hour, hour + HOUR);
            match rule.indicator.of(hours, of_hour, baseline) {
                Some(found) if is_bad(rule, found.value) => first = Some(hour),
                Some(_) if first.is_some() => break,
                _ => {}
            }
        }
        first
    }
}

/// What a check looks up for each rule and corpus.
struct Known<'a> {
    open: BTreeMap<(&'a str, Option<&'a Corpus>), &'a Open>,
    baselines: BTreeMap<Option<&'a Corpus>, f64>,
    reported: BTreeSet<&'a Corpus>,
}

impl<'a> Known<'a> {
    fn of(situation: &'a Situation) -> Self {
        let open = situation.open.iter();
        let baselines = situation.baselines.iter();
        Self {
            open: open
                .map(|open| ((open.rule.as_str(), open.corpus.as_ref()), open))
                .collect(),
            baselines: baselines
                .map(|baseline| (baseline.corpus.as_ref(), baseline.cfs_p5))
                .collect(),
            reported: situation.reported.iter().collect(),
        }
    }

    fn baseline(&self, rule: &Rule, corpus: Option<&Corpus>) -> Option<f64> {
        if rule.indicator != Indicator::PercentileDrop {
            return None;
        }
        self.baselines.get(&corpus).copied()
    }

    /// Critical where answers are bad as a whole, or users complain (I14).
    fn severity(&self, rule: &Rule, hours: &Hours, part: Part<'_>) -> Severity {
        let mean = hours.mean(part);
        let complained = match part.corpus {
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

/// From where on an indicator is bad.
///
/// # Errors
/// What no indicator can be.
pub fn threshold(value: f64) -> Result<f64, AuditError> {
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err(AuditError::Threshold(value))
    }
}

fn is_bad(rule: &Rule, value: f64) -> bool {
    match rule.indicator.bad() {
        Bad::Below => value < rule.threshold,
        Bad::Above => value > rule.threshold,
        Bad::From => value > 0.0 && value >= rule.threshold,
    }
}
