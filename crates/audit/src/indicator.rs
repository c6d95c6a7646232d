//! What a rule watches.

use std::str::FromStr;

use reground_citations::{LossStage, Status};
use serde::{Deserialize, Serialize};

use crate::error::AuditError;
use crate::hours::{Hours, Part};

/// A figure of some hours, computed from the rollups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum Indicator {
    /// Percentile of the fidelity scores, in per cent.
    Percentile(u8),
    /// Mean of the fidelity scores.
    Mean,
    /// How far the fifth percentile is under its baseline.
    PercentileDrop,
    /// Share of the citations that a stage lets through.
    Survival(LossStage),
    /// Share of what was meant as a citation that cannot be read (I6).
    ParseFailures,
    /// Share of the citations whose document has changed or gone since (I12).
    Stale,
}

/// Which way is bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    /// Under the threshold.
    Below,
    /// Above it.
    Above,
    /// At it or above, where there is anything at all: what is promised is to stay under it.
    From,
}

impl Indicator {
    /// All, in the order in which they are documented.
    pub const ALL: [Self; 14] = [
        Self::Percentile(1),
        Self::Percentile(5),
        Self::Percentile(50),
        Self::Percentile(95),
        Self::Percentile(99),
        Self::Mean,
        Self::PercentileDrop,
        Self::Survival(LossStage::Coordinates),
        Self::Survival(LossStage::Retrieval),
        Self::Survival(LossStage::Rerank),
        Self::Survival(LossStage::Context),
        Self::Survival(LossStage::Generation),
        Self::ParseFailures,
        Self::Stale,
    ];

    /// The name as rules have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Percentile(1) => "cfs_p1",
            Self::Percentile(5) => "cfs_p5",
            Self::Percentile(95) => "cfs_p95",
            Self::Percentile(99) => "cfs_p99",
            Self::Percentile(_) => "cfs_p50",
            Self::Mean => "cfs_mean",
            Self::PercentileDrop => "cfs_p5_drop",
            Self::Survival(LossStage::Coordinates) => "survival_coordinates",
            Self::Survival(LossStage::Retrieval) => "survival_retrieval",
            Self::Survival(LossStage::Rerank) => "survival_rerank",
            Self::Survival(LossStage::Context) => "survival_context",
            Self::Survival(LossStage::Generation) => "survival_generation",
            Self::ParseFailures => "parse_failures",
            Self::Stale => "stale_share",
        }
    }

    /// Which way is bad.
    #[must_use]
    pub const fn bad(self) -> Bad {
        match self {
            Self::Percentile(_) | Self::Mean | Self::Survival(_) => Bad::Below,
            Self::PercentileDrop | Self::Stale => Bad::Above,
            Self::ParseFailures => Bad::From,
        }
    }

    /// Its value over a part, and the number of answers or citations that it is of; `None` where there are none.
    #[must_use]
    pub fn of(self, hours: &Hours, part: Part<'_>, baseline: Option<f64>) -> Option<Value> {
        let scored = || {
            let cells = hours.of_answers(part);
            cells
                .filter(|cell| cell.cfs_bin.is_some())
                .map(|cell| cell.answers)
                .sum()
        };
        match self {
            Self::Percentile(per_cent) => {
                let share = f64::from(per_cent) / 100.0;
                Value::of(hours.percentile(part, share)?, scored())
            }
            Self::Mean => Value::of(hours.mean(part)?, scored()),
            Self::PercentileDrop => {
                let drop = baseline? - hours.percentile(part, 0.05)?;
                Value::of(drop, scored())
            }
            Self::Survival(stage) => {
                let (reached, survived) = hours.survival(part, stage);
                Value::share(survived, reached)
            }
            Self::ParseFailures => {
                let (mut failed, mut all) = (0, 0);
                for cell in hours.of_citations(part) {
                    all += cell.citations;
                    if cell.status == Status::Malformed {
                        failed += cell.citations;
                    }
                }
                Value::share(failed, all)
            }
            Self::Stale => {
                let (mut stale, mut all) = (0, 0);
                for cell in hours.of_stale(part) {
                    stale += cell.stale;
                    all += cell.citations;
                }
                Value::share(stale, all)
            }
        }
    }
}

/// What an indicator came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// The figure.
    pub value: f64,
    /// Answers or citations that it is of.
    pub samples: u64,
}

impl Value {
    const fn of(value: f64, samples: u64) -> Option<Self> {
        Some(Self { value, samples })
    }

    fn share(part: u64, whole: u64) -> Option<Self> {
        (whole > 0).then(|| Self {
            value: part as f64 / whole as f64,
            samples: whole,
        })
    }
}

impl FromStr for Indicator {
    type Err = AuditError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let mut all = Self::ALL.into_iter();
        all.find(|indicator| indicator.name() == name)
            .ok_or_else(|| AuditError::UnknownIndicator(name.to_owned()))
    }
}

impl TryFrom<String> for Indicator {
    type Error = AuditError;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        name.parse()
    }
}

impl From<Indicator> for &'static str {
    fn from(indicator: Indicator) -> Self {
        indicator.name()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_read_back() {
        let names: BTreeSet<&str> = Indicator::ALL.map(Indicator::name).into();
        assert_eq!(names.len(), Indicator::ALL.len());
        for indicator in Indicator::ALL {
            assert_eq!(indicator.name().parse(), Ok(indicator));
        }
        assert!("cfs".parse::<Indicator>().is_err());
    }

    #[test]
    fn a_drop_wants_a_baseline() {
        let hours: Hours = serde_json::from_str(
            r#"{"answers": [{"hour": 0, "corpus": "c", "cfs_bin": 700, "answers": 9}], "citations": []}"#,
        )
        .unwrap();
        let part = Part {
            corpus: None,
            since: 0,
            until: 1,
        };
        assert_eq!(Indicator::PercentileDrop.of(&hours, part, None), None);
        let drop = Indicator::PercentileDrop
            .of(&hours, part, Some(0.9))
            .unwrap();
        assert!((drop.value - 0.2).abs() < 1e-12);
        assert_eq!(drop.samples, 9);
        assert_eq!(Indicator::Stale.of(&hours, part, None), None);
    }
}
