//! Hourly rollup cells. Counts add up, and percentiles are computed from histograms.

use std::collections::BTreeMap;

use reground_citations::{Factors, LossStage, Status};
use reground_interrupt::{check_interrupt, checked};
use serde::{Deserialize, Serialize};

/// Seconds of an hour.
pub const HOUR: i64 = 3600;

/// Bins of a fidelity score: one bin per thousandth.
pub const BINS: f64 = 1000.0;

/// A corpus. Tenants can have corpora of the same name, which are independent of each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Corpus {
    /// Tenant that owns the corpus; `None` for a shared corpus.
    pub tenant: Option<String>,
    /// Its name.
    #[serde(rename = "corpus")]
    pub name: String,
}

impl From<&str> for Corpus {
    /// Returns the shared corpus with this name.
    fn from(name: &str) -> Self {
        Self {
            tenant: None,
            name: name.to_owned(),
        }
    }
}

/// Answers of an hour with the same score.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct AnswerCell {
    /// Start of the hour, in seconds since 1970.
    pub hour: i64,
    /// Corpus of the turns.
    #[serde(flatten)]
    pub corpus: Corpus,
    /// Fidelity score in thousandths; `None` for answers without citations.
    pub cfs_bin: Option<u16>,
    /// Number of answers.
    pub answers: u64,
}

/// Citations of an hour with the same verdict.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct CitationCell {
    /// Start of the hour, in seconds since 1970.
    pub hour: i64,
    /// Corpus of the source, or of the turn when the source is unknown.
    #[serde(flatten)]
    pub corpus: Corpus,
    /// Type of the document, if known.
    pub document_type: Option<String>,
    /// The verdict.
    pub status: Status,
    /// The stage factor that failed.
    pub lost_stage: Option<LossStage>,
    /// Number of citations.
    pub citations: u64,
}

/// Citations of an hour, and how many of their documents have changed or were removed since.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct StaleCell {
    /// Start of the hour, in seconds since 1970.
    pub hour: i64,
    /// Corpus of the sources.
    #[serde(flatten)]
    pub corpus: Corpus,
    /// Type of the documents.
    pub document_type: Option<String>,
    /// Citations of documents with a known version.
    pub citations: u64,
    /// Citations whose document has changed or was removed.
    pub stale: u64,
}

/// Citations of an hour with a label of a reviewer and a verdict of a judge.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct JudgedCell {
    /// Start of the hour, in seconds since 1970.
    pub hour: i64,
    /// Corpus of the sources.
    #[serde(flatten)]
    pub corpus: Corpus,
    /// Pairs of a citation and a judge with a verdict.
    pub citations: u64,
    /// Pairs whose verdict differs from the label.
    pub disagreeing: u64,
}

/// Rollup cells, as they are read.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Cells {
    /// Current answers.
    pub answers: Vec<AnswerCell>,
    /// Citations of these answers.
    pub citations: Vec<CitationCell>,
    /// Current state of the cited documents.
    #[serde(default)]
    pub stale: Vec<StaleCell>,
    /// Labelled citations with a verdict of a judge.
    #[serde(default)]
    pub judged: Vec<JudgedCell>,
}

/// Rollup cells, grouped by hour. A lookup of one hour reads no other hour.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Cells")]
pub struct Hours(BTreeMap<i64, Cells>);

impl From<Cells> for Hours {
    fn from(cells: Cells) -> Self {
        let mut hours = Self::default();
        hours.add(cells);
        hours
    }
}

/// A corpus and a range of hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window<'a> {
    /// One corpus, or `None` for all.
    pub corpus: Option<&'a Corpus>,
    /// First hour of the range, in seconds since 1970.
    pub since: i64,
    /// End of the range (exclusive), in seconds since 1970.
    pub until: i64,
}

impl Window<'_> {
    fn includes(&self, corpus: &Corpus) -> bool {
        check_interrupt(1);
        self.corpus.is_none_or(|wanted| wanted == corpus)
    }

    /// Returns a window with the same corpus and other hours.
    #[must_use]
    pub const fn during(self, since: i64, until: i64) -> Self {
        Self {
            since,
            until,
            ..self
        }
    }
}

impl Hours {
    /// Adds cells.
    pub fn add(&mut self, cells: Cells) {
        for cell in checked(cells.answers) {
            self.at(cell.hour).answers.push(cell);
        }
        for cell in checked(cells.citations) {
            self.at(cell.hour).citations.push(cell);
        }
        for cell in checked(cells.stale) {
            self.at(cell.hour).stale.push(cell);
        }
        for cell in checked(cells.judged) {
            self.at(cell.hour).judged.push(cell);
        }
    }

    fn at(&mut self, hour: i64) -> &mut Cells {
        self.0.entry(hour).or_default()
    }

