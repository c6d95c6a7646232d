//! `answer_parts`: returns a stored answer with its citations in the JSON shapes of APIs.

use std::collections::BTreeMap;

use pgrx::JsonB;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_citations::{
    CitationString, DisplayedAnswer, ExportedCitation, ExportedSource, Form, PartsFormat,
    StringKind, UnknownPartsFormat, answer_parts as parts,
};
use reground_grounding::end::evidence::Evidence;
use reground_grounding::end::parse_answer::ParsedAnswer;

use crate::api::answer::evidence::cited_sources::{self, StoredAnswer};
use crate::api::given;
use crate::error::{Error, Result, warn};
use crate::store::messages::StoredCitation;
use crate::tenant;

#[pg_extern(sql = false)]
fn answer_parts(
    message_id: Option<i64>,
    format: Option<&str>,
) -> std::result::Result<Option<JsonB>, ErrorReport> {
    let tenant = tenant::required()?;
    let message_id = given(message_id, "message_id")?;
    let format: PartsFormat =
        given(format, "format")?
            .parse()
            .map_err(|error: UnknownPartsFormat| Error::Bad {
                argument: "format",
                fault: error.to_string(),
                hint: "One of openai, anthropic, vercel.".into(),
            })?;
    let answer = StoredAnswer::load(&tenant, message_id)?;
    Ok(exported(&tenant, &answer, format)?)
}

fn exported(tenant: &str, answer: &StoredAnswer, format: PartsFormat) -> Result<Option<JsonB>> {
    let Some(read) = answer.parsed()? else {
        warn(
            "the answer was not stored",
            "The setting store_answers of its turn was hash.",
        );
        return Ok(None);
    };
    let strings: Vec<CitationString> = answer
        .citations
        .iter()
        .map(|citation| string(answer, citation, &read))
        .collect();
    let sentences = &read.extraction.sentences;
    let displayed = DisplayedAnswer::of(read.answer, &strings, &answer.markup()?, sentences);
    let evidence = cited_sources::evidence(tenant, answer)?;
    let mut sources = Sources::default();
    let cited = answer.citations.iter().zip(displayed.ranges).zip(evidence);
    let citations: Vec<ExportedCitation> = cited
        .filter_map(|((citation, range), evidence)| {
            let source = sources.index_of(answer, citation)?;
            Some(exported_citation(citation, range, source, evidence))
        })
        .collect();
    let value = parts(&displayed.text, &citations, &sources.list, format);
    Ok(Some(JsonB(value)))
}

/// How a citation is displayed.
fn string(
    answer: &StoredAnswer,
    citation: &StoredCitation,
    read: &ParsedAnswer<'_>,
) -> CitationString {
    let bytes = citation.byte_start..citation.byte_end;
    let raw = read.answer.get(bytes.clone()).unwrap_or_default();
    let form = citation.form.clone().map(Form::try_from);
    let form = form
        .and_then(std::result::Result::ok)
        .unwrap_or(Form::Mention);
    let from_api = answer.message.citations.is_some();
    let index = citation.citation_no.checked_sub(1);
    let parsed = index.and_then(|index| read.extraction.citations.get(index));
    let parsed = parsed.filter(|parsed| parsed.span.bytes == bytes);
    CitationString {
        sentence: parsed.and_then(|parsed| parsed.sentence),
        kind: StringKind::of(&form, raw, citation.status == "malformed", from_api),
        bytes,
    }
}

fn exported_citation(
    citation: &StoredCitation,
    range: std::ops::Range<usize>,
    source: usize,
    evidence: Evidence,
) -> ExportedCitation {
    ExportedCitation {
        citation_id: citation.citation_id,
        range,
        source,
        quote: evidence.quote,
        document: evidence.document,
        pages: evidence.pages.map(|pages| (pages.start, pages.end)),
        status: citation.status.clone(),
        holds: citation.holds,
    }
}

/// The cited sources, each once.
#[derive(Default)]
struct Sources {
    list: Vec<ExportedSource>,
    /// By marker, corpus, document and passage.
    index_of: BTreeMap<[Option<String>; 4], usize>,
}

impl Sources {
    /// The index of the source of a citation; `None` if it was not resolved.
    fn index_of(&mut self, answer: &StoredAnswer, citation: &StoredCitation) -> Option<usize> {
        let doc_id = citation.doc_id.clone()?;
        let context = &answer.turn.context;
        let marker = answer.source(citation).map(|source| source.marker.clone());
        let place = context
            .iter()
            .position(|source| Some(&source.marker) == marker.as_ref());
        let key = [
            marker.clone(),
            citation.corpus.clone(),
            Some(doc_id.clone()),
            citation.chunk_id.clone(),
        ];
        let next = self.list.len();
        let index = *self.index_of.entry(key).or_insert(next);
        if index == next {
            self.list.push(ExportedSource {
                index: place.unwrap_or(context.len() + next),
                marker,
                corpus: citation.corpus.clone().unwrap_or_default(),
                doc_id,
                chunk_id: citation.chunk_id.clone(),
                title: citation.title.clone(),
                uri: citation.uri.clone(),
            });
        }
        Some(index)
    }
}
