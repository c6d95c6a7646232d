//! Support of a claim by several texts together.

use super::comparison::Comparison;
use super::language::Cues;
use super::parts::{SupportParts, SupportSum};
use super::source::SourceUnits;
use super::units::{ClaimUnits, Vocabulary};
use crate::Lexemes;

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
pub(crate) struct JointSupport {
    pub parts: SupportParts,
    /// The source that supports best alone; of equals the first.
    pub best: Option<usize>,
}

/// Support of a claim by several sources together; `None` when the claim has no content.
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
        let reading = Comparison::of(claim, source, text);
        let support = SupportSum::of(claim, &reading).support;
        if best.is_none_or(|(held, _)| support > held) {
            best = Some((support, text));
        }
        all = all.and(&reading);
    }
    Some(JointSupport {
        parts: SupportParts::of(claim, &all, sources, cues),
        best: best.map(|(_, text)| text),
    })
}
