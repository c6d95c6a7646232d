//! Verdicts of classifiers that do not answer in words: of entailment, and of unsupported spans.

use reground_interrupt::{check_interrupt, checked};

use super::judgement::Judgement;
use super::verdict::Verdict;
use crate::reading::{Span, UnusableAnswer};

/// Probability of entailment from which a claim is accurate.
pub const ACCURATE_FROM: f64 = 0.5;
/// Probability of entailment from which a claim is partially supported.
pub const PARTIAL_FROM: f64 = 0.25;
/// Probability from which a span is unsupported.
const UNSUPPORTED_FROM: f64 = 0.5;
/// Share of unsupported characters from which nothing of the claim counts as supported.
const HALLUCINATED_FROM: f64 = 0.5;

/// The verdict for a probability that the passage entails the claim. The confidence is this probability for ACCURATE, otherwise the
/// probability of the contrary, so that the probability can be computed from verdict and confidence.
pub(super) fn of_probability(probability: f64) -> Result<Judgement, UnusableAnswer> {
    if !(0.0..=1.0).contains(&probability) {
        return Err(UnusableAnswer::NotAProbability(
            "the probability".to_owned(),
        ));
    }
    let verdict = if probability >= ACCURATE_FROM {
        Verdict::Accurate
    } else if probability >= PARTIAL_FROM {
        Verdict::Partial
    } else {
        Verdict::Hallucinated
    };
    Ok(Judgement::of(verdict, certainty(verdict, probability)))
}

/// The verdict for unsupported spans of the claim, by the share of its characters that they cover. White space does not count. The
/// confidence is the highest probability of a span; for ACCURATE that of the contrary.
pub(super) fn of_spans(spans: &[Span], claim: &str) -> Judgement {
    let (mut all, mut unsupported) = (0_u32, 0_u32);
    for (place, c) in checked(claim.chars()).enumerate() {
        if c.is_whitespace() {
            continue;
        }
        all += 1;
        check_interrupt(spans.len());
        let covers = |span: &Span| {
            span.probability >= UNSUPPORTED_FROM && (span.start..span.end).contains(&place)
        };
        unsupported += u32::from(spans.iter().any(covers));
    }
    let verdict = if unsupported == 0 {
        Verdict::Accurate
    } else if f64::from(unsupported) < HALLUCINATED_FROM * f64::from(all) {
        Verdict::Partial
    } else {
        Verdict::Hallucinated
    };
    let worst = spans.iter().map(|span| span.probability);
    Judgement::of(verdict, certainty(verdict, 1.0 - worst.fold(0.0, f64::max)))
}

/// Confidence in a verdict, from the probability that the claim is supported.
fn certainty(verdict: Verdict, supported: f64) -> f64 {
    match verdict {
        Verdict::Accurate => supported,
        _ => 1.0 - supported,
    }
}
