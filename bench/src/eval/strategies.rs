//! What is done about history (D9): conversations held again by each strategy, turn by turn.

use reground_grounding::settings::strategy::Strategy;

use super::replay::Held;
use super::replay::arm::Arm;
use super::replay::turn::Replayed;
use crate::simulation::measured::Measured;

/// An arm a strategy.
pub fn arms(sample: bool) -> Vec<Arm> {
    let compared = Strategy::ALL.into_iter();
    compared
        .filter(|strategy| !sample || *strategy == Strategy::Reground)
        .map(Arm::Strategy)
        .collect()
}

/// The means of each strategy at each turn number. Recall and precision are over the judged turns of that number, shares and
/// tokens over all; a number that no judged turn has is left out.
pub fn measured(runs: &[(Arm, Vec<Held>)]) -> Vec<Measured> {
    let mut all = Vec::new();
    for (arm, held) in runs {
        let Arm::Strategy(strategy) = *arm else {
            continue;
        };
        let longest = held.iter().map(|held| held.turns.len()).max();
        for number in 1..=longest.unwrap_or_default() {
            let turns: Vec<&Replayed> = held
                .iter()
                .filter_map(|held| held.turns.get(number - 1))
                .collect();
            let mean = |of: &dyn Fn(&Replayed) -> Option<f64>| {
                let values: Vec<f64> = turns.iter().filter_map(|turn| of(turn)).collect();
                (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
            };
            let (Some(recall), Some(precision)) =
                (mean(&Replayed::recall), mean(&Replayed::precision))
            else {
                continue;
            };
            let of_all = |of: &dyn Fn(&Replayed) -> f64| mean(&|turn| Some(of(turn)));
            all.push(Measured {
                strategy,
                turn: u32::try_from(number).unwrap_or(u32::MAX),
                conversations: turns.len() as u64,
                context_recall: recall,
                context_precision: precision,
                history_share: of_all(&history_share).unwrap_or_default(),
                tokens: of_all(&tokens).unwrap_or_default(),
            });
        }
    }
    all
}

fn tokens(turn: &Replayed) -> f64 {
    f64::from(turn.tokens) + turn.history_tokens as f64
}

/// 1 − α; 0 where there are neither sources nor history.
fn history_share(turn: &Replayed) -> f64 {
    turn.history_tokens as f64 / tokens(turn).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::super::replay::scope::tests::held;
    use super::*;
    use crate::data::Domain;

    #[test]
    fn a_row_is_a_turn_number_that_was_judged() {
        let mut one = held(Domain::Cloud, &[Some(4), None, Some(1)]);
        one.turns[0].tokens = 300;
        one.turns[0].history_tokens = 100;
        let other = held(Domain::Cloud, &[Some(2)]);
        let rows = measured(&[(Arm::Strategy(Strategy::Reground), vec![one, other])]);
        let found: Vec<_> = rows
            .iter()
            .map(|row| {
                (
                    row.turn,
                    row.conversations,
                    row.context_recall,
                    row.history_share,
                    row.tokens,
                )
            })
            .collect();
        assert_eq!(found, [(1, 2, 0.75, 0.125, 200.0), (3, 1, 0.25, 0.0, 0.0)]);
        assert!(measured(&[(Arm::None, Vec::new())]).is_empty());
        assert_eq!((arms(true).len(), arms(false).len()), (1, 6));
    }
}
