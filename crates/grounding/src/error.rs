//! The error type of this crate. All errors are caused by the caller's input.

use thiserror::Error;

/// An invalid input of a turn. The glue maps each variant to an SQLSTATE.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GroundingError {
    /// A name that is not a setting (22023).
    #[error("unrecognized setting \"{setting}\" in {layer}")]
    UnknownSetting {
        /// The layer with the name: `default`, `corpus`, `conversation`, `call`, …
        layer: String,
        /// The name.
        setting: String,
        /// The setting with the most similar name, if it differs by a typing error.
        similar: Option<&'static str>,
    },
    /// A value of the wrong type or out of range (22023).
    #[error("invalid value for setting \"{setting}\" in {layer}: {value}")]
    InvalidSetting {
        /// The layer with the setting: `default`, `corpus`, `conversation`, `call`, …
        layer: String,
        /// The setting's name as given.
        setting: String,
        /// The invalid value as JSON.
        value: String,
        /// The accepted values.
        expected: String,
    },
    /// Settings of a layer that are not a JSON object (22023).
    #[error("settings in {layer} must be a JSON object")]
    SettingsNotAnObject {
        /// The layer.
        layer: String,
    },
    /// An unknown intent (22023).
    #[error("unknown intent \"{0}\"")]
    UnknownIntent(String),
    /// An unknown prompt format (22023).
    #[error("unknown prompt format \"{0}\"")]
    UnknownFormat(String),
    /// An unknown detail of a prompt (22023).
    #[error("unknown prompt detail \"{0}\"")]
    UnknownDetail(String),
    /// An unknown marker style (22023).
    #[error("unknown marker style \"{0}\"")]
    UnknownMarkerStyle(String),
    /// Two passages with the same marker (22023).
    #[error("two passages have the marker \"{0}\"")]
    RepeatedMarker(String),
    /// A marker that no answer could cite (22023).
    #[error("\"{0}\" is not a marker")]
    Marker(String),
    /// A passage with a marker of its own, where the conversation assigns the markers (22023).
    #[error("a passage has the marker \"{0}\", but the conversation assigns the markers")]
    GivenMarker(String),
    /// Finished turns that are not an array (22023).
    #[error("turns are not an array of objects")]
    ImportedTurns,
    /// A finished turn that is invalid (22023).
    #[error("turn {place}: {fault}")]
    ImportedTurn {
        /// Its position in the array, from 1.
        place: usize,
        /// The reason.
        fault: String,
    },
    /// Structured citations of an unknown API (22023).
    #[error("{0}")]
    UnknownApi(String),
    /// Rerank scores whose number differs from that of the candidates (22023).
    #[error("the reranker returned {returned} scores for {candidates} candidates")]
    RerankLength {
        /// Number of scores returned.
        returned: usize,
        /// Number of candidates.
        candidates: usize,
    },
    /// A filter that does not have the form described in `settings::filter` (22023).
    #[error("invalid filter: {fault}")]
    InvalidFilter {
        /// The reason, with the column.
        fault: String,
    },
    /// A setting with principals that is not a text array literal (22023).
    #[error("invalid principals: {fault}")]
    InvalidPrincipals {
        /// The reason.
        fault: &'static str,
    },
    /// An edge of the knowledge graph that cannot be stored (22023).
    #[error("invalid edges: {fault}")]
    InvalidEdges {
        /// The reason, with the number of the edge.
        fault: String,
    },
    /// A figure of the attention model that is out of range (22023).
    #[error("{quantity} must be {expected}, not {value}")]
    OutOfRange {
        /// The name of the figure.
        quantity: &'static str,
        /// The invalid value.
        value: String,
        /// The accepted values.
        expected: &'static str,
    },
    /// An accuracy target that cannot be reached with any history, however short (22023).
    #[error(
        "accuracy_target is {target}, it must be above 0 and below accuracy_baseline {baseline}"
    )]
    TargetOutOfReach {
        /// The target.
        target: String,
        /// acc(0), the accuracy of a single turn.
        baseline: String,
    },
}

impl GroundingError {
    /// The hint: what to do about the error.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::InvalidSetting { expected, .. } => format!("Expected {expected}. The view reground.settings lists all settings."),
            Self::UnknownSetting { similar: Some(name), .. } => format!("Did you mean \"{name}\"?"),
            Self::UnknownSetting { .. } => "The view reground.settings lists all settings.".to_owned(),
            Self::SettingsNotAnObject { .. } => "Write {\"max_sources\": 8}.".to_owned(),
            Self::UnknownIntent(_) => "Use new_topic, drill_down, compare or same_sources.".to_owned(),
            Self::UnknownFormat(_) => "Use text, xml or json.".to_owned(),
            Self::UnknownDetail(_) => "Use facts, passages or both.".to_owned(),
            Self::UnknownMarkerStyle(_) => "Use A1 or 1.".to_owned(),
            Self::RepeatedMarker(_) => "The marker of a passage without one is its number, from 1.".to_owned(),
            Self::Marker(_) => "A marker is a number, alone or after letters. The marker of a passage without one is its number, from 1.".to_owned(),
            Self::GivenMarker(_) => "Omit marker. The returned rows contain the marker of each passage.".to_owned(),
            Self::ImportedTurns | Self::ImportedTurn { .. } => "[{\"conversation_ref\": \"…\", \"query\": \"…\", \"answer\": \"…\", \"passages\": [{\"content\": \"…\", \"marker\": \"1\"}], \"at\": \"2026-01-31T09:00Z\", \"message_ref\": \"…\", \"model\": \"…\", \"tags\": {}, \"citations\": …}]. No turn was recorded.".to_owned(),
            Self::UnknownApi(_) => "Pass the message as the API returned it, or its list of citations.".to_owned(),
            Self::RerankLength { .. } => "The reranker must return one score per passage, in order, and NULL for a passage without a score.".to_owned(),
            Self::InvalidFilter { .. } => "Write {\"column\": value}, {\"column\": [values]}, {\"column\": {\">=\": value}}, {\"column\": {\"not\": value}}, {\"array\": {\"any\": [values]}}, {\"array\": {\"all\": [values]}}, {\"$or\": [filters]} or {\"$not\": filter}; on a jsonb column any value means containment.".to_owned(),
            Self::InvalidPrincipals { .. } => "Write the setting that reground.principals_from names as a text array: '{user:7,group:2}'.".to_owned(),
            Self::InvalidEdges { .. } => "Write [{\"source\": name, \"target\": name, \"chunk_id\": id}]. relation, doc_id and weight (above 0) are optional.".to_owned(),
            Self::OutOfRange { expected, .. } => format!("Give {expected}."),
            Self::TargetOutOfReach { .. } => "Lower accuracy_target, or set accuracy_baseline to the accuracy measured on single turns. The model never predicts more than accuracy_baseline.".to_owned(),
        }
    }
}
