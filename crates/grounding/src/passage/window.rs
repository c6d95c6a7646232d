//! Windows: the run of sentences of a long text that fits a query best.
//!
//! A row of a registered table can be a whole article. Its window is chosen by the words of the query. A word counts by
//! its rarity among the sentences of the text, because a word that every sentence contains says nothing about the place.
//! The document frequency in the corpus predicts the place less well (docs/evaluation.md).

use std::collections::BTreeMap;
use std::ops::Range;

use reground_documents::{content_hash_hex, sentence_spans};
use reground_interrupt::checked;
use reground_tokens::prefix;

use super::text::{CharRange, Passage, RowText, byte_of};
use crate::memory::BoundMarker;
use crate::query::cues::Cues;
use crate::query::query_words::QueryWords;
use crate::query::words::each_occurrence;

/// Saturation of the count of a word, as in BM25.
const SATURATION: f64 = 1.2;
/// Bytes from which on a sentence is divided: it is a table, a list or code without full stops.
const LONGEST_SENTENCE: usize = 2000;
/// Tokens from which on a window may be a part of a sentence. Below, a sentence must fit.
const LEAST_CUT: usize = 128;
/// Sentences that are tried if the best ones do not fit.
const TRIES: usize = 64;

impl Passage {
    /// Counts the tokens, unless they are known: exactly up to `most`, and `most` + 1 for a longer text.
    pub fn count_tokens(&mut self, most: usize) {
        if self.tokens == 0 {
            let counted = prefix(&self.content, most.saturating_add(1)).tokens;
            self.tokens = u32::try_from(counted).unwrap_or(u32::MAX);
        }
    }

    /// The passage, or its window if it has more than `most` tokens. If not even a sentence fits, the passage stays as
    /// it is, with more than `most` tokens.
    #[must_use]
    pub fn fitted(mut self, words: &QueryWords, most: usize) -> Self {
        self.count_tokens(most);
        if self.tokens as usize <= most {
            return self;
        }
        self.window(words, most).unwrap_or(self)
    }

    /// The run of sentences with at most `most` tokens that fits the words best; the first one among equals. Without any
    /// of the words it is the beginning of the text. `None` if the whole text fits, or no sentence.
    #[must_use]
    pub fn window(&self, words: &QueryWords, most: usize) -> Option<Self> {
        let text = &self.content;
        let sentences = Sentences::of(text, words);
        let bytes = sentences.best(most)?;
        let start = length(text.get(..bytes.start)?);
        Some(self.part(start, text.get(bytes)?))
    }

    /// The window that begins at a character of the text of the row and has this many characters. `None` if the text of
    /// the passage does not reach so far.
    #[must_use]
    pub fn window_at(&self, start: u32, characters: u32) -> Option<Self> {
        let start = start.checked_sub(self.start_in_row())?;
        let bytes = byte_of(&self.content, start as usize)?;
        let rest = self.content.get(bytes..)?;
        let content = rest.get(..byte_of(rest, characters as usize)?)?;
        let mut window = self.part(start, content);
        window.count_tokens(usize::MAX);
        Some(window)
    }

    /// The text that a marker of this row is bound to: the whole passage or a window of it. `None` if it has changed, or is
    /// no part of the row.
    #[must_use]
    pub fn bound_text(&self, bound: &BoundMarker) -> Option<Self> {
        if self.content_hash == bound.content_hash {
            return Some(self.clone());
        }
        let range = bound.chars?;
        let first = self.chars.map_or(0, |chars| chars.start);
        let start = range.start.checked_sub(first)?;
        let window = self.window_at(start, range.end.checked_sub(range.start)?)?;
        (window.content_hash == bound.content_hash).then_some(window)
    }

    /// A window of the passage from the character `start` on.
    fn part(&self, start: u32, content: &str) -> Self {
        let first = self
            .chars
            .map_or(start, |chars| chars.start.saturating_add(start));
        let mut window = Self {
            chars: Some(CharRange {
                start: first,
                end: first.saturating_add(length(content)),
            }),
            content: content.to_owned(),
            content_hash: content_hash_hex(content),
            tokens: 0,
            window_of: Some(RowText {
                content_hash: self.row_hash().to_owned(),
                start: self.start_in_row().saturating_add(start),
                chars: match &self.window_of {
                    Some(row) => row.chars,
                    None => self.chars,
                },
            }),
            ..self.clone()
        };
        window.count_tokens(usize::MAX);
        window
    }
}

/// Number of characters.
fn length(text: &str) -> u32 {
    u32::try_from(text.chars().count()).unwrap_or(u32::MAX)
}

