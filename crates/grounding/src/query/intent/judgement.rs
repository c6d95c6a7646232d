//! Intents, dependencies, and the judgement on a turn.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::GroundingError;

/// The intent of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// A new subject: only pins are carried.
    NewTopic,
    /// Continues the subject: sources are carried, and the query is expanded.
    DrillDown,
    /// A comparison: one retrieval per member, shared slots.
    Compare,
    /// About the sources at hand: twice the reserved slots.
    SameSources,
}

impl Intent {
    /// All intents, in the order of the documentation.
    pub const ALL: [Self; 4] = [
        Self::NewTopic,
        Self::DrillDown,
        Self::Compare,
        Self::SameSources,
    ];

    /// The name for users.
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

/// How far a turn depends on earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dependency {
    /// It cannot be understood without them.
    Hard,
    /// It shares their subject but can stand alone.
    Soft,
    /// It does not need them.
    None,
}

/// The judgement on a turn, with its reasons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgedIntent {
    /// The intent.
    pub intent: Intent,
    /// The likelihood that the intent is right, in [0, 1]; 1 or the function's value if the caller or a function set
    /// it.
    pub confidence: f64,
    /// The signals that decided, for display: `pronoun: it`, `known words: 2 of 5`.
    pub signals: Vec<String>,
    /// Members of the comparison under `compare`, else empty.
    pub entities: Vec<String>,
    /// Dependency on earlier turns.
    pub dependency: Dependency,
}

/// Likelihood that a question that names sources is about them.
const NAMES_SOURCES: f64 = 0.9;

impl JudgedIntent {
    /// The judgement on a query that names sources of the conversation, given by their markers: it is about the sources at hand.
    /// A verdict of the caller or of a function (`is_given`) stays.
    #[must_use]
    pub fn naming(mut self, markers: &[String], is_given: bool) -> Self {
        if markers.is_empty() {
            return self;
        }
        self.signals.push(format!("named: {}", markers.join(", ")));
        if !is_given {
            self.intent = Intent::SameSources;
            self.confidence = NAMES_SOURCES;
            self.dependency = Dependency::Hard;
            self.entities.clear();
        }
        self
    }
}
