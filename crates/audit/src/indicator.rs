//! Indicators that alert rules watch.

use std::str::FromStr;

use reground_citations::{LossStage, Status};
use serde::{Deserialize, Serialize};

use crate::counts::Kind;
use crate::error::AuditError;
use crate::hours::{Hours, Window};

/// A figure over some hours, computed from rollups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum Indicator {
    /// Percentile of the fidelity scores; the number is in per cent.
    Percentile(u8),
    /// Mean of the fidelity scores.
    Mean,
    /// Difference between the baseline's fifth percentile and the current one.
    PercentileDrop,
    /// Share of the citations that pass a pipeline stage.
    Survival(LossStage),
    /// Share of the citation attempts that cannot be parsed.
    ParseFailures,
    /// Share of the citations whose document has changed or was removed after the answer.
    Stale,
    /// Share of the labelled citations whose label differs from the verdict of a judge.
    JudgeDisagreement,
    /// Rise of a share above what is usual for the corpus.
    Rise(Kind),
    /// Answers as a share of those of earlier weeks.
    Traffic,
}

/// The direction in which values are bad, relative to the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadDirection {
    /// Values below the threshold are bad.
    Below,
    /// Values above the threshold are bad.
    Above,
    /// Values at or above the threshold are bad, except 0. The target is to stay below the threshold.
    From,
}

impl Indicator {
    /// All indicators, in the order of the documentation.
    pub const ALL: [Self; 22] = [
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
        Self::JudgeDisagreement,
        Self::Rise(Kind::Failing),
        Self::Rise(Kind::Malformed),
        Self::Rise(Kind::Uncited),
        Self::Rise(Kind::EmptyContext),
        Self::Rise(Kind::RerankLost),
        Self::Rise(Kind::AnswerMs),
        Self::Traffic,
    ];

    /// Returns the name that rules use.
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
            Self::JudgeDisagreement => "judge_disagreement",
            Self::Rise(Kind::Failing) => "holding_drop",
            Self::Rise(Kind::Malformed) => "malformed_rise",
            Self::Rise(Kind::Uncited) => "uncited_rise",
            Self::Rise(Kind::EmptyContext) => "empty_context_rise",
            Self::Rise(Kind::RerankLost) => "rerank_loss_rise",
            Self::Rise(Kind::AnswerMs) => "answer_ms_rise",
            Self::Traffic => "traffic",
        }
    }

    /// Returns the direction in which values are bad.
    #[must_use]
    pub const fn bad(self) -> BadDirection {
        match self {
            Self::Percentile(_) | Self::Mean | Self::Survival(_) | Self::Traffic => {
                BadDirection::Below
            }
            Self::PercentileDrop | Self::Stale | Self::JudgeDisagreement | Self::Rise(_) => {
                BadDirection::Above
            }
            Self::ParseFailures => BadDirection::From,
        }
    }

    /// Returns the indicator's value over a window and the number of samples, or `None` when there are no samples, and for indicators
    /// that compare with other weeks.
    #[must_use]
    pub fn compute(
        self,
        hours: &Hours,
        window: Window<'_>,
        baseline: Option<f64>,
    ) -> Option<IndicatorValue> {
        let scored = || {
            let cells = hours.answer_cells(window);
            cells
                .filter(|cell| cell.cfs_bin.is_some())
                .map(|cell| cell.answers)
                .sum()
        };
        match self {
            Self::Percentile(per_cent) => {
                let share = f64::from(per_cent) / 100.0;
                IndicatorValue::of(hours.percentile(window, share)?, scored())
            }
            Self::Mean => IndicatorValue::of(hours.mean(window)?, scored()),
            Self::PercentileDrop => {
                let drop = baseline? - hours.percentile(window, 0.05)?;
                IndicatorValue::of(drop, scored())
            }
            Self::Survival(stage) => {
                let (reached, survived) = hours.survival(window, stage);
                IndicatorValue::share(survived, reached)
            }
            Self::ParseFailures => {
                let (mut failed, mut all) = (0, 0);
                for cell in hours.citation_cells(window) {
                    all += cell.citations;
                    if cell.status == Status::Malformed {
                        failed += cell.citations;
                    }
                }
                IndicatorValue::share(failed, all)
            }
            Self::Stale => {
                let (mut stale, mut all) = (0, 0);
                for cell in hours.stale_cells(window) {
                    stale += cell.stale;
                    all += cell.citations;
                }
                IndicatorValue::share(stale, all)
            }
            Self::JudgeDisagreement => {
                let (mut disagreeing, mut all) = (0, 0);
                for cell in hours.judged_cells(window) {
                    disagreeing += cell.disagreeing;
                    all += cell.citations;
                }
                IndicatorValue::share(disagreeing, all)
            }
            Self::Rise(_) | Self::Traffic => None,
        }
    }

    /// Returns the best value.
    #[must_use]
    pub const fn best(self) -> f64 {
        match self.bad() {
            BadDirection::Below => 1.0,
            BadDirection::Above | BadDirection::From => 0.0,
        }
    }

    /// Returns the share of bad samples that a threshold allows. `None` for indicators that are not tested.
    #[must_use]
    pub fn allowed(self, threshold: f64, baseline: Option<f64>) -> Option<AllowedShare> {
        let answers = |share, below| AllowedShare {
            share,
            below: Some(below),
            dispersion: 1.0,
        };
        let citations = |share| AllowedShare {
            share,
            below: None,
            dispersion: CITATION_DISPERSION,
        };
        match self {
            Self::Percentile(per_cent) => Some(answers(f64::from(per_cent) / 100.0, threshold)),
            Self::PercentileDrop => Some(answers(0.05, baseline? - threshold)),
            Self::Survival(_) => Some(citations(1.0 - threshold)),
            Self::ParseFailures | Self::Stale => Some(citations(threshold)),
            // Labels are few, and each was given on purpose.
            Self::JudgeDisagreement | Self::Mean | Self::Rise(_) | Self::Traffic => None,
        }
    }
}

