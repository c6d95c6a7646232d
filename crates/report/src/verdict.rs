//! What a verdict looks like: a kind with a colour, and a sign for whoever does not see colours.

/// What a status says, for whoever looks at a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It stands, by a source that this turn brought.
    Holds,
    /// It stands, by a source from an earlier turn.
    Carried,
    /// Nothing can be said of it.
    Unread,
    /// It names a source of the context, and that does not say it, or not alone.
    Content,
    /// It names what was not in the context, or what there is not.
    Place,
}

impl Kind {
    /// All, the best first.
    pub const ALL: [Self; 5] = [
        Self::Holds,
        Self::Carried,
        Self::Unread,
        Self::Content,
        Self::Place,
    ];

    /// The kind of a status; of one that this page does not know, by whether it holds.
    #[must_use]
    pub fn of(status: &str, holds: Option<bool>) -> Self {
        match (status, holds) {
            ("resolved_carried", _) => Self::Carried,
            ("wrong_source" | "unsupported" | "insufficient_attribution", _) => Self::Content,
            (_, Some(true)) => Self::Holds,
            (_, Some(false)) => Self::Place,
            (_, None) => Self::Unread,
        }
    }

    /// Class of its elements.
    #[must_use]
    pub fn class(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Carried => "carried",
            Self::Unread => "unread",
            Self::Content => "content",
            Self::Place => "place",
        }
    }

    /// Its sign, which no other has.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::Holds => "✓",
            Self::Carried => "↺",
            Self::Unread => "?",
            Self::Content => "!",
            Self::Place => "✗",
        }
    }

    /// What it says.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Carried => "holds, by an earlier turn’s source",
            Self::Unread => "cannot be told",
            Self::Content => "the source does not say it, or not alone",
            Self::Place => "not in the context, or nowhere",
        }
    }
}

/// A status as people write it.
#[must_use]
pub fn words(status: &str) -> String {
    status.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_kinds_look_alike() {
        let signs: BTreeSet<_> = Kind::ALL.map(Kind::sign).into();
        let classes: BTreeSet<_> = Kind::ALL.map(Kind::class).into();
        assert_eq!((signs.len(), classes.len()), (5, 5));
    }

    #[test]
    fn kinds_of_statuses() {
        assert_eq!(Kind::of("resolved_current", Some(true)), Kind::Holds);
        assert_eq!(Kind::of("imprecise", Some(true)), Kind::Holds);
        assert_eq!(Kind::of("resolved_carried", Some(true)), Kind::Carried);
        assert_eq!(Kind::of("unsupported", Some(false)), Kind::Content);
        assert_eq!(Kind::of("unknown_id", Some(false)), Kind::Place);
        assert_eq!(Kind::of("malformed", None), Kind::Unread);
        assert_eq!(Kind::of("of a later release", Some(false)), Kind::Place);
    }
}
