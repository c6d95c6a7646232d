//! Corrects a judged answer, and describes each change with the verdicts before and after.

use reground_citations::{
    Change, ChangeKind, Extraction, Grammar, Judgement, RepairMode, RepairedAnswer, Source,
    Unrepaired, excerpt, repair,
};
use reground_interrupt::checked;
use serde::Serialize;

use super::parse_answer::ParsedAnswer;
use super::{EndRules, JudgedAnswer};

/// A judged answer, and what it was judged by.
#[derive(Clone, Copy, Debug)]
pub struct ToRepair<'a> {
    /// The answer, from [`parse_statements`](super::parse_answer::parse_statements).
    pub read: &'a ParsedAnswer<'a>,
    /// The verdicts.
    pub judged: &'a JudgedAnswer,
    /// The sources of the context.
    pub sources: &'a [Source],
    /// The grammar of the answer.
    pub grammar: &'a Grammar,
    /// The settings.
    pub rules: EndRules,
}

/// A change of an answer, with the verdicts before and after.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AnswerChange {
    /// Number of the change, from 1, in the order of the answer.
    pub change_no: usize,
    /// `repointed`, `removed`, `added`, `marked` or `sentence_removed`.
    pub change: &'static str,
    /// The status of the changed citation; `uncited` for an added one, and `no_support` for a sentence that nothing supports.
    pub reason: &'static str,
    /// Number of the changed citation in the original answer.
    pub citation_no: Option<usize>,
    /// The sentence of the original answer, with its citations.
    pub sentence: Option<String>,
    /// The changed text; empty for an addition.
    pub before: Option<String>,
    /// The text that replaces it; empty for a removal.
    pub after: Option<String>,
    /// Marker of the source that the answer cites now.
    pub marker: Option<String>,
    /// The status of the changed citation.
    pub status_before: Option<&'static str>,
    /// The status of the new citation in the repaired answer.
    pub status_after: Option<&'static str>,
    /// Support by the source that was cited, in [0, 1].
    pub support_before: Option<f64>,
    /// Support by the source that is cited now, in [0, 1].
    pub support_after: Option<f64>,
    /// First character of `before` in the original answer.
    pub before_start: usize,
    /// One past its last character.
    pub before_end: usize,
    /// First character of `after` in the repaired answer.
    pub after_start: usize,
    /// One past its last character.
    pub after_end: usize,
}

impl AnswerChange {
    /// The change without texts of the answer.
    #[must_use]
    pub fn without_words(&self) -> Self {
        Self {
            sentence: None,
            before: None,
            after: None,
            ..self.clone()
        }
    }
}

/// Whether a repaired answer has the same citations of the same claims as before, so that the verdicts on them stay.
#[must_use]
pub fn moved(before: &Extraction, repaired: &RepairedAnswer) -> bool {
    let after = &repaired.extraction;
    let marks = checked(&repaired.changes).all(|change| change.kind == ChangeKind::Marked);
    let mut citations = before.citations.iter().zip(&after.citations);
    marks
        && before.citations.len() == after.citations.len()
        && citations.all(|(before, after)| {
            before.reference == after.reference && before.sentence == after.sentence
        })
}

impl ToRepair<'_> {
    /// Corrects the answer.
    #[must_use]
    pub fn repaired(&self, mode: RepairMode) -> RepairedAnswer {
        let judgements: Vec<Judgement> = checked(&self.judged.citations)
            .map(|citation| citation.judgement.clone())
            .collect();
        let given = Unrepaired {
            answer: self.read.answer,
            in_list: self.read.in_list,
            extraction: &self.read.extraction,
            judgements: &judgements,
            statements: &self.judged.statements,
            sources: self.sources,
            grammar: self.grammar,
            threshold: self.rules.support.threshold,
        };
        repair(&given, mode)
    }

    /// Describes the changes. `judged_after` has the verdicts on the citations of the repaired answer.
    #[must_use]
    pub fn changes(
        &self,
        repaired: &RepairedAnswer,
        judged_after: &JudgedAnswer,
    ) -> Vec<AnswerChange> {
        let changes = checked(&repaired.changes).zip(repaired.characters(self.read.answer));
        (1..)
            .zip(changes)
            .map(|(change_no, (change, (before, after)))| AnswerChange {
                change_no,
                before_start: before.start,
                before_end: before.end,
                after_start: after.start,
                after_end: after.end,
                ..self.change(repaired, change, judged_after)
            })
            .collect()
    }

    fn change(
        &self,
        repaired: &RepairedAnswer,
        change: &Change,
        judged_after: &JudgedAnswer,
    ) -> AnswerChange {
        let answer = self.read.answer;
        let before = change
            .citation
            .and_then(|number| self.judged.citations.get(number));
        let before = before.map(|citation| &citation.judgement);
        let after = change.source.and_then(|source| {
            let read = &repaired.extraction.citations;
            let first = read.partition_point(|c| c.span.bytes.start < change.after.start);
            let string = read[first..].iter().zip(&judged_after.citations[first..]);
            let mut string = string.take_while(|(read, _)| read.span.bytes == change.after);
            let found = string.find(|(_, judged)| judged.judgement.source == Some(source));
            found.map(|(_, judged)| &judged.judgement)
        });
        let sentence = change
            .sentence
            .and_then(|number| self.read.extraction.sentences.get(number));
        AnswerChange {
            change: change.kind.as_str(),
            reason: match (change.kind, before) {
                (_, Some(judgement)) => judgement.status.as_str(),
                (ChangeKind::Added, None) => "uncited",
                (_, None) => "no_support",
            },
            citation_no: change.citation.map(|number| number + 1),
            sentence: sentence
                .and_then(|bytes| answer.get(bytes.clone()))
                .map(|sentence| excerpt(sentence).into_owned()),
            before: Some(excerpt(&answer[change.before.clone()]).into_owned()),
            after: Some(repaired.text[change.after.clone()].to_owned()),
            marker: change
                .source
                .map(|source| self.sources[source].marker.clone()),
            status_before: before.map(|judgement| judgement.status.as_str()),
            status_after: after.map(|judgement| judgement.status.as_str()),
            support_before: before.and_then(|judgement| judgement.support),
            support_after: after.and_then(|judgement| judgement.support),
            ..AnswerChange::default()
        }
    }
}
