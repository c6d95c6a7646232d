//! AUROC of answerable against unanswerable turns, within a domain.

use std::collections::BTreeMap;

use reground_metrics::classification::auroc;

use super::LabelledTurn;
use crate::data::Domain;
use crate::data::tasks::Answerability;
use crate::statistics::logistic::Logistic;
use crate::statistics::random::SplitMix;

/// Resamples of an interval, and their seed.
const RESAMPLES: (usize, u64) = (2000, 20_251);

/// A way to score turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scorer {
    /// Largest cosine of the user's words alone.
    BestSimilarity,
    /// Largest BM25 score of the user's words alone.
    BestBm25,
    /// The features with weights that are fitted on the other domains.
    Refitted,
    /// The value of `begin_turn`. Its weights were fitted on all three domains.
    Shipped,
}

impl Scorer {
    /// All scorers, in the order of the reports.
    pub const ALL: [Self; 4] = [
        Self::BestSimilarity,
        Self::BestBm25,
        Self::Refitted,
        Self::Shipped,
    ];

    /// The name in reports and in the floors.
    pub fn name(self) -> &'static str {
        match self {
            Self::BestSimilarity => "best similarity alone",
            Self::BestBm25 => "best BM25 alone",
            Self::Refitted => "answerability, weights of the other two domains",
            Self::Shipped => "answerability, shipped weights (fitted on these turns)",
        }
    }
}

/// A score, and whether the turn is answerable.
type Scored = (f64, bool);

/// The scored turns of a domain, by conversation. Turns with another label are left out.
pub fn scored(turns: &[LabelledTurn], domain: Domain, scorer: Scorer) -> Vec<Vec<Scored>> {
    let refitted = (scorer == Scorer::Refitted).then(|| {
        let others: Vec<_> = turns
            .iter()
            .filter(|turn| turn.domain != domain)
            .filter_map(|turn| Some((figures(turn), is_answerable(turn)?)))
            .collect();
        Logistic::fit(&others)
    });
    let mut conversations: BTreeMap<&str, Vec<Scored>> = BTreeMap::new();
    for turn in turns.iter().filter(|turn| turn.domain == domain) {
        let Some(answerable) = is_answerable(turn) else {
            continue;
        };
        let score = match (scorer, &refitted) {
            (Scorer::BestSimilarity, _) => turn.best_similarity,
            (Scorer::BestBm25, _) => turn.best_bm25,
            (Scorer::Refitted, Some(model)) => model.odds(&figures(turn)),
            (Scorer::Refitted, None) | (Scorer::Shipped, _) => turn.shipped,
        };
        let conversation = conversations.entry(&turn.conversation).or_default();
        conversation.push((score, answerable));
    }
    conversations.into_values().collect()
}

/// Weights of the features, fitted on all turns of these domains: intercept, then similarity, agreement and missing words. Both
/// labels have the same total weight.
pub fn weights(turns: &[LabelledTurn]) -> (f64, [f64; 3]) {
    let labelled: Vec<_> = turns
        .iter()
        .filter_map(|turn| Some((figures(turn), is_answerable(turn)?)))
        .collect();
    let (intercept, weights) = Logistic::fit(&labelled).unscaled();
    // Moving the intercept by the logarithm of the ratio of both labels corresponds to equal shares of them.
    let answerable = labelled.iter().filter(|(_, answerable)| *answerable);
    let answerable = answerable.count() as f64;
    let unanswerable = labelled.len() as f64 - answerable;
    (
        intercept - (answerable / unanswerable.max(1.0)).ln(),
        weights,
    )
}

fn figures(turn: &LabelledTurn) -> [f64; 3] {
    let features = turn.features;
    [
        features.similarity,
        features.agreement,
        features.missing_words,
    ]
}

fn is_answerable(turn: &LabelledTurn) -> Option<bool> {
    match turn.label {
        Answerability::Answerable => Some(true),
        Answerability::Unanswerable => Some(false),
        Answerability::Partial | Answerability::Conversational => None,
    }
}

