//! What figures of citations are grouped by.

use serde::Serialize;

use crate::error::AuditError;

/// The dimensions that need no key: those of answers, then those that only citations have.
pub const NAMES: [&str; 15] = [
    "model",
    "tenant",
    "corpus",
    "conversation",
    "intent",
    "decision",
    "origin",
    "day",
    "hour",
    "document",
    "document_type",
    "form",
    "status",
    "mode",
    "lost_at",
];
/// How many of them answers have.
const OF_ANSWERS: usize = 9;

/// What is grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Citations.
    Citations,
    /// Answers.
    Answers,
}

impl Subject {
    /// The names of its dimensions.
    #[must_use]
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::Citations => &NAMES,
            Self::Answers => NAMES.split_at(OF_ANSWERS).0,
        }
    }
}

/// A dimension as users write it: one of the names, or `tag:KEY`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Dimension {
    /// One of [`NAMES`], or `tag`; `None` for all in one.
    pub name: Option<String>,
    /// Key of the tag.
    pub key: Option<String>,
}

impl Dimension {
    /// What a dimension of the application's own begins with.
    pub const TAG: &str = "tag:";

    /// Reads a dimension of what is grouped.
    ///
    /// # Errors
    /// What is none.
    pub fn read(by: &str, subject: Subject) -> Result<Self, AuditError> {
        match by.strip_prefix(Self::TAG) {
            Some(key) if !key.is_empty() => Ok(Self {
                name: Some("tag".to_owned()),
                key: Some(key.to_owned()),
            }),
            None if subject.names().contains(&by) => Ok(Self {
                name: Some(by.to_owned()),
                key: None,
            }),
            _ => Err(AuditError::UnknownDimension(by.to_owned(), subject)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_tags() {
        let read = |by| Dimension::read(by, Subject::Citations);
        let model = read("model").unwrap();
        assert_eq!((model.name.as_deref(), model.key), (Some("model"), None));
        let tag = read("tag:team:blue").unwrap();
        assert_eq!(
            (tag.name.as_deref(), tag.key.as_deref()),
            (Some("tag"), Some("team:blue"))
        );
        for wrong in ["", "Model", "tag:", "tag", "model "] {
            let fault = read(wrong).unwrap_err();
            assert!(fault.to_string().contains(wrong));
            assert!(fault.hint().contains("lost_at"));
        }
    }

    #[test]
    fn answers_have_no_status_of_their_own() {
        assert_eq!(Subject::Answers.names().last(), Some(&"hour"));
        let fault = Dimension::read("status", Subject::Answers).unwrap_err();
        assert!(!fault.hint().contains("status"));
        assert!(Dimension::read("tag:team", Subject::Answers).is_ok());
    }
}
