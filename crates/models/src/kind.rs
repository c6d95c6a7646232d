//! The kinds of tasks, and the APIs that can do them.

use serde::{Deserialize, Serialize};

use crate::error::ModelError;

/// What a model does. Each task in the queue has the kind of its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Computes the embedding of a passage.
    Embed,
    /// Scores the candidates of a turn.
    Rerank,
    /// Judges a citation.
    Judge,
    /// Splits a text into statements.
    Decompose,
    /// Judges whether a text entails a statement.
    Entail,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 5] = [
        Self::Embed,
        Self::Rerank,
        Self::Judge,
        Self::Decompose,
        Self::Entail,
    ];

    /// The name in SQL.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Embed => "embed",
            Self::Rerank => "rerank",
            Self::Judge => "judge",
            Self::Decompose => "decompose",
            Self::Entail => "entail",
        }
    }

    /// Reads a name.
    ///
    /// # Errors
    /// The name is unknown.
    pub fn parse(name: &str) -> Result<Self, ModelError> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| ModelError::unrecognized("task", name, Self::ALL.map(Self::name)))
    }
}

/// The protocol of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// OpenAI and compatible servers.
    Openai,
    /// Anthropic.
    Anthropic,
    /// Cohere.
    Cohere,
    /// Text Embeddings Inference.
    Tei,
    /// A model that the worker runs itself.
    Local,
}

impl Api {
    /// All APIs.
    pub const ALL: [Self; 5] = [
        Self::Openai,
        Self::Anthropic,
        Self::Cohere,
        Self::Tei,
        Self::Local,
    ];

    /// The name in SQL.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
            Self::Cohere => "cohere",
            Self::Tei => "tei",
            Self::Local => "local",
        }
    }

    /// Reads a name.
    ///
    /// # Errors
    /// The name is unknown.
    pub fn parse(name: &str) -> Result<Self, ModelError> {
        let found = Self::ALL.into_iter().find(|api| api.name() == name);
        found.ok_or_else(|| ModelError::unrecognized("api", name, Self::ALL.map(Self::name)))
    }

    /// Whether the API can do tasks of a kind.
    #[must_use]
    pub fn serves(self, kind: Kind) -> bool {
        match self {
            Self::Openai => kind != Kind::Rerank,
            Self::Anthropic => matches!(kind, Kind::Judge | Kind::Decompose | Kind::Entail),
            Self::Cohere | Self::Tei => matches!(kind, Kind::Embed | Kind::Rerank),
            Self::Local => kind != Kind::Decompose,
        }
    }

    /// Base address of the service; `None` if there is none.
    #[must_use]
    pub fn default_endpoint(self) -> Option<&'static str> {
        match self {
            Self::Openai => Some("https://api.openai.com/v1"),
            Self::Anthropic => Some("https://api.anthropic.com"),
            Self::Cohere => Some("https://api.cohere.com"),
            Self::Tei | Self::Local => None,
        }
    }
}