/// The sentences of a text, with the value of each for a query.
struct Sentences<'a> {
    text: &'a str,
    spans: Vec<Range<usize>>,
    /// The value of each sentence alone, 0 without a word of the query.
    own: Vec<u64>,
    /// The value of each sentence, alone and together with its neighbours.
    values: Vec<u64>,
}

/// The counts of the words in a sentence, by the number of the word.
type Counts = BTreeMap<usize, u32>;

impl<'a> Sentences<'a> {
    fn of(text: &'a str, words: &QueryWords) -> Self {
        let spans = spans(text);
        let counts = counts(text, &spans, words);
        let weights = weights(&counts, words);
        let near = |index: usize| counts.get(index).into_iter().flatten();
        let own: Vec<u64> = counts
            .iter()
            .map(|counts| value(counts, &weights))
            .collect();
        let values = own.iter().enumerate().map(|(index, own)| {
            let mut around = Counts::new();
            let neighbours = index.checked_sub(1).into_iter().chain([index, index + 1]);
            for (word, count) in neighbours.flat_map(near) {
                *around.entry(*word).or_default() += count;
            }
            own + value(&around, &weights)
        });
        Self {
            text,
            values: checked(values).collect(),
            own,
            spans,
        }
    }

    /// The bytes of the best run.
    fn best(&self, most: usize) -> Option<Range<usize>> {
        let bytes = prefix(self.text, most).bytes;
        if bytes == self.text.len() {
            return None;
        }
        let Range { mut start, mut end } = self.run_of_bytes(bytes)?;
        let mut tokens: usize = (start..end).map(|index| self.tokens(index, most)).sum();
        while tokens > most && start + 1 < end {
            tokens -= self.tokens(self.drop_weaker(&mut start, &mut end), most);
        }
        if tokens > most {
            let fitting = self.strongest_fitting(most);
            let Some(fitting) = fitting else {
                return self.cut(start, most);
            };
            (start, end, tokens) = (fitting, fitting + 1, self.tokens(fitting, most));
        }
        // The surroundings of the words explain them, on both sides alike.
        loop {
            let before = (start, end);
            for next in [Some(end), start.checked_sub(1)].into_iter().flatten() {
                if next >= self.spans.len() {
                    continue;
                }
                let more = tokens + self.tokens(next, most);
                if more <= most {
                    tokens = more;
                    (start, end) = (start.min(next), end.max(next + 1));
                }
            }
            if before == (start, end) {
                break;
            }
        }
        // The tokens of a run can be more than those of its parts.
        loop {
            let bytes = self.bytes(start, end)?;
            let content = self.text.get(bytes.clone())?;
            if prefix(content, most).bytes == content.len() {
                return Some(bytes);
            }
            if start + 1 == end {
                return self.cut(start, most);
            }
            self.drop_weaker(&mut start, &mut end);
        }
    }

    /// The run of sentences with the greatest value within a number of bytes, from its first to its last word of the
    /// query. The first sentence if no word occurs.
    fn run_of_bytes(&self, most: usize) -> Option<Range<usize>> {
        let (mut first, mut sum) = (0, 0);
        let mut best = (0, 0..1);
        for (last, span) in checked(self.spans.iter().enumerate()) {
            sum += self.value(last);
            while first < last && span.end - self.spans.get(first)?.start > most {
                sum -= self.value(first);
                first += 1;
            }
            if sum > best.0 {
                best = (sum, first..last + 1);
            }
        }
        let hit = |index: &usize| self.own(*index) > 0;
        let mut run = best.1;
        match (run.clone().find(hit), run.clone().rfind(hit)) {
            (Some(first), Some(last)) => run = first..last + 1,
            _ => run.end = run.start + 1,
        }
        (run.end <= self.spans.len()).then_some(run)
    }

    /// Removes the end of a run with the lesser value of its own, the last one among equals. Returns its index.
    fn drop_weaker(&self, start: &mut usize, end: &mut usize) -> usize {
        let last = *end - 1;
        if self.own(*start) < self.own(last) {
            *start += 1;
            *start - 1
        } else {
            *end = last;
            last
        }
    }

    /// The sentence of the greatest value that fits, the first one among equals.
    fn strongest_fitting(&self, most: usize) -> Option<usize> {
        let mut order: Vec<usize> = (0..self.spans.len()).collect();
        order.sort_by_key(|&index| (std::cmp::Reverse(self.value(index)), index));
        let mut tried = order.into_iter().take(TRIES);
        tried.find(|&index| {
            let sentence = self.bytes(index, index + 1);
            let sentence = sentence.and_then(|bytes| self.text.get(bytes));
            sentence.is_some_and(|text| prefix(text, most).bytes == text.len())
        })
    }

