//! The text of an answer after its edits.

use std::ops::Range;

use reground_interrupt::checked;

use super::change::{Change, RepairedAnswer};
use crate::Extraction;

/// A part of the answer, and the text that replaces it.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    pub bytes: Range<usize>,
    pub text: String,
    /// Number of citations that the text has.
    pub citations: usize,
    pub changes: Vec<Change>,
}

/// An edit in the text.
pub(super) struct Placed<'e> {
    pub edit: &'e Edit,
    /// Its bytes of the text, without the space before an added citation.
    pub after: Range<usize>,
}

/// The text after the edits.
pub(super) struct Applied<'e> {
    pub text: String,
    /// The edits in order, without those within a removed sentence.
    pub placed: Vec<Placed<'e>>,
}

impl<'e> Applied<'e> {
    pub fn of(answer: &str, edits: &'e [Edit]) -> Self {
        let mut edits: Vec<&Edit> = edits.iter().collect();
        edits.sort_by_key(|edit| (edit.bytes.start, usize::MAX - edit.bytes.end));
        let mut text = String::with_capacity(answer.len());
        let mut placed: Vec<Placed<'e>> = Vec::with_capacity(edits.len());
        let mut at = 0;
        for edit in checked(edits) {
            if edit.bytes.start < at && edit.bytes.end <= at {
                continue;
            }
            // Two removals can share the space between them.
            text.push_str(&answer[at..edit.bytes.start.max(at)]);
            at = edit.bytes.end;
            // Spaces before a removal at the end of a line are removed, too.
            let ends_line = matches!(answer[at..].chars().next(), None | Some('\n'));
            if edit.text.is_empty() && ends_line {
                let kept = text.trim_end_matches([' ', '\t']).len();
                text.truncate(kept);
                let moved = placed.iter_mut().rev();
                for Placed { after, .. } in moved.take_while(|placed| placed.after.end > kept) {
                    (after.start, after.end) = (after.start.min(kept), kept);
                }
            }
            text.push_str(&edit.text);
            placed.push(Placed {
                edit,
                after: text.len() - edit.text.trim_start().len()..text.len(),
            });
        }
        text.push_str(&answer[at..]);
        Self { text, placed }
    }

    /// Returns the bytes of the text for bytes of the answer; `None` if an edit replaces some of them.
    pub fn kept(&self, bytes: &Range<usize>) -> Option<Range<usize>> {
        let next = self
            .placed
            .partition_point(|placed| placed.edit.bytes.end <= bytes.start);
        let replaced = self
            .placed
            .get(next)
            .is_some_and(|placed| placed.edit.bytes.start < bytes.end);
        let (before, after) = match next.checked_sub(1) {
            Some(last) => (
                self.placed[last].edit.bytes.end,
                self.placed[last].after.end,
            ),
            None => (0, 0),
        };
        let moved = |byte: usize| byte - before + after;
        (!replaced).then(|| moved(bytes.start)..moved(bytes.end))
    }

    /// Returns the start of an edit that replaces some of the bytes of the answer, but not all; `None` if there is none.
    pub fn cut(&self, bytes: &Range<usize>) -> Option<usize> {
        let next = self
            .placed
            .partition_point(|placed| placed.edit.bytes.end <= bytes.start);
        let edits = self.placed[next..].iter().map(|placed| &placed.edit.bytes);
        let mut within = edits.take_while(|edit| edit.start < bytes.end);
        let cuts = |edit: &&Range<usize>| edit.start > bytes.start || edit.end < bytes.end;
        within.find(cuts).map(|edit| edit.start)
    }

    /// The corrected answer. `extraction` is read from the text.
    pub fn into_repaired(self, extraction: Extraction) -> RepairedAnswer {
        let changes = self.placed.iter().flat_map(|Placed { edit, after }| {
            edit.changes.iter().map(|change| Change {
                after: after.clone(),
                ..change.clone()
            })
        });
        RepairedAnswer {
            changes: changes.collect(),
            text: self.text,
            extraction,
        }
    }
}
