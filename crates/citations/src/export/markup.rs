//! The markup around the facts of an answer, such as `<co: 0>…</co: 0>`. The displayed text has none of it.

use std::collections::BTreeMap;
use std::ops::Range;

use reground_interrupt::checked;

use super::citation_string::StringKind;
use crate::Grammar;
use crate::reading::scan::{ClaimScope, scan};

/// The markup around the facts of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markup {
    /// Strings that name no source, such as `</co: 0>` and `[cite_start]`, in bytes.
    pub(super) strings: Vec<Range<usize>>,
    /// The text that a citation string encloses, in bytes, by the start of the string.
    pub(super) enclosed: BTreeMap<usize, Range<usize>>,
}

impl Markup {
    /// Finds the markup that a grammar describes.
    #[must_use]
    pub fn of(answer: &str, grammar: &Grammar) -> Self {
        let mut markup = Self::default();
        for found in checked(scan(answer, grammar).0) {
            if let ClaimScope::Enclosed(enclosed) = found.scope {
                markup.enclosed.insert(found.bytes.start, enclosed);
            }
            let raw = answer.get(found.bytes.clone()).unwrap_or_default();
            let kind = StringKind::of(&found.parsed.form, raw, false, false);
            if found.parsed.references.is_empty() && kind == StringKind::Mark {
                markup.strings.push(found.bytes);
            }
        }
        markup
    }

    /// Whether the citation string at a byte encloses text.
    #[must_use]
    pub fn encloses(&self, start: usize) -> bool {
        self.enclosed.contains_key(&start)
    }
}
