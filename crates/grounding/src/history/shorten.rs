//! The forms of a turn, from complete to the question alone.

use reground_citations::Grammar;
use reground_tokens::count;

use super::cited_sentences;
use super::messages::{Block, HistoryTurn, Role};

/// The fullest form of a turn with at most `room` tokens; empty if none fits. No form has more tokens than the one
/// before it.
pub(super) fn fullest_form(turn: &HistoryTurn, room: usize, grammar: &Grammar) -> Vec<Block> {
    let question = turn.query_tokens.unwrap_or_else(|| count(&turn.query));
    if question > room {
        return Vec::new();
    }
    let block = |role, content: &str, tokens, shortened| Block {
        turn_no: Some(turn.turn_no),
        role,
        content: content.to_owned(),
        tokens,
        shortened,
    };
    let with_question = |answer: Option<Block>, shortened| {
        let question = block(Role::User, &turn.query, question, shortened);
        std::iter::once(question).chain(answer).collect()
    };
    if turn.answer.is_empty() {
        return with_question(None, false);
    }
    let room = room - question;
    let whole = turn.answer_tokens.unwrap_or_else(|| count(&turn.answer));
    if whole <= room {
        let answer = block(Role::Assistant, &turn.answer, whole, false);
        return with_question(Some(answer), false);
    }
    let sentences = cited_sentences::cited_sentences(turn, grammar).and_then(|sentences| {
        let tokens = count(&sentences);
        (tokens <= room).then(|| block(Role::Assistant, &sentences, tokens, true))
    });
    with_question(sentences, true)
}
