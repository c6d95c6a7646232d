//! What the rollups hold: counts by hour, which add up, and histograms, of which any percentile can be read.

use std::collections::BTreeMap;

use reground_citations::{Factors, LossStage, Status};
use reground_interrupt::{check_interrupt, checked};
use serde::{Deserialize, Serialize};

/// Seconds of an hour.
pub const HOUR: i64 = 3600;

/// Bins of a fidelity score: thousandths.
pub const BINS: f64 = 1000.0;

/// A corpus. Tenants may have corpora of their own under one name, which are nothing to each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Corpus {
    /// Whose it is; `None` where it is shared.
    pub tenant: Option<String>,
    /// Its name.
    #[serde(rename = "corpus")]
    pub name: String,
}

impl From<&str> for Corpus {
    /// The shared corpus of that name.
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
    /// Where it begins, in seconds since 1970.
    pub hour: i64,
    /// Corpus of their turns.
    #[serde(flatten)]
    pub corpus: Corpus,
    /// Their fidelity score in thousandths; `None` where they cite nothing.
    pub cfs_bin: Option<u16>,
    /// How many.
    pub answers: u64,
}

/// Citations of an hour with the same verdict.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct CitationCell {
    /// Where it begins, in seconds since 1970.
    pub hour: i64,
    /// Corpus of the source, or of the turn where none was found.
    #[serde(flatten)]
    pub corpus: Corpus,
    /// Type of the document, where it has one.
    pub document_type: Option<String>,
    /// The verdict.
    pub status: Status,
    /// The stage factor that it failed.
    pub lost_at: Option<LossStage>,
    /// How many.
    pub citations: u64,
}

/// Citations of an hour, and how many of them name what has changed or gone since.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct StaleCell {
    /// Where it begins, in seconds since 1970.
    pub hour: i64,
    /// Corpus of the sources.
    #[serde(flatten)]
    pub corpus: Corpus,
    /// Type of the documents.
    pub document_type: Option<String>,
    /// Citations of documents whose versions are known.
    pub citations: u64,
    /// Of these, the stale ones.
    pub stale: u64,
}

/// All that is known of some hours, as it is read.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Cells {
    /// Answers that stand.
    pub answers: Vec<AnswerCell>,
    /// Their citations.
    pub citations: Vec<CitationCell>,
    /// What they name, as it is now.
    #[serde(default)]
    pub stale: Vec<StaleCell>,
}

/// All that is known of some hours, each by itself: to look at one reads no other.
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

/// The part of the hours that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// One corpus, or all.
    pub corpus: Option<&'a Corpus>,
    /// First hour, in seconds since 1970.
    pub since: i64,
    /// First hour after it.
    pub until: i64,
}

