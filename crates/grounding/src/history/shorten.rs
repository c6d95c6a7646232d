//! The forms of a turn, from complete to the question with a sign for its answer.

use reground_citations::Grammar;
use reground_tokens::count;

use super::cited_sentences;
use super::messages::{Block, HistoryTurn, NO_ANSWER, Role};

/// The fullest form of a turn with at most `room` tokens; empty if none fits. Each form is a question and an answer,
/// because many APIs refuse two messages of the same role in succession.
pub(super) fn fullest_form(turn: &HistoryTurn, room: usize, grammar: &Grammar) -> Vec<Block> {
    let query_tokens = turn.query_tokens.unwrap_or_else(|| count(&turn.query));
    let Some(room) = room.checked_sub(query_tokens) else {
        return Vec::new();
    };
    let Some(answer) = fullest_answer(turn, room, grammar) else {
        return Vec::new();
    };
    let question = Block {
        turn_no: Some(turn.turn_no),
        role: Role::User,
        content: turn.query.clone(),
        tokens: query_tokens,
        shortened: false,
    };
    vec![question, answer]
}

/// The answer, its cited sentences, or the sign for it: the first one with at most `room` tokens.
fn fullest_answer(turn: &HistoryTurn, room: usize, grammar: &Grammar) -> Option<Block> {
    let block = |content: &str, tokens, shortened| Block {
        turn_no: Some(turn.turn_no),
        role: Role::Assistant,
        content: content.to_owned(),
        tokens,
        shortened,
    };
    let whole = turn.answer_tokens.unwrap_or_else(|| count(&turn.answer));
    let is_empty = turn.answer.is_empty();
    if whole <= room && !is_empty {
        return Some(block(&turn.answer, whole, false));
    }
    let sentences = || {
        let sentences = cited_sentences::cited_sentences(turn, grammar)?;
        let tokens = count(&sentences);
        (tokens <= room).then(|| block(&sentences, tokens, true))
    };
    sentences().or_else(|| {
        let tokens = count(NO_ANSWER);
        (tokens <= room).then(|| block(NO_ANSWER, tokens, !is_empty || turn.omitted))
    })
}