    /// The beginning of a sentence that is too long.
    fn cut(&self, index: usize, most: usize) -> Option<Range<usize>> {
        if most < LEAST_CUT {
            return None;
        }
        let span = self.spans.get(index)?;
        let sentence = self.text.get(span.clone())?;
        let mut end = sentence.floor_char_boundary(prefix(sentence, most).bytes);
        loop {
            let part = sentence.get(..end)?.trim_end();
            // A token is a run of bytes, so a shorter text can have more tokens.
            if prefix(part, most).bytes == part.len() {
                return (!part.is_empty()).then(|| span.start..span.start + part.len());
            }
            end = sentence.floor_char_boundary(end.checked_sub(1)?);
        }
    }

    fn own(&self, index: usize) -> u64 {
        self.own.get(index).copied().unwrap_or_default()
    }

    fn value(&self, index: usize) -> u64 {
        self.values.get(index).copied().unwrap_or_default()
    }

    /// Tokens of a sentence with the white space after it, at most `most` + 1.
    fn tokens(&self, index: usize, most: usize) -> usize {
        let start = self.spans.get(index).map_or(0, |span| span.start);
        let next = self.spans.get(index + 1);
        let end = next.map_or(self.text.len(), |next| next.start);
        let sentence = self.text.get(start..end).unwrap_or_default();
        prefix(sentence, most.saturating_add(1)).tokens
    }

    fn bytes(&self, start: usize, end: usize) -> Option<Range<usize>> {
        let last = self.spans.get(end.checked_sub(1)?)?;
        Some(self.spans.get(start)?.start..last.end)
    }
}

/// The sentences of a text. Overlong ones are divided at line ends, at white space, or anywhere.
fn spans(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    for span in sentence_spans(text) {
        let mut start = span.start;
        while span.end - start > LONGEST_SENTENCE {
            let most = text.floor_char_boundary(start + LONGEST_SENTENCE / 2);
            let part = text.get(start..most).unwrap_or_default();
            let at = part
                .rfind('\n')
                .or_else(|| part.rfind(char::is_whitespace))
                .filter(|at| *at > 0);
            let end = at.map_or(most, |at| start + at);
            spans.push(start..end);
            let rest = text.get(end..span.end).unwrap_or_default();
            start = span.end - rest.trim_start().len();
        }
        spans.push(start..span.end);
    }
    spans
}

/// The counts of the words of a query in each sentence.
fn counts(text: &str, spans: &[Range<usize>], words: &QueryWords) -> Vec<Counts> {
    let mut counts = vec![Counts::new(); spans.len()];
    let mut sentence = 0;
    let keys = words.weights().map(|(key, _)| key);
    each_occurrence(keys, text, Cues::built_in(), |at, word| {
        while spans.get(sentence).is_some_and(|span| span.end <= at) {
            sentence += 1;
        }
        if let Some(counts) = counts.get_mut(sentence) {
            *counts.entry(word).or_default() += 1;
        }
    });
    counts
}

/// The weight of each word: its weight in the query, multiplied by its inverse frequency among the sentences.
fn weights(counts: &[Counts], words: &QueryWords) -> Vec<f64> {
    let sentences = counts.len() as f64;
    let mut frequencies: BTreeMap<usize, u32> = BTreeMap::new();
    for word in counts.iter().flat_map(Counts::keys) {
        *frequencies.entry(*word).or_default() += 1;
    }
    let weight = |(number, (_, weight)): (usize, (&str, f64))| {
        let frequency = f64::from(frequencies.get(&number).copied().unwrap_or_default());
        weight * (1.0 + (sentences - frequency + 0.5) / (frequency + 0.5)).ln()
    };
    words.weights().enumerate().map(weight).collect()
}

/// The value of words that occur together: the square of the sum of their saturated counts, in millionths. The square
/// prefers words that are close together. It is a whole number, so that sums are exact.
fn value(counts: &Counts, weights: &[f64]) -> u64 {
    let one = |(word, count): (&usize, &u32)| {
        let count = f64::from(*count);
        weights.get(*word).copied().unwrap_or_default() * count / (count + SATURATION)
    };
    let sum: f64 = counts.iter().map(one).sum();
    // A text has fewer than 2³⁰ sentences, and a query few words, so sums of these do not overflow.
    (sum * sum * 1e6).min(1e10) as u64
}

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;
