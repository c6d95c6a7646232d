//! The published ten-turn table: 50 conversations in one domain, verse-level citations.

use reground_grounding::settings::strategy::Strategy;

use super::model::fit;

/// Turns with a column.
pub const TURNS: [u32; 5] = [1, 3, 5, 7, 10];
/// Turns of a conversation; the printed means cover all of them.
pub const LENGTH: u32 = 10;
/// δ of the domain.
pub const DELTA: f64 = 0.8;
/// acc(0), from the first turn of the table.
pub const BASELINE: f64 = 0.912;
/// Tokens of the sources in a context, R0.
pub const SOURCE_TOKENS: u64 = 2000;
/// Tokens that a turn adds to the history, h, from the examples of the source.
pub const TURN_TOKENS: f64 = 800.0;
/// Target accuracy of a compressed history.
pub const TARGET: f64 = 0.85;
/// acc(0) that the source uses for the bound on a compressed history.
pub const CONFIGURED_BASELINE: f64 = 0.91;

/// A row of the table.
pub struct Row {
    /// History strategy.
    pub strategy: Strategy,
    /// Citation accuracy at [`TURNS`].
    pub accuracies: [f64; TURNS.len()],
    /// The mean of ten turns.
    pub mean: f64,
}

/// The table.
pub const TABLE: [Row; 4] = [
    Row {
        strategy: Strategy::None,
        accuracies: [0.184, 0.162, 0.148, 0.131, 0.116],
        mean: 0.143,
    },
    Row {
        strategy: Strategy::FirstTurn,
        accuracies: [0.912, 0.684, 0.473, 0.398, 0.341],
        mean: 0.527,
    },
    Row {
        strategy: Strategy::EveryTurn,
        accuracies: [0.912, 0.821, 0.746, 0.683, 0.617],
        mean: 0.735,
    },
    Row {
        strategy: Strategy::Reground,
        accuracies: [0.912, 0.904, 0.898, 0.895, 0.892],
        mean: 0.898,
    },
];

/// The ablation: accuracy at the last turn, and added milliseconds per turn.
pub const ABLATION: [(Strategy, f64, f64); 3] = [
    (Strategy::RefreshOnly, 0.784, 45.0),
    (Strategy::CompressionOnly, 0.712, 12.0),
    (Strategy::Reground, 0.892, 52.0),
];

/// The accuracies of a strategy by turn; empty if the table has no row.
pub fn accuracies(strategy: Strategy) -> Vec<fit::Measured> {
    let rows = TABLE.iter().filter(|row| row.strategy == strategy);
    let points = rows.flat_map(|row| TURNS.into_iter().zip(row.accuracies));
    points
        .map(|(turn, value)| fit::Measured { turn, value })
        .collect()
}

/// Accuracy of `first_turn` relative to `every_turn`, by turn.
pub fn drifts() -> Vec<fit::Measured> {
    let stale = accuracies(Strategy::FirstTurn);
    let fresh = accuracies(Strategy::EveryTurn);
    let pairs = stale.into_iter().zip(fresh);
    pairs
        .map(|(stale, fresh)| fit::Measured {
            turn: stale.turn,
            value: stale.value / fresh.value,
        })
        .collect()
}
