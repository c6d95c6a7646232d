//! How much of a claim stands in which source: the first version of support, by content words and numbers.
//!
//! Support of a claim by a source is the share of the claim's content lexemes that the source holds. It sees neither
//! negation nor units nor word order, so a claim that turns a source round is covered by it: a low figure says that content
//! is missing, a high one does not prove the claim.

use std::collections::BTreeMap;

use reground_pulse::along;

use crate::{Lexemes, Source};

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

/// Which sources hold which lexeme.
pub(crate) struct Index<'a> {
    postings: BTreeMap<&'a str, Vec<usize>>,
    sources: usize,
}

impl<'a> Index<'a> {
    pub(crate) fn new(sources: &'a [Source]) -> Self {
        let mut postings: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, source) in sources.iter().enumerate() {
            for lexeme in along(source.lexemes.iter()) {
                postings.entry(lexeme).or_default().push(index);
            }
        }
        Self {
            postings,
            sources: sources.len(),
        }
    }

    /// How the sources cover a claim; `None` when it has no content.
    pub(crate) fn coverage(&self, claim: &Lexemes) -> Option<Coverage<'_>> {
        if claim.is_empty() {
            return None;
        }
        let held: Vec<&[usize]> = along(claim.iter())
            .filter_map(|lexeme| self.postings.get(lexeme).map(Vec::as_slice))
            .collect();
        let mut counts = vec![0; self.sources];
        for &source in held.iter().copied().flatten() {
            counts[source] += 1;
        }
        Some(Coverage {
            size: claim.len(),
            held,
            counts,
        })
    }
}

/// How the sources of a context cover one claim.
pub(crate) struct Coverage<'a> {
    size: usize,
    /// For each lexeme of the claim that any source holds: the sources.
    held: Vec<&'a [usize]>,
    /// Lexemes of the claim in each source.
    counts: Vec<usize>,
}

/// How the cited sources together cover the claim.
pub(crate) struct Joint {
    cited: Vec<bool>,
    /// Lexemes in any cited source.
    union: usize,
    /// Lexemes that one cited source alone brings, by source.
    sole: Vec<usize>,
    /// Lexemes that an uncited source would add, by source.
    gain: Vec<usize>,
}

impl Coverage<'_> {
    /// Support by one source, in [0, 1].
    pub(crate) fn support(&self, source: usize) -> f64 {
        self.share(self.counts[source])
    }

    /// The source among these that covers most; the earliest of equals.
    pub(crate) fn best(&self, among: impl Iterator<Item = usize>) -> Option<usize> {
        among.min_by_key(|&source| (std::cmp::Reverse(self.counts[source]), source))
    }

    pub(crate) fn sources(&self) -> usize {
        self.counts.len()
    }

    /// The cited sources taken together.
    pub(crate) fn joint(&self, cited: &[usize]) -> Joint {
        let mut joint = Joint {
            cited: vec![false; self.counts.len()],
            union: 0,
            sole: vec![0; self.counts.len()],
            gain: vec![0; self.counts.len()],
        };
        for &source in cited {
            joint.cited[source] = true;
        }
        for holders in &self.held {
            let mut citing = holders.iter().filter(|&&source| joint.cited[source]);
            match (citing.next(), citing.next()) {
                (None, _) => holders.iter().for_each(|&source| joint.gain[source] += 1),
                (Some(&only), None) => {
                    joint.union += 1;
                    joint.sole[only] += 1;
                }
                (Some(_), Some(_)) => joint.union += 1,
            }
        }
        joint
    }

    /// The best source that the claim does not cite.
    pub(crate) fn best_other(&self, joint: &Joint) -> Option<usize> {
        self.best((0..self.counts.len()).filter(|&source| !joint.cited[source]))
    }

    /// The verdict on `source`, one of the cited (I4, I13, D8):
    ///
    /// held alone, or held together with the other citations of the claim to which it adds something; else the content of
    /// another source, if that one holds it and is clearly better; else a matter of one more citation, if that would do; else
    /// not supported.
    pub(crate) fn verdict(&self, source: usize, joint: &Joint, rules: &SupportRules) -> Verdict {
        let enough = |count| self.share(count) >= rules.threshold;
        if enough(self.counts[source]) || (enough(joint.union) && joint.sole[source] > 0) {
            return Verdict::Held;
        }
        if let Some(other) = self
            .best_other(joint)
            .filter(|&other| enough(self.counts[other]))
        {
            let ahead = self.support(other) - self.support(source);
            return if ahead >= rules.other_source_margin {
                Verdict::WrongSource
            } else {
                Verdict::Unsupported
            };
        }
        let one_more = joint.gain.iter().max().copied().unwrap_or(0);
        // A source that brings nothing of its own is not mended by citing another one.
        let adds = joint.sole[source] > 0;
        if adds && !enough(joint.union) && enough(joint.union + one_more) {
            return Verdict::InsufficientAttribution;
        }
        Verdict::Unsupported
    }

    fn share(&self, count: usize) -> f64 {
        count as f64 / self.size as f64
    }
}

/// Support of a claim by several texts together; `None` when the claim has no content.
pub(crate) fn joint_support<'a>(
    claim: &Lexemes,
    texts: impl Iterator<Item = &'a Lexemes> + Clone,
) -> Option<f64> {
    if claim.is_empty() {
        return None;
    }
    let held = along(claim.iter())
        .filter(|lexeme| texts.clone().any(|text| text.contains(lexeme)))
        .count();
    Some(held as f64 / claim.len() as f64)
}
