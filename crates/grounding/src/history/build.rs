//! The history within a budget of tokens.

use reground_citations::Grammar;

use super::ledger::{self, CitedDocument, CitedSource};
use super::ledger_tokens::ledger_tokens;
use super::messages::{Block, History, HistoryRules, HistoryTurn, Role, TurnSelection};
use super::shorten;

/// The number of newest turns from which a history under these rules is made; `None` is all of them.
///
/// Older turns could only fill a gap that newer ones leave. Searching all of them would make a turn slower the longer
/// its conversation is, and would add messages without their context. Turns that the caller names can be of any age.
#[must_use]
pub fn turns_in_reach(rules: &HistoryRules) -> Option<usize> {
    /// Turns that are read however small the budget.
    const LEAST: usize = 16;
    /// Fewer tokens than an average turn has with its question and cited sentences.
    const TOKENS: usize = 16;
    if rules.dependency != TurnSelection::All {
        return None;
    }
    let reach = |tokens| LEAST.max(tokens / TOKENS).max(rules.exchanges);
    rules.max_tokens.map(reach)
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
        let block = ledger_block(cited, &mut history);
        history.tokens = block.tokens;
        ledger = Some(block);
    }
    let mut exchanges = rules.exchanges;
    for turn in turns.iter().rev() {
        let included = rules.dependency.includes(turn.turn_no);
        // The newest turns come first, so the older ones get what the last exchanges leave.
        let room = if included && exchanges > 0 {
            exchanges -= 1;
            usize::MAX
        } else {
            budget.saturating_sub(history.tokens)
        };
        let kept = if included && room > 0 {
            shorten::fullest_form(turn, room, grammar)
        } else {
            Vec::new()
        };
        match kept.last() {
            None => history.left_out += 1,
            Some(answer) if answer.shortened => history.shortened += 1,
            Some(_) => history.whole += 1,
        }
        history.tokens += kept.iter().map(|block| block.tokens).sum::<usize>();
        // The blocks are collected backwards and reversed below.
        history.blocks.extend(kept.into_iter().rev());
    }
    history.blocks.extend(ledger);
    history.blocks.reverse();
    history.over_budget = history.tokens > budget;
    history
}

fn ledger_block(cited: &[CitedSource], history: &mut History) -> Block {
    let documents = ledger::by_document(cited);
    history.sources = documents.iter().map(CitedDocument::len).sum();
    let content = ledger::write(&documents);
    Block {
        turn_no: None,
        role: Role::Sources,
        tokens: ledger_tokens(&content),
        content,
        shortened: false,
    }
}
