//! What cannot be asked.

use crate::alert::Severity;
use crate::dimension::{Dimension, Subject};
use crate::indicator::Indicator;
use crate::label::Label;

/// An argument that is none.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AuditError {
    /// Nothing to group by.
    #[error("there is no dimension \"{0}\"")]
    UnknownDimension(String, Subject),
    /// No word of a reviewer's.
    #[error("there is no label \"{0}\"")]
    UnknownLabel(String),
    /// Nothing to watch.
    #[error("there is no indicator \"{0}\"")]
    UnknownIndicator(String),
    /// Neither bad nor worse.
    #[error("there is no severity \"{0}\"")]
    UnknownSeverity(String),
    /// No share and no score.
    #[error("the threshold {0} is not in [0, 1]")]
    Threshold(f64),
}

impl AuditError {
    /// What there is.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::UnknownDimension(_, subject) => {
                let names = subject.names().join(", ");
                format!(
                    "One of {names}, or {}KEY for a tag of yours.",
                    Dimension::TAG
                )
            }
            Self::UnknownLabel(_) => {
                format!("One of {}.", Label::ALL.map(Label::name).join(", "))
            }
            Self::UnknownIndicator(_) => {
                let names = Indicator::ALL.map(Indicator::name);
                format!("One of {}.", names.join(", "))
            }
            Self::UnknownSeverity(_) => {
                format!("One of {}.", Severity::ALL.map(Severity::name).join(", "))
            }
            Self::Threshold(_) => "All indicators are shares or scores.".to_owned(),
        }
    }
}
