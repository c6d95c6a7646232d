//! The state of one pass over an answer.

use std::ops::Range;

use super::found::{ClaimScope, FoundCitation};
use crate::citation::ParsedCitation;
use crate::reading::forms::Notes;
use crate::{Family, Form, Grammar, MAX_CITATIONS};

/// Markup that has begun.
#[derive(Debug)]
pub(super) struct OpenMarkup {
    pub form: Form,
    /// What its end has to say again; empty where the end says nothing.
    pub label: String,
    /// Where what it encloses begins.
    pub inner: usize,
    /// The citation, in what was found.
    pub found: usize,
    /// Whether the opening itself says what is cited.
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
    /// Things named by what was found.
    pub listed: usize,
    /// Things beyond the limit.
    pub omitted: usize,
    /// Where an array index ended, so that `m[1][2]` is read as two.
    pub index_end: Option<usize>,
    /// Markup that has not been closed.
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
        supports: ClaimScope,
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
            supports,
        });
        end
    }

    /// Takes out markup that cites nothing by itself.
    pub fn push_markup(&mut self, bytes: Range<usize>, form: Form) -> usize {
        self.push(bytes, ParsedCitation::new(form))
    }

    /// Where the last citation ended: words before that are taken.
    pub fn taken(&self) -> usize {
        self.found.last().map_or(0, |found| found.bytes.end)
    }
}
