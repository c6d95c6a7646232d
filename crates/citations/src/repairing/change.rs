//! A corrected answer and its changes.

use std::ops::Range;

use reground_interrupt::checked;

use crate::Extraction;
use crate::import::PositionMap;

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// A citation names another source.
    Repointed,
    /// A citation was removed.
    Removed,
    /// A sentence without a citation got one.
    Added,
    /// A sentence that nothing supports was marked.
    Marked,
    /// A sentence that nothing supports was removed.
    SentenceRemoved,
}

impl ChangeKind {
    /// The stable name that is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Repointed => "repointed",
            Self::Removed => "removed",
            Self::Added => "added",
            Self::Marked => "marked",
            Self::SentenceRemoved => "sentence_removed",
        }
    }
}

/// A change of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its kind.
    pub kind: ChangeKind,
    /// Index of the changed or removed citation.
    pub citation: Option<usize>,
    /// Index of the sentence.
    pub sentence: Option<usize>,
    /// Index of the source that the answer cites now.
    pub source: Option<usize>,
    /// The changed bytes of the answer; empty for an addition.
    pub before: Range<usize>,
    /// The bytes of the repaired text that replace them; empty for a removal.
    pub after: Range<usize>,
}

impl Change {
    /// A change of a sentence. Its bytes are not known yet.
    pub(super) fn of_sentence(kind: ChangeKind, sentence: usize, source: Option<usize>) -> Self {
        Self {
            kind,
            citation: None,
            sentence: Some(sentence),
            source,
            before: 0..0,
            after: 0..0,
        }
    }
}

/// A corrected answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RepairedAnswer {
    /// The text to show.
    pub text: String,
    /// The citations of the text; empty if nothing was changed.
    pub extraction: Extraction,
    /// The changes, in the order of the answer. Citations of one string have the same bytes.
    pub changes: Vec<Change>,
}

impl RepairedAnswer {
    /// Returns the character ranges of each change, in the answer and in the text.
    #[must_use]
    pub fn characters(&self, answer: &str) -> Vec<(Range<usize>, Range<usize>)> {
        let (before, after) = (PositionMap::new(answer), PositionMap::new(&self.text));
        let characters = |change: &Change| {
            let replaced = before.span(change.before.clone()).chars;
            (replaced, after.span(change.after.clone()).chars)
        };
        checked(&self.changes).map(characters).collect()
    }
}
