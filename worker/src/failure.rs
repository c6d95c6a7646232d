//! Why a call failed, and whom the failure counts against.

use std::time::Duration;

/// Most characters of a failure's message that the queue stores.
pub const MESSAGE_LIMIT: usize = 300;

/// What a failure counts against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The task: too long, refused, unusable answer.
    Item,
    /// An answer that cannot be read, or has a wrong number of results. `batch` turns it into `Item` or `Model`.
    Answer,
    /// The model: wrong key, unknown model, server error, timeout, connection.
    Model,
    /// Nothing: too many requests.
    Limit,
    /// Nothing: handed back without a call that ended.
    Stopped,
}

impl Class {
    /// Returns the name that the queue uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Item | Self::Answer => "item",
            Self::Model => "model",
            Self::Limit => "limit",
            Self::Stopped => "stopped",
        }
    }
}

/// A failed call. The message contains no key and at most [`MESSAGE_LIMIT`] characters.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What the failure counts against.
    pub class: Class,
    /// One line for the queue. It may quote the API, so it does not belong in a log.
    pub message: String,
    /// Whether the same call may succeed some seconds later.
    pub passing: bool,
    /// How long the API asks to wait.
    pub retry_after: Option<Duration>,
    /// The parameter that the API does not accept.
    pub unsupported: Option<&'static str>,
}

impl Failure {
    /// Creates a failure that a repetition does not cure.
    pub fn new(class: Class, message: impl AsRef<str>) -> Self {
        let message = message.as_ref().split_whitespace();
        let message = message.collect::<Vec<_>>().join(" ");
        Self {
            class,
            message: message.chars().take(MESSAGE_LIMIT).collect(),
            passing: false,
            retry_after: None,
            unsupported: None,
        }
    }

    /// Returns a failure of the task.
    pub fn item(message: impl AsRef<str>) -> Self {
        Self::new(Class::Item, message)
    }

    /// Returns the failure of an unusable answer.
    pub fn answer(message: impl AsRef<str>) -> Self {
        Self::new(Class::Answer, message)
    }

    /// Returns a failure of the model that lasts, for example a wrong key.
    pub fn model(message: impl AsRef<str>) -> Self {
        Self::new(Class::Model, message)
    }

    /// Returns a failure of the model that may pass, for example a timeout.
    pub fn passing(message: impl AsRef<str>) -> Self {
        Self {
            passing: true,
            ..Self::new(Class::Model, message)
        }
    }

    /// Returns a refusal for too many requests.
    pub fn limit(message: impl AsRef<str>, retry_after: Option<Duration>) -> Self {
        Self {
            retry_after,
            ..Self::new(Class::Limit, message)
        }
    }

    /// Returns the failure of a task that is handed back.
    pub fn stopped(message: impl AsRef<str>) -> Self {
        Self::new(Class::Stopped, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_short_line() {
        let failure = Failure::item(format!("a\n\tb {}", "é".repeat(400)));
        assert!(failure.message.starts_with("a b é"));
        assert_eq!(failure.message.chars().count(), MESSAGE_LIMIT);
        assert_eq!(Failure::answer("x").class.name(), "item");
    }
}
