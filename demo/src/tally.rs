//! What was planted against what the database found.

use std::collections::BTreeMap;

use crate::answer::{Answer, Fault};
use crate::turn::Judged;

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// As expected.
    pub found: usize,
    /// In all.
    pub of: usize,
}

/// The comparison over all answers.
#[derive(Debug, Default)]
pub struct Tally {
    /// Faults found, by kind.
    pub faults: BTreeMap<Fault, Share>,
    /// Right citations that held.
    pub right: Share,
    /// What came out otherwise, in words.
    pub surprises: Vec<String>,
}

impl Tally {
    /// Adds an answer with its verdicts.
    pub fn add(&mut self, answer: &Answer, judged: &Judged) {
        for statement in &answer.statements {
            let verdict = judged
                .verdicts
                .iter()
                .find(|verdict| verdict.start == statement.start);
            let expected = match statement.planted {
                Some(fault) => verdict.is_some_and(|verdict| verdict.status == fault.verdict()),
                None => verdict.is_some_and(|verdict| verdict.holds == Some(true)),
            };
            let share = match statement.planted {
                Some(fault) => self.faults.entry(fault).or_default(),
                None => &mut self.right,
            };
            share.of += 1;
            share.found += usize::from(expected);
            if !expected {
                let planted = statement.planted.map_or("right", Fault::name);
                let (raw, status) = verdict.map_or(("a citation", "not found"), |verdict| {
                    (verdict.raw.as_str(), verdict.status.as_str())
                });
                self.surprises
                    .push(format!("{raw}, planted as {planted}, came out as {status}"));
            }
        }
    }

    /// All faults together.
    pub fn planted(&self) -> Share {
        self.faults
            .values()
            .fold(Share::default(), |sum, share| Share {
                found: sum.found + share.found,
                of: sum.of + share.of,
            })
    }

    /// Whether every kind of fault was planted, every fault was found, and every right citation held.
    pub fn complete(&self) -> bool {
        self.surprises.is_empty() && self.right.of > 0 && self.faults.len() == Fault::ALL.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Statement;
    use crate::turn::Verdict;

    #[test]
    fn a_verdict_counts_where_it_stands() {
        let statement = |start, planted| Statement { start, planted };
        let answer = Answer {
            text: String::new(),
            statements: vec![
                statement(3, None),
                statement(9, Some(Fault::Stale)),
                statement(20, Some(Fault::Invented)),
            ],
        };
        let verdict = |start, status: &str, holds| Verdict {
            start,
            status: status.into(),
            holds: Some(holds),
            ..Verdict::default()
        };
        let judged = Judged {
            verdicts: vec![
                verdict(3, "resolved_current", true),
                verdict(9, "unknown_id", false),
            ],
            ..Judged::default()
        };
        let mut tally = Tally::default();
        tally.add(&answer, &judged);
        assert_eq!(tally.right, Share { found: 1, of: 1 });
        assert_eq!(tally.planted(), Share { found: 0, of: 2 });
        assert_eq!(tally.surprises.len(), 2);
        assert!(!tally.complete());
    }
}
