//! The windows of a text: which bytes make a chunk.

use std::ops::Range;

use reground_interrupt::{CHECK_INTERVAL, check_interrupt};

use super::{ChunkSettings, breaks::Breaks, graphemes::Graphemes, ruler::Ruler};
use crate::sentences::sentence_spans;

/// What of a window's room beyond the overlap must be used before a good place to end is looked for. Less reads
/// better and stores more: at three quarters the default settings stay within the source's 15–40 % (I2).
const LEAST_USE: (usize, usize) = (3, 4);

/// Cuts one text into windows.
///
/// A window never exceeds the size: it is measured exactly when its end is chosen, and chosen anew with a smaller
/// budget when it does. The budget falls by a quarter each time at least, so a window is measured O(log size) times.
pub struct Windows<'a> {
    text: &'a str,
    size: usize,
    overlap: usize,
    ruler: Ruler<'a>,
    breaks: Breaks<'a>,
    graphemes: Graphemes,
}

impl<'a> Windows<'a> {
    pub fn new(text: &'a str, settings: &ChunkSettings) -> Self {
        let sentences = sentence_spans(text);
        let graphemes = Graphemes::new(text);
        Self {
            text,
            size: settings.size as usize,
            overlap: settings.overlap as usize,
            ruler: Ruler::new(text, settings.unit, &sentences, &graphemes),
            breaks: Breaks::new(text, &sentences, &graphemes),
            graphemes,
        }
    }

    /// The windows in order, as byte ranges: none is blank, and each ends after the one before it.
    pub fn cut(&self) -> Vec<Range<usize>> {
        let mut windows: Vec<Range<usize>> = Vec::new();
        let mut covered = 0;
        loop {
            let fresh = self.skip_space(covered);
            if fresh == self.text.len() {
                return windows;
            }
            let window = windows
                .last()
                .and_then(|before| self.overlap_start(before))
                .and_then(|start| self.fit(start, fresh))
                .or_else(|| self.fit(fresh, fresh))
                .unwrap_or_else(|| self.cluster(fresh));
            covered = window.end;
            check_interrupt(window.len().min(CHECK_INTERVAL));
            // White space that carries a combining mark is part of a cluster; cut off its mark it is blank.
            if !self.text[window.clone()].trim().is_empty() {
                windows.push(window);
            }
        }
    }

    /// Where the window after `before` starts so that they share as much as the overlap allows; `None` to share nothing.
    fn overlap_start(&self, before: &Range<usize>) -> Option<usize> {
        let mut budget = self.overlap;
        while budget > 0 {
            let least = self
                .text
                .ceil_char_boundary(self.ruler.back(before.end, budget).max(before.start + 1));
            let start = self
                .breaks
                .start_within(least..before.end, &self.graphemes)
                .unwrap_or_else(|| self.skip_space(self.graphemes.ceil(least)));
            if start >= before.end {
                return None;
            }
            let length = self.ruler.measure(start..before.end);
            if length <= self.overlap {
                return Some(start);
            }
            budget = less(budget, length - self.overlap);
        }
        None
    }

    /// The window from `start` that holds more than what lies before `fresh`, if one of whole clusters fits the size.
    fn fit(&self, start: usize, fresh: usize) -> Option<Range<usize>> {
        let (of, parts) = LEAST_USE;
        let least_use = self.overlap + (self.size - self.overlap) * of / parts;
        let mut budget = self.size;
        while budget > 0 {
            let reach = self.ruler.reach(start, budget);
            if reach <= fresh {
                return None;
            }
            let end = if reach == self.text.len() {
                reach
            } else {
                let least = self
                    .ruler
                    .reach(start, least_use.min(budget))
                    .max(self.text.ceil_char_boundary(fresh + 1));
                self.breaks
                    .end_within(least.min(reach), reach, &self.graphemes)
                    .filter(|&end| end > fresh)
                    .or_else(|| self.graphemes.floor(reach, fresh))?
            };
            let end = self.drop_space(start..end);
            if end <= fresh {
                return None;
            }
            let length = self.ruler.measure(start..end);
            if length <= self.size {
                return Some(start..end);
            }
            budget = less(budget, length - self.size);
        }
        None
    }

    /// The window of a single cluster that [`Windows::fit`] could not place: whole where it fits after all, else as
    /// many of its characters as fit, one at least.
    fn cluster(&self, start: usize) -> Range<usize> {
        let end = self.graphemes.ceil(start + 1);
        // The estimate spares measuring a cluster of megabytes.
        if end <= self.ruler.reach(start, self.size.saturating_mul(2))
            && self.ruler.measure(start..end) <= self.size
        {
            return start..end;
        }
        let mut budget = self.size;
        while budget > 0 {
            let part = self.ruler.reach(start, budget).min(end);
            if part <= start {
                break;
            }
            let length = self.ruler.measure(start..part);
            if length <= self.size {
                return start..part;
            }
            budget = less(budget, length - self.size);
        }
        start..self.text.ceil_char_boundary(start + 1)
    }

    /// The start of the first cluster at or after `from` that is not blank; the text's length if there is none.
    fn skip_space(&self, from: usize) -> usize {
        let rest = &self.text[from..];
        let word = from + (rest.len() - rest.trim_start().len());
        if word == self.text.len() || self.graphemes.is_boundary(word) {
            return word;
        }
        self.graphemes.floor(word, from).unwrap_or(from)
    }

    /// The end of a range without the blank clusters at its end.
    fn drop_space(&self, range: Range<usize>) -> usize {
        let kept = range.start + self.text[range.clone()].trim_end().len();
        self.graphemes.ceil(kept).min(range.end)
    }
}

/// The next smaller budget after one that measured too much by `excess`.
fn less(budget: usize, excess: usize) -> usize {
    budget - excess.max(budget.div_ceil(4)).min(budget)
}
