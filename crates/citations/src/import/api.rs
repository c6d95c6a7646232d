//! The APIs whose structured citations can be read.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// An API whose structured citations can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// Anthropic Messages: `citations` of text blocks.
    Anthropic,
    /// Amazon Bedrock RetrieveAndGenerate: `citations` with `generatedResponsePart`.
    Bedrock,
    /// Cohere Chat, versions 1 and 2: `citations` with `start` and `end`.
    Cohere,
    /// Gemini and Vertex AI: `groundingMetadata`.
    Gemini,
    /// OpenAI Chat, Responses and Assistants: `annotations`.
    OpenAi,
    /// Vercel's AI SDK: parts `source-url` and `source-document`.
    Vercel,
}

/// The result or the name belongs to none of the known APIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownApi {
    /// The result has an unknown shape.
    #[error(
        "cannot recognize the API of the result: must be anthropic, bedrock, cohere, gemini, openai or vercel"
    )]
    Shape,
    /// The name is unknown.
    #[error("unknown API: must be anthropic, bedrock, cohere, gemini, openai or vercel")]
    Name,
}

impl Api {
    /// All APIs.
    pub const ALL: [Self; 6] = [
        Self::Anthropic,
        Self::Bedrock,
        Self::Cohere,
        Self::Gemini,
        Self::OpenAi,
        Self::Vercel,
    ];

    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Bedrock => "bedrock",
            Self::Cohere => "cohere",
            Self::Gemini => "gemini",
            Self::OpenAi => "openai",
            Self::Vercel => "vercel",
        }
    }
}

impl fmt::Display for Api {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl FromStr for Api {
    type Err = UnknownApi;

    fn from_str(name: &str) -> Result<Self, UnknownApi> {
        Self::ALL
            .into_iter()
            .find(|api| api.as_str() == name)
            .ok_or(UnknownApi::Name)
    }
}
