//! The state of a pass over an answer.

use std::ops::Range;

use super::found::{ClaimScope, FoundCitation};
use crate::citation::ParsedCitation;
use crate::reading::forms::Notes;
use crate::{Family, Form, Grammar, MAX_CITATIONS};

/// Markup that is open.
#[derive(Debug)]
pub(super) struct OpenMarkup {
    pub form: Form,
    /// The label that the end must repeat; empty if the end has none.
    pub label: String,
    /// Start of the enclosed text.
    pub inner: usize,
    /// Index of the citation in `found`.
    pub found: usize,
    /// Whether the opening names the source.
    pub named: bool,
}

pub(super) struct Scanner<'a> {
    pub text: &'a str,
    pub grammar: &'a Grammar,
    /// Footnotes.
    pub notes: Notes<'a>,
    /// The bracket that opens a list for the whole answer.
    pub trailing: Option<usize>,
    pub found: Vec<FoundCitation>,
    /// Number of cited sources in `found`.
    pub listed: usize,
    /// Number of cited sources beyond the limit.
    pub omitted: usize,
    /// End of the last array index, so that `m[1][2]` is read as two indexes.
    pub index_end: Option<usize>,
    /// Markup that is not closed.
    pub open: Vec<OpenMarkup>,
}

impl<'a> Scanner<'a> {
    pub fn is_on(&self, family: Family) -> bool {
        self.grammar.families.includes(family)
    }

    pub fn push(&mut self, bytes: Range<usize>, parsed: ParsedCitation) -> usize {
        self.push_for(bytes, parsed, ClaimScope::Sentence)
    }

    pub fn push_for(
        &mut self,
        bytes: Range<usize>,
        mut parsed: ParsedCitation,
        scope: ClaimScope,
    ) -> usize {
        let end = bytes.end;
        let room = MAX_CITATIONS - self.listed;
        if let Some(beyond) = parsed.references.len().checked_sub(room) {
            parsed.references.truncate(room);
            parsed.references.shrink_to_fit();
            self.omitted += beyond;
        }
        self.listed += parsed.references.len();
        self.found.push(FoundCitation {
            bytes,
            parsed,
            scope,
        });
        end
    }

    /// Adds markup that names no source, so that it is not part of a claim.
    pub fn push_markup(&mut self, bytes: Range<usize>, form: Form) -> usize {
        self.push(bytes, ParsedCitation::new(form))
    }

    /// Returns the end of the last citation.
    pub fn taken(&self) -> usize {
        self.found.last().map_or(0, |found| found.bytes.end)
    }
}
