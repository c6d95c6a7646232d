//! Invalid registrations, and results of models that cannot be used.

use crate::reading::UnusableAnswer;

/// An error of a registration or of a result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// A name that is not one of the valid names.
    #[error("unknown {kind} \"{name}\"")]
    Unrecognized {
        /// Kind of the name, such as `api`.
        kind: &'static str,
        /// The name that was passed.
        name: String,
        /// The valid names, for the hint.
        valid: String,
    },
    /// A property of a registration is missing or invalid.
    #[error("invalid {property}: {fault}")]
    Property {
        /// Name of the property.
        property: &'static str,
        /// What is wrong.
        fault: String,
        /// What to do.
        hint: &'static str,
    },
    /// The result of a model cannot be used.
    #[error("the result cannot be used: {0}")]
    Result(String),
}

impl From<UnusableAnswer> for ModelError {
    fn from(answer: UnusableAnswer) -> Self {
        Self::Result(answer.to_string())
    }
}

impl ModelError {
    /// The error for a name that is not in a list.
    #[must_use]
    pub fn unrecognized<const N: usize>(
        kind: &'static str,
        name: &str,
        valid: [&'static str; N],
    ) -> Self {
        Self::Unrecognized {
            kind,
            name: name.to_owned(),
            valid: valid.join(", "),
        }
    }

    /// A hint that says what to do.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Unrecognized { valid, .. } => format!("Use one of {valid}."),
            Self::Property { hint, .. } => (*hint).to_owned(),
            Self::Result(_) => {
                "A worker reports it with fail_task. The guide lists the results of each kind."
                    .to_owned()
            }
        }
    }
}
