//! Returns an answer with its citations in the JSON shapes of APIs, as front ends read them. [`import`](fn@crate::import) reads them
//! back.
//!
//! The displayed text has no citation strings, because these APIs return citations apart from the text. A citation gets the range of the
//! displayed text that it supports. Each one also has an object `reground`, which contains what a shape has no place for; front ends
//! ignore it.

mod anthropic;
mod citation_string;
mod cited;
mod displayed;
mod format;
mod markup;
mod openai;
mod vercel;

use serde_json::Value;

pub use citation_string::{CitationString, StringKind};
use cited::Cited;
pub use cited::{ExportedCitation, ExportedSource};
pub use displayed::DisplayedAnswer;
pub(crate) use displayed::with_spaces;
pub use format::{PartsFormat, UnknownPartsFormat};
pub use markup::Markup;

/// Returns the parts of a message: the displayed text with its citations. Citations whose source or range does not exist are omitted.
#[must_use]
pub fn answer_parts(
    text: &str,
    citations: &[ExportedCitation],
    sources: &[ExportedSource],
    format: PartsFormat,
) -> Value {
    let mut cited: Vec<Cited<'_>> = citations
        .iter()
        .filter_map(|citation| {
            text.get(citation.range.clone())?;
            Some(Cited {
                citation,
                source: sources.get(citation.source)?,
            })
        })
        .collect();
    // The order of the import.
    cited.sort_by_key(|cited| (cited.citation.range.start, cited.citation.range.end));
    match format {
        PartsFormat::OpenAi => openai::parts(text, &cited),
        PartsFormat::Anthropic => anthropic::parts(text, &cited),
        PartsFormat::Vercel => vercel::parts(text, &cited),
    }
}
