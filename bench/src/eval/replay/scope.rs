//! The turns that a figure covers, and its confidence interval.

use reground_metrics::interval::{Interval, bootstrap_clustered_mean};

use super::ReplayedConversation;
use super::turn::ReplayedTurn;
use crate::data::Domain;

/// Turns from this number on are pooled, because each alone has too few conversations.
const POOLED: u32 = 7;

/// First turn with an earlier turn.
const LATER: u32 = 2;

/// Level of the intervals.
const CONFIDENCE: f64 = 0.95;

/// Resamples of an interval.
const RESAMPLES: usize = 4000;

/// Seed of the resamples, fixed so that the same data give the same interval.
const SEED: u64 = 20_251;

/// Turns by their number and domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope {
    first: u32,
    last: Option<u32>,
    /// One domain, or `None`: the original domains.
    domain: Option<Domain>,
}

impl Scope {
    /// Every turn of the original domains.
    pub const ALL: Self = Self::since(1);

    /// Turns of the original domains with an earlier turn.
    pub const LATER: Self = Self::since(LATER);

    /// The rows of a table: single turns, then pooled turns, then domains.
    pub fn rows() -> Vec<Self> {
        let single = (1..POOLED).map(|number| Self {
            last: Some(number),
            ..Self::since(number)
        });
        let domains = Domain::ALL.map(Self::later_of);
        single
            .chain([Self::since(POOLED), Self::LATER])
            .chain(domains)
            .chain([Self::ALL])
            .collect()
    }

    /// Turns of one domain with an earlier turn.
    pub const fn later_of(domain: Domain) -> Self {
        Self {
            domain: Some(domain),
            ..Self::LATER
        }
    }

    /// Whether it covers all later turns.
    pub fn is_later(self) -> bool {
        (self.first, self.last) == (LATER, None)
    }

    const fn since(first: u32) -> Self {
        Self {
            first,
            last: None,
            domain: None,
        }
    }

    /// The name in reports and in the floors.
    pub fn name(self) -> String {
        let turns = match (self.first, self.last) {
            (1, None) => "all".to_owned(),
            (LATER, None) => "later".to_owned(),
            (first, None) => format!("{first}+"),
            (first, Some(_)) => first.to_string(),
        };
        match self.domain {
            Some(domain) => format!("{turns}, {}", domain.name()),
            None => turns,
        }
    }

    /// Its turns, conversation by conversation.
    pub fn of(
        self,
        replayed: &[ReplayedConversation],
    ) -> impl Iterator<Item = impl Iterator<Item = &ReplayedTurn>> {
        replayed.iter().map(move |replayed| {
            let here = match self.domain {
                Some(domain) => domain == replayed.domain,
                None => Domain::ORIGINAL.contains(&replayed.domain),
            };
            let turns = replayed.turns.iter();
            turns.filter(move |turn| here && self.holds(turn.number))
        })
    }

    fn holds(self, number: u32) -> bool {
        self.first <= number && self.last.is_none_or(|last| number <= last)
    }

    /// Mean of a measure over the turns that have it. The turns of a conversation are not independent, so the interval resamples
    /// whole conversations.
    pub fn mean(self, replayed: &[ReplayedConversation], measure: Measure) -> Option<Interval> {
        let clusters: Vec<Vec<f64>> = self
            .of(replayed)
            .map(|turns| turns.filter_map(|turn| measure.of(turn)).collect())
            .collect();
        interval(&clusters)
    }

    /// Mean paired difference from the other arm, which must have the same conversations.
    pub fn difference(
        self,
        replayed: &[ReplayedConversation],
        other: &[ReplayedConversation],
        measure: Measure,
    ) -> Option<Interval> {
        let clusters: Vec<Vec<f64>> = self
            .of(replayed)
            .zip(self.of(other))
            .map(|(turns, others)| {
                turns
                    .zip(others)
                    .filter_map(|(turn, other)| Some(measure.of(turn)? - measure.of(other)?))
                    .collect()
            })
            .collect();
        interval(&clusters)
    }

    /// Number of its judged turns.
    pub fn judged(self, replayed: &[ReplayedConversation]) -> usize {
        self.of(replayed)
            .flatten()
            .filter(|turn| turn.judged())
            .count()
    }
}

fn interval(clusters: &[Vec<f64>]) -> Option<Interval> {
    bootstrap_clustered_mean(clusters, CONFIDENCE, RESAMPLES, SEED)
}

/// A figure of one context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Share of the relevant passages that the context contains.
    Recall,
    /// Share of its sources that are relevant.
    Precision,
}

impl Measure {
    /// Both measures.
    pub const ALL: [Self; 2] = [Self::Recall, Self::Precision];

    /// The name in reports and in the floors.
    pub fn name(self) -> &'static str {
        match self {
            Self::Recall => "recall",
            Self::Precision => "precision",
        }
    }

    fn of(self, turn: &ReplayedTurn) -> Option<f64> {
        match self {
            Self::Recall => turn.recall(),
            Self::Precision => turn.precision(),
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A conversation in which turn n found `found[n - 1]` of 4 relevant passages; `None` is an unjudged turn.
    pub fn replayed(domain: Domain, found: &[Option<usize>]) -> ReplayedConversation {
        let classes = |count: usize| (0..count).map(|n| n.to_string()).collect();
        let turns = found.iter().zip(1..).map(|(found, number)| ReplayedTurn {
            number,
            gold: classes(found.map_or(0, |_| 4)),
            found: classes(found.unwrap_or(0)),
            ..ReplayedTurn::default()
        });
        ReplayedConversation {
            domain,
            turns: turns.collect(),
        }
    }

    #[test]
    fn rows_contain_the_turns_of_their_names() {
        let turns = [
            replayed(Domain::Clapnq, &[Some(0); 9]),
            replayed(Domain::Cloud, &[Some(0); 2]),
            replayed(Domain::Fiqa, &[Some(0); 4]),
        ];
        let counts: Vec<(String, usize)> = Scope::rows()
            .into_iter()
            .map(|scope| (scope.name(), scope.judged(&turns)))
            .collect();
        let expected = [
            ("1", 2),
            ("2", 2),
            ("3", 1),
            ("4", 1),
            ("5", 1),
            ("6", 1),
            ("7+", 3),
            ("later", 9),
            ("later, clapnq", 8),
            ("later, cloud", 1),
            ("later, fiqa", 3),
            ("all", 11),
        ];
        assert_eq!(
            counts,
            expected.map(|(name, count)| (name.to_owned(), count))
        );
    }

    #[test]
    fn means_and_differences_leave_out_unjudged_turns() {
        let one = [replayed(Domain::Clapnq, &[Some(4), None, Some(1)])];
        let other = [replayed(Domain::Clapnq, &[Some(2), None, Some(2)])];
        let mean = Scope::ALL.mean(&one, Measure::Recall).unwrap();
        assert_eq!(mean.mean, (1.0 + 0.25) / 2.0);
        let difference = Scope::ALL
            .difference(&one, &other, Measure::Recall)
            .unwrap();
        assert_eq!(difference.mean, (0.5 - 0.25) / 2.0);
        assert_eq!(
            Scope::LATER
                .difference(&one, &other, Measure::Recall)
                .unwrap()
                .mean,
            -0.25
        );
        assert!(
            Scope::LATER
                .mean(&[replayed(Domain::Cloud, &[Some(1)])], Measure::Recall)
                .is_none()
        );
    }
}
