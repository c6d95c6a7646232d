//! The verdict on each citation of an answer.

use reground_interrupt::{check_interrupt, checked};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::claim_parts::{ClaimPart, claim_parts};
use super::evidence::{Evidence, EvidenceUnits};
use super::in_context::{Finding, Resolved};
use super::judgement::{BestOther, Judgement};
use super::status::Status;
use super::whole_answer::{Statements, lists};
use crate::resolving::{Resolution, SourceIndex};
use crate::support::{ClaimSupport, Quote, SourceUnits, Vocabulary};
use crate::{Claim, Error, Extraction, Reference, excerpt};

/// Judges all citations of an answer, in their order.
///
/// # Errors
/// [`Error::ClaimLexemes`] if `evidence.claims` and [`Extraction::compared_texts`] differ in length.
pub fn judge(extraction: &Extraction, evidence: &Evidence<'_>) -> Result<Vec<Judgement>, Error> {
    Ok(judge_all(extraction, evidence, false)?.0)
}

/// As [`judge`], and compares each statement of the answer with all sources, cited or not. A statement without content has `None`.
///
/// # Errors
/// As [`judge`].
pub fn judge_statements(
    extraction: &Extraction,
    evidence: &Evidence<'_>,
) -> Result<(Vec<Judgement>, Vec<Option<StatementSupport>>), Error> {
    judge_all(extraction, evidence, true)
}

fn judge_all(
    extraction: &Extraction,
    evidence: &Evidence<'_>,
    stated: bool,
) -> Result<(Vec<Judgement>, Vec<Option<StatementSupport>>), Error> {
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
    let lists = lists(extraction);
    // A statement with the text of a claim is compared once. Citations of the answer need the units of all statements.
    let claimed: BTreeSet<&str> = match stated && lists.is_empty() {
        true => checked(&parts).filter_map(|part| part.whole).collect(),
        false => BTreeSet::new(),
    };
    let statements = Statements::read(extraction, evidence, &mut vocabulary, &claimed);
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
    let mut compared: BTreeMap<&str, StatementSupport> = BTreeMap::new();
    for part in &parts {
        check_interrupt(1 + part.claim.as_ref().map_or(0, |claim| claim.units.len()));
        let resolved = checked(&part.citations).map(resolved).collect();
        let claim = part.claim.as_ref();
        let support =
            claim.and_then(|claim| ClaimSupport::of(claim, &units.sources, evidence.cues));
        judged.extend(units.judge_part(part, support.as_ref(), resolved));
        let whole = part.whole.filter(|text| claimed.contains(text));
        compared.extend(whole.zip(support.as_ref().map(StatementSupport::of)));
    }
    let supports = match stated || !lists.is_empty() {
        true => statements.supports(&units),
        false => Vec::new(),
    };
    judged.extend(units.judge_lists(extraction, lists, &statements, &supports, &judged, resolved));
    judged.sort_unstable_by_key(|(number, _)| *number);
    let mut others = supports.iter();
    let support = |statement: &Claim| match claimed.contains(statement.text.as_str()) {
        true => compared.get(statement.text.as_str()).cloned(),
        false => others.next()?.as_ref().map(StatementSupport::of),
    };
    Ok((
        judged.into_iter().map(|(_, judgement)| judgement).collect(),
        match stated {
            true => checked(&extraction.statements).map(support).collect(),
            false => Vec::new(),
        },
    ))
}

/// The support of a statement by the sources of the context, whether it cites them or not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatementSupport {
    /// Number of content units of the statement.
    pub units: usize,
    /// The source with the highest support alone; the first in case of a tie.
    pub best: Option<usize>,
    /// Support by each source alone, in [0, 1].
    pub alone: Vec<f64>,
    /// Support by the best source together with the one that adds most, in [0, 1].
    pub pair: f64,
}

impl StatementSupport {
    fn of(support: &ClaimSupport<'_>) -> Self {
        let sources = support.sources();
        let best = support.best(0..sources);
        Self {
            units: support.units(),
            best,
            alone: (0..sources).map(|source| support.support(source)).collect(),
            pair: best.map_or(0.0, |best| support.joint(&[best]).one_more()),
        }
    }
}

impl<'a> EvidenceUnits<'a> {
    /// Judges the citations of one claim, or of one part of a claim, together.
    fn judge_part(
        &self,
        part: &ClaimPart<'_>,
        support: Option<&ClaimSupport<'_>>,
        resolved: Vec<Resolved<'_>>,
    ) -> Vec<(usize, Judgement)> {
        let claim = part.claim.as_ref();
        let meant: Vec<Option<usize>> = resolved
            .iter()
            .map(|(.., resolution)| meant_source(resolution, support))
            .collect();
        let cited: Vec<usize> = meant.iter().copied().flatten().collect();
        let joint = support.map(|support| support.joint(&cited));
        // Each source is compared once, even if a sentence has ten thousand markers.
        let mut findings: BTreeMap<usize, Option<Finding>> = BTreeMap::new();
        let best_other = support.zip(joint.as_ref()).and_then(|(support, joint)| {
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
                            let support = support?;
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
                if part.claim.is_some() && judgement.status != Status::Malformed {
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
