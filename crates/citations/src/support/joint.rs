//! Support of a claim by several texts together.

use super::comparison::Comparison;
use super::language::Cues;
use super::parts::{SupportParts, SupportSum};
use super::source::SourceUnits;
use super::units::{ClaimUnits, Vocabulary};
use crate::Lexemes;

/// A text and its content: a claim or a cited text.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// The text; a claim without its citations.
    pub text: &'a str,
    /// The lexemes of the text. Those of a source may include its title.
    pub lexemes: &'a Lexemes,
}

/// Computes the support of a claim by several texts together; `None` if the claim has no content.
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

/// Support of a claim by several sources together.
pub(crate) struct JointSupport {
    pub parts: SupportParts,
    /// The source with the highest support alone; the first in case of a tie.
    pub best: Option<usize>,
}

/// Computes the support of a claim by several sources together; `None` if the claim has no content.
pub(crate) fn joint(
    claim: &ClaimUnits<'_>,
    sources: &[&SourceUnits<'_>],
    cues: &Cues,
) -> Option<JointSupport> {
    if claim.units.is_empty() {
        return None;
    }
    let mut all = Comparison::default();
    let mut best: Option<(f64, usize)> = None;
    for (text, source) in sources.iter().enumerate() {
        let comparison = Comparison::of(claim, source, text);
        let support = SupportSum::of(claim, &comparison).support;
        if best.is_none_or(|(held, _)| support > held) {
            best = Some((support, text));
        }
        all = all.and(&comparison);
    }
    Some(JointSupport {
        parts: SupportParts::of(claim, &all, sources, cues),
        best: best.map(|(_, text)| text),
    })
}
