//! The history within a budget of tokens.

use reground_citations::Grammar;

use super::ledger::Ledger;
use super::messages::{History, HistoryRules, HistoryTurn, TurnSelection};
use super::shorten;

/// The number of newest turns from which a history under these rules is made; `None` is all of them.
///
/// Older turns could only fill a gap that newer ones leave. Searching all of them would make a turn slower the longer
/// its conversation is, and would add messages without their context. Where the ledger leaves no room, only the last
/// exchanges are kept. Turns that the caller names can be of any age.
#[must_use]
pub fn turns_in_reach(rules: &HistoryRules, ledger: &Ledger) -> Option<usize> {
    /// Turns that are read if there is any room.
    const LEAST: usize = 16;
    /// Fewer tokens than an average turn has with its question and cited sentences.
    const TOKENS: usize = 16;
    if rules.dependency != TurnSelection::All {
        return None;
    }
    let older = |room| match room {
        0 => 0,
        room => LEAST.max(room / TOKENS),
    };
    let budget = rules.max_tokens?;
    Some(older(budget.saturating_sub(ledger.tokens())).max(rules.exchanges))
}

/// The history: the ledger, then `turns`, newest last. Both are under the same rules.
///
/// `turns` may contain only the newest turns of the conversation; others are not counted as left out. `grammar` is the
/// one by which the answers were parsed.
#[must_use]
pub fn history(
    turns: &[HistoryTurn],
    ledger: Ledger,
    rules: &HistoryRules,
    grammar: &Grammar,
) -> History {
    let budget = rules.max_tokens.unwrap_or(usize::MAX);
    let mut history = History {
        tokens: ledger.tokens(),
        sources: ledger.sources,
        ..History::default()
    };
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
    history.blocks.extend(ledger.block);
    history.blocks.reverse();
    history.over_budget = history.tokens > budget;
    history
}
