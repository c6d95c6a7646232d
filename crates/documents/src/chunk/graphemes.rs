//! Boundaries of extended grapheme clusters (UAX #29), which users perceive as characters.

use reground_interrupt::checked;
use unicode_segmentation::UnicodeSegmentation;

/// A bit per byte, set where a grapheme cluster begins and at the end of the text.
///
/// All boundaries are computed in one pass. A cursor at single offsets would read back over whole runs of flags or joiners each
/// time.
pub struct Graphemes {
    bits: Vec<u64>,
    length: usize,
}

impl Graphemes {
    pub fn new(text: &str) -> Self {
        let mut bits = vec![0u64; text.len() / 64 + 1];
        // Each cluster is one step of the iterator. 10 MB of combining marks on one letter take a quarter of a second.
        for (offset, _) in checked(text.grapheme_indices(true)) {
            bits[offset / 64] |= 1 << (offset % 64);
        }
        bits[text.len() / 64] |= 1 << (text.len() % 64);
        Self {
            bits,
            length: text.len(),
        }
    }

    /// Returns whether this byte offset is a cluster boundary.
    pub fn is_boundary(&self, offset: usize) -> bool {
        self.bits
            .get(offset / 64)
            .is_some_and(|word| word >> (offset % 64) & 1 == 1)
    }

    /// Returns the last boundary at or before `offset` that is greater than `low`.
    pub fn floor(&self, offset: usize, low: usize) -> Option<usize> {
        (low + 1..=offset.min(self.length))
            .rev()
            .find(|&offset| self.is_boundary(offset))
    }

    /// Returns the first boundary at or after `offset`, at most the text's length.
    pub fn ceil(&self, offset: usize) -> usize {
        if offset >= self.length {
            return self.length;
        }
        let mut word = offset / 64;
        let mut bits = self.bits[word] & (u64::MAX << (offset % 64));
        // The bit at the end of the text is always set, so the loop ends.
        while bits == 0 {
            word += 1;
            bits = self.bits.get(word).copied().unwrap_or(u64::MAX);
        }
        (word * 64 + bits.trailing_zeros() as usize).min(self.length)
    }
}
