//! What a reviewer calls a citation (I9).

use std::str::FromStr;

use crate::error::AuditError;

/// A reviewer's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// The source says what the sentence says.
    Accurate,
    /// It says a part of it.
    Partial,
    /// It says nothing of the kind.
    Hallucinated,
    /// That cannot be told.
    Unverifiable,
}

impl Label {
    /// All, the best first.
    pub const ALL: [Self; 4] = [
        Self::Accurate,
        Self::Partial,
        Self::Hallucinated,
        Self::Unverifiable,
    ];

    /// The name as users write it.
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
            .ok_or_else(|| AuditError::UnknownLabel(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for label in Label::ALL {
            assert_eq!(label.name().parse(), Ok(label));
        }
        let fault = "Accurate".parse::<Label>().unwrap_err();
        assert_eq!(fault.to_string(), "there is no label \"Accurate\"");
        assert_eq!(
            fault.hint(),
            "One of accurate, partial, hallucinated, unverifiable."
        );
    }
}
