//! The likelihood that a turn is a new topic, and if it is not, that the sources at hand contain its answer.
//!
//! Logistic scores over [`Figures`], with weights fitted to MTRAG (`reground-bench intent` fits them again and reports
//! their accuracy on unseen conversations). One turn of three was a new topic there. Features that need missing data
//! have weight 0, and the other weights are fitted without them.

use super::figures::{AGAIN, AWAY, Figures};
use super::judgement::Intent;

/// A logistic score: the log-odds are the weighted sum of the features plus the intercept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights<const N: usize> {
    /// The log-odds without any feature.
    pub intercept: f64,
    /// The weight of each feature.
    pub weights: [f64; N],
}

impl<const N: usize> Weights<N> {
    /// The likelihood, in [0, 1].
    #[must_use]
    pub fn likelihood(&self, figures: &[f64; N]) -> f64 {
        let weighed = self.weights.iter().zip(figures);
        let odds = weighed.map(|(weight, figure)| weight * figure);
        1.0 / (1.0 + (-self.intercept - odds.sum::<f64>()).exp())
    }
}

/// The weights, by the available data: `[without, with]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntentModel {
    /// For a new topic: by answers, then by similarities.
    pub new_topic: [[Weights<AWAY>; 2]; 2],
    /// For the sources at hand, if it is not a new topic: by cited passages, then by similarities within documents.
    pub same_sources: [[Weights<AGAIN>; 2]; 2],
}

/// The likelihoods of a turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Likelihoods {
    /// That it is a new topic, in [0, 1].
    pub new_topic: f64,
    /// That the sources at hand contain its answer if it is not a new topic, in [0, 1].
    pub same_sources: f64,
}

impl IntentModel {
    /// The likelihoods of a later turn.
    #[must_use]
    pub fn likelihoods(&self, figures: &Figures) -> Likelihoods {
        let at_hand = figures.at_hand;
        let [without, with] = &self.new_topic;
        let by_answers = if at_hand.answers { with } else { without };
        let [without, with] = by_answers;
        let away = if at_hand.similarities { with } else { without };
        let [without, with] = &self.same_sources;
        let by_passages = if at_hand.passages { with } else { without };
        let [without, with] = by_passages;
        let again = if at_hand.documents { with } else { without };
        Likelihoods {
            new_topic: away.likelihood(&figures.away),
            same_sources: again.likelihood(&figures.again),
        }
    }
}

impl Likelihoods {
    /// Whether a new topic is more likely than not.
    #[must_use]
    pub fn changes_subject(self) -> bool {
        self.new_topic > 0.5
    }

    /// The intent, and the likelihood that it is right.
    #[must_use]
    pub fn intent(self) -> (Intent, f64) {
        let continues = 1.0 - self.new_topic;
        if self.changes_subject() {
            (Intent::NewTopic, self.new_topic)
        } else if self.same_sources > 0.5 {
            (Intent::SameSources, continues * self.same_sources)
        } else {
            (Intent::DrillDown, continues * (1.0 - self.same_sources))
        }
    }
}

/// The weights in use.
pub const FITTED: IntentModel = IntentModel {
    new_topic: [
        [
            of(-30.83, [0.55, 8.01, 18.14, 1.04, 2.26, 0.0]),
            of(-23.5, [0.67, 1.73, 11.66, 0.98, 2.05, 7.79]),
        ],
        [
            of(-14.96, [0.6, 3.3, 7.62, 1.17, 2.24, 0.0]),
            of(-15.17, [0.77, 0.0, 5.79, 1.07, 1.91, 7.18]),
        ],
    ],
    same_sources: [
        [of(-0.22, [0.0, 0.0, 0.0]), of(0.24, [0.0, 4.96, 0.6])],
        [of(-1.97, [2.33, 0.0, 0.86]), of(-1.24, [2.05, 4.5, 0.79])],
    ],
};

const fn of<const N: usize>(intercept: f64, weights: [f64; N]) -> Weights<N> {
    Weights { intercept, weights }
}
