//! Dimensions by which analysts group figures of citations and answers.

use serde::Serialize;

use crate::error::AuditError;

/// Dimensions without a key. The first nine apply to answers and citations, the others only to citations.
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
    "hallucination_mode",
    "lost_stage",
];
/// Number of dimensions that apply to answers.
const ANSWER_DIMENSIONS: usize = 9;

/// The items that are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Citations.
    Citations,
    /// Answers.
    Answers,
}

impl Subject {
    /// Returns the names of the dimensions that apply.
    #[must_use]
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::Citations => &NAMES,
            Self::Answers => NAMES.split_at(ANSWER_DIMENSIONS).0,
        }
    }
}

/// A parsed dimension: one of [`NAMES`], or `tag:KEY`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Dimension {
    /// One of [`NAMES`], or `tag`; `None` when nothing is grouped.
    pub name: Option<String>,
    /// Key of the tag, for `tag` only.
    pub key: Option<String>,
}

impl Dimension {
    /// Prefix of a dimension that groups by a tag of the application.
    pub const TAG: &str = "tag:";

    /// Parses the name of a dimension of `subject`.
    ///
    /// # Errors
    /// Returns [`AuditError::Unrecognized`] when the subject has no such dimension.
    pub fn parse(by: &str, subject: Subject) -> Result<Self, AuditError> {
        match by.strip_prefix(Self::TAG) {
            Some(key) if !key.is_empty() => Ok(Self {
                name: Some("tag".to_owned()),
                key: Some(key.to_owned()),
            }),
            None if subject.names().contains(&by) => Ok(Self {
                name: Some(by.to_owned()),
                key: None,
            }),
            _ => Err(AuditError::Unrecognized {
                kind: "dimension",
                name: by.to_owned(),
                valid: format!(
                    "{}, or {}KEY for a tag of yours",
                    subject.names().join(", "),
                    Self::TAG
                ),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_names_and_tags() {
        let read = |by| Dimension::parse(by, Subject::Citations);
        let model = read("model").unwrap();
        assert_eq!((model.name.as_deref(), model.key), (Some("model"), None));
        let tag = read("tag:team:blue").unwrap();
        assert_eq!(
            (tag.name.as_deref(), tag.key.as_deref()),
            (Some("tag"), Some("team:blue"))
        );
        for wrong in ["", "Model", "tag:", "tag", "model "] {
            let error = read(wrong).unwrap_err();
            assert!(error.to_string().contains(wrong));
            assert!(error.hint().contains("lost_stage"));
        }
    }

    #[test]
    fn answers_have_no_status_dimension() {
        assert_eq!(Subject::Answers.names().last(), Some(&"hour"));
        let error = Dimension::parse("status", Subject::Answers).unwrap_err();
        assert!(!error.hint().contains("status"));
        assert!(Dimension::parse("tag:team", Subject::Answers).is_ok());
    }
}