impl Part<'_> {
    fn holds(&self, corpus: &Corpus) -> bool {
        check_interrupt(1);
        self.corpus.is_none_or(|wanted| wanted == corpus)
    }

    /// The same corpus at other hours.
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
    /// Takes in more cells.
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
    }

    fn at(&mut self, hour: i64) -> &mut Cells {
        self.0.entry(hour).or_default()
    }

    /// The same hours, corpus by corpus.
    #[must_use]
    pub fn by_corpus(&self) -> BTreeMap<&Corpus, Self> {
        let mut parts: BTreeMap<&Corpus, Self> = BTreeMap::new();
        for (hour, cells) in &self.0 {
            for cell in &cells.answers {
                check_interrupt(1);
                let part = parts.entry(&cell.corpus).or_default();
                part.at(*hour).answers.push(cell.clone());
            }
            for cell in &cells.citations {
                check_interrupt(1);
                let part = parts.entry(&cell.corpus).or_default();
                part.at(*hour).citations.push(cell.clone());
            }
            for cell in &cells.stale {
                check_interrupt(1);
                let part = parts.entry(&cell.corpus).or_default();
                part.at(*hour).stale.push(cell.clone());
            }
        }
        parts
    }

    /// Cells of the hours of a part, of all corpora.
    fn during(&self, part: Part<'_>) -> impl Iterator<Item = &Cells> {
        check_interrupt(1);
        let hours = self.0.range(part.since..part.until.max(part.since));
        hours.map(|(_, cells)| cells)
    }

    /// Answers of a part, those that cite nothing included.
    #[must_use]
    pub fn answers(&self, part: Part<'_>) -> u64 {
        self.of_answers(part).map(|cell| cell.answers).sum()
    }

    /// Cells of the answers of a part.
    pub fn of_answers<'a>(&'a self, part: Part<'a>) -> impl Iterator<Item = &'a AnswerCell> {
        let cells = self.during(part).flat_map(|cells| &cells.answers);
        cells.filter(move |cell| part.holds(&cell.corpus))
    }

    /// Cells of the citations of a part.
    pub fn of_citations<'a>(&'a self, part: Part<'a>) -> impl Iterator<Item = &'a CitationCell> {
        let cells = self.during(part).flat_map(|cells| &cells.citations);
        cells.filter(move |cell| part.holds(&cell.corpus))
    }

    /// Cells of what the citations of a part name.
    pub fn of_stale<'a>(&'a self, part: Part<'a>) -> impl Iterator<Item = &'a StaleCell> {
        let cells = self.during(part).flat_map(|cells| &cells.stale);
        cells.filter(move |cell| part.holds(&cell.corpus))
    }

    /// A percentile of the fidelity scores of a part, to half a thousandth: the least score that `share` of the answers do not
    /// exceed (the inverse of the empirical distribution, R's type 1). `None` without scores.
    #[must_use]
    pub fn percentile(&self, part: Part<'_>, share: f64) -> Option<f64> {
        let mut bins: Vec<(u16, u64)> = self
            .of_answers(part)
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

    /// Mean of the fidelity scores of a part; `None` without scores.
    #[must_use]
    pub fn mean(&self, part: Part<'_>) -> Option<f64> {
        let (mut sum, mut scored) = (0.0, 0);
        for cell in self.of_answers(part) {
            if let Some(bin) = cell.cfs_bin {
                sum += f64::from(bin) * cell.answers as f64;
                scored += cell.answers;
            }
        }
        (scored > 0).then(|| sum / BINS / scored as f64)
    }

    /// How many citations of a part a stage was reached by, and how many it let through (I4).
    #[must_use]
    pub fn survival(&self, part: Part<'_>, stage: LossStage) -> (u64, u64) {
        let (mut reached, mut survived) = (0, 0);
        for cell in self.of_citations(part) {
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

/// A stage's factor, as the verdict and the first loss tell it.
fn factor(cell: &CitationCell, stage: LossStage) -> Option<bool> {
    let place = LossStage::ALL.iter().position(|other| *other == stage)?;
    match cell.status {
        // What has no factors, and what has only the last one.
        Status::Malformed | Status::Unresolvable | Status::UnknownId | Status::OutOfBounds => {
            Factors::of(cell.status, None).0[place]
        }
        _ => match cell.lost_at {
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

    const ALL: Part<'_> = Part {
        corpus: None,
        since: 0,
        until: HOUR,
    };

    #[test]
    fn nothing_has_no_percentile() {
        let none = answers(&[(None, 3)]);
        assert_eq!((none.answers(ALL), none.percentile(ALL, 0.5)), (3, None));
        assert_eq!(none.mean(ALL), None);
    }

    #[test]
    fn parts_are_told_apart() {
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
        let other = Part {
            corpus: Some(&d),
            ..ALL
        }
        .during(HOUR, 2 * HOUR);
        assert_eq!(hours.answers(other), 0);
        let of_a_tenant = Corpus {
            tenant: Some("acme".into()),
            ..Corpus::from("c")
        };
        let own = Part {
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
                    hour: 0, corpus: "c".into(), document_type: None, status: *status, lost_at: factors.lost_at(), citations: 1,
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
