//! Alert rules and their severities.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::AuditError;
use crate::indicator::{BadDirection, Indicator};

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

impl Rule {
    /// Returns whether each corpus is checked separately. Usual figures are always those of a corpus.
    #[must_use]
    pub fn is_per_corpus(&self) -> bool {
        self.per_corpus || matches!(self.indicator, Indicator::Rise(_))
    }

    /// Returns whether a value of the indicator is beyond the threshold.
    #[must_use]
    pub fn is_bad(&self, value: f64) -> bool {
        match self.indicator.bad() {
            BadDirection::Below => value < self.threshold,
            BadDirection::Above => value > self.threshold,
            BadDirection::From => value > 0.0 && value >= self.threshold,
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

/// What a rule reads on one corpus, or on all corpora.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// Value of the indicator.
    pub value: f64,
    /// Number of answers or citations behind the value.
    pub samples: u64,
    /// The value before, for indicators that compare with a baseline.
    pub baseline: Option<f64>,
    /// Start of the hours behind the value, in seconds since 1970.
    pub since: i64,
    /// First hour of the latest run of bad hours. `None` when no single hour is bad.
    pub first_bad_hour: Option<i64>,
    /// Whether the value fires an alert.
    pub is_bad: bool,
    /// Whether the value resolves an alert.
    pub is_over: bool,
}
