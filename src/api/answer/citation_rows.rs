//! A judged answer as rows of `message_citations`.

use reground_citations::{
    ANSWER_SUPPORT, ExtractedCitation, Judgement, Reference, Source, excerpt,
};
use reground_grounding::end::parse_answer::ParsedAnswer;
use reground_grounding::end::{JudgedAnswer, JudgedCitation};
use reground_grounding::memory::ContextSource;
use reground_interrupt::check_interrupt;
use serde_json::Value;

use crate::store::markers::Row as MarkerRow;
use crate::store::messages::NewCitation;

/// Work of one row, in the steps that [`check_interrupt`] counts: an answer may have 65,536 citations.
const ROW_WORK: usize = 1024;

/// Returns a row for each citation of the answer.
pub(in crate::api) fn citation_rows(
    read: &ParsedAnswer<'_>,
    judged: &JudgedAnswer,
    context: &[ContextSource],
    sources: &[Source],
    registry: &[MarkerRow],
) -> Vec<NewCitation> {
    let citations = read.extraction.citations.iter().zip(&judged.citations);
    (1..)
        .zip(citations)
        .map(|(citation_no, (extracted, judged))| {
            check_interrupt(ROW_WORK);
            let source = judged.judgement.source;
            let cited = CitedSource::find(extracted, source, context, sources, registry);
            let row = NewCitation {
                citation_no,
                ..verdict(judged)
            };
            cited.describe(with_text(row, read, extracted), judged)
        })
        .collect()
}

/// The source that a citation resolved to.
struct CitedSource<'a> {
    /// Marker of the source, otherwise the marker in the citation.
    marker: Option<String>,
    /// The source in the context of the turn.
    source: Option<&'a ContextSource>,
    /// For a marker of an earlier turn: its row in the registry of the conversation.
    bound: Option<&'a MarkerRow>,
}

impl<'a> CitedSource<'a> {
    fn find(
        extracted: &ExtractedCitation,
        source: Option<usize>,
        context: &'a [ContextSource],
        sources: &[Source],
        registry: &'a [MarkerRow],
    ) -> Self {
        let written = match &extracted.reference {
            Reference::Marker { marker, .. } => Some(marker.clone()),
            _ => None,
        };
        let marker = source
            .and_then(|source| sources.get(source))
            .map(|source| source.marker.clone())
            .or(written);
        let source = source.and_then(|source| context.get(source));
        let bound = registry
            .iter()
            .find(|row| source.is_none() && marker.as_deref() == Some(row.marker.as_str()));
        Self {
            marker,
            source,
            bound,
        }
    }

    /// Adds the columns of the source to a row.
    fn describe(self, row: NewCitation, judged: &JudgedCitation) -> NewCitation {
        let Self {
            marker,
            source,
            bound,
        } = self;
        let place = judged.judgement.place.as_ref();
        let quote = judged.judgement.quote.as_ref().map(|quote| &quote.chars);
        let in_row = quote.and_then(|chars| match source {
            Some(source) => source.in_row(chars.start, chars.end),
            None => Some((chars.start, chars.end)),
        });
        NewCitation {
            marker,
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
                .and_then(|source| source.candidate.passage.locator())
                .or_else(|| bound.and_then(|row| row.locator.clone()))
                .or_else(|| place.and_then(|place| place.locator.clone())),
            fact_summary: row.quote.clone().or_else(|| {
                let fact = source?.facts.first()?;
                Some(fact.text.clone())
            }),
            quote_start: in_row.map(|(start, _)| start),
            quote_end: in_row.map(|(_, end)| end),
            source_version: source
                .map(|source| source.candidate.passage.version)
                .or_else(|| bound.map(|row| row.version))
                .flatten(),
            source_hash: source
                .map(|source| source.candidate.passage.content_hash.clone())
                .or_else(|| bound.map(|row| row.content_hash.clone())),
            ..row
        }
    }
}

/// Adds the text of a citation and its position in the answer to a row.
fn with_text(
    row: NewCitation,
    read: &ParsedAnswer<'_>,
    extracted: &ExtractedCitation,
) -> NewCitation {
    NewCitation {
        raw: excerpt(extracted.raw(read.answer)).into_owned(),
        form: Some(extracted.form.to_string()),
        scope: Some(extracted.scope.as_str()),
        claim: read
            .extraction
            .claim_of(extracted)
            .map(|claim| excerpt(claim).into_owned()),
        ..row
    }
    .at(&extracted.span)
}

/// The parts of the support. Those of a citation of the answer include the support of its statements.
fn support_parts(verdict: &Judgement) -> Option<Value> {
    let mut parts = serde_json::to_value(verdict.parts.as_ref()?).ok()?;
    if let (Some(members), Some(answer)) = (parts.as_object_mut(), verdict.answer) {
        members.insert(
            ANSWER_SUPPORT.to_owned(),
            serde_json::to_value(answer).ok()?,
        );
    }
    Some(parts)
}

/// A row with the verdict and the stage factors of a citation.
fn verdict(judged: &JudgedCitation) -> NewCitation {
    let verdict = &judged.judgement;
    let (status, quote) = (verdict.status, verdict.quote.as_ref());
    let [coordinates, retrieval, rerank, context, generation] =
        judged.factors.0.map(|factor| factor.map(u8::from));
    NewCitation {
        quote: quote.map(|quote| excerpt(&quote.text).into_owned()),
        status: Some(status.as_str()),
        holds: status.holds(),
        hallucination_mode: status.mode().map(|mode| mode.as_str()),
        score: status.score(),
        coordinate_fidelity: verdict.coordinate_fidelity,
        support: verdict.support,
        support_parts: support_parts(verdict),
        diagnostic: status.diagnostic().map(|diagnostic| diagnostic.as_str()),
        detail: verdict.detail.map(|detail| detail.as_str()),
        best_other_marker: verdict
            .best_other
            .as_ref()
            .map(|other| other.marker.clone()),
        factor_coordinates: coordinates,
        factor_retrieval: retrieval,
        factor_rerank: rerank,
        factor_context: context,
        factor_generation: generation,
        lost_stage: judged.factors.lost_stage().map(|stage| stage.as_str()),
        repaired: verdict.repaired,
        ..NewCitation::default()
    }
}
