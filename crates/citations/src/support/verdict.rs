//! The verdict on the citations of a claim, with regard to all sources of the context.

use std::cmp::Reverse;

use super::bit_set::BitSet;
use super::comparison::Comparison;
use super::language::Cues;
use super::parts::{SupportParts, SupportSum};
use super::source::SourceUnits;
use super::units::ClaimUnits;

/// Smallest number of units of a part of a claim.
const LEAST_PART: usize = 4;
/// Largest share of a part that the cited sources contain if it is absent there, and smallest share of the rest.
const ABSENT: f64 = 0.34;
const PRESENT: f64 = 0.75;
/// Smallest share of a part in the window of another source.
const IN_OTHER: f64 = 0.9;

/// The thresholds of support.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SupportRules {
    /// Smallest support, in [0, 1], with which a source supports a claim.
    pub threshold: f64,
    /// Smallest difference, in [0, 1], by which another source must be better to be the right one.
    pub other_source_margin: f64,
}

/// The verdict on one cited source of one claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Held,
    WrongSource,
    Unsupported,
    InsufficientAttribution,
}

/// The support of one claim by each source of a context.
pub(crate) struct ClaimSupport<'a> {
    claim: &'a ClaimUnits<'a>,
    cues: &'a Cues,
    comparisons: Vec<Comparison>,
    /// Support by each source alone.
    supports: Vec<f64>,
}

/// The support of a claim by its cited sources together.
pub(crate) struct JointCitations {
    cited: Vec<bool>,
    /// Units that exactly one cited source contains.
    once: BitSet,
    support: f64,
    /// Support if the source that adds most units is cited too.
    one_more: f64,
    /// Whether a part of the claim that no cited source has is in another source.
    part_elsewhere: bool,
}

impl JointCitations {
    /// Returns the support if the source that adds most units is cited too.
    pub fn one_more(&self) -> f64 {
        self.one_more
    }
}

