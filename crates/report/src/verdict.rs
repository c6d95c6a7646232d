//! Appearance of verdicts: each kind has a colour, and a sign for readers who cannot distinguish colours.

use crate::html::Html;
use crate::page::{count, counted};

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

/// The citations of an answer, counted by their verdicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswerVerdict {
    /// Number of citations.
    pub citations: u64,
    /// Number of citations that do not hold.
    pub failing: u64,
    /// Number of citations that cannot be judged.
    pub unjudged: u64,
}

impl AnswerVerdict {
    /// Counts the citations from whether they hold.
    #[must_use]
    pub fn of(verdicts: impl Iterator<Item = Option<bool>>) -> Self {
        let mut counts = Self::default();
        for holds in verdicts {
            counts.citations += 1;
            counts.failing += u64::from(holds == Some(false));
            counts.unjudged += u64::from(holds.is_none());
        }
        counts
    }

    /// Returns the kind that the sign and the colour show. An answer has the kind of a citation that holds if all its citations hold. The
    /// decision of the policy does not matter.
    #[must_use]
    pub fn kind(self) -> VerdictKind {
        if self.failing > 0 {
            VerdictKind::Place
        } else if self.citations == 0 || self.unjudged > 0 {
            VerdictKind::Unjudged
        } else {
            VerdictKind::Holds
        }
    }

    /// Returns the counts as words.
    #[must_use]
    pub fn summary(self) -> String {
        let Self {
            citations,
            failing,
            unjudged,
        } = self;
        let of_all = |part: u64, one: &str, many: &str| {
            let verb = if part == 1 { one } else { many };
            match citations {
                1 => format!("the only citation {verb}"),
                _ => format!("{} of {} citations {verb}", count(part), count(citations)),
            }
        };
        match (citations, failing, unjudged) {
            (0, ..) => "no citations".to_owned(),
            (1, 0, 0) => "the only citation holds".to_owned(),
            (_, 0, 0) => format!("all {} hold", counted(citations, "citation", "citations")),
            (_, 0, _) => of_all(unjudged, "cannot be told", "cannot be told"),
            (_, _, 0) => of_all(failing, "does not hold", "do not hold"),
            _ => format!(
                "{}, {} cannot be told",
                of_all(failing, "does not hold", "do not hold"),
                count(unjudged)
            ),
        }
    }

    /// Writes the counts, and the decision of the policy with its reasons.
    pub fn show(self, html: &mut Html, decision: &str, reasons: &[String]) {
        let kind = self.kind();
        html.element("span", &[("class", kind.class())], |html| {
            html.leaf("b", &[], kind.sign());
            html.text(" ");
            html.leaf("b", &[], &self.summary());
        });
        html.text(&format!(" · policy: {}", words(decision)));
        if !reasons.is_empty() {
            html.text(&format!(" ({})", join_words(reasons)));
        }
    }
}

/// Returns names as words, separated by commas.
#[must_use]
pub fn join_words(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| words(name)).collect();
    names.join(", ")
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
    fn only_an_answer_whose_citations_all_hold_is_checked_off() {
        for (verdicts, kind, summary) in [
            (&[][..], VerdictKind::Unjudged, "no citations"),
            (&[Some(true)], VerdictKind::Holds, "the only citation holds"),
            (&[Some(true); 3], VerdictKind::Holds, "all 3 citations hold"),
            (
                &[Some(false)],
                VerdictKind::Place,
                "the only citation does not hold",
            ),
            (
                &[Some(true), Some(false)],
                VerdictKind::Place,
                "1 of 2 citations does not hold",
            ),
            (
                &[Some(false), Some(true), Some(false), None, Some(false)],
                VerdictKind::Place,
                "3 of 5 citations do not hold, 1 cannot be told",
            ),
            (
                &[None, Some(true)],
                VerdictKind::Unjudged,
                "1 of 2 citations cannot be told",
            ),
        ] {
            let verdict = AnswerVerdict::of(verdicts.iter().copied());
            assert_eq!(
                (verdict.kind(), verdict.summary().as_str()),
                (kind, summary)
            );
            let mut html = Html::default();
            verdict.show(&mut html, "accept", &[]);
            let all_hold = verdicts.iter().all(|holds| *holds == Some(true));
            let html = html.finish();
            assert_eq!(html.contains('✓'), all_hold && !verdicts.is_empty());
            assert!(html.ends_with("</span> · policy: accept"), "{html}");
        }
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
