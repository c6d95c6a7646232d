//! Finds locators, mentions and patterns of the user outside all other citations.

use std::ops::Range;

use reground_interrupt::{check_interrupt, checked};

use super::found::{ClaimScope, FoundCitation};
use super::scanner::Scanner;
use crate::Family;
use crate::MAX_CITATIONS;
use crate::citation::ParsedCitation;

/// Longest part of a text that is searched at once, in bytes. A regular expression is linear, but a search for all
/// its matches is quadratic in the worst case.
const CHECK_INTERVAL: usize = 2048;

impl Scanner<'_> {
    pub(super) fn custom_forms(&mut self, hidden: &[Range<usize>]) {
        let grammar = self.grammar;
        let on = |family| grammar.families.includes(family);
        let patterns = Some(&grammar.patterns).filter(|p| !p.is_empty() && on(Family::Custom));
        let locators = grammar.locators.as_ref().filter(|_| on(Family::Locator));
        let mentions = grammar.mentions.as_ref().filter(|_| on(Family::Mention));
        if patterns.is_none() && locators.is_none() && mentions.is_none() {
            return;
        }
        let mut free = TakenRanges::new(hidden, &self.found, &self.notes.lines);
        let mut added: Vec<FoundCitation> = Vec::new();
        for range in search_ranges(self.text) {
            check_interrupt(range.len());
            let part = &self.text[range.clone()];
            let mut hits: Vec<(Range<usize>, u8, ParsedCitation)> = Vec::new();
            if let Some(patterns) = patterns {
                patterns.matches(part, range.start, |bytes, parsed| {
                    hits.push((bytes, 0, parsed))
                });
            }
            if let Some(locators) = locators {
                locators.matches(part, range.start, |bytes, parsed| {
                    hits.push((bytes, 1, parsed))
                });
            }
            if let Some(mentions) = mentions {
                mentions.matches(part, range.start, |bytes, parsed| {
                    hits.push((bytes, 2, parsed))
                });
            }
            // The earliest match is used. At the same position the order is: pattern, locator, mention.
            hits.sort_by_key(|(bytes, rank, _)| (bytes.start, *rank));
            for (bytes, _, parsed) in hits {
                let last = added.last().map_or(0, |found| found.bytes.end);
                if bytes.start >= last && free.is_free(&bytes) {
                    added.push(FoundCitation {
                        bytes,
                        parsed,
                        scope: ClaimScope::Sentence,
                    });
                }
            }
        }
        self.add(added);
    }

    /// Inserts the added citations in the order of the text.
    fn add(&mut self, added: Vec<FoundCitation>) {
        if added.is_empty() {
            return;
        }
        self.found.extend(added);
        self.found.sort_by_key(|found| found.bytes.start);
        let all: usize = checked(&self.found)
            .map(|found| found.parsed.references.len())
            .sum();
        let mut room = MAX_CITATIONS;
        for found in &mut self.found {
            found.parsed.references.truncate(room);
            room -= found.parsed.references.len();
        }
        self.omitted += all - (MAX_CITATIONS - room);
        self.listed = MAX_CITATIONS - room;
    }
}

/// Splits a text into lines. Long lines are split at white space if possible.
fn search_ranges(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let window = &rest[..rest.floor_char_boundary(CHECK_INTERVAL)];
        let length = match window.find('\n') {
            Some(newline) => newline + 1,
            None if window.len() == rest.len() => rest.len(),
            None => window.rfind(' ').map_or(window.len(), |space| space + 1),
        };
        let range = start..start + length;
        start = range.end;
        Some(range)
    })
}

/// The taken ranges. Queries must ascend.
struct TakenRanges {
    taken: Vec<Range<usize>>,
    next: usize,
}

impl TakenRanges {
    fn new(hidden: &[Range<usize>], found: &[FoundCitation], lines: &[Range<usize>]) -> Self {
        let mut taken: Vec<_> = hidden
            .iter()
            .chain(lines)
            .chain(found.iter().map(|found| &found.bytes))
            .cloned()
            .collect();
        taken.sort_by_key(|range| range.start);
        Self { taken, next: 0 }
    }

    fn is_free(&mut self, bytes: &Range<usize>) -> bool {
        while self
            .taken
            .get(self.next)
            .is_some_and(|taken| taken.end <= bytes.start)
        {
            self.next += 1;
        }
        let next = self.taken.get(self.next);
        next.is_none_or(|taken| bytes.end <= taken.start)
    }
}
