//! The verdict on each citation of an answer.

use reground_interrupt::{check_interrupt, checked};
use std::cell::OnceCell;
use std::collections::BTreeMap;

use super::claim_parts::{ClaimPart, claim_parts};
use super::evidence::{Evidence, EvidenceUnits};
use super::judgement::{BestOther, Detail, Judgement, Place};
use super::status::Status;
use crate::resolving::{Resolution, SourceIndex};
use crate::support::{ClaimSupport, Quote, SourceUnits, Verdict, Vocabulary};
use crate::{Error, Extraction, Interval, Reference, SupportParts, excerpt};

/// Judges all citations of an answer, in their order.
///
/// # Errors
/// [`Error::ClaimLexemes`] if `evidence.claims` and `extraction.claims` differ in length.
pub fn judge(extraction: &Extraction, evidence: &Evidence<'_>) -> Result<Vec<Judgement>, Error> {
    if evidence.claims.len() != extraction.claims.len() {
        return Err(Error::ClaimLexemes {
            claims: extraction.claims.len(),
            given: evidence.claims.len(),
        });
    }
    let index = SourceIndex::new(evidence.sources, evidence.known, evidence.named);
    let mut vocabulary = Vocabulary::default();
    let parts = claim_parts(extraction, evidence, &mut vocabulary);
    // Without claims, no source is compared.
    let compared = match parts.iter().any(|part| part.claim.is_some()) {
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
    for part in &parts {
        check_interrupt(1 + part.claim.as_ref().map_or(0, |claim| claim.units.len()));
        let resolved = checked(&part.citations)
            .map(|&number| {
                let citation = &extraction.citations[number];
                (
                    number,
                    citation.repaired,
                    &citation.reference,
                    index.resolve(&citation.reference),
                )
            })
            .collect();
        judged.extend(units.judge_part(part, resolved));
    }
    judged.sort_unstable_by_key(|(number, _)| *number);
    Ok(judged.into_iter().map(|(_, judgement)| judgement).collect())
}

/// Index of the citation, whether its string was repaired, its reference, and the resolution of the reference.
type Resolved<'a> = (usize, bool, &'a Reference, Resolution);

/// The result of comparing one source with a claim. All citations of the claim that name the source share it.
#[derive(Clone)]
struct Finding {
    verdict: Verdict,
    parts: SupportParts,
    quote: Option<Quote>,
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

    /// The judgement on a citation of a hidden source.
    fn hidden(&self, index: usize) -> Judgement {
        let place = Place::of_source(&self.evidence.sources[index], None);
        Judgement {
            source: Some(index),
            ..Judgement::of(Status::Unresolvable, Some(place))
        }
    }

    fn in_context(
        &self,
        index: usize,
        resolution: &Resolution,
        finding: Option<Finding>,
        pages: Option<Interval>,
    ) -> Judgement {
        let source = &self.evidence.sources[index];
        let (fidelity, repaired) = match resolution {
            Resolution::Context {
                fidelity, repaired, ..
            } => (*fidelity, *repaired),
            _ => (0.0, false),
        };
        let verdict = finding.as_ref().map(|finding| finding.verdict);
        let status = match verdict {
            Some(Verdict::WrongSource) => Status::WrongSource,
            Some(Verdict::Unsupported) => Status::Unsupported,
            Some(Verdict::InsufficientAttribution) => Status::InsufficientAttribution,
            Some(Verdict::Held) | None if source.carried => Status::ResolvedCarried,
            Some(Verdict::Held) | None => Status::ResolvedCurrent,
        };
        let support = finding.as_ref().map(|finding| finding.parts.support);
        let jointly = verdict == Some(Verdict::Held)
            && support.is_some_and(|support| support < self.evidence.rules.threshold);
        let detail = match (jointly, fidelity < 1.0, pages) {
            (true, ..) => Some(Detail::HeldJointly),
            (_, true, Some(_)) if source.pages.is_some() => Some(Detail::PagesPartlyInContext),
            (_, true, _) => Some(Detail::DocumentOnly),
            _ => None,
        };
        Judgement {
            source: Some(index),
            coordinate_fidelity: Some(fidelity),
            support,
            quote: finding.as_ref().and_then(|finding| finding.quote.clone()),
            parts: finding.map(|finding| finding.parts),
            repaired,
            detail,
            ..Judgement::of(status, Some(Place::of_source(source, pages)))
        }
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
