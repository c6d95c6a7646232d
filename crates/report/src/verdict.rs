//! Appearance of verdicts: each kind has a colour, and a sign for readers who cannot distinguish colours.

/// Kind of a status, as reports distinguish them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VerdictKind {
    /// The citation holds, by a source of this turn.
    Holds,
    /// The citation holds, by a source of an earlier turn.
    Carried,
    /// The citation cannot be judged.
    Unjudged,
    /// The citation names a source of the context that does not support the claim, or not alone.
    Content,
    /// The citation names a source that was not in the context or does not exist.
    Place,
}

impl VerdictKind {
    /// All kinds, the best first.
    pub const ALL: [Self; 5] = [
        Self::Holds,
        Self::Carried,
        Self::Unjudged,
        Self::Content,
        Self::Place,
    ];

    /// Returns the kind of a status. The kind of an unknown status depends on `holds`.
    #[must_use]
    pub fn of(status: &str, holds: Option<bool>) -> Self {
        match (status, holds) {
            ("resolved_carried", _) => Self::Carried,
            ("wrong_source" | "unsupported" | "insufficient_attribution", _) => Self::Content,
            (_, Some(true)) => Self::Holds,
            (_, Some(false)) => Self::Place,
            (_, None) => Self::Unjudged,
        }
    }

    /// Returns the CSS class.
    #[must_use]
    pub fn class(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Carried => "carried",
            Self::Unjudged => "unread",
            Self::Content => "content",
            Self::Place => "place",
        }
    }

    /// Returns the sign, which is unique.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::Holds => "✓",
            Self::Carried => "↺",
            Self::Unjudged => "?",
            Self::Content => "!",
            Self::Place => "✗",
        }
    }

    /// Returns the meaning shown in the legend.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Carried => "holds, by an earlier turn’s source",
            Self::Unjudged => "cannot be told",
            Self::Content => "the source does not say it, or not alone",
            Self::Place => "not in the context, or nowhere",
        }
    }
}

/// Returns a status as words.
#[must_use]
pub fn words(status: &str) -> String {
    status.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn kinds_have_distinct_signs_and_classes() {
        let signs: BTreeSet<_> = VerdictKind::ALL.map(VerdictKind::sign).into();
        let classes: BTreeSet<_> = VerdictKind::ALL.map(VerdictKind::class).into();
        assert_eq!((signs.len(), classes.len()), (5, 5));
    }

    #[test]
    fn statuses_have_kinds() {
        let kind = VerdictKind::of;
        assert_eq!(kind("resolved_current", Some(true)), VerdictKind::Holds);
        assert_eq!(kind("imprecise", Some(true)), VerdictKind::Holds);
        assert_eq!(kind("resolved_carried", Some(true)), VerdictKind::Carried);
        assert_eq!(kind("unsupported", Some(false)), VerdictKind::Content);
        assert_eq!(kind("unknown_id", Some(false)), VerdictKind::Place);
        assert_eq!(kind("malformed", None), VerdictKind::Unjudged);
        assert_eq!(kind("of a later release", Some(false)), VerdictKind::Place);
    }
}
