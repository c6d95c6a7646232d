//! The result of reading an answer: its citations, sentences and claims.

use serde::{Deserialize, Serialize};
use std::ops::Range;

use super::{Family, Form, Reference, Span};

/// Largest number of citations that are listed; further ones are only counted. A range of a few bytes expands to many
/// citations, so an answer of a few megabytes could otherwise need gigabytes.
pub const MAX_CITATIONS: usize = 65_536;

/// Largest number of statements of an answer that citations of the answer are judged by: the first ones.
pub const MAX_STATEMENTS: usize = 1_000;

/// The text that a citation supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CitationScope {
    /// A sentence, or the part of it that markup encloses.
    #[default]
    Sentence,
    /// The answer: `Sources: [A1], [B1]`, `Citation: [p1]`, an entry in a list of references.
    Answer,
}

impl CitationScope {
    /// The stable name that is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sentence => "sentence",
            Self::Answer => "answer",
        }
    }
}

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
    /// The text that the citation supports.
    pub scope: CitationScope,
    /// Index in [`Extraction::sentences`] of the sentence that contains the citation.
    pub sentence: Option<usize>,
    /// Index in [`Extraction::claims`] of the supported claim. `None` for a citation of the
    /// answer.
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
    /// The statements of the answer: sentences that are no headings, questions, announcements or references, at most
    /// [`MAX_STATEMENTS`]. Empty if no citation has the scope of the answer, except from
    /// [`extract_with_statements`](crate::extract_with_statements).
    pub statements: Vec<Claim>,
    /// Number of citations beyond [`MAX_CITATIONS`]. They are not listed.
    pub omitted: usize,
}

impl Extraction {
    /// Returns the text of the claim that a citation supports.
    pub fn claim_of(&self, citation: &ExtractedCitation) -> Option<&str> {
        let claim = self.claims.get(citation.claim?)?;
        Some(&claim.text)
    }

    /// Returns the range of [`Self::statements`] that a citation of the answer is judged by: those before it. If there are none,
    /// it opens the answer, and all count.
    pub fn statements_of(&self, citation: &ExtractedCitation) -> Range<usize> {
        let (CitationScope::Answer, Some(sentence)) = (citation.scope, citation.sentence) else {
            return 0..0;
        };
        let before = |statement: &Claim| statement.sentence < sentence;
        match self.statements.partition_point(before) {
            0 => 0..self.statements.len(),
            before => 0..before,
        }
    }

    /// Returns the texts that are compared with sources: the claims, then the statements.
    pub fn compared_texts(&self) -> impl Iterator<Item = &str> {
        let texts = self.claims.iter().chain(&self.statements);
        texts.map(|claim| claim.text.as_str())
    }
}
