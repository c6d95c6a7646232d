//! Classifies turns with weights fitted on other conversations.

use reground_grounding::query::cues::Cues;
use reground_grounding::query::intent::{
    AGAIN, AWAY, FITTED, Figures, IntentModel, JudgedIntent, Likelihoods, PastTurn, Weights,
    classify_with, figures,
};

use super::conversations::Library;
use super::labelled_turns::{Example, Label};
use super::past_turns::{KnownHistory, past};
use crate::statistics::folds::folds;
use crate::statistics::logistic::Logistic;

/// A classified example.
pub struct Verdict<'a> {
    /// The example.
    pub example: Example<'a>,
    /// The classification.
    pub judged: JudgedIntent,
    /// The likelihoods of the model.
    pub likelihoods: Likelihoods,
}

/// An example with its features.
struct Case<'a> {
    example: Example<'a>,
    past: Vec<PastTurn>,
    figures: Figures,
}

/// Examples with the same known history.
pub struct Cases<'a>(Vec<Case<'a>>);

impl<'a> Cases<'a> {
    /// Computes the features of the examples.
    pub fn of(libraries: &[Library], examples: &[Example<'a>], known: KnownHistory) -> Self {
        let case = |example: &Example<'a>| {
            let domain = example.conversation.domain;
            let library = libraries.iter().find(|l| l.corpus.domain == domain)?;
            let past = past(library, example.earlier, example.question, known);
            let figures = figures(&example.question.text, &past)?;
            Some(Case {
                example: *example,
                past,
                figures,
            })
        };
        Self(examples.iter().filter_map(case).collect())
    }

    /// Classifies with the weights of the crate.
    pub fn as_shipped(&self) -> Vec<Verdict<'a>> {
        self.0.iter().map(|case| case.judged(&FITTED)).collect()
    }

    /// Classifies each example with weights fitted to `to` without the conversations of its fold.
    pub fn held_out(&self, to: &Cases<'_>) -> Vec<Verdict<'a>> {
        // Both in one list, so that the folds are the same.
        let places: Vec<(usize, bool)> = (0..self.0.len())
            .map(|n| (n, true))
            .chain((0..to.0.len()).map(|n| (n, false)))
            .collect();
        let cases = self.0.iter().chain(&to.0);
        let conversations: Vec<&str> = cases
            .map(|case| case.example.conversation.id.as_str())
            .collect();
        folds(&places, &conversations)
            .flat_map(|fold| {
                let others = fold.others.iter().filter(|(_, judged)| !judged);
                let model = fit(others.map(|(n, _)| &to.0[*n]));
                let held_out = fold.held_out.into_iter().filter(|(_, judged)| *judged);
                held_out
                    .map(|(n, _)| self.0[n].judged(&model))
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    /// Weights fitted to all examples.
    pub fn weights(&self) -> (Weights<AWAY>, Weights<AGAIN>) {
        weights(self.0.iter())
    }
}

impl<'a> Case<'a> {
    fn judged(&self, model: &IntentModel) -> Verdict<'a> {
        let query = &self.example.question.text;
        Verdict {
            example: self.example,
            judged: classify_with(Cues::built_in(), model, query, &self.past, None),
            likelihoods: model.likelihoods(&self.figures),
        }
    }
}

/// A model with the same weights for every known history.
fn fit<'a, 'b: 'a>(cases: impl Iterator<Item = &'a Case<'b>> + Clone) -> IntentModel {
    let (away, again) = weights(cases);
    IntentModel {
        new_topic: [[away; 2]; 2],
        same_sources: [[again; 2]; 2],
    }
}

fn weights<'a, 'b: 'a>(
    cases: impl Iterator<Item = &'a Case<'b>> + Clone,
) -> (Weights<AWAY>, Weights<AGAIN>) {
    let away: Vec<_> = cases
        .clone()
        .map(|case| (case.figures.away, case.example.label == Label::NewTopic))
        .collect();
    let again: Vec<_> = cases
        .filter(|case| matches!(case.example.label, Label::SameSources | Label::DrillDown))
        .map(|case| (case.figures.again, case.example.label == Label::SameSources))
        .collect();
    (unscaled(&away), unscaled(&again))
}

fn unscaled<const N: usize>(labelled: &[([f64; N], bool)]) -> Weights<N> {
    let (intercept, weights) = Logistic::fit(labelled).unscaled();
    Weights { intercept, weights }
}