    /// Returns the same hours, split by corpus.
    #[must_use]
    pub fn by_corpus(&self) -> BTreeMap<&Corpus, Self> {
        let mut by_corpus: BTreeMap<&Corpus, Self> = BTreeMap::new();
        for (hour, cells) in &self.0 {
            for cell in &cells.answers {
                check_interrupt(1);
                let hours = by_corpus.entry(&cell.corpus).or_default();
                hours.at(*hour).answers.push(cell.clone());
            }
            for cell in &cells.citations {
                check_interrupt(1);
                let hours = by_corpus.entry(&cell.corpus).or_default();
                hours.at(*hour).citations.push(cell.clone());
            }
            for cell in &cells.stale {
                check_interrupt(1);
                let hours = by_corpus.entry(&cell.corpus).or_default();
                hours.at(*hour).stale.push(cell.clone());
            }
            for cell in &cells.judged {
                check_interrupt(1);
                let hours = by_corpus.entry(&cell.corpus).or_default();
                hours.at(*hour).judged.push(cell.clone());
            }
        }
        by_corpus
    }

    /// Returns the cells of the window's hours, for all corpora.
    fn during(&self, window: Window<'_>) -> impl Iterator<Item = &Cells> {
        check_interrupt(1);
        let hours = self.0.range(window.since..window.until.max(window.since));
        hours.map(|(_, cells)| cells)
    }

    /// Returns the number of answers in a window, including answers without citations.
    #[must_use]
    pub fn answers(&self, window: Window<'_>) -> u64 {
        self.answer_cells(window).map(|cell| cell.answers).sum()
    }

    /// Returns the answer cells of a window.
    pub fn answer_cells<'a>(&'a self, window: Window<'a>) -> impl Iterator<Item = &'a AnswerCell> {
        let cells = self.during(window).flat_map(|cells| &cells.answers);
        cells.filter(move |cell| window.includes(&cell.corpus))
    }

    /// Returns the citation cells of a window.
    pub fn citation_cells<'a>(
        &'a self,
        window: Window<'a>,
    ) -> impl Iterator<Item = &'a CitationCell> {
        let cells = self.during(window).flat_map(|cells| &cells.citations);
        cells.filter(move |cell| window.includes(&cell.corpus))
    }

    /// Returns the staleness cells of a window.
    pub fn stale_cells<'a>(&'a self, window: Window<'a>) -> impl Iterator<Item = &'a StaleCell> {
        let cells = self.during(window).flat_map(|cells| &cells.stale);
        cells.filter(move |cell| window.includes(&cell.corpus))
    }

    /// Returns the cells of labelled and judged citations of a window.
    pub fn judged_cells<'a>(&'a self, window: Window<'a>) -> impl Iterator<Item = &'a JudgedCell> {
        let cells = self.during(window).flat_map(|cells| &cells.judged);
        cells.filter(move |cell| window.includes(&cell.corpus))
    }

    /// Returns a percentile of the fidelity scores of a window, rounded to thousandths, or `None` without scores. The result is the
    /// smallest score that at least `share` of the answers do not exceed (inverse of the empirical distribution function, type 1 in
    /// R).
    #[must_use]
    pub fn percentile(&self, window: Window<'_>, share: f64) -> Option<f64> {
        let mut bins: Vec<(u16, u64)> = self
            .answer_cells(window)
            .filter_map(|cell| Some((cell.cfs_bin?, cell.answers)))
            .collect();
        bins.sort_unstable();
        let all: u64 = bins.iter().map(|bin| bin.1).sum();
        let wanted = share * all as f64;
        let mut below = 0;
        let reached = bins.into_iter().find(|(_, answers)| {
            below += answers;
            below > 0 && below as f64 >= wanted
        });
        reached.map(|(bin, _)| f64::from(bin) / BINS)
    }

    /// Returns the number of answers of a window with a score below a limit.
    #[must_use]
    pub fn below(&self, window: Window<'_>, limit: f64) -> u64 {
        let is_below = |bin: u16| f64::from(bin) / BINS < limit;
        self.answer_cells(window)
            .filter(|cell| cell.cfs_bin.is_some_and(is_below))
            .map(|cell| cell.answers)
            .sum()
    }

    /// Returns the mean fidelity score of a window, or `None` without scores.
    #[must_use]
    pub fn mean(&self, window: Window<'_>) -> Option<f64> {
        let (mut sum, mut scored) = (0.0, 0);
        for cell in self.answer_cells(window) {
            if let Some(bin) = cell.cfs_bin {
                sum += f64::from(bin) * cell.answers as f64;
                scored += cell.answers;
            }
        }
        (scored > 0).then(|| sum / BINS / scored as f64)
    }

    /// Returns how many citations of a window reached a stage, and how many passed it.
    #[must_use]
    pub fn survival(&self, window: Window<'_>, stage: LossStage) -> (u64, u64) {
        let (mut reached, mut survived) = (0, 0);
        for cell in self.citation_cells(window) {
            match factor(cell, stage) {
                Some(true) => {
                    reached += cell.citations;
                    survived += cell.citations;
                }
                Some(false) => reached += cell.citations,
                None => {}
            }
        }
        (reached, survived)
    }
}

