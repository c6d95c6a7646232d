//! The shapes that an answer can be exported in.

use std::str::FromStr;

/// A shape of the parts of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartsFormat {
    /// Content of a message of OpenAI's Responses API: `output_text` with `annotations`.
    OpenAi,
    /// Content blocks of Anthropic's Messages API: `text` with `citations`.
    Anthropic,
    /// Parts of a `UIMessage` of Vercel's AI SDK: `text`, `source-url`, `source-document`.
    Vercel,
}

/// The name is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown format")]
pub struct UnknownPartsFormat;

impl PartsFormat {
    /// All formats.
    pub const ALL: [Self; 3] = [Self::OpenAi, Self::Anthropic, Self::Vercel];

    /// The stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Vercel => "vercel",
        }
    }
}

impl FromStr for PartsFormat {
    type Err = UnknownPartsFormat;

    fn from_str(name: &str) -> Result<Self, UnknownPartsFormat> {
        let known = Self::ALL.into_iter().find(|format| format.as_str() == name);
        known.ok_or(UnknownPartsFormat)
    }
}
