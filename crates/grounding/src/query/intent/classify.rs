//! The judgement on a query against the earlier turns.

use super::evidence::Evidence;
use super::figures::Figures;
use super::judgement::{Dependency, Intent, JudgedIntent};
use super::likelihood::{FITTED, IntentModel, Likelihoods};
use super::past_turn::PastTurn;
use super::verdict::Verdict;
use crate::query::cues::Cues;

/// Judges a query against the earlier turns (newest last) with the built-in cues. A verdict of the caller or of a
/// function (`verdict`) overrides the result. Linear in the texts.
#[must_use]
pub fn classify(query: &str, earlier: &[PastTurn], verdict: Option<Verdict>) -> JudgedIntent {
    classify_with(Cues::built_in(), &FITTED, query, earlier, verdict)
}

/// [`classify`] with the caller's own cues and weights.
#[must_use]
pub fn classify_with(
    cues: &Cues,
    model: &IntentModel,
    query: &str,
    earlier: &[PastTurn],
    verdict: Option<Verdict>,
) -> JudgedIntent {
    let evidence = Evidence::gather(cues, query, earlier);
    let mut signals = evidence.signals();
    let mut likelihoods = None;
    if !evidence.first_turn {
        let figures = Figures::of(&evidence, cues, query, earlier);
        signals.extend(figures.signals());
        likelihoods = Some(model.likelihoods(&figures));
    }
    let mut dependency = dependency(&evidence, likelihoods);
    let (mut intent, mut confidence) = intent(&evidence, likelihoods);
    let mut entities = Vec::new();
    if let Some(verdict) = verdict {
        signals.push(verdict.by.name().to_owned());
        (intent, confidence) = (verdict.intent, verdict.confidence);
        dependency = verdict.dependency.unwrap_or(dependency);
        entities = verdict.entities;
    }
    match evidence.comparison {
        _ if intent != Intent::Compare => entities.clear(),
        Some(comparison) if entities.is_empty() => entities = comparison.entities,
        _ => {}
    }
    JudgedIntent {
        intent,
        confidence,
        signals,
        entities,
        dependency,
    }
}

/// The features of a query with the built-in cues, to measure it and to fit weights; `None` for a first turn.
#[must_use]
pub fn figures(query: &str, earlier: &[PastTurn]) -> Option<Figures> {
    let cues = Cues::built_in();
    let evidence = Evidence::gather(cues, query, earlier);
    (!evidence.first_turn).then(|| Figures::of(&evidence, cues, query, earlier))
}

/// The intent, and the likelihood that it is right.
fn intent(evidence: &Evidence, likelihoods: Option<Likelihoods>) -> (Intent, f64) {
    if let Some(members) = evidence.compared() {
        let sure = if members > 1 { 0.9 } else { 0.6 };
        return (Intent::Compare, sure);
    }
    match likelihoods {
        None => (Intent::NewTopic, 1.0),
        Some(_) if evidence.shift.is_some() => (Intent::NewTopic, 0.9),
        Some(_) if evidence.sources.is_some() => (Intent::SameSources, 0.8),
        // Without a subject of its own, as in "Why?", nothing shows that the sources at hand have the answer.
        Some(likelihoods) if evidence.lacks_subject() && !likelihoods.changes_subject() => {
            (Intent::DrillDown, 1.0 - likelihoods.new_topic)
        }
        Some(likelihoods) => likelihoods.intent(),
    }
}

/// A new topic depends on nothing. Of the other turns, those that refer back or are too short to stand alone depend on
/// earlier ones.
fn dependency(evidence: &Evidence, likelihoods: Option<Likelihoods>) -> Dependency {
    let continues = likelihoods.is_some_and(|likelihoods| {
        evidence.shift.is_none() && (evidence.sources.is_some() || !likelihoods.changes_subject())
    });
    match (continues, evidence.depends()) {
        (false, _) => Dependency::None,
        (true, true) => Dependency::Hard,
        (true, false) => Dependency::Soft,
    }
}
