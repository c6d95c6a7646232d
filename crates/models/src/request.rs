//! The request of a queued task.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Our instructions.
    System,
    /// The data, fenced.
    User,
}

/// A message of a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Author.
    pub role: Role,
    /// Text.
    pub content: String,
}

/// A chat with an answer in JSON. Classifiers take `premise` and `hypothesis` instead of the messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// Messages, the system's first.
    pub messages: Vec<Message>,
    /// Name of the schema for APIs that ask for one.
    pub schema_name: String,
    /// JSON schema of the answer.
    pub schema: Value,
    /// Always 0.
    pub temperature: u8,
    /// Most tokens of the answer.
    pub max_tokens: u32,
    /// The text that may entail the hypothesis, unescaped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub premise: Option<String>,
    /// The judged statement, unescaped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hypothesis: Option<String>,
    /// The question that was answered, unescaped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
}

/// The messages of a request: our instructions, then the fenced data.
pub(crate) fn messages(system: String, user: String) -> Vec<Message> {
    [(Role::System, system), (Role::User, user)]
        .map(|(role, content)| Message { role, content })
        .into()
}