/// The variance of a share of citations, relative to independent ones. Citations of an answer depend on each other: with 3 to 4
/// citations and a correlation of a third, the variance is nearly twice as large.
const CITATION_DISPERSION: f64 = 2.0;

/// A share of bad samples that is not bad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AllowedShare {
    /// The share.
    pub share: f64,
    /// Limit below which an answer's score is bad; `None` if the value itself is a share of citations.
    pub below: Option<f64>,
    /// Variance of the share, relative to independent samples.
    pub dispersion: f64,
}

/// The value of an indicator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IndicatorValue {
    /// The figure, in [-1, 1].
    pub value: f64,
    /// Number of answers or citations behind the figure.
    pub samples: u64,
}

impl IndicatorValue {
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
            .ok_or_else(|| AuditError::unrecognized("indicator", name, &Self::ALL.map(Self::name)))
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
    fn names_round_trip() {
        let names: BTreeSet<&str> = Indicator::ALL.map(Indicator::name).into();
        assert_eq!(names.len(), Indicator::ALL.len());
        for indicator in Indicator::ALL {
            assert_eq!(indicator.name().parse(), Ok(indicator));
        }
        assert!("cfs".parse::<Indicator>().is_err());
    }

    #[test]
    fn a_drop_requires_a_baseline() {
        let hours: Hours = serde_json::from_str(
            r#"{"answers": [{"hour": 0, "corpus": "c", "cfs_bin": 700, "answers": 9}], "citations": []}"#,
        )
        .unwrap();
        let window = Window {
            corpus: None,
            since: 0,
            until: 1,
        };
        assert_eq!(
            Indicator::PercentileDrop.compute(&hours, window, None),
            None
        );
        let drop = Indicator::PercentileDrop
            .compute(&hours, window, Some(0.9))
            .unwrap();
        assert!((drop.value - 0.2).abs() < 1e-12);
        assert_eq!(drop.samples, 9);
        assert_eq!(Indicator::Stale.compute(&hours, window, None), None);
    }

    #[test]
    fn disagreement_is_a_share_of_the_labelled_citations() {
        let hours: Hours = serde_json::from_str(
            r#"{"answers": [], "citations": [], "judged": [
                {"hour": 0, "corpus": "c", "citations": 30, "disagreeing": 6},
                {"hour": 0, "corpus": "d", "citations": 10, "disagreeing": 4},
                {"hour": 3600, "corpus": "c", "citations": 10, "disagreeing": 10}]}"#,
        )
        .unwrap();
        let window = Window {
            corpus: None,
            since: 0,
            until: 1,
        };
        let found = Indicator::JudgeDisagreement.compute(&hours, window, None);
        assert_eq!(
            found,
            Some(IndicatorValue {
                value: 0.25,
                samples: 40
            })
        );
        let c = "c".into();
        let of_c = Window {
            corpus: Some(&c),
            ..window
        };
        let by_corpus = hours.by_corpus();
        let found = Indicator::JudgeDisagreement.compute(&by_corpus[&c], of_c, None);
        assert_eq!(found.map(|found| found.value), Some(0.2));
        let empty = Hours::default();
        let found = Indicator::JudgeDisagreement.compute(&empty, window, None);
        assert_eq!(found, None);
    }
}
