//! The grammar of each family: what the inside of a bracket says.
//!
//! A form sees only the folded text between two brackets, never longer than [`MAX_INSIDE`], so its own cost is bounded
//! and the whole extraction stays linear.

mod author_year;
mod cursor;
mod fold;
mod list;
mod named;
mod pages;

use crate::{Families, Malformed, Reference};

pub(crate) use list::unclosed_marker;

/// Longest inside of a bracket that is read, in bytes. A list of 150 markers fits; prose in brackets does not matter.
pub(crate) const MAX_INSIDE: usize = 1024;

/// What a bracket turned out to name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inside {
    /// The cited things, in order.
    pub references: Vec<Reference>,
    /// Whether a marker was not written as the grammar prints it.
    pub repaired: bool,
}

impl Inside {
    fn malformed(why: Malformed) -> Self {
        Self {
            references: vec![Reference::Malformed(why)],
            repaired: false,
        }
    }

    /// Whether these are markers or numbers only, the forms that also stand as the text of a link.
    pub(crate) fn is_plain(&self) -> bool {
        self.references
            .iter()
            .all(|r| matches!(r, Reference::Marker { .. } | Reference::Ordinal { .. }))
    }

    /// Whether these are numbers only, the form that is also an array index.
    pub(crate) fn is_numeric(&self) -> bool {
        self.references
            .iter()
            .all(|r| matches!(r, Reference::Ordinal { .. }))
    }
}

/// Reads what stands between square brackets; `foreign` says that the brackets were full-width ones.
pub(crate) fn in_brackets(inside: &str, foreign: bool, families: &Families) -> Option<Inside> {
    let folded = fold::fold(inside);
    let text = folded.trim();
    let mut found = named::read(text, families)
        .or_else(|| families.marker.then(|| list::markers(text)).flatten())
        .or_else(|| families.ordinal.then(|| list::ordinals(text)).flatten())
        .or_else(|| {
            families
                .author_year
                .then(|| author_year::read(text))
                .flatten()
        })?;
    let names_markers = found
        .references
        .iter()
        .any(|r| matches!(r, Reference::Marker { .. }));
    found.repaired = names_markers && (found.repaired || foreign || text != inside);
    Some(found)
}

/// Reads what stands between round brackets: only forms that say by themselves that they cite.
pub(crate) fn in_parentheses(inside: &str, families: &Families) -> Option<Inside> {
    let folded = fold::fold(inside);
    let text = folded.trim();
    named::read(text, families).or_else(|| {
        families
            .author_year
            .then(|| author_year::read(text))
            .flatten()
    })
}
