//! The verdict on each citation of an answer.

use reground_interrupt::{check_interrupt, checked};
use std::cell::OnceCell;
use std::collections::BTreeMap;

use super::claim_parts::{ClaimPart, claim_parts};
use super::evidence::{Evidence, EvidenceUnits};
use super::in_context::{Finding, Resolved};
use super::judgement::{BestOther, Judgement};
use super::status::Status;
use super::whole_answer::Statements;
use crate::resolving::{Resolution, SourceIndex};
use crate::support::{ClaimSupport, Quote, SourceUnits, Vocabulary};
use crate::{Error, Extraction, Reference, excerpt};

/// Judges all citations of an answer, in their order.
///
/// # Errors
/// [`Error::ClaimLexemes`] if `evidence.claims` and [`Extraction::compared_texts`] differ in length.
pub fn judge(extraction: &Extraction, evidence: &Evidence<'_>) -> Result<Vec<Judgement>, Error> {
    let compared_texts = extraction.claims.len() + extraction.statements.len();
    if evidence.claims.len() != compared_texts {
        return Err(Error::ClaimLexemes {
            claims: compared_texts,
            given: evidence.claims.len(),
        });
    }
    let index = SourceIndex::new(evidence.sources, evidence.known, evidence.named);
    let mut vocabulary = Vocabulary::default();
    let parts = claim_parts(extraction, evidence, &mut vocabulary);
    let statements = Statements::read(extraction, evidence, &mut vocabulary);
    // Without claims, no source is compared.
    let states = parts.iter().any(|part| part.claim.is_some()) || !statements.is_empty();
    let compared = match states {
        true => evidence.sources,
        false => &[],
    };
    let units = EvidenceUnits {
        evidence,
        sources: compared
            .iter()
            .map(|s| SourceUnits::read(&s.content, &s.lexemes, evidence.cues, &vocabulary))
            .collect(),
        named: evidence.named.iter().map(|_| OnceCell::new()).collect(),
        vocabulary,
    };
    let mut judged: Vec<(usize, Judgement)> = Vec::with_capacity(extraction.citations.len());
    let resolved = |number: &usize| {
        let citation = &extraction.citations[*number];
        let reference = &citation.reference;
        (
            *number,
            citation.repaired,
            reference,
            index.resolve(reference),
        )
    };
    for part in &parts {
        check_interrupt(1 + part.claim.as_ref().map_or(0, |claim| claim.units.len()));
        let resolved = checked(&part.citations).map(resolved).collect();
        judged.extend(units.judge_part(part, resolved));
    }
    judged.extend(units.judge_lists(extraction, &statements, &judged, resolved));
    judged.sort_unstable_by_key(|(number, _)| *number);
    Ok(judged.into_iter().map(|(_, judgement)| judgement).collect())
}

impl<'a> EvidenceUnits<'a> {
    /// Judges the citations of one claim, or of one part of a claim, together.
    fn judge_part(
        &self,
        part: &ClaimPart<'_>,
        resolved: Vec<Resolved<'_>>,
    ) -> Vec<(usize, Judgement)> {
        let claim = part.claim.as_ref();
        let support =
            claim.and_then(|claim| ClaimSupport::of(claim, &self.sources, self.evidence.cues));
        let meant: Vec<Option<usize>> = resolved
            .iter()
            .map(|(.., resolution)| meant_source(resolution, support.as_ref()))
            .collect();
        let cited: Vec<usize> = meant.iter().copied().flatten().collect();
        let joint = support.as_ref().map(|support| support.joint(&cited));
        // Each source is compared once, even if a sentence has ten thousand markers.
        let mut findings: BTreeMap<usize, Option<Finding>> = BTreeMap::new();
        let best_other = support
            .as_ref()
            .zip(joint.as_ref())
            .and_then(|(support, joint)| {
                let source = support.best_other(joint)?;
                let support = support.support(source);
                // A source without any support would not have been a better choice.
                (support > 0.0).then(|| BestOther {
                    source,
                    marker: self.evidence.sources[source].marker.clone(),
                    support,
                })
            });
        let judge =
            |((number, repaired, reference, resolution), meant): (Resolved<'_>, Option<usize>)| {
                let mut judgement = match meant {
                    Some(index) if self.evidence.sources[index].hidden => self.hidden(index),
                    Some(source) => {
                        let finding = findings.entry(source).or_insert_with(|| {
                            let support = support.as_ref()?;
                            let rules = &self.evidence.rules;
                            let units = &self.sources[source];
                            Some(Finding {
                                verdict: support.verdict(source, joint.as_ref()?, rules),
                                parts: support.parts(source, units),
                                quote: Quote::best(units, claim?),
                            })
                        });
                        self.in_context(
                            source,
                            &resolution,
                            finding.clone(),
                            reference.position().pages,
                        )
                    }
                    None => self.outside_context(&resolution, claim, reference),
                };
                judgement.repaired |= repaired;
                if let Some(parts) = &mut judgement.parts {
                    parts.segment = part.segment.map(|words| excerpt(words.trim()).into_owned());
                }
                if matches!(reference, Reference::Mention { .. })
                    && judgement.status.holds() == Some(true)
                {
                    judgement.status = Status::Imprecise;
                }
                if judgement.place.is_some() {
                    judgement.best_other = best_other.clone();
                }
                (number, judgement)
            };
        resolved.into_iter().zip(meant).map(judge).collect()
    }
}

/// Returns the source of the context that a resolution means. If there are several, it is the one that supports the
/// claim best.
fn meant_source(
    resolution: &Resolution,
    claim_support: Option<&ClaimSupport<'_>>,
) -> Option<usize> {
    let Resolution::Context { sources, .. } = resolution else {
        return None;
    };
    match claim_support {
        Some(claim_support) => claim_support.best(sources.iter().copied()),
        None => sources.first().copied(),
    }
}
