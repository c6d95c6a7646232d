//! Words before a number: `ref3`, `Source 1`, `turn0search0`.

use super::scanner::Scanner;
use crate::Family;
use crate::reading::forms;

impl Scanner<'_> {
    /// Reads the word before the digit at `at`, in the prose from `start` to `limit`. Returns the position to
    /// continue at.
    pub(super) fn word(&mut self, at: usize, start: usize, limit: usize) -> usize {
        let bytes = self.text.as_bytes();
        let before = &bytes[start.max(self.taken())..at];
        let read = match before {
            [.., b't', b'u', b'r', b'n'] => self.turn(at, before.len(), limit),
            [.., b'r', b'e', b'f'] => self.reference(at, before.len(), limit),
            [.., b'e' | b's' | b'E', b' '] => self.source(at, before, limit),
            _ => None,
        };
        // The rest of the number cannot begin a citation.
        read.unwrap_or_else(|| {
            let digits = bytes[at..limit].iter().take(16);
            at + digits.take_while(|b| b.is_ascii_digit()).count()
        })
    }

    fn turn(&mut self, at: usize, room: usize, limit: usize) -> Option<usize> {
        if !self.is_on(Family::Turn) {
            return None;
        }
        let start = at - "turn".len();
        let lead = ["filecite", "cite"]
            .into_iter()
            .find(|lead| lead.len() + 4 <= room && self.text[..start].ends_with(lead));
        // This check comes first: otherwise each result in a run inside a word would read the run again.
        if lead.is_none() && start != self.taken() && !self.begins_word(start) {
            return None;
        }
        let (length, read) = forms::results(&self.text[start..limit])?;
        let end = start + length;
        Some(self.push(start - lead.map_or(0, str::len)..end, read))
    }

    fn reference(&mut self, at: usize, room: usize, limit: usize) -> Option<usize> {
        let start = at - "ref".len();
        if !self.is_on(Family::Ragflow) || room < 3 || !self.begins_word(start) {
            return None;
        }
        let (length, read) = forms::refs(&self.text[at..limit])?;
        Some(self.push(start..at + length, read))
    }

    fn source(&mut self, at: usize, before: &[u8], limit: usize) -> Option<usize> {
        let word = ["Source ", "Sources ", "SOURCE "]
            .into_iter()
            .find(|word| before.ends_with(word.as_bytes()))?;
        let start = at - word.len();
        if !self.is_on(Family::SourceNumber) || !self.begins_word(start) || self.is_named(start) {
            return None;
        }
        let (length, read) = forms::source_numbers(&self.text[at..limit], word == "Sources ")?;
        Some(self.push(start..at + length, read))
    }

    fn begins_word(&self, at: usize) -> bool {
        let before = self.text[..at].chars().next_back();
        !before
            .is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '.' | '#' | '@'))
    }

    /// Returns whether the previous word makes it part of a name: `Open Source 2`.
    fn is_named(&self, at: usize) -> bool {
        let before = self.text[..at].strip_suffix(' ').unwrap_or_default();
        let word = before
            .bytes()
            .rev()
            .take(32)
            .take_while(u8::is_ascii_alphabetic)
            .count();
        let word = &before[before.len() - word..];
        let joins = [
            "In", "By", "From", "See", "Per", "And", "Both", "But", "While", "As", "To", "With",
        ];
        word.starts_with(|c: char| c.is_ascii_uppercase()) && !joins.contains(&word)
    }
}