/// An AUROC with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    /// The AUROC, or the mean of several.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The mean AUROC of domains, each given as its conversations; intervals resample whole conversations within each domain. `None`
/// if a domain has turns of one label only.
pub fn area(domains: &[Vec<Vec<Scored>>]) -> Option<Area> {
    let whole: Vec<Vec<&Vec<Scored>>> = domains.iter().map(|all| all.iter().collect()).collect();
    let value = mean_auroc(&whole)?;
    let mut random = SplitMix(RESAMPLES.1);
    let mut resampled: Vec<f64> = (0..RESAMPLES.0)
        .filter_map(|_| {
            let drawn: Vec<Vec<&Vec<Scored>>> = domains
                .iter()
                .map(|all| {
                    let draw = |_| &all[random.below(all.len())];
                    (0..all.len()).map(draw).collect()
                })
                .collect();
            mean_auroc(&drawn)
        })
        .collect();
    resampled.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| {
        let place = share * resampled.len().saturating_sub(1) as f64;
        resampled.get(place.round() as usize).copied()
    };
    Some(Area {
        value,
        low: at(0.025)?,
        high: at(0.975)?,
    })
}

fn mean_auroc(domains: &[Vec<&Vec<Scored>>]) -> Option<f64> {
    let areas = domains.iter().map(|conversations| {
        let scored: Vec<Scored> = conversations.iter().copied().flatten().copied().collect();
        auroc(&scored)
    });
    let areas = areas.collect::<Option<Vec<f64>>>()?;
    (!areas.is_empty()).then(|| areas.iter().sum::<f64>() / areas.len() as f64)
}

#[cfg(test)]
mod tests {
    use reground_grounding::begin::answerability::Features;

    use super::*;

    fn turn(
        domain: Domain,
        conversation: &str,
        similarity: f64,
        label: Answerability,
    ) -> LabelledTurn {
        LabelledTurn {
            domain,
            conversation: conversation.into(),
            label,
            features: Features {
                similarity,
                agreement: 0.5,
                missing_words: 0.0,
            },
            shipped: similarity,
            warned: false,
            best_similarity: similarity,
            best_bm25: -similarity,
        }
    }

    fn turns() -> Vec<LabelledTurn> {
        use Answerability::{Answerable, Partial, Unanswerable};
        let mut all = Vec::new();
        for domain in Domain::ALL {
            for number in 0..8 {
                let name = format!("conversation {number}");
                let noise = f64::from(number) / 20.0;
                all.push(turn(domain, &name, 0.5 + noise, Answerable));
                all.push(turn(domain, &name, 0.3 + noise, Unanswerable));
                all.push(turn(domain, &name, 0.9, Partial));
            }
        }
        all
    }

    #[test]
    fn areas_compare_the_two_labels_only() {
        let turns = turns();
        // Of 64 pairs, the 6 with a difference of noise above .2 are wrong, and the 4 with a difference of .2 are ties.
        let expected = (64.0 - 6.0 - 4.0 / 2.0) / 64.0;
        for (scorer, value) in [
            (Scorer::BestSimilarity, expected),
            (Scorer::BestBm25, 1.0 - expected),
            (Scorer::Refitted, expected),
        ] {
            let area = area(&[scored(&turns, Domain::Cloud, scorer)]).unwrap();
            assert!((area.value - value).abs() < 0.04, "{scorer:?} {area:?}");
            assert!(area.low <= area.value && area.value <= area.high);
        }
        let one_label: Vec<LabelledTurn> = turns
            .into_iter()
            .filter(|turn| turn.label == Answerability::Answerable)
            .collect();
        assert_eq!(
            area(&[scored(&one_label, Domain::Cloud, Scorer::BestBm25)]),
            None
        );
    }

    #[test]
    fn refitted_weights_do_not_see_their_domain() {
        let mut turns = turns();
        let before = scored(&turns, Domain::Fiqa, Scorer::Refitted);
        for turn in turns.iter_mut().filter(|turn| turn.domain == Domain::Fiqa) {
            turn.label = match turn.label {
                Answerability::Answerable => Answerability::Unanswerable,
                Answerability::Unanswerable => Answerability::Answerable,
                other => other,
            };
        }
        let after = scored(&turns, Domain::Fiqa, Scorer::Refitted);
        let odds = |all: &[Vec<Scored>]| -> Vec<f64> {
            all.iter().flatten().map(|(odds, _)| *odds).collect()
        };
        assert_eq!(odds(&before), odds(&after));
    }

    #[test]
    fn balanced_weights_put_one_half_between_the_labels() {
        let (intercept, [similarity, agreement, missing]) = weights(&turns());
        assert!(similarity > 0.0 && agreement == 0.0 && missing == 0.0);
        // The middle between the labels is .4 + .175 of noise.
        assert!((intercept + similarity * 0.575).abs() < 1e-3);
    }
}
