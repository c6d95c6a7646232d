//! Comparison of the planted faults with the verdicts of the database.

use std::collections::BTreeMap;

use crate::answer::{Answer, Fault};
use crate::turn::JudgedAnswer;

/// A number of expected verdicts out of a total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Number of citations with the expected verdict.
    pub found: usize,
    /// Number of citations.
    pub total: usize,
}

/// The comparison over all answers.
#[derive(Debug, Default)]
pub struct Tally {
    /// Detected faults, by kind.
    pub faults: BTreeMap<Fault, Share>,
    /// Correct citations that hold.
    pub correct: Share,
    /// Descriptions of unexpected verdicts.
    pub unexpected: Vec<String>,
    /// Citations that hold, of those that have a verdict.
    pub held: Share,
}

impl Tally {
    /// Adds an answer with its verdicts.
    pub fn add(&mut self, answer: &Answer, judged: &JudgedAnswer) {
        let judged_citations = judged.verdicts.iter().filter_map(|verdict| verdict.holds);
        for holds in judged_citations {
            self.held.total += 1;
            self.held.found += usize::from(holds);
        }
        for statement in &answer.statements {
            let verdict = judged
                .verdicts
                .iter()
                .find(|verdict| verdict.answer_start == statement.start);
            let expected = match statement.planted {
                Some(fault) => verdict.is_some_and(|verdict| verdict.status == fault.verdict()),
                None => verdict.is_some_and(|verdict| verdict.holds == Some(true)),
            };
            let share = match statement.planted {
                Some(fault) => self.faults.entry(fault).or_default(),
                None => &mut self.correct,
            };
            share.total += 1;
            share.found += usize::from(expected);
            if !expected {
                let planted = statement.planted.map_or("correct", Fault::name);
                let (raw, status) = verdict.map_or(("a citation", "not found"), |verdict| {
                    (verdict.raw.as_str(), verdict.status.as_str())
                });
                self.unexpected.push(format!(
                    "{raw}, planted as {planted}, has the verdict {status}"
                ));
            }
        }
    }

    /// Returns the sum over all faults.
    pub fn planted(&self) -> Share {
        self.faults
            .values()
            .fold(Share::default(), |sum, share| Share {
                found: sum.found + share.found,
                total: sum.total + share.total,
            })
    }

    /// Returns whether all kinds of faults were planted, all faults were detected, and all correct citations hold.
    pub fn complete(&self) -> bool {
        self.unexpected.is_empty()
            && self.correct.total > 0
            && self.faults.len() == Fault::ALL.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Statement;
    use crate::turn::Verdict;

    #[test]
    fn verdicts_are_matched_by_position() {
        let statement = |start, planted| Statement { start, planted };
        let answer = Answer {
            text: String::new(),
            statements: vec![
                statement(3, None),
                statement(9, Some(Fault::Stale)),
                statement(20, Some(Fault::Invented)),
            ],
        };
        let verdict = |answer_start, status: &str, holds| Verdict {
            answer_start,
            status: status.into(),
            holds: Some(holds),
            ..Verdict::default()
        };
        let judged = JudgedAnswer {
            verdicts: vec![
                verdict(3, "resolved_current", true),
                verdict(9, "unknown_id", false),
            ],
            ..JudgedAnswer::default()
        };
        let mut tally = Tally::default();
        tally.add(&answer, &judged);
        assert_eq!(tally.correct, Share { found: 1, total: 1 });
        assert_eq!(tally.planted(), Share { found: 0, total: 2 });
        assert_eq!(tally.unexpected.len(), 2);
        assert!(!tally.complete());
    }
}