/// Returns the value of a stage's factor, derived from the verdict and the first loss.
fn factor(cell: &CitationCell, stage: LossStage) -> Option<bool> {
    let place = LossStage::ALL.iter().position(|other| *other == stage)?;
    match cell.status {
        // These statuses have no factors, or only the last one.
        Status::Malformed | Status::Unresolvable | Status::UnknownId | Status::OutOfBounds => {
            Factors::of(cell.status, None).0[place]
        }
        _ => match cell.lost_stage {
            None => Some(true),
            Some(lost) if stage < lost => Some(true),
            Some(lost) => (stage == lost).then_some(false),
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reground_citations::StageFacts;

    use super::*;

    fn answers(bins: &[(Option<u16>, u64)]) -> Hours {
        let cells = bins.iter().map(|&(cfs_bin, answers)| AnswerCell {
            hour: 0,
            corpus: "c".into(),
            cfs_bin,
            answers,
        });
        Hours::from(Cells {
            answers: cells.collect(),
            ..Cells::default()
        })
    }

    const ALL: Window<'_> = Window {
        corpus: None,
        since: 0,
        until: HOUR,
    };

    #[test]
    fn no_scores_no_percentile() {
        let none = answers(&[(None, 3)]);
        assert_eq!((none.answers(ALL), none.percentile(ALL, 0.5)), (3, None));
        assert_eq!(none.mean(ALL), None);
    }

    #[test]
    fn windows_select_hours_and_corpora() {
        let hours = Hours::from(Cells {
            answers: vec![AnswerCell {
                hour: HOUR,
                corpus: "c".into(),
                cfs_bin: Some(1000),
                answers: 1,
            }],
            ..Cells::default()
        });
        assert_eq!(hours.answers(ALL), 0);
        assert_eq!(hours.answers(ALL.during(HOUR, 2 * HOUR)), 1);
        let d = Corpus::from("d");
        let other = Window {
            corpus: Some(&d),
            ..ALL
        }
        .during(HOUR, 2 * HOUR);
        assert_eq!(hours.answers(other), 0);
        let of_a_tenant = Corpus {
            tenant: Some("acme".into()),
            ..Corpus::from("c")
        };
        let own = Window {
            corpus: Some(&of_a_tenant),
            ..other
        };
        assert_eq!(hours.answers(own), 0);
        let backwards = ALL.during(2 * HOUR, HOUR);
        assert_eq!(hours.answers(backwards), 0);
    }

    proptest! {
        #[test]
        fn percentiles_are_those_of_the_sorted_scores(
            scores in prop::collection::vec(0_u16..=1000, 1..200), share in 0.0_f64..=1.0,
        ) {
            let hours = answers(&scores.iter().map(|score| (Some(*score), 1)).collect::<Vec<_>>());
            let mut sorted = scores.clone();
            sorted.sort_unstable();
            let place = (share * sorted.len() as f64).ceil().max(1.0) as usize - 1;
            prop_assert_eq!(hours.percentile(ALL, share), Some(f64::from(sorted[place]) / BINS));
        }

        #[test]
        fn survival_is_that_of_the_factors(
            verdicts in prop::collection::vec((0..Status::ALL.len(), any::<[bool; 4]>()), 0..60),
        ) {
            let factors: Vec<(Status, Factors)> = verdicts.iter().map(|(status, kept)| {
                let facts = StageFacts { coordinates: kept[0], retrieved: kept[1], reranked: kept[2], in_context: kept[3] };
                (Status::ALL[*status], Factors::of(Status::ALL[*status], Some(facts)))
            }).collect();
            let hours = Hours::from(Cells {
                citations: factors.iter().map(|(status, factors)| CitationCell {
                    hour: 0, corpus: "c".into(), document_type: None, status: *status, lost_stage: factors.lost_stage(), citations: 1,
                }).collect(),
                ..Cells::default()
            });
            for (place, stage) in LossStage::ALL.into_iter().enumerate() {
                let reached = factors.iter().filter(|(_, factors)| factors.0[place].is_some()).count() as u64;
                let survived = factors.iter().filter(|(_, factors)| factors.0[place] == Some(true)).count() as u64;
                prop_assert_eq!(hours.survival(ALL, stage), (reached, survived));
            }
        }
    }
}
