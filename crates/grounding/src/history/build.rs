//! The history within a budget of tokens.

use reground_citations::Grammar;
use reground_tokens::count;

use super::ledger::{self, CitedSource, Tuple};
use super::messages::{Block, History, HistoryRules, HistoryTurn, Role};
use super::shorten;

/// How many of the newest turns a history of so many tokens is made from; `None` is all of them.
///
/// Older ones could only come in where the newer leave a gap that one of them fits into. Looking for it among all would make
/// a turn dearer the longer its conversation, for a message torn from what it was about.
#[must_use]
pub fn reach(max_tokens: Option<usize>) -> Option<usize> {
    /// Turns that are looked at however small the budget.
    const LEAST: usize = 16;
    /// Fewer tokens than a turn has on the average, its question and what was cited of its answer.
    const TOKENS: usize = 16;
    max_tokens.map(|tokens| (tokens / TOKENS).max(LEAST))
}

/// The history of `turns`, the newest last, in a conversation that has `cited` these sources, in the order in which they are
/// to stand.
///
/// `cited` is about the whole conversation, `turns` may be its newest: what is not handed in is not there, and is not counted
/// as left out. `grammar` is that by which the answers were read.
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
        let kept = if rules.dependence.on(turn.number) && room > 0 {
            shorten::within(turn, room, grammar)
        } else {
            Vec::new()
        };
        match kept.first() {
            None => history.left_out += 1,
            Some(block) if block.shortened => history.shortened += 1,
            Some(_) => history.whole += 1,
        }
        history.tokens += kept.iter().map(|block| block.tokens).sum::<usize>();
        // Gathered backwards, turned round below.
        history.blocks.extend(kept.into_iter().rev());
    }
    history.blocks.extend(ledger);
    history.blocks.reverse();
    history
}

fn ledger_block(tuples: &[Tuple]) -> Block {
    let content = ledger::write(tuples);
    Block {
        turn: None,
        role: Role::Sources,
        tokens: count(&content),
        content,
        shortened: false,
    }
}