impl<'a> ClaimSupport<'a> {
    /// Compares a claim with the sources of a context; `None` if the claim has no content.
    pub fn of(
        claim: &'a ClaimUnits<'a>,
        sources: &[SourceUnits<'_>],
        cues: &'a Cues,
    ) -> Option<Self> {
        if claim.units.is_empty() {
            return None;
        }
        let comparisons: Vec<Comparison> = sources
            .iter()
            .map(|source| Comparison::of(claim, source, 0))
            .collect();
        let supports = comparisons
            .iter()
            .map(|comparison| SupportSum::of(claim, comparison).support)
            .collect();
        Some(Self {
            claim,
            cues,
            comparisons,
            supports,
        })
    }

    /// Returns the support by one source, in [0, 1].
    pub fn support(&self, source: usize) -> f64 {
        self.supports[source]
    }

    /// Returns the number of content units of the claim.
    pub fn units(&self) -> usize {
        self.claim.units.len()
    }

    /// Returns the number of sources.
    pub fn sources(&self) -> usize {
        self.supports.len()
    }

    /// Returns the source with the highest support; the first in case of a tie.
    pub fn best(&self, among: impl Iterator<Item = usize>) -> Option<usize> {
        let better = |best: usize, next: usize| {
            let ahead = self.supports[next] > self.supports[best];
            let tied = self.supports[next] == self.supports[best] && next < best;
            if ahead || tied { next } else { best }
        };
        among
            .filter(|source| *source < self.supports.len())
            .reduce(better)
    }

    /// Returns the components of the support by one source.
    pub fn parts(&self, source: usize, units: &SourceUnits<'_>) -> SupportParts {
        SupportParts::of(self.claim, &self.comparisons[source], &[units], self.cues)
    }

    /// Computes the support by the cited sources together.
    pub fn joint(&self, cited: &[usize]) -> JointCitations {
        let mut joint = JointCitations {
            cited: vec![false; self.comparisons.len()],
            once: BitSet::default(),
            support: 0.0,
            one_more: 0.0,
            part_elsewhere: false,
        };
        let mut all = Comparison::default();
        for &source in cited {
            if std::mem::replace(&mut joint.cited[source], true) {
                continue;
            }
            let held = &self.comparisons[source].held;
            joint.once = joint.once.without(held).or(&held.without(&all.held));
            all = all.and(&self.comparisons[source]);
        }
        joint.support = SupportSum::of(self.claim, &all).support;
        let gain = |source: &usize| self.comparisons[*source].held.without(&all.held).len();
        let others = (0..self.comparisons.len()).filter(|source| !joint.cited[*source]);
        joint.one_more = others
            .min_by_key(|source| (Reverse(gain(source)), *source))
            .map_or(joint.support, |source| {
                SupportSum::of(self.claim, &all.and(&self.comparisons[source])).support
            });
        joint.part_elsewhere = self.part_elsewhere(&joint, &all.held);
        joint
    }

    /// Returns whether the claim has a part that no cited source contains and another source does, while the cited sources
    /// contain the rest: two facts from two sources under one citation. A part begins or ends at punctuation or `and`.
    fn part_elsewhere(&self, joint: &JointCitations, held: &BitSet) -> bool {
        let units = self.claim.units.len();
        let all = BitSet::below(units);
        let share = |set: &BitSet, part: &BitSet| set.and(part).len() as f64 / part.len() as f64;
        let elsewhere = |part: &BitSet| {
            let mut others = self.comparisons.iter().zip(&joint.cited);
            others.any(|(other, cited)| !cited && share(&other.window, part) >= IN_OTHER)
        };
        let mut edges = LEAST_PART..(units + 1).saturating_sub(LEAST_PART);
        edges.any(|edge| {
            let left = BitSet::below(edge);
            let right = all.without(&left);
            let is_part = |part: &BitSet, rest: &BitSet| {
                share(held, part) <= ABSENT && share(held, rest) >= PRESENT && elsewhere(part)
            };
            self.claim.parts_at(edge) && (is_part(&left, &right) || is_part(&right, &left))
        })
    }

    /// Returns the best source that is not cited for the claim.
    pub fn best_other(&self, joint: &JointCitations) -> Option<usize> {
        self.best((0..self.comparisons.len()).filter(|&source| !joint.cited[source]))
    }

    /// Returns the verdict on `source`, which the claim cites. The first case that applies is used:
    ///
    /// - `InsufficientAttribution`: another source contains a part of the claim that the cited ones lack, and this one adds a
    ///   unit;
    /// - `Held`: the source alone supports the claim, or the cited sources do together and this one adds a unit;
    /// - `WrongSource` or `Unsupported`: a source that is not cited supports the claim; the first if it is better by
    ///   the margin;
    /// - `InsufficientAttribution`: the source adds a unit, and one more source would be enough;
    /// - `Unsupported` otherwise.
    pub fn verdict(&self, source: usize, joint: &JointCitations, rules: &SupportRules) -> Verdict {
        let enough = |support: f64| support >= rules.threshold;
        // Another citation does not help a source that adds no units.
        let adds = self.comparisons[source].held.and(&joint.once).len() > 0;
        if joint.part_elsewhere && adds {
            return Verdict::InsufficientAttribution;
        }
        if enough(self.supports[source]) || (enough(joint.support) && adds) {
            return Verdict::Held;
        }
        if let Some(other) = self
            .best_other(joint)
            .filter(|&other| enough(self.supports[other]))
        {
            let ahead = self.supports[other] - self.supports[source];
            return if ahead >= rules.other_source_margin {
                Verdict::WrongSource
            } else {
                Verdict::Unsupported
            };
        }
        if adds && !enough(joint.support) && enough(joint.one_more) {
            return Verdict::InsufficientAttribution;
        }
        Verdict::Unsupported
    }
}
