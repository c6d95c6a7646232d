//! A judged answer as rows of `message_citations`.

use reground_citations::{Reference, Source, excerpt};
use reground_grounding::end::JudgedAnswer;
use reground_grounding::end::parse_answer::ParsedAnswer;
use reground_grounding::memory::ContextSource;
use reground_grounding::prompt;

use crate::store::markers::Row as MarkerRow;
use crate::store::messages::NewCitation;

/// A row for each citation of the answer.
pub(super) fn citation_rows(
    read: &ParsedAnswer<'_>,
    judged: &JudgedAnswer,
    context: &[ContextSource],
    sources: &[Source],
    registry: &[MarkerRow],
) -> Vec<NewCitation> {
    let ParsedAnswer {
        answer, extraction, ..
    } = read;
    extraction
        .citations
        .iter()
        .zip(&judged.citations)
        .enumerate()
        .map(|(index, (extracted, cited))| {
            let verdict = &cited.judgement;
            let status = verdict.status;
            let source = verdict.source.and_then(|source| context.get(source));
            let written = match &extracted.reference {
                Reference::Marker { marker, .. } => Some(marker.clone()),
                _ => None,
            };
            let marker = verdict
                .source
                .and_then(|source| sources.get(source))
                .map(|source| source.marker.clone())
                .or(written);
            // A marker of an earlier turn: what it was bound to is in the registry.
            let bound = registry
                .iter()
                .find(|row| source.is_none() && marker.as_deref() == Some(row.marker.as_str()));
            let place = verdict.place.as_ref();
            let [coordinates, retrieval, rerank, in_context, generation] =
                cited.factors.0.map(|factor| factor.map(u8::from));
            NewCitation {
                citation_no: index + 1,
                raw: excerpt(extracted.raw(answer)).into_owned(),
                form: Some(extracted.form.to_string()),
                corpus: place.map(|place| place.corpus.clone()),
                doc_id: place.map(|place| place.doc_id.clone()),
                chunk_id: place.and_then(|place| place.chunk_id.clone()),
                title: place
                    .and_then(|place| place.title.clone())
                    .or_else(|| bound.and_then(|row| row.title.clone())),
                uri: place
                    .and_then(|place| place.uri.clone())
                    .or_else(|| bound.and_then(|row| row.uri.clone())),
                locator: source
                    .and_then(|source| prompt::locator(&source.candidate.passage))
                    .or_else(|| {
                        bound.and_then(|row| {
                            let bound = row.bound();
                            prompt::locate(bound.pages, bound.chars)
                        })
                    }),
                claim: extraction
                    .claim_of(extracted)
                    .map(|claim| excerpt(claim).into_owned()),
                quote: verdict
                    .quote
                    .as_ref()
                    .map(|quote| excerpt(&quote.text).into_owned()),
                quote_start: verdict.quote.as_ref().map(|quote| quote.chars.start),
                quote_end: verdict.quote.as_ref().map(|quote| quote.chars.end),
                fact_summary: source
                    .and_then(|source| source.facts.first())
                    .map(|fact| fact.text.clone()),
                status: Some(status.as_str()),
                holds: status.holds(),
                hallucination_mode: status.mode().map(|mode| mode.as_str()),
                score: status.score(),
                coordinate_fidelity: verdict.coordinate_fidelity,
                support: verdict.support,
                support_parts: verdict
                    .parts
                    .as_ref()
                    .and_then(|parts| serde_json::to_value(parts).ok()),
                diagnostic: status.diagnostic().map(|diagnostic| diagnostic.as_str()),
                detail: verdict.detail.map(|detail| detail.as_str()),
                best_other_marker: verdict
                    .best_other
                    .as_ref()
                    .map(|other| other.marker.clone()),
                factor_coordinates: coordinates,
                factor_retrieval: retrieval,
                factor_rerank: rerank,
                factor_context: in_context,
                factor_generation: generation,
                lost_stage: cited.factors.lost_stage().map(|stage| stage.as_str()),
                source_version: source
                    .map(|source| source.candidate.passage.version)
                    .or_else(|| bound.map(|row| row.version))
                    .flatten(),
                source_hash: source
                    .map(|source| source.candidate.passage.content_hash.clone())
                    .or_else(|| bound.map(|row| row.content_hash.clone())),
                repaired: verdict.repaired,
                answer_start: extracted.span.chars.start,
                answer_end: extracted.span.chars.end,
                byte_start: extracted.span.bytes.start,
                byte_end: extracted.span.bytes.end,
                utf16_start: extracted.span.utf16.start,
                utf16_end: extracted.span.utf16.end,
                marker,
            }
        })
        .collect()
}
