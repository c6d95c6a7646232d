//! Verdicts on citations of sources of the context.

use super::evidence::EvidenceUnits;
use super::judgement::{Detail, Judgement, Place};
use super::status::Status;
use crate::resolving::Resolution;
use crate::support::{Quote, Verdict};
use crate::{Interval, Reference, SupportParts};

/// Index of the citation, whether its string was repaired, its reference, and the resolution of the reference.
pub(super) type Resolved<'a> = (usize, bool, &'a Reference, Resolution);

/// The result of comparing one source with a claim. All citations of the claim that name the source share it.
#[derive(Clone)]
pub(super) struct Finding {
    pub verdict: Verdict,
    pub parts: SupportParts,
    pub quote: Option<Quote>,
}

impl EvidenceUnits<'_> {
    /// The judgement on a citation of a hidden source.
    pub(super) fn hidden(&self, index: usize) -> Judgement {
        let place = Place::of_source(&self.evidence.sources[index], None);
        Judgement {
            source: Some(index),
            ..Judgement::of(Status::Unresolvable, Some(place))
        }
    }

    pub(super) fn in_context(
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
