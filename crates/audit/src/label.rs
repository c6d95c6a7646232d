//! Labels that reviewers give to citations.

use std::str::FromStr;

use crate::error::AuditError;

/// A reviewer's label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// The source supports the sentence.
    Accurate,
    /// The source supports a part of the sentence.
    Partial,
    /// The source does not support the sentence.
    Hallucinated,
    /// The support cannot be verified.
    Unverifiable,
}

impl Label {
    /// All labels, the best first.
    pub const ALL: [Self; 4] = [
        Self::Accurate,
        Self::Partial,
        Self::Hallucinated,
        Self::Unverifiable,
    ];

    /// Returns the name that users write.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Accurate => "accurate",
            Self::Partial => "partial",
            Self::Hallucinated => "hallucinated",
            Self::Unverifiable => "unverifiable",
        }
    }
}

impl FromStr for Label {
    type Err = AuditError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let mut labels = Self::ALL.into_iter();
        labels
            .find(|label| label.name() == name)
            .ok_or_else(|| AuditError::unrecognized("label", name, &Self::ALL.map(Self::name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for label in Label::ALL {
            assert_eq!(label.name().parse(), Ok(label));
        }
        let error = "Accurate".parse::<Label>().unwrap_err();
        assert_eq!(error.to_string(), "unknown label \"Accurate\"");
        assert_eq!(
            error.hint(),
            "Use one of accurate, partial, hallucinated, unverifiable."
        );
    }
}
