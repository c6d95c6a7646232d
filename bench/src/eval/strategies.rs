//! History strategies: conversations replayed with each strategy, turn by turn.

use reground_grounding::settings::strategy::Strategy;

use super::replay::ReplayedConversation;
use super::replay::arm::Arm;
use super::replay::turn::ReplayedTurn;
use crate::simulation::measured::Measured;

/// One arm per strategy.
pub fn arms(sample: bool) -> Vec<Arm> {
    let compared = Strategy::ALL.into_iter();
    compared
        .filter(|strategy| !sample || *strategy == Strategy::Reground)
        .map(Arm::Strategy)
        .collect()
}

/// The means of each strategy for each turn number. Recall and precision are over the judged turns of that number, shares and
/// tokens over all its turns. Turn numbers without a judged turn are left out.
pub fn measured(runs: &[(Arm, Vec<ReplayedConversation>)]) -> Vec<Measured> {
    let mut all = Vec::new();
    for (arm, replayed) in runs {
        let Arm::Strategy(strategy) = *arm else {
            continue;
        };
        let longest = replayed.iter().map(|replayed| replayed.turns.len()).max();
        for number in 1..=longest.unwrap_or_default() {
            let turns: Vec<&ReplayedTurn> = replayed
                .iter()
                .filter_map(|replayed| replayed.turns.get(number - 1))
                .collect();
            let mean = |of: &dyn Fn(&ReplayedTurn) -> Option<f64>| {
                let values: Vec<f64> = turns.iter().filter_map(|turn| of(turn)).collect();
                (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
            };
            let (Some(recall), Some(precision)) =
                (mean(&ReplayedTurn::recall), mean(&ReplayedTurn::precision))
            else {
                continue;
            };
            let of_all = |of: &dyn Fn(&ReplayedTurn) -> f64| mean(&|turn| Some(of(turn)));
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

fn tokens(turn: &ReplayedTurn) -> f64 {
    f64::from(turn.tokens) + turn.history_tokens as f64
}

/// 1 − α; 0 without sources and history.
fn history_share(turn: &ReplayedTurn) -> f64 {
    turn.history_tokens as f64 / tokens(turn).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::super::replay::scope::tests::replayed;
    use super::*;
    use crate::data::Domain;

    #[test]
    fn a_row_is_a_turn_number_with_judged_turns() {
        let mut one = replayed(Domain::Cloud, &[Some(4), None, Some(1)]);
        one.turns[0].tokens = 300;
        one.turns[0].history_tokens = 100;
        let other = replayed(Domain::Cloud, &[Some(2)]);
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
