//! The result of reading an answer: its citations, sentences and claims.

use serde::{Deserialize, Serialize};
use std::ops::Range;

use super::{Family, Form, Reference, Span};

/// Most citations that are listed; the rest is counted. A range of a few bytes stands for many, so an answer of some
/// megabytes could otherwise ask for gigabytes.
pub const MAX_CITATIONS: usize = 65_536;

/// One cited thing. A list such as `[A1, A3]` gives one for each, with the same text and place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extracted {
    /// Where it stands in the answer.
    #[serde(flatten)]
    pub span: Span,
    /// How it is written.
    pub form: Form,
    /// The family that its form is switched with.
    pub family: Family,
    /// What it names.
    pub reference: Reference,
    /// Whether a marker was written otherwise than the context printed it.
    pub repaired: bool,
    /// The sentence it stands on, in [`Extraction::sentences`].
    pub sentence: Option<usize>,
    /// What it is said to support, in [`Extraction::claims`]. `None` in a list of references and of the whole answer.
    pub claim: Option<usize>,
    /// Where it stood in the claim's text, in bytes; its end for one that stood after it.
    pub claim_at: Option<usize>,
}

impl Extracted {
    /// The citation string, verbatim, given the answer that it was read from; nothing of another one.
    pub fn raw<'a>(&self, answer: &'a str) -> &'a str {
        answer.get(self.span.bytes.clone()).unwrap_or_default()
    }
}

/// What a citation is said to support: a sentence, or the part of it that markup encloses, without its citations, white
/// space folded.
///
/// Claims are shared by their citations, so that an answer of ten thousand markers in one sentence stays small and the
/// server stems each claim once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The sentence it is made of, in [`Extraction::sentences`].
    pub sentence: usize,
    /// Its words.
    pub text: String,
}

/// Everything that the text of an answer says about its citations. It does not hold the answer itself: to copy every sentence
/// and citation out of it would take a fifth of the time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Extraction {
    /// Cited things, in the order of the text.
    pub citations: Vec<Extracted>,
    /// Sentences, in bytes of the answer, in order, citations and all.
    pub sentences: Vec<Range<usize>>,
    /// Cited claims, in order.
    pub claims: Vec<Claim>,
    /// Cited things beyond [`MAX_CITATIONS`], which are not listed.
    pub omitted: usize,
}

impl Extraction {
    /// The words that a citation is said to support.
    pub fn claim_of(&self, citation: &Extracted) -> Option<&str> {
        let claim = self.claims.get(citation.claim?)?;
        Some(&claim.text)
    }
}
