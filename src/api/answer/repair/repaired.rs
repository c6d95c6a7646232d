//! A judged answer with its corrections, and the verdicts on the corrected text.

use reground_citations::RepairMode;
use reground_grounding::caller::fingerprint::Fingerprint;
use reground_grounding::end::parse_answer::{self, ParsedAnswer};
use reground_grounding::end::repair::{AnswerChange, ToRepair, moved};
use reground_grounding::end::{EndRules, JudgedAnswer};
use serde::Serialize;

use crate::api::answer::judging::judge;
use crate::api::answer::judging::judge::AnswerVerdict;
use crate::api::answer::judging::judge_context::JudgeContext;
use crate::error::Result;
use crate::profile::stage;
use crate::store::chain::{self, About};
use crate::store::messages::{self, NewCitation, NewMessage, Origin, Scored};
use crate::store::repairs;

/// A corrected answer.
pub(in crate::api) struct Repaired {
    /// The text to show.
    pub text: String,
    pub changes: Vec<AnswerChange>,
    fingerprint: Fingerprint,
    answer_tokens: usize,
    judged: JudgedAnswer,
    /// A row for each citation of the text.
    citations: Vec<NewCitation>,
}

/// The answer that was corrected.
pub(in crate::api) struct Original<'a> {
    pub message_id: i64,
    pub conversation_id: i64,
    pub turn_id: i64,
    pub origin: Origin,
    pub model: Option<&'a str>,
    /// Whether the text of the answer is stored.
    pub stores_text: bool,
    /// Whether the answer becomes a link in the chain of its conversation.
    pub chains: bool,
}

impl Repaired {
    /// Corrects an answer whose statements were compared with the sources; `None` if nothing changes.
    pub fn of(
        read: &ParsedAnswer<'_>,
        verdict: &AnswerVerdict,
        context: &JudgeContext<'_>,
        mode: RepairMode,
    ) -> Result<Option<Self>> {
        let given = to_repair(read, verdict, context);
        let repaired = stage("repair", || given.repaired(mode));
        if repaired.changes.is_empty() {
            return Ok(None);
        }
        let (judged, citations) = match moved(&read.extraction, &repaired) {
            true => {
                let moved = verdict.citations.iter().zip(&repaired.extraction.citations);
                let moved = moved.map(|(citation, after)| citation.clone().at(&after.span));
                (verdict.judged.clone(), moved.collect())
            }
            false => {
                let after = ParsedAnswer {
                    answer: &repaired.text,
                    extraction: repaired.extraction.clone(),
                    ..ParsedAnswer::default()
                };
                let verdict = judge::judge(&after, context)?;
                (verdict.judged, verdict.citations)
            }
        };
        let changes = given.changes(&repaired, &judged);
        Ok(Some(Self {
            fingerprint: Fingerprint::of(&repaired.text, None),
            answer_tokens: stage("tokens", || reground_tokens::count(&repaired.text)),
            text: repaired.text,
            changes,
            judged,
            citations,
        }))
    }

    /// Stores the corrected copy as an answer of its own with the changes, and links it to the chain of its conversation; returns its message_id.
    pub fn store(&self, tenant: &str, of: &Original<'_>, mode: RepairMode) -> Result<i64> {
        let message_id = messages::reserve_copy()?;
        let copy = NewMessage {
            message_id,
            conversation_id: of.conversation_id,
            turn_id: of.turn_id,
            origin: of.origin,
            message_ref: None,
            answer: Some(self.text.as_str()).filter(|_| of.stores_text),
            fingerprint: &self.fingerprint,
            answer_tokens: self.answer_tokens,
            model: of.model,
            usage: None,
            citations: None,
            tags: None,
            created_at: None,
            scored: Scored::from(&self.judged),
            repair_of: Some(of.message_id),
            repair_mode: Some(mode.as_str()),
            cited: NewCitation::stored(&self.citations, of.stores_text),
        };
        messages::insert(tenant, &[copy])?;
        repairs::insert(tenant, message_id, &self.changes, of.stores_text)?;
        if of.chains {
            let link = About::Answer(of.turn_id, message_id);
            chain::append(tenant, of.conversation_id, link)?;
        }
        Ok(message_id)
    }
}

/// The corrected text of a part of an answer. `in_list` tells whether it begins in a list of references.
pub(in crate::api) fn corrected(
    part: &str,
    in_list: bool,
    context: &JudgeContext<'_>,
    mode: RepairMode,
) -> Result<String> {
    let read = parse_answer::parse_statements(part, context.grammar, in_list);
    let verdict = judge::judge(&read, context)?;
    let given = to_repair(&read, &verdict, context);
    Ok(stage("repair", || given.repaired(mode)).text)
}

fn to_repair<'a>(
    read: &'a ParsedAnswer<'a>,
    verdict: &'a AnswerVerdict,
    context: &JudgeContext<'a>,
) -> ToRepair<'a> {
    ToRepair {
        read,
        judged: &verdict.judged,
        sources: &verdict.sources,
        grammar: context.grammar,
        rules: EndRules::from(context.settings),
    }
}

/// A row of `repair_answer` and `repair_text`. Without changes, one row contains only the answer.
#[derive(Serialize)]
pub(super) struct RepairRow<'a> {
    pub message_id: Option<i64>,
    /// Only in the first row, because an answer can have many changes.
    pub answer: Option<&'a str>,
    #[serde(flatten)]
    pub change: Option<&'a AnswerChange>,
}

impl<'a> RepairRow<'a> {
    /// A row for each change of an answer.
    pub fn of(message_id: Option<i64>, answer: &'a str, changes: &'a [AnswerChange]) -> Vec<Self> {
        let changes = changes.iter().map(Some);
        let answers = std::iter::once(Some(answer)).chain(std::iter::repeat(None));
        let row = |(change, answer)| Self {
            message_id,
            answer,
            change,
        };
        let rows: Vec<Self> = changes.zip(answers).map(row).collect();
        match rows.is_empty() {
            true => vec![row((None, Some(answer)))],
            false => rows,
        }
    }
}
