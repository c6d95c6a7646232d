//! Fitted, printed and measured values, as Markdown on standard output.

use anyhow::Result;
use reground_grounding::settings::strategy::Strategy;

use super::model::{Conversation, Drift};
use reground_grounding::attention_model::AttentionModel;

use super::fitted::Fitted;
use super::measured::Measured;
use super::printed;

/// Prints the fitted parameters and their residuals.
pub fn parameters(fitted: &Fitted) {
    println!("# Strategies over ten turns: the model, the published table, and replays\n");
    println!(
        "The model is acc(0)·α^δ·e^(−β·d), with acc(0) {:.3} and δ {}. With the h/R0 that its source states, it does not give the \
         table of the source. So h/R0 is fitted to the row `every_turn`, and β·d(t) to `first_turn` over `every_turn`, by least \
         squares. All other values follow from these.\n",
        printed::BASELINE,
        printed::DELTA
    );
    println!("| fitted | value | residual (RMS) |");
    println!("|---|---|---:|");
    println!(
        "| h/R0, of `every_turn` | {:.4} | {:.4} |",
        fitted.growth.found, fitted.growth.residual
    );
    for drift in [fitted.linear, fitted.saturating] {
        let used = if drift.found == fitted.conversation.drift {
            ", used below"
        } else {
            ""
        };
        println!(
            "| β·d(t), of `first_turn` / `every_turn`{used} | {} | {:.4} |",
            form(drift.found),
            drift.residual
        );
    }
    println!(
        "\nL_max for an accuracy of {} at R0 = {} and acc(0) = {} is {} tokens (the source rounds to 180, where the model \
         falls below {0}).\n",
        printed::TARGET,
        printed::SOURCE_TOKENS,
        printed::CONFIGURED_BASELINE,
        fitted.max_history
    );
}

fn form(drift: Drift) -> String {
    match drift {
        Drift::Linear { slope } => format!("{slope:.4}·t"),
        Drift::Saturating { ceiling, pace } => format!("{ceiling:.4}·(1 − e^(−t/{pace:.2}))"),
    }
}

/// Prints every strategy of the table by turn, and the mean of all ten turns, which is not fitted.
pub fn table(fitted: &Conversation, stated: &Conversation, measured: Option<&[Measured]>) {
    println!("## Citation accuracy by turn\n");
    println!(
        "Residual: printed − fitted. As stated: the model with the source's h/R0 = {:.1}, and the fitted drift. Measured: context \
         recall of our replays, which bounds what an answer can cite but is no citation accuracy.\n",
        stated.growth
    );
    println!("| strategy | turn | fitted | printed | residual | as stated | measured |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for row in &printed::TABLE {
        for (turn, accuracy) in printed::TURNS.into_iter().zip(row.accuracies) {
            let recall = measured
                .into_iter()
                .flatten()
                .find(|one| (one.strategy, one.turn) == (row.strategy, turn));
            cells(
                row.strategy,
                &turn.to_string(),
                fitted.accuracy(row.strategy, turn),
                accuracy,
                stated.accuracy(row.strategy, turn),
                recall.map(|one| one.context_recall),
            );
        }
        cells(
            row.strategy,
            "mean",
            mean(fitted, row.strategy),
            row.mean,
            mean(stated, row.strategy),
            None,
        );
    }
    println!();
}

fn cells(
    strategy: Strategy,
    turn: &str,
    fitted: Option<f64>,
    printed: f64,
    stated: Option<f64>,
    measured: Option<f64>,
) {
    println!(
        "| {} | {turn} | {} | {} | {} | {} | {} |",
        strategy.name(),
        percent(fitted),
        percent(Some(printed)),
        residual(fitted, printed),
        percent(stated),
        percent(measured)
    );
}

/// The mean of all turns of a conversation.
fn mean(conversation: &Conversation, strategy: Strategy) -> Option<f64> {
    let turns = 1..=printed::LENGTH;
    let sum: Option<f64> = turns
        .map(|turn| conversation.accuracy(strategy, turn))
        .sum();
    sum.map(|sum| sum / f64::from(printed::LENGTH))
}

/// Prints the ablation at the last turn.
pub fn ablation(fitted: &Conversation) {
    println!("## Ablation, turn {}\n", printed::LENGTH);
    println!("| strategy | fitted | printed | residual | printed ms per turn |");
    println!("|---|---:|---:|---:|---:|");
    for (strategy, accuracy, overhead) in printed::ABLATION {
        let predicted = fitted.accuracy(strategy, printed::LENGTH);
        println!(
            "| {} | {} | {} | {} | +{overhead:.0} |",
            strategy.name(),
            percent(predicted),
            percent(Some(accuracy)),
            residual(predicted, accuracy)
        );
    }
    println!();
}

