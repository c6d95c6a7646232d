//! Windows of a text: the byte ranges that become chunks.

use std::ops::Range;

use reground_interrupt::{CHECK_INTERVAL, check_interrupt};

use super::{breaks::Breaks, graphemes::Graphemes, ruler::Ruler, settings::ChunkSettings};
use crate::sentences::sentence_spans;

/// Share of a window's size, beyond the overlap, that is used before a good end is searched. A smaller share finds better ends
/// but stores more text twice. At 3/4 the default settings have an overlap cost between 15 and 40 %.
const MIN_USE: (usize, usize) = (3, 4);
/// Splits one text into windows.
///
/// A window never exceeds the size: it is measured exactly, and chosen again with a smaller budget if it is too large. The
/// budget falls by at least a quarter each time, so a window is measured O(log size) times.
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

    /// Returns the windows in order, as byte ranges. None is blank, and each ends after the previous one.
    pub fn cut(&self) -> Vec<Range<usize>> {
        let mut windows: Vec<Range<usize>> = Vec::new();
        let mut covered = 0;
        loop {
            let start = self.skip_space(covered);
            if start == self.text.len() {
                return windows;
            }
            let window = windows
                .last()
                .and_then(|before| self.overlap_start(before))
                .and_then(|overlapping| self.fit(overlapping, start))
                .or_else(|| self.fit(start, start))
                .unwrap_or_else(|| self.cluster(start));
            covered = window.end;
            check_interrupt(window.len().min(CHECK_INTERVAL));
            // White space with a combining mark is one cluster. If the mark is split off, the white space is blank.
            if !self.text[window.clone()].trim().is_empty() {
                windows.push(window);
            }
        }
    }

    /// Returns the start of the window after `before` with the largest allowed overlap, or `None` for no overlap.
    fn overlap_start(&self, before: &Range<usize>) -> Option<usize> {
        let mut budget = self.overlap;
        while budget > 0 {
            let min = self
                .text
                .ceil_char_boundary(self.ruler.back(before.end, budget).max(before.start + 1));
            let start = self
                .breaks
                .start_within(min..before.end, &self.graphemes)
                .unwrap_or_else(|| self.skip_space(self.graphemes.ceil(min)));
            if start >= before.end {
                return None;
            }
            let length = self.ruler.measure(start..before.end);
            if length <= self.overlap {
                return Some(start);
            }
            budget = reduce(budget, length - self.overlap);
        }
        None
    }

    /// Returns a window from `start` that ends after `fresh`, the start of the text that no window covers yet. `None` if no window
    /// of whole clusters fits the size.
    fn fit(&self, start: usize, fresh: usize) -> Option<Range<usize>> {
        let (numerator, denominator) = MIN_USE;
        let min_use = self.overlap + (self.size - self.overlap) * numerator / denominator;
        let mut budget = self.size;
        while budget > 0 {
            let reach = self.ruler.reach(start, budget);
            if reach <= fresh {
                return None;
            }
            let end = if reach == self.text.len() {
                reach
            } else {
                let min = self
                    .ruler
                    .reach(start, min_use.min(budget))
                    .max(self.text.ceil_char_boundary(fresh + 1));
                self.breaks
                    .end_within(min.min(reach), reach, &self.graphemes)
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
            budget = reduce(budget, length - self.size);
        }
        None
    }

    /// Returns the window of a single cluster that [`Windows::fit`] could not place: the whole cluster if it fits, otherwise as
    /// many of its characters as fit, at least one.
    fn cluster(&self, start: usize) -> Range<usize> {
        let end = self.graphemes.ceil(start + 1);
        // The estimate avoids measuring a cluster of megabytes.
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
            budget = reduce(budget, length - self.size);
        }
        start..self.text.ceil_char_boundary(start + 1)
    }

    /// Returns the start of the first cluster at or after `from` that is not blank, or the text's length if there is none.
    fn skip_space(&self, from: usize) -> usize {
        let rest = &self.text[from..];
        let word = from + (rest.len() - rest.trim_start().len());
        if word == self.text.len() || self.graphemes.is_boundary(word) {
            return word;
        }
        self.graphemes.floor(word, from).unwrap_or(from)
    }

    /// Returns the end of a range without trailing blank clusters.
    fn drop_space(&self, range: Range<usize>) -> usize {
        let kept = range.start + self.text[range.clone()].trim_end().len();
        self.graphemes.ceil(kept).min(range.end)
    }
}

/// Returns a smaller budget after a window exceeded the limit by `excess`.
fn reduce(budget: usize, excess: usize) -> usize {
    budget - excess.max(budget.div_ceil(4)).min(budget)
}
