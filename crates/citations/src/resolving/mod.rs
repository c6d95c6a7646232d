//! Resolves a citation to the source or document that it names.

mod ids;
mod places;
mod resolve;
mod source_index;
mod sources;
mod within_page;

pub use resolve::{document_requests, registry_names};
pub(crate) use source_index::{Resolution, SourceIndex};
pub use sources::{DocumentRequest, KnownMarker, NamedDocument, NamedPassage, Source, Target};
