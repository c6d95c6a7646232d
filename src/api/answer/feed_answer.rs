//! `feed_answer`: judges an answer while it is streamed. Nothing is stored between calls: the caller passes the position at which
//! the text that is still open begins.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use pgrx::spi::quote_literal;
use reground_citations::{
    Extraction, InvalidResume, PartialExtraction, Position, Reference, Resume,
};
use reground_grounding::end::parse_answer::ParsedAnswer;
use serde::Serialize;

use crate::api::answer::hidden_citations::without_hidden;
use crate::api::answer::judging::judge;
use crate::api::answer::judging::judge_context::TurnEvidence;
use crate::api::answer::repair::corrected;
use crate::api::conversation::prompts::with_context;
use crate::api::given;
use crate::error::{Error, Result};
use crate::profile::{self, stage};
use crate::rows;
use crate::store::messages::NewCitation;
use crate::store::turns::Turn;
use crate::tenant;

/// A row of `feed_answer`. Without citations, one row contains only the displayable length and the position.
#[derive(Serialize)]
struct FeedRow<'a> {
    displayable_chars: usize,
    displayable_bytes: usize,
    displayable_utf16: usize,
    #[serde(flatten)]
    citation: Option<&'a NewCitation>,
    resume: &'a str,
    /// Of the first row.
    final_text: Option<&'a str>,
    open_text: Option<&'a str>,
}

#[pg_extern(sql = false)]
fn feed_answer(
    turn_id: Option<i64>,
    answer_so_far: Option<&str>,
    complete: Option<bool>,
    resume_from: Option<&str>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let tenant = tenant::required()?;
    let answer = given(answer_so_far, "answer_so_far")?;
    let complete = given(complete, "complete")?;
    let from = resume_from.map_or(Ok(Resume::default()), |text| {
        text.parse().map_err(|fault| invalid(text, fault))
    })?;
    profile::call("feed_answer", || {
        let turn = stage("turn", || with_context(turn_id))?;
        let part = Part {
            answer,
            complete,
            from,
        };
        let fed = part.fed(&tenant, &turn)?;
        stage("rows", || rows::emit(fcinfo, &fed.rows()))
    })?;
    Ok(())
}

fn invalid(resume_from: &str, fault: InvalidResume) -> Error {
    Error::Bad {
        argument: "resume_from",
        fault: format!("{} is {fault}", quote_literal(resume_from)),
        hint: "Pass the column resume of the previous call for the same answer, and the whole answer so far."
            .into(),
    }
}

/// An answer that grows, and the position at which the reading begins.
struct Part<'a> {
    answer: &'a str,
    complete: bool,
    from: Resume,
}

/// The citations that are new, and those that are not final.
struct Fed {
    displayable_chars: usize,
    displayable_bytes: usize,
    displayable_utf16: usize,
    citations: Vec<NewCitation>,
    resume: String,
    /// The text from the position of this call to that of the next one, corrected if the settings say so.
    final_text: String,
    /// The text after it that can be displayed.
    open_text: String,
}

impl Part<'_> {
    fn fed(&self, tenant: &str, turn: &Turn) -> Result<Fed> {
        let Self {
            answer,
            complete,
            from,
        } = self;
        let evidence = TurnEvidence::load(tenant, turn)?;
        let fed = stage("parse", || {
            reground_citations::feed_from(answer, &evidence.grammar, *complete, from)
                .map_err(|fault| invalid(&from.to_string(), fault))
        })?;
        let shown = answer.get(from.bytes..fed.shown).unwrap_or_default();
        let displayable_chars = from.chars + shown.chars().count();
        let displayable_utf16 = from.utf16 + shown.encode_utf16().count();
        let (displayable_bytes, resume) = (fed.shown, fed.resume.to_string());
        let end = match complete {
            true => answer.len(),
            false => fed.resume.bytes,
        };
        let finished = answer.get(from.bytes..end).unwrap_or_default();
        let final_text = match evidence.settings.repair {
            Some(mode) if !finished.is_empty() => {
                corrected(finished, from.in_list, &evidence.context(&[], &[]), mode)?
            }
            _ => finished.to_owned(),
        };
        let open_text = answer.get(end..fed.shown).unwrap_or_default().to_owned();
        let citations = match fed.extraction.citations.is_empty() {
            true => Vec::new(),
            false => self.judged(fed, &evidence, tenant, turn)?,
        };
        Ok(Fed {
            displayable_chars,
            displayable_bytes,
            displayable_utf16,
            citations,
            resume,
            final_text,
            open_text,
        })
    }

    /// Judges the citations of finished paragraphs, and resolves the others.
    fn judged(
        &self,
        fed: PartialExtraction,
        evidence: &TurnEvidence<'_>,
        tenant: &str,
        turn: &Turn,
    ) -> Result<Vec<NewCitation>> {
        let (placed, settled) = (fed.placed, fed.settled);
        let read = ParsedAnswer {
            answer: self.answer,
            extraction: fed.extraction,
            ..ParsedAnswer::default()
        };
        let compares = read.extraction.compared_texts().next().is_some();
        let verdict = judge::judge_part(&read, &evidence.context(&[], &[]), compares)?;
        let citations = without_hidden(tenant, turn, verdict.citations)?;
        // Citations of the answer need those before them, which earlier calls returned.
        let returned = self.from.settled.saturating_sub(settled);
        let citations = citations.into_iter().enumerate().skip(returned);
        Ok(citations
            .map(|(index, citation)| NewCitation {
                citation_no: settled + citation.citation_no,
                ..match index < placed {
                    true => citation,
                    false => pending(citation, &read.extraction, index),
                }
            })
            .collect())
    }
}

impl Fed {
    /// One row per citation, or one without a citation.
    fn rows(&self) -> Vec<FeedRow<'_>> {
        let row = |(number, citation)| FeedRow {
            displayable_chars: self.displayable_chars,
            displayable_bytes: self.displayable_bytes,
            displayable_utf16: self.displayable_utf16,
            citation,
            resume: &self.resume,
            final_text: (number == 0).then_some(self.final_text.as_str()),
            open_text: (number == 0).then_some(self.open_text.as_str()),
        };
        match self.citations.as_slice() {
            [] => vec![row((0, None))],
            citations => (0..).zip(citations.iter().map(Some)).map(row).collect(),
        }
    }
}

/// The columns of a citation that do not change while its paragraph continues: the source that it names, without the verdict.
fn pending(citation: NewCitation, extraction: &Extraction, index: usize) -> NewCitation {
    // For a document with several passages, the claim decides which passage is cited.
    let reference = extraction.citations.get(index).map(|c| &c.reference);
    let one_passage = match reference {
        // The name of a document may have the form of a marker.
        Some(Reference::Marker { marker, at, .. }) => {
            *at == Position::default() && citation.marker.as_ref() == Some(marker)
        }
        Some(Reference::Ordinal { at, .. }) => *at == Position::default(),
        _ => false,
    };
    NewCitation {
        chunk_id: citation.chunk_id.filter(|_| one_passage),
        locator: citation.locator.filter(|_| one_passage),
        scope: None,
        claim: None,
        quote: None,
        quote_start: None,
        quote_end: None,
        support_parts: None,
        status: None,
        holds: None,
        hallucination_mode: None,
        score: None,
        coordinate_fidelity: None,
        support: None,
        diagnostic: None,
        detail: None,
        best_other_marker: None,
        ..citation
    }
}
