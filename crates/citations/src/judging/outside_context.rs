//! Verdicts on citations whose place is not in the context.

use reground_documents::TextPlace;

use super::evidence::EvidenceUnits;
use super::judgement::{Detail, Judgement, Place};
use super::status::Status;
use crate::resolving::Resolution;
use crate::support::{ClaimUnits, Quote, joint};
use crate::{Interval, NamedDocument, NamedPassage, Reference, SupportParts};

impl EvidenceUnits<'_> {
    pub(super) fn outside_context(
        &self,
        resolution: &Resolution,
        claim: Option<&ClaimUnits<'_>>,
        reference: &Reference,
    ) -> Judgement {
        let pages = reference.position().pages;
        let mut judgement = match resolution {
            Resolution::Context { .. } | Resolution::Unknown => {
                Judgement::of(Status::UnknownId, None)
            }
            Resolution::OutsideContext { documents } => {
                self.judge_documents(documents, claim, pages)
            }
            Resolution::NotFound { source } => {
                let source = &self.evidence.sources[*source];
                let place = Place {
                    chunk_id: None,
                    ..Place::of_source(source, pages)
                };
                Judgement {
                    detail: Some(Detail::InvalidPage),
                    ..Judgement::of(Status::InvalidPage, Some(place))
                }
            }
            Resolution::Stale { known } => {
                let known = &self.evidence.known[*known];
                let place = Place {
                    corpus: known.corpus.clone(),
                    doc_id: known.doc_id.clone(),
                    chunk_id: Some(known.chunk_id.clone()),
                    pages: pages.or(known.pages),
                    locator: None,
                    title: None,
                    uri: None,
                };
                Judgement {
                    detail: Some(Detail::StaleTurn),
                    ..Judgement::of(Status::StaleTurn, Some(place))
                }
            }
            Resolution::OutOfBounds { document } => {
                let document = &self.evidence.named[*document];
                Judgement::of(
                    Status::OutOfBounds,
                    Some(Place::of_document(document, None, pages)),
                )
            }
            Resolution::Malformed => Judgement::of(Status::Malformed, None),
            Resolution::Unresolvable => Judgement::of(Status::Unresolvable, None),
        };
        if judgement.status.score().is_some() {
            judgement.coordinate_fidelity = Some(0.0);
        }
        if let Reference::Malformed(why) = reference {
            judgement.detail = Some(Detail::Malformed(*why));
        }
        judgement
    }

    /// Judges a place that exists outside the context by whether it supports the claim.
    fn judge_documents(
        &self,
        documents: &[usize],
        claim: Option<&ClaimUnits<'_>>,
        pages: Option<Interval>,
    ) -> Judgement {
        let looked = documents.iter().map(|&index| {
            let document = &self.evidence.named[index];
            let passages = &document.passages;
            let at_place: Vec<usize> = (0..passages.len())
                .filter(|&passage| is_at(document, &passages[passage], pages))
                .collect();
            let units: Vec<_> = at_place
                .iter()
                .map(|&passage| &self.passages(index)[passage])
                .collect();
            let together = claim.and_then(|claim| joint(claim, &units, self.evidence.cues));
            let best = together.as_ref().and_then(|together| together.best);
            let passage = at_place.get(best.unwrap_or(0)).copied();
            // The passages of a long document together contain nearly any word. So without claimed pages only the
            // best passage counts.
            let placed = pages.is_some() || document.place.is_some();
            let parts = together.map(|together| match (placed, claim, best) {
                (false, Some(claim), Some(best)) => {
                    SupportParts::alone(claim, units[best], self.evidence.cues)
                }
                _ => together.parts,
            });
            (parts, index, passage)
        });
        let support_of = |parts: &Option<SupportParts>| parts.as_ref().map(|parts| parts.support);
        let better = |best: &Option<SupportParts>, next: &Option<SupportParts>| {
            support_of(next) > support_of(best)
        };
        let best = looked.reduce(|best, next| if better(&best.0, &next.0) { next } else { best });
        let Some((parts, index, passage)) = best else {
            return Judgement::of(Status::UnknownId, None);
        };
        let document = &self.evidence.named[index];
        let support = support_of(&parts);
        let (status, detail) = match support {
            Some(support) if support < self.evidence.rules.threshold => {
                (Status::InvalidPage, Detail::InvalidPage)
            }
            _ => (Status::Unretrieved, Detail::Unretrieved),
        };
        let cited = passage.map(|passage| &document.passages[passage]);
        let quote = passage.zip(claim);
        let quote =
            quote.and_then(|(passage, claim)| Quote::best(&self.passages(index)[passage], claim));
        Judgement {
            support,
            parts,
            quote,
            detail: Some(detail),
            ..Judgement::of(status, Some(Place::of_document(document, cited, pages)))
        }
    }
}

/// Returns whether a passage is at the claimed pages, and at the claimed paragraphs or lines if they are known.
fn is_at(document: &NamedDocument, passage: &NamedPassage, pages: Option<Interval>) -> bool {
    let on_pages = match (pages, passage.pages) {
        (Some(claimed), Some(pages)) => claimed.shared_with(pages).is_some(),
        _ => true,
    };
    let in_text = match (&document.place, &passage.chars) {
        (Some(TextPlace::Chars(claimed)), Some(chars)) => {
            claimed.start < chars.end && chars.start < claimed.end
        }
        _ => true,
    };
    on_pages && in_text
}
