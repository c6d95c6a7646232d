//! What can go wrong in this crate: only what a caller hands in.

use thiserror::Error;

/// An input that a turn cannot be computed from. The glue maps each variant to an SQLSTATE.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GroundingError {
    /// A setting that is unknown, of the wrong type or out of range (22023).
    #[error("invalid value for setting \"{setting}\" in {layer}: {value}")]
    InvalidSetting {
        /// The layer that holds it: `default`, `corpus`, `conversation`, `call`, …
        layer: String,
        /// The setting's name as it was given.
        setting: String,
        /// The offending value as JSON.
        value: String,
        /// What would have been accepted.
        expected: String,
    },
    /// Settings of a layer that are not a JSON object (22023).
    #[error("settings in {layer} must be a JSON object")]
    SettingsNotAnObject {
        /// The layer.
        layer: String,
    },
    /// An intent that does not exist (22023).
    #[error("unknown intent \"{0}\"")]
    UnknownIntent(String),
    /// A prompt format that does not exist (22023).
    #[error("unknown prompt format \"{0}\"")]
    UnknownFormat(String),
    /// A style of markers that does not exist (22023).
    #[error("unknown marker style \"{0}\"")]
    UnknownMarkerStyle(String),
    /// Two passages that go by one marker (22023).
    #[error("two passages go by the marker \"{0}\"")]
    RepeatedMarker(String),
    /// A marker that no answer could cite (22023).
    #[error("\"{0}\" is no marker")]
    Marker(String),
    /// A passage handed over under a marker of its own, where the conversation binds them (22023).
    #[error("a passage brings the marker \"{0}\", which is not the caller's to give")]
    GivenMarker(String),
    /// Finished turns that are not an array (22023).
    #[error("turns are not an array of objects")]
    ImportedTurns,
    /// A finished turn that cannot be read (22023).
    #[error("turn {place}: {fault}")]
    ImportedTurn {
        /// Its place among those that were handed over, from 1.
        place: usize,
        /// What is wrong.
        fault: String,
    },
    /// Structured citations of an API that is not known (22023).
    #[error("{0}")]
    UnknownApi(String),
    /// Rerank scores that do not pair up with the candidates (22023).
    #[error("the reranker returned {returned} scores for {candidates} candidates")]
    RerankLength {
        /// Scores that came back.
        returned: usize,
        /// Candidates that were handed over.
        candidates: usize,
    },
    /// A filter that is not of the form that [`crate::settings::filter`] documents (22023).
    #[error("invalid filter: {fault}")]
    InvalidFilter {
        /// What is wrong, with the column.
        fault: String,
    },
    /// An edge of the knowledge graph that cannot be stored (22023).
    #[error("invalid edges: {fault}")]
    InvalidEdges {
        /// What is wrong, with the number of the edge.
        fault: String,
    },
    /// A figure of the model of [`crate::attention_model`] out of its range (22023).
    #[error("{quantity} must be {expected}, not {value}")]
    OutOfRange {
        /// What it is.
        quantity: &'static str,
        /// The offending value.
        value: String,
        /// What would have been accepted.
        expected: &'static str,
    },
    /// An accuracy that no history leaves, however short (22023).
    #[error(
        "an accuracy_target of {target} cannot be kept: it must lie above 0 and below the accuracy_baseline, {baseline}"
    )]
    TargetOutOfReach {
        /// What was asked for.
        target: String,
        /// acc(0), the accuracy of a single turn.
        baseline: String,
    },
}

impl GroundingError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::InvalidSetting { expected, .. } => format!("Expected {expected}; the view reground.settings lists them all."),
            Self::SettingsNotAnObject { .. } => "Write {\"max_sources\": 8}.".to_owned(),
            Self::UnknownIntent(_) => "One of new_topic, drill_down, compare, same_sources.".to_owned(),
            Self::UnknownFormat(_) => "One of text, xml, json.".to_owned(),
            Self::UnknownMarkerStyle(_) => "A1 or 1.".to_owned(),
            Self::RepeatedMarker(_) => "A passage without a marker is cited by its number, from 1.".to_owned(),
            Self::Marker(_) => "A marker is letters and a number, or a number; leave it out to have passages cited by their numbers.".to_owned(),
            Self::GivenMarker(_) => "Leave marker out: the rows that come back say what each passage is cited by.".to_owned(),
            Self::ImportedTurns | Self::ImportedTurn { .. } => "[{\"conversation\": \"…\", \"query\": \"…\", \"answer\": \"…\", \"passages\": [{\"text\": \"…\", \"marker\": \"1\"}], \"at\": \"2026-01-31T09:00Z\", \"message\": \"…\", \"model\": \"…\", \"tags\": {}, \"citations\": …}]; none of them is recorded.".to_owned(),
            Self::UnknownApi(_) => "Pass the message as the API returned it, or its list of citations.".to_owned(),
            Self::RerankLength { .. } => "A reranker returns one score for each passage, in order; NULL where it has none.".to_owned(),
            Self::InvalidFilter { .. } => "Write {\"column\": value}, {\"column\": [values]} or {\"column\": {\">=\": value}}; on a jsonb column any value means containment.".to_owned(),
            Self::InvalidEdges { .. } => "Write [{\"source\": name, \"target\": name, \"chunk_id\": passage}], with relation, doc_id and weight (above 0) as you like.".to_owned(),
            Self::OutOfRange { expected, .. } => format!("Give {expected}."),
            Self::TargetOutOfReach { .. } => "Even without history the model predicts no more than the baseline: ask for less, or raise the baseline to what single turns were measured at.".to_owned(),
        }
    }
}
