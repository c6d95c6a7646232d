//! Measurements of replayed conversations, by strategy and turn.

use std::path::Path;

use anyhow::Result;
use reground_grounding::settings::strategy::Strategy;
use serde::{Deserialize, Serialize};

use crate::data::json_lines;

/// The means of one turn number with one strategy: a line of the file, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// History strategy.
    pub strategy: Strategy,
    /// Number of the turn, from 1.
    pub turn: u32,
    /// Conversations with such a turn.
    pub conversations: u64,
    /// Share of the relevant passages in the context.
    pub context_recall: f64,
    /// Share of the sources that are relevant.
    pub context_precision: f64,
    /// Share of history in the tokens of sources and history, 1 − α.
    pub history_share: f64,
    /// Tokens of sources and history.
    pub tokens: f64,
}

/// The lines of a file.
///
/// # Errors
/// A missing or malformed file.
pub fn read(path: &Path) -> Result<Vec<Measured>> {
    json_lines(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_turn_number_of_a_strategy() {
        let line = r#"{"strategy": "every_turn", "turn": 3, "conversations": 40, "context_recall": 0.5,
                       "context_precision": 0.2, "history_share": 0.25, "tokens": 2600}"#;
        let read: Measured = serde_json::from_str(line).unwrap();
        assert_eq!((read.strategy, read.turn), (Strategy::EveryTurn, 3));
        assert!(serde_json::from_str::<Measured>(&line.replace("every_turn", "always")).is_err());
    }
}
