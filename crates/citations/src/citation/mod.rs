//! Citations as data: the form of the string, the cited source, and the position in the answer.

mod citation_columns;
mod extraction;
mod families;
mod form;
mod locator_range;
mod parsed;
mod reference;
mod span;

pub(crate) use citation_columns::LARGEST_INTEGER;
pub use citation_columns::{CitationColumns, excerpt};
pub use extraction::{
    CitationScope, Claim, ExtractedCitation, Extraction, MAX_CITATIONS, MAX_STATEMENTS,
};
pub use families::Families;
pub use form::{Family, Form};
pub use locator_range::LocatorRange;
pub(crate) use parsed::ParsedCitation;
pub use reference::{Interval, Malformed, Position, Reference};
pub(crate) use span::Ruler;
pub use span::Span;
