//! How much of a claim stands in which source, without a model, and why.
//!
//! 1. [`words`] cuts texts into words, numbers and pairs of characters, [`said`] names each by the lexeme that the server
//!    made of it and hears what is denied, [`figures`] reads what it says in numbers, [`units`] and [`source`] keep what
//!    claims and sources have in common.
//! 2. [`reading`] compares a claim with a source: what it holds, where most of that stands together, numbers, quotations,
//!    negation.
//! 3. [`parts`] adds that up to one figure between 0 and 1 and keeps what it was made of.
//! 4. [`verdict`] holds the citations of a claim against the sources of the context.
//!
//! It sees words, not sense: a low figure says that content is missing, a high one does not prove the claim.

mod bits;
mod cue_rows;
mod cues;
mod figures;
mod languages;
mod measures;
mod numerals;
mod parts;
mod quoted;
mod reading;
mod said;
mod source;
mod units;
mod verdict;
mod words;

pub(crate) use bits::Bits;
pub use cue_rows::SUPPORT_CUES;
pub use cues::{Cues, SupportCue};
pub use languages::configuration;
use parts::Sum;
pub use parts::{Contradiction, Quotation, Stretch, SupportParts, measures};
pub(crate) use quoted::says;
use reading::Reading;
pub(crate) use said::unit_starts;
pub(crate) use source::SourceUnits;
pub(crate) use units::{ClaimUnits, Vocabulary};
pub(crate) use verdict::{Verdict, Weighed};

use crate::Lexemes;

/// When support is enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SupportRules {
    /// Least support, in [0, 1], at which a claim counts as held.
    pub threshold: f64,
    /// By how much, in [0, 1], another source must be better before the content is said to belong to it.
    pub other_source_margin: f64,
}

/// A text and its content: a claim, or what is cited for it.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// The text, a claim without its citations.
    pub text: &'a str,
    /// What the server makes of it; of a source, its title may be among them.
    pub lexemes: &'a Lexemes,
}

/// Support of a claim by several texts together, outside any conversation; `None` when the claim has no content.
pub fn support(claim: Text<'_>, texts: &[Text<'_>], cues: &Cues) -> Option<SupportParts> {
    let mut vocabulary = Vocabulary::default();
    let claim = ClaimUnits::read(claim.text, claim.lexemes, cues, &mut vocabulary);
    let sources: Vec<SourceUnits<'_>> = texts
        .iter()
        .map(|text| SourceUnits::read(text.text, text.lexemes, cues, &vocabulary))
        .collect();
    let together = joint(&claim, &sources.iter().collect::<Vec<_>>(), cues)?;
    Some(together.parts)
}

/// What several sources say of a claim together.
pub(crate) struct Together {
    pub parts: SupportParts,
    /// The source that supports best alone; of equals the first.
    pub best: Option<usize>,
}

/// Support of a claim by several sources together; `None` when the claim has no content.
pub(crate) fn joint(
    claim: &ClaimUnits<'_>,
    sources: &[&SourceUnits<'_>],
    cues: &Cues,
) -> Option<Together> {
    if claim.units.is_empty() {
        return None;
    }
    let mut all = Reading::default();
    let mut best: Option<(f64, usize)> = None;
    for (text, source) in sources.iter().enumerate() {
        let reading = Reading::of(claim, source, text);
        let support = Sum::of(claim, &reading).support;
        if best.is_none_or(|(held, _)| support > held) {
            best = Some((support, text));
        }
        all = all.and(&reading);
    }
    Some(Together {
        parts: SupportParts::of(claim, &all, sources, cues),
        best: best.map(|(_, text)| text),
    })
}
