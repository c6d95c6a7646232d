//! Dimensions by which analysts group figures of citations and answers.

use serde::Serialize;

use crate::error::AuditError;

/// Dimensions without a key. The first eleven apply to answers and citations, the others only to citations.
pub const NAMES: [&str; 17] = [
    "model",
    "tenant",
    "corpus",
    "conversation",
    "turn_no",
    "intent",
    "strategy",
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
const ANSWER_DIMENSIONS: usize = 11;

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

/// A parsed dimension: one of [`NAMES`], `tag:KEY` or `version:COMPONENT`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Dimension {
    /// One of [`NAMES`], `tag` or `version`; `None` when nothing is grouped.
    pub name: Option<String>,
    /// Key of the tag, or name of the component.
    pub key: Option<String>,
}

impl Dimension {
    /// Dimensions with a key: a tag of the application, and the version of a component that the setting
    /// [`SETTING`](crate::versions::SETTING) declares.
    const KEYED: [&str; 2] = ["tag", "version"];

    /// Parses the name of a dimension of `subject`.
    ///
    /// # Errors
    /// Returns [`AuditError::Unrecognized`] when the subject has no such dimension.
    pub fn parse(by: &str, subject: Subject) -> Result<Self, AuditError> {
        let (name, key) = match by.split_once(':') {
            Some((name, key)) => (name, Some(key)),
            None => (by, None),
        };
        let is_known = match key {
            Some(key) => Self::KEYED.contains(&name) && !key.is_empty(),
            None => subject.names().contains(&name),
        };
        if !is_known {
            return Err(AuditError::Unrecognized {
                kind: "dimension",
                name: by.to_owned(),
                valid: format!(
                    "{}, tag:KEY for a tag of yours, or version:COMPONENT for a version that you declare",
                    subject.names().join(", "),
                ),
            });
        }
        Ok(Self {
            name: Some(name.to_owned()),
            key: key.map(str::to_owned),
        })
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
        let version = read("version:reranker").unwrap();
        assert_eq!(
            (version.name.as_deref(), version.key.as_deref()),
            (Some("version"), Some("reranker"))
        );
        for wrong in ["", "Model", "tag:", "tag", "version:", "model:a", "model "] {
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
