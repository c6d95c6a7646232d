//! Figures that two groups of answers are compared by.

use std::str::FromStr;

use crate::dimension::Subject;
use crate::error::AuditError;

/// A figure of citations or of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Share of the citations that hold.
    Holding,
    /// Share of the citations that cannot be parsed.
    Malformed,
    /// Mean support of an answer's citations.
    Support,
    /// Share of the answers with a citation.
    Cited,
    /// A number that is stored with an answer or its turn.
    Number(&'static str),
}

impl Figure {
    /// All figures.
    pub const ALL: [Self; 11] = [
        Self::Holding,
        Self::Malformed,
        Self::Support,
        Self::Cited,
        Self::Number("cfs"),
        Self::Number("stage_cfs"),
        Self::Number("grounded_cfs"),
        Self::Number("answer_ms"),
        Self::Number("search_ms"),
        Self::Number("answer_tokens"),
        Self::Number("context_tokens"),
    ];

    /// Returns the name that callers use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holding => "holding",
            Self::Malformed => "malformed",
            Self::Support => "support",
            Self::Cited => "cited",
            Self::Number(name) => name,
        }
    }

    /// Returns what the groups consist of, which decides the dimensions.
    #[must_use]
    pub const fn subject(self) -> Subject {
        match self {
            Self::Holding | Self::Malformed | Self::Support => Subject::Citations,
            Self::Cited | Self::Number(_) => Subject::Answers,
        }
    }

    /// Returns whether the figure is a share. Other figures are numbers of answers.
    #[must_use]
    pub const fn is_share(self) -> bool {
        matches!(self, Self::Holding | Self::Malformed | Self::Cited)
    }
}

impl FromStr for Figure {
    type Err = AuditError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let mut all = Self::ALL.into_iter();
        all.find(|figure| figure.name() == name)
            .ok_or_else(|| AuditError::unrecognized("figure", name, &Self::ALL.map(Self::name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for figure in Figure::ALL {
            assert_eq!(figure.name().parse(), Ok(figure));
        }
        let error = "latency".parse::<Figure>().unwrap_err();
        assert!(error.hint().contains("answer_ms"));
    }
}
