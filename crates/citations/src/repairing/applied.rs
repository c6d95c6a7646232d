//! The text of an answer after its edits.

use std::ops::Range;

use reground_interrupt::checked;

use super::change::{Change, RepairedAnswer};

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
    /// The replaced bytes of the answer.
    pub before: Range<usize>,
    /// The bytes of the text that replace them.
    pub after: Range<usize>,
}

/// The text after the edits.
pub(super) struct Applied<'e> {
    pub text: String,
    /// The edits in order. Those within a removed sentence are part of its removal.
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
            let before = edit.bytes.start.max(at)..edit.bytes.end;
            text.push_str(&answer[at..before.start]);
            // The space before what was removed at the end of a line.
            let ends_line = matches!(answer[before.end..].chars().next(), None | Some('\n'));
            if edit.text.is_empty() && ends_line {
                let kept = text.trim_end_matches([' ', '\t']).len();
                text.truncate(kept);
                let moved = placed.iter_mut().rev();
                for Placed { after, .. } in moved.take_while(|placed| placed.after.end > kept) {
                    (after.start, after.end) = (after.start.min(kept), kept);
                }
            }
            let start = text.len();
            text.push_str(&edit.text);
            at = before.end;
            placed.push(Placed {
                edit,
                before,
                after: start..text.len(),
            });
        }
        text.push_str(&answer[at..]);
        Self { text, placed }
    }

    /// Returns the bytes of the text for bytes of the answer; `None` if an edit replaces some of them.
    pub fn kept(&self, bytes: &Range<usize>) -> Option<Range<usize>> {
        let next = self
            .placed
            .partition_point(|placed| placed.before.end <= bytes.start);
        let replaced = self
            .placed
            .get(next)
            .is_some_and(|placed| placed.before.start < bytes.end);
        let (before, after) = match next.checked_sub(1) {
            Some(last) => (self.placed[last].before.end, self.placed[last].after.end),
            None => (0, 0),
        };
        let moved = |byte: usize| byte - before + after;
        (!replaced).then(|| moved(bytes.start)..moved(bytes.end))
    }

    /// The corrected answer.
    pub fn into_repaired(self) -> RepairedAnswer {
        let mut changes = Vec::new();
        for Placed { edit, after, .. } in &self.placed {
            // Without the space before an added citation.
            let written = self.text[after.clone()].trim_start().len();
            changes.extend(edit.changes.iter().map(|change| Change {
                after: after.end - written..after.end,
                ..change.clone()
            }));
        }
        RepairedAnswer {
            text: self.text,
            changes,
        }
    }
}
