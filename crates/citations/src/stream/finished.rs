//! The finished paragraphs of an unfinished answer.

use std::ops::Range;

use reground_interrupt::checked;

use super::resume::Resume;
use crate::reading::extract::CitationString;
use crate::reading::reference_lists::{may_become_label, reference_lists};
use crate::{CitationScope, ExtractedCitation, Extraction};

/// Returns the end of the last blank line. No sentence crosses it, and later text does not change the sentences
/// before it.
pub(super) fn finished_paragraphs(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut blank_from = None;
    for (at, byte) in checked(bytes.iter().enumerate().rev()) {
        match (byte, blank_from) {
            (b'\n', Some(end)) => return end,
            (b'\n', None) => blank_from = Some(at + 1),
            (b' ' | b'\t' | b'\r', _) => {}
            _ => blank_from = None,
        }
    }
    0
}

/// The finished paragraphs of an answer.
pub(super) struct Finished<'a> {
    /// The text before the first citation that later text decides, at most the text that can be shown.
    pub text: &'a str,
    /// The end of the finished paragraphs.
    pub end: usize,
    /// All citation strings of the answer, also markup without a source.
    pub strings: &'a [CitationString],
    /// Whether each sentence takes the citations after it that have no words of their own.
    pub takes_next: &'a [bool],
}

impl Finished<'_> {
    /// Returns the number of citations, from the first, whose verdicts later text does not change.
    ///
    /// A citation without words in its sentence belongs to the last sentence with words, also across paragraphs. Citations of
    /// one sentence are judged together, so those of the last sentence wait until the next paragraph has words of its own.
    ///
    /// A list of sources that opens the answer is judged by all of it, so it waits until the answer is complete.
    pub fn placed(&self, extraction: &Extraction) -> usize {
        let first = extraction
            .statements
            .first()
            .map_or(usize::MAX, |first| first.sentence);
        let opens = |c: &ExtractedCitation| {
            c.scope == CitationScope::Answer && c.sentence.is_some_and(|sentence| sentence <= first)
        };
        let placed = self.placed_by_sentence(extraction);
        checked(&extraction.citations[..placed])
            .position(opens)
            .unwrap_or(placed)
    }

    fn placed_by_sentence(&self, extraction: &Extraction) -> usize {
        let citations = &extraction.citations;
        let ended = citations.partition_point(|c| c.span.bytes.end <= self.end);
        if self.next_has_words() {
            return ended;
        }
        let sentences = &extraction.sentences;
        let finished = sentences.partition_point(|sentence| sentence.end <= self.end);
        let last = checked((0..finished).rev())
            .find(|&number| self.takes_next[number])
            .unwrap_or_default();
        let waits = |c: &ExtractedCitation| c.sentence.is_some_and(|sentence| sentence >= last);
        checked(&citations[..ended])
            .position(waits)
            .unwrap_or(ended)
    }

    /// Returns whether the unfinished paragraph has words before its first citation, and these cannot become the heading of a
    /// list of references.
    fn next_has_words(&self) -> bool {
        let following = self.strings.partition_point(|s| s.bytes.end <= self.end);
        let first = self.strings.get(following).map(|s| s.bytes.start);
        let end = self.text.len().min(first.unwrap_or(usize::MAX));
        let begun = self.text.get(self.end..end).unwrap_or_default();
        checked(begun.split(|c: char| !(c.is_alphanumeric() || c == ' ')))
            .any(|words| words.contains(char::is_alphabetic) && !may_become_label(words))
    }

    /// Returns the start of the last finished paragraph that can be read without the text before it: the citations before it
    /// are final, it is not within code or reasoning, its first sentence has words, and no note of a footnote precedes it.
    pub fn resume(
        &self,
        extraction: &Extraction,
        placed: usize,
        hidden: &[Range<usize>],
        in_list: bool,
    ) -> Resume {
        let notes = memchr::memmem::find(self.text.as_bytes(), b"[^").unwrap_or(usize::MAX);
        let mut end = self.end;
        while end > 0 {
            let paragraph = self.text[..end].trim_end_matches([' ', '\t', '\r', '\n']);
            let start = finished_paragraphs(paragraph);
            if start <= notes && self.is_apart(start, extraction, placed, hidden) {
                return self.at(start, extraction, in_list);
            }
            end = start;
        }
        Resume {
            settled: placed,
            in_list,
            ..Resume::default()
        }
    }

    /// Returns whether the paragraph at `start` can be read without the text before it.
    fn is_apart(
        &self,
        start: usize,
        extraction: &Extraction,
        placed: usize,
        hidden: &[Range<usize>],
    ) -> bool {
        let after = hidden.partition_point(|range| range.end <= start);
        let is_hidden = hidden.get(after).is_some_and(|range| range.start < start);
        let citations = &extraction.citations;
        let before = citations.partition_point(|c| c.span.bytes.start < start);
        let sentences = &extraction.sentences;
        let first = sentences.partition_point(|sentence| sentence.start < start);
        let has_ended = sentences.get(first).is_some_and(|s| s.end <= self.end);
        !is_hidden && before <= placed && has_ended && self.takes_next[first]
    }

    /// The position of a paragraph.
    fn at(&self, start: usize, extraction: &Extraction, in_list: bool) -> Resume {
        let before = &self.text[..start];
        let lists = reference_lists(before, in_list);
        let citations = &extraction.citations;
        Resume {
            citations: citations.partition_point(|c| c.span.bytes.start < start),
            in_list: lists.last().is_some_and(|list| list.end == start),
            ..Resume::after(before)
        }
    }
}
