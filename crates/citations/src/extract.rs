//! From the text of an answer to its citations, in linear time.

use reground_pulse::along;
use serde::{Deserialize, Serialize};
use std::ops::Range;

use crate::offsets::{Ruler, Span};
use crate::{Families, Reference, claims, scan};

/// Most citations that are listed; the rest is counted. A range of a few bytes stands for many, so an answer of some
/// megabytes could otherwise ask for gigabytes.
pub const MAX_CITATIONS: usize = 65_536;

/// One cited thing. A list such as `[A1, A3]` gives one for each, with the same text and place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extracted {
    /// The citation string, verbatim.
    pub raw: String,
    /// Where it stands in the answer.
    #[serde(flatten)]
    pub span: Span,
    /// What it names.
    pub reference: Reference,
    /// Whether a marker was written otherwise than the context printed it.
    pub repaired: bool,
    /// The sentence it stands on, in [`Extraction::sentences`].
    pub sentence: Option<usize>,
    /// What it is said to support, in [`Extraction::claims`]. `None` in a list of references.
    pub claim: Option<usize>,
}

/// A sentence of the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sentence {
    /// Where it stands, in bytes.
    pub bytes: Range<usize>,
    /// The sentence, verbatim, citations and all.
    pub text: String,
}

/// What a citation is said to support: a sentence without its citations, white space folded.
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

/// Everything that the text of an answer says about its citations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Extraction {
    /// Cited things, in the order of the text.
    pub citations: Vec<Extracted>,
    /// Sentences, in order.
    pub sentences: Vec<Sentence>,
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

/// Reads every citation of the families that are on.
///
/// Code, `<think>` blocks, links, images, array indexes and years are no citations. Never fails, takes time linear in the
/// text, and depends on nothing but its arguments.
pub fn extract(text: &str, families: &Families) -> Extraction {
    let (found, omitted) = scan::scan(text, families);
    let placed = claims::place(text, &found);
    let mut out = Extraction {
        omitted,
        ..Extraction::default()
    };
    let mut claim_of = Vec::with_capacity(placed.sentences.len());
    for (bytes, claim) in along(placed.sentences.into_iter().zip(placed.claims)) {
        let sentence = out.sentences.len();
        claim_of.push(claim.map(|text| {
            out.claims.push(Claim { sentence, text });
            out.claims.len() - 1
        }));
        let text = text[bytes.clone()].to_owned();
        out.sentences.push(Sentence { bytes, text });
    }
    let mut ruler = Ruler::new(text);
    for (found, (sentence, claims)) in found.into_iter().zip(placed.standing) {
        let raw = &text[found.bytes.clone()];
        let span = ruler.span(found.bytes);
        for reference in found.inside.references {
            let repaired = found.inside.repaired && matches!(reference, Reference::Marker { .. });
            out.citations.push(Extracted {
                raw: raw.to_owned(),
                span: span.clone(),
                reference,
                repaired,
                sentence,
                claim: sentence.filter(|_| claims).and_then(|s| claim_of[s]),
            });
        }
    }
    out
}
