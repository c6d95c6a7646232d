//! The citations of a claim held against the sources of the context (I4, I13, D8).

use std::cmp::Reverse;

use super::bit_set::BitSet;
use super::comparison::Comparison;
use super::language::Cues;
use super::parts::{SupportParts, SupportSum};
use super::source::SourceUnits;
use super::units::ClaimUnits;

/// When support is enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SupportRules {
    /// Least support, in [0, 1], at which a claim counts as held.
    pub threshold: f64,
    /// By how much, in [0, 1], another source must be better before the content is said to belong to it.
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

/// How the sources of a context support one claim.
pub(crate) struct ClaimSupport<'a> {
    claim: &'a ClaimUnits<'a>,
    cues: &'a Cues,
    readings: Vec<Comparison>,
    /// Support by each source alone.
    supports: Vec<f64>,
}

/// How the cited sources support the claim together.
pub(crate) struct JointCitations {
    cited: Vec<bool>,
    /// Units that exactly one of them holds.
    once: BitSet,
    support: f64,
    /// Support once the source that adds most is cited too.
    one_more: f64,
}

impl<'a> ClaimSupport<'a> {
    /// Weighs the sources of a context for a claim; `None` when it has no content.
    pub fn of(
        claim: &'a ClaimUnits<'a>,
        sources: &[SourceUnits<'_>],
        cues: &'a Cues,
    ) -> Option<Self> {
        if claim.units.is_empty() {
            return None;
        }
        let readings: Vec<Comparison> = sources
            .iter()
            .map(|source| Comparison::of(claim, source, 0))
            .collect();
        let supports = readings
            .iter()
            .map(|reading| SupportSum::of(claim, reading).support)
            .collect();
        Some(Self {
            claim,
            cues,
            readings,
            supports,
        })
    }

    /// Support by one source, in [0, 1].
    pub fn support(&self, source: usize) -> f64 {
        self.supports[source]
    }

    /// The source among these that supports best; of equals the earliest.
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

    /// What the support by one source is made of.
    pub fn parts(&self, source: usize, units: &SourceUnits<'_>) -> SupportParts {
        SupportParts::of(self.claim, &self.readings[source], &[units], self.cues)
    }

    /// The cited sources taken together.
    pub fn joint(&self, cited: &[usize]) -> JointCitations {
        let mut joint = JointCitations {
            cited: vec![false; self.readings.len()],
            once: BitSet::default(),
            support: 0.0,
            one_more: 0.0,
        };
        let mut all = Comparison::default();
        for &source in cited {
            if std::mem::replace(&mut joint.cited[source], true) {
                continue;
            }
            let held = &self.readings[source].held;
            joint.once = joint.once.without(held).or(&held.without(&all.held));
            all = all.and(&self.readings[source]);
        }
        joint.support = SupportSum::of(self.claim, &all).support;
        let gain = |source: &usize| self.readings[*source].held.without(&all.held).len();
        let others = (0..self.readings.len()).filter(|source| !joint.cited[*source]);
        joint.one_more = others
            .min_by_key(|source| (Reverse(gain(source)), *source))
            .map_or(joint.support, |source| {
                SupportSum::of(self.claim, &all.and(&self.readings[source])).support
            });
        joint
    }

    /// The best source that the claim does not cite.
    pub fn best_other(&self, joint: &JointCitations) -> Option<usize> {
        self.best((0..self.readings.len()).filter(|&source| !joint.cited[source]))
    }

    /// The verdict on `source`, one of the cited:
    ///
    /// held alone, or held together with the other citations of the claim to which it adds something; else the content of
    /// another source, if that one holds it and is clearly better; else a matter of one more citation, if that would do; else
    /// not supported.
    pub fn verdict(&self, source: usize, joint: &JointCitations, rules: &SupportRules) -> Verdict {
        let enough = |support: f64| support >= rules.threshold;
        // A source that brings nothing of its own is not mended by citing another one.
        let adds = self.readings[source].held.and(&joint.once).len() > 0;
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