/// Prints where the model gives the printed figures and where it does not.
///
/// # Errors
/// Only for a table with accuracies above its own baseline.
pub fn verdicts(fitted: &Fitted) -> Result<()> {
    let conversation = &fitted.conversation;
    let stated = printed::TURN_TOKENS / printed::SOURCE_TOKENS as f64;
    println!("## Where the model does not give the printed figures\n");
    println!(
        "- h/R0: the row `every_turn` implies {:.3}, or {:.0} tokens per turn with {} tokens of sources; the source states {stated:.1}.",
        fitted.growth.found,
        fitted.growth.found * printed::SOURCE_TOKENS as f64,
        printed::SOURCE_TOKENS
    );
    for row in &printed::TABLE {
        let name = row.strategy.name();
        let off = printed::TURNS
            .into_iter()
            .zip(row.accuracies)
            .filter_map(|(turn, accuracy)| {
                let predicted = conversation.accuracy(row.strategy, turn)?;
                Some((turn, accuracy - predicted))
            })
            .max_by(|one, other| one.1.abs().total_cmp(&other.1.abs()));
        match off {
            Some((turn, off)) => println!(
                "- `{name}`: the largest residual is {} points (turn {turn}).",
                points(off)
            ),
            None => println!(
                "- `{name}`: without sources α is 0, and so is the accuracy. The model does not cover what a language model knows by heart."
            ),
        }
    }
    let last = |strategy| printed::accuracies(strategy).last().map(|one| one.value);
    if let Some(reground) = last(Strategy::Reground) {
        let history = conversation
            .model
            .history_bound(printed::SOURCE_TOKENS, reground)?;
        println!(
            "- `reground` is constant in the model once the history is full. In print it still falls, and its last figure, {}, implies a \
             history of {history:.0} tokens, not {}.",
            percent(Some(reground)),
            fitted.max_history
        );
    }
    let ablated = |strategy| {
        let found = printed::ABLATION.into_iter().find(|row| row.0 == strategy);
        percent(found.map(|(_, accuracy, _)| accuracy))
    };
    println!(
        "- `refresh_only` and `every_turn` are equal in the model, because fresh sources do not change α. Print has {} and {} at turn {}.",
        ablated(Strategy::RefreshOnly),
        percent(last(Strategy::EveryTurn)),
        printed::LENGTH
    );
    let undiluted = printed::drifts()
        .last()
        .map(|one| conversation.model.predicted_accuracy(1.0) * one.value);
    println!(
        "- `compression_only`: the drift of `first_turn` relative to `every_turn` gives {} at turn {} without any history. Print has {}.",
        percent(undiluted),
        printed::LENGTH,
        ablated(Strategy::CompressionOnly)
    );
    println!("- The printed means cover ten turns; they are not fitted.\n");
    Ok(())
}

/// Prints the measured replays, or that there are none.
///
/// Each row also has the prediction of the model at the measured share of history.
pub fn replays(model: &AttentionModel, measured: Option<&[Measured]>) {
    println!("## Replays\n");
    let Some(measured) = measured else {
        println!("There are none: see --measured FILE.");
        return;
    };
    println!(
        "| strategy | turn | conversations | context recall | context precision | history | tokens | model at that α |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    let mut ordered: Vec<&Measured> = measured.iter().collect();
    ordered.sort_by_key(|one| (one.strategy, one.turn));
    for one in ordered {
        println!(
            "| {} | {} | {} | {} | {} | {} | {:.0} | {} |",
            one.strategy.name(),
            one.turn,
            one.conversations,
            percent(Some(one.context_recall)),
            percent(Some(one.context_precision)),
            percent(Some(one.history_share)),
            one.tokens,
            percent(Some(model.predicted_accuracy(1.0 - one.history_share)))
        );
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.1} %", 100.0 * share))
}

fn residual(predicted: Option<f64>, printed: f64) -> String {
    predicted.map_or_else(|| "–".to_owned(), |predicted| points(printed - predicted))
}

/// A difference in percentage points, with its sign.
fn points(difference: f64) -> String {
    let sign = if difference < 0.0 { '−' } else { '+' };
    format!("{sign}{:.1}", 100.0 * difference.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_a_sign() {
        assert_eq!(points(-0.0271), "−2.7");
        assert_eq!(points(0.054), "+5.4");
        assert_eq!(residual(None, 0.5), "–");
    }
}
