//! Private-use sequences: U+E200, `cite`, U+E202, `turn0search0`, U+E201.

use super::scanner::Scanner;
use crate::citation::ParsedCitation;
use crate::reading::forms;
use crate::{Family, Form, Malformed};

/// Longest sequence, in bytes.
const MAX_LENGTH: usize = 1024;
/// Length of each private-use character, in bytes.
const WIDTH: usize = 3;

impl Scanner<'_> {
    /// Reads the sequence at `open`. Returns the position to continue at.
    pub(super) fn private_use(&mut self, open: usize, limit: usize) -> usize {
        let inner = open + WIDTH;
        if !self.is_on(Family::Turn) {
            return inner;
        }
        let bytes = self.text.as_bytes();
        let window = &bytes[inner..limit.min(inner + MAX_LENGTH)];
        // Another opening character ends the search, so that no text is searched twice.
        let signs = memchr::memchr_iter(0xEE, window)
            .map(|at| (at, window.get(at..at + WIDTH)))
            .find(|(_, sign)| matches!(sign, Some([0xEE, 0x88, 0x80 | 0x81])));
        match signs {
            Some((at, Some([.., 0x81]))) => {
                let read = forms::private_use(&self.text[inner..inner + at]);
                self.push(open..inner + at + WIDTH, read)
            }
            _ if window.starts_with(b"cite") => {
                let read = ParsedCitation::malformed(Form::PrivateUse, Malformed::Unclosed);
                self.push(open..inner + "cite".len(), read)
            }
            _ => inner,
        }
    }
}
