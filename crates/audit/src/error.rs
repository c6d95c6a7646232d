//! Invalid arguments of audit functions.

/// An invalid argument.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AuditError {
    /// A name that is not one of the valid names.
    #[error("unknown {kind} \"{name}\"")]
    Unrecognized {
        /// Kind of the name, such as `label`.
        kind: &'static str,
        /// The name that was passed.
        name: String,
        /// The valid names, for the hint.
        valid: String,
    },
    /// A threshold outside [0, 1].
    #[error("threshold {0} is not between 0 and 1")]
    Threshold(f64),
}

impl AuditError {
    /// Returns the error for a name that is not in the list of valid names.
    #[must_use]
    pub fn unrecognized(kind: &'static str, name: &str, valid: &[&str]) -> Self {
        Self::Unrecognized {
            kind,
            name: name.to_owned(),
            valid: valid.join(", "),
        }
    }

    /// Returns a hint that lists the valid values.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Unrecognized { valid, .. } => format!("Use one of {valid}."),
            Self::Threshold(_) => "Use a number from 0 to 1.".to_owned(),
        }
    }
}
