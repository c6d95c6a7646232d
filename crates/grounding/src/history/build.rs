//! The history within a budget of tokens.

use reground_citations::Grammar;
use reground_tokens::count;

use super::ledger::{self, CitedSource, Tuple};
use super::messages::{Block, History, HistoryRules, HistoryTurn, Role};
use super::shorten;

/// The number of newest turns from which a history with this budget is made; `None` is all of them.
///
/// Older turns could only fill a gap that newer ones leave. Searching all of them would make a turn slower the longer
/// its conversation is, and would add messages without their context.
#[must_use]
pub fn turns_in_reach(max_tokens: Option<usize>) -> Option<usize> {
    /// Turns that are read however small the budget.
    const LEAST: usize = 16;
    /// Fewer tokens than an average turn has with its question and cited sentences.
    const TOKENS: usize = 16;
    max_tokens.map(|tokens| (tokens / TOKENS).max(LEAST))
}

/// The history of `turns`, newest last. `cited` lists the sources that the conversation has cited, in the order of the
/// ledger.
///
/// `cited` covers the whole conversation. `turns` may contain only its newest turns; others are not counted as left
/// out. `grammar` is the one by which the answers were parsed.
#[must_use]
pub fn history(
    turns: &[HistoryTurn],
    cited: &[CitedSource],
    rules: &HistoryRules,
    grammar: &Grammar,
) -> History {
    let mut history = History::default();
    let budget = rules.max_tokens.unwrap_or(usize::MAX);
    let mut ledger = None;
    if rules.max_tokens.is_some() && !cited.is_empty() {
        let tuples = ledger::tuples(cited);
        let block = ledger_block(&tuples);
        history.tuples = tuples.len();
        history.tokens = block.tokens;
        history.over_budget = block.tokens > budget;
        ledger = Some(block);
    }
    for turn in turns.iter().rev() {
        let room = budget.saturating_sub(history.tokens);
        let kept = if rules.dependency.includes(turn.turn_no) && room > 0 {
            shorten::fullest_form(turn, room, grammar)
        } else {
            Vec::new()
        };
        match kept.first() {
            None => history.left_out += 1,
            Some(block) if block.shortened => history.shortened += 1,
            Some(_) => history.whole += 1,
        }
        history.tokens += kept.iter().map(|block| block.tokens).sum::<usize>();
        // The blocks are collected backwards and reversed below.
        history.blocks.extend(kept.into_iter().rev());
    }
    history.blocks.extend(ledger);
    history.blocks.reverse();
    history
}

fn ledger_block(tuples: &[Tuple]) -> Block {
    let content = ledger::write(tuples);
    Block {
        turn_no: None,
        role: Role::Sources,
        tokens: count(&content),
        content,
        shortened: false,
    }
}
