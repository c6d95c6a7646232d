//! Intent of a turn (C1) and how far it leans on earlier turns (H2): deterministic, without a model.
//!
//! Cues decide where the language has them: a comparison, a change of subject, a question about the sources. All else
//! is weighed: two logistic scores over a few figures of words and, where there are any, of embeddings say how likely a
//! new topic is, and how likely the sources at hand hold the answer. A turn is called what is likelier than not, so a
//! turn in doubt continues: a wrong `drill_down` carries sources that the threshold still has to pass, a wrong
//! `new_topic` loses them.

mod evidence;
mod figures;
mod likelihood;
mod past;
mod verdict;

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::cues::Cues;
use crate::error::GroundingError;
use evidence::Evidence;
pub use figures::{AGAIN, AWAY, AtHand, Figures};
pub use likelihood::{FITTED, Likelihoods, Model, Weights};
pub use past::PastTurn;
pub use verdict::{Judge, Verdict};

/// What a turn is after (C1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// A fresh subject: only pins are carried.
    NewTopic,
    /// Deeper into the subject: sources are carried and the previous query lends its words.
    DrillDown,
    /// A comparison: retrieval per member, shared slots.
    Compare,
    /// About the sources at hand: twice the reserved slots.
    SameSources,
}

impl Intent {
    /// All, in the order of the documentation.
    pub const ALL: [Self; 4] = [
        Self::NewTopic,
        Self::DrillDown,
        Self::Compare,
        Self::SameSources,
    ];

    /// The name as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NewTopic => "new_topic",
            Self::DrillDown => "drill_down",
            Self::Compare => "compare",
            Self::SameSources => "same_sources",
        }
    }
}

impl FromStr for Intent {
    type Err = GroundingError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|intent| intent.name() == name)
            .ok_or_else(|| GroundingError::UnknownIntent(name.to_owned()))
    }
}

/// How far a turn depends on earlier ones (H2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dependency {
    /// It cannot be understood without them.
    Hard,
    /// It shares their subject and can stand alone.
    Soft,
    /// It does not need them.
    None,
}

/// The judgement on a turn, with what decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The intent.
    pub intent: Intent,
    /// How likely that is right, in [0, 1]; 1 where the caller said so, or what a function said.
    pub confidence: f64,
    /// The signals that decided, for a person to read: `pronoun: it`, `known words: 2 of 5`.
    pub signals: Vec<String>,
    /// Members of the comparison under `compare`, else empty.
    pub entities: Vec<String>,
    /// Dependency on earlier turns.
    pub dependency: Dependency,
}

/// Judges a query against the earlier turns (newest last) with the built-in cues; what somebody else `said` goes before.
/// Linear in the texts.
#[must_use]
pub fn classify(query: &str, earlier: &[PastTurn], said: Option<Verdict>) -> Judged {
    classify_with(Cues::built_in(), &FITTED, query, earlier, said)
}

/// [`classify`] with the caller's own cues and weights.
#[must_use]
pub fn classify_with(
    cues: &Cues,
    model: &Model,
    query: &str,
    earlier: &[PastTurn],
    said: Option<Verdict>,
) -> Judged {
    let evidence = Evidence::gather(cues, query, earlier);
    let mut signals = evidence.signals();
    let mut likely = None;
    if !evidence.first_turn {
        let figures = Figures::of(&evidence, cues, query, earlier);
        signals.extend(figures.signals());
        likely = Some(model.likelihoods(&figures));
    }
    let mut dependency = dependency(&evidence, likely);
    let (mut intent, mut confidence) = intent(&evidence, likely);
    let mut entities = Vec::new();
    if let Some(said) = said {
        signals.push(said.by.name().to_owned());
        (intent, confidence) = (said.intent, said.confidence);
        dependency = said.dependency.unwrap_or(dependency);
        entities = said.entities;
    }
    match evidence.comparison {
        _ if intent != Intent::Compare => entities.clear(),
        Some(comparison) if entities.is_empty() => entities = comparison.entities,
        _ => {}
    }
    Judged {
        intent,
        confidence,
        signals,
        entities,
        dependency,
    }
}

/// What is weighed of a query with the built-in cues, to measure it and to fit weights; `None` of a first turn.
#[must_use]
pub fn figures(query: &str, earlier: &[PastTurn]) -> Option<Figures> {
    let cues = Cues::built_in();
    let evidence = Evidence::gather(cues, query, earlier);
    (!evidence.first_turn).then(|| Figures::of(&evidence, cues, query, earlier))
}

/// The intent, and how likely that is right.
fn intent(evidence: &Evidence, likely: Option<Likelihoods>) -> (Intent, f64) {
    if let Some(members) = evidence.compared() {
        let sure = if members > 1 { 0.9 } else { 0.6 };
        return (Intent::Compare, sure);
    }
    match likely {
        None => (Intent::NewTopic, 1.0),
        Some(_) if evidence.shift.is_some() => (Intent::NewTopic, 0.9),
        Some(_) if evidence.sources.is_some() => (Intent::SameSources, 0.8),
        Some(likely) => likely.intent(),
    }
}

/// A new subject needs nothing of what was said. Of the other turns, those that point back or are too short to stand
/// alone cannot do without it.
fn dependency(evidence: &Evidence, likely: Option<Likelihoods>) -> Dependency {
    let goes_on = likely.is_some_and(|likely| {
        evidence.shift.is_none() && (evidence.sources.is_some() || !likely.changes_subject())
    });
    match (goes_on, evidence.leans()) {
        (false, _) => Dependency::None,
        (true, true) => Dependency::Hard,
        (true, false) => Dependency::Soft,
    }
}

#[cfg(test)]
mod tests;
