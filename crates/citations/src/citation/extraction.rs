//! The result of reading an answer: its citations, sentences and claims.

use serde::{Deserialize, Serialize};
use std::ops::Range;

use super::{Family, Form, Reference, Span};

/// Largest number of citations that are listed; further ones are only counted. A range of a few bytes expands to many
/// citations, so an answer of a few megabytes could otherwise need gigabytes.
pub const MAX_CITATIONS: usize = 65_536;

/// One cited source. A list such as `[A1, A3]` results in one value for each source, all with the same text and
/// position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExtractedCitation {
    /// Position in the answer.
    #[serde(flatten)]
    pub span: Span,
    /// The form of the citation string.
    pub form: Form,
    /// The family of the form.
    pub family: Family,
    /// The cited source, before it is resolved.
    pub reference: Reference,
    /// Whether the marker differs in spelling from the one in the context.
    pub repaired: bool,
    /// Index in [`Extraction::sentences`] of the sentence that contains the citation.
    pub sentence: Option<usize>,
    /// Index in [`Extraction::claims`] of the supported claim. `None` in a list of references and for a citation of
    /// the whole answer.
    pub claim: Option<usize>,
    /// Byte position of the citation in the text of the claim. The end of the text if the citation follows the claim.
    pub claim_at: Option<usize>,
}

impl ExtractedCitation {
    /// Returns the citation string, verbatim. `answer` must be the text that was extracted from; otherwise the result
    /// may be empty.
    pub fn raw<'a>(&self, answer: &'a str) -> &'a str {
        answer.get(self.span.bytes.clone()).unwrap_or_default()
    }
}

/// A claim that citations support: a sentence, or the part of it that markup encloses. Citations are removed and
/// white space is folded.
///
/// Citations share claims, so that an answer with ten thousand markers in one sentence stays small and the server
/// stems each claim once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Index of the sentence in [`Extraction::sentences`].
    pub sentence: usize,
    /// The text of the claim.
    pub text: String,
}

/// The citations, sentences and claims of an answer. It does not contain the answer: copying every sentence and
/// citation would take a fifth of the time of an extraction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Extraction {
    /// Citations, in the order of the text.
    pub citations: Vec<ExtractedCitation>,
    /// Sentences with their citations, as byte ranges of the answer, in order.
    pub sentences: Vec<Range<usize>>,
    /// Claims, in the order of their sentences.
    pub claims: Vec<Claim>,
    /// Number of citations beyond [`MAX_CITATIONS`]. They are not listed.
    pub omitted: usize,
}

impl Extraction {
    /// Returns the text of the claim that a citation supports.
    pub fn claim_of(&self, citation: &ExtractedCitation) -> Option<&str> {
        let claim = self.claims.get(citation.claim?)?;
        Some(&claim.text)
    }
}
