//! How much of a turn's prompt the sources take beside the history, by the attention model with the turn's settings.
//!
//! Context tokens are those of the block of the sources, history tokens those of the messages that go into the prompt.
//! The history is compressed first, then the share is measured.

use serde::{Deserialize, Serialize};

use crate::attention_model::{Growth, attribution_share, drift_discount};
use crate::error::GroundingError;
use crate::settings::Settings;

/// Tokens of a history that is not worth compressing: the list of cited sources and some short turns.
pub const SHORT_HISTORY: usize = 256;

/// The columns of a turn that describe the effect of its history.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContextShare {
    /// o200k_base tokens of the history in its prompt.
    pub history_tokens: u64,
    /// o200k_base tokens of all earlier answered turns, with those that its history shortens or leaves out.
    pub full_history_tokens: u64,
    /// α, the sources' share of the context and the history.
    pub attribution_share: f64,
    /// The accuracy of its citations that the model predicts.
    pub predicted_accuracy: f64,
    /// The lower bound of the model, if the history grew evenly to its present length.
    pub accuracy_floor: f64,
}

/// The input of a measurement of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Turn {
    /// Its number, from 1.
    pub turn_no: u32,
    /// Tokens of the block of its sources.
    pub context_tokens: u64,
    /// Tokens of its history.
    pub history_tokens: u64,
    /// Tokens of all earlier turns.
    pub full_history_tokens: u64,
    /// Drift since the turn that retrieved its sources; `None` if that is this turn, or if the drift is unknown.
    pub sources_drift: Option<f64>,
}

/// Measures a turn. Sources of an earlier query lose relevance with the drift since then.
///
/// # Errors
/// [`GroundingError::OutOfRange`] for figures outside the range of the model.
pub fn measure(turn: Turn, settings: &Settings) -> Result<ContextShare, GroundingError> {
    let model = settings.model()?;
    let share = attribution_share(turn.context_tokens, turn.history_tokens);
    let relevance = turn.sources_drift.map_or(1.0, drift_discount);
    let behind = turn.turn_no.saturating_sub(1);
    let growth = Growth {
        source_tokens: turn.context_tokens as f64,
        turn_tokens: turn.history_tokens as f64 / f64::from(behind.max(1)),
    };
    Ok(ContextShare {
        history_tokens: turn.history_tokens,
        full_history_tokens: turn.full_history_tokens,
        attribution_share: share,
        predicted_accuracy: model.predicted_accuracy(share) * relevance,
        accuracy_floor: model.accuracy_floor(behind, growth) * relevance,
    })
}

/// The sources' share of the context, and the minimum share that keeps the accuracy target. `refresh = adaptive` compares
/// the two.
///
/// # Errors
/// As [`Settings::resolve`] for settings that it would reject.
pub fn share_and_minimum(
    context_tokens: u64,
    history_tokens: u64,
    settings: &Settings,
) -> Result<(f64, f64), GroundingError> {
    let minimum = settings.model()?.min_share(settings.accuracy_target)?;
    Ok((attribution_share(context_tokens, history_tokens), minimum))
}

/// The tokens that an answer adds to the conversation: with its query for the first answer of a turn, else the
/// difference to the answer that it replaces.
#[must_use]
pub fn tokens_added(query_tokens: i64, answer_tokens: usize, superseded: Option<i64>) -> i64 {
    let answer = i64::try_from(answer_tokens).unwrap_or(i64::MAX);
    match superseded {
        Some(before) => answer.saturating_sub(before),
        None => answer.saturating_add(query_tokens),
    }
}

/// The maximum tokens of history beside a context; `None` if the history is not compressed. The last exchanges and the
/// ledger are in the history even if they have more.
///
/// By the formula, a context without sources leaves no history. The conversation still has to continue, so its history
/// gets what a full context of `max_tokens` would leave. A few short sources leave so little that the history would lose
/// turns of one line. So unless `history_exchanges` is 0, the maximum is at least [`SHORT_HISTORY`].
///
/// # Errors
/// As [`share_and_minimum`].
pub fn history_limit(
    context_tokens: u64,
    settings: &Settings,
) -> Result<Option<usize>, GroundingError> {
    if !settings.compress {
        return Ok(None);
    }
    let sources = match context_tokens {
        0 => settings.max_tokens as u64,
        tokens => tokens,
    };
    let maximum = settings
        .model()?
        .max_history(sources, settings.accuracy_target)?;
    let maximum = usize::try_from(maximum).unwrap_or(usize::MAX);
    Ok(Some(match settings.history_exchanges {
        0 => maximum,
        _ => maximum.max(SHORT_HISTORY),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention_model::{DomainSpecificity, Specificity};

    /// The example of the publication: 2000 tokens of verses, 0.91 and 0.85.
    fn example() -> Settings {
        Settings {
            domain_specificity: DomainSpecificity::Named(Specificity::Verse),
            history_exchanges: 0,
            ..Settings::default()
        }
    }

    #[test]
    fn the_published_example() {
        assert_eq!(history_limit(2000, &example()), Ok(Some(178)));
        let (share, minimum) = share_and_minimum(2000, 178, &example()).unwrap();
        assert!((minimum - 0.9183).abs() < 5e-5, "{minimum}");
        assert!(share >= minimum);
        let (share, minimum) = share_and_minimum(2000, 180, &example()).unwrap();
        assert!(share < minimum);
        let off = Settings {
            compress: false,
            ..example()
        };
        assert_eq!(history_limit(2000, &off), Ok(None));
    }

    #[test]
    fn a_short_history_fits_beside_any_context() {
        let settings = Settings::default();
        for context_tokens in [1, 40, 500] {
            assert_eq!(
                history_limit(context_tokens, &settings),
                Ok(Some(SHORT_HISTORY))
            );
        }
        let long = history_limit(5000, &settings).unwrap();
        assert!(long > Some(SHORT_HISTORY), "{long:?}");
        let by_formula = Settings {
            history_exchanges: 0,
            ..settings
        };
        assert!(history_limit(40, &by_formula).unwrap() < Some(SHORT_HISTORY));
    }

    #[test]
    fn tokens_of_a_replaced_answer_are_subtracted() {
        let first = tokens_added(7, 100, None);
        let again = tokens_added(7, 60, Some(100));
        assert_eq!([first, again, first + again], [107, -40, 67]);
    }

    #[test]
    fn a_turn_with_history_is_measured() {
        let turn = Turn {
            turn_no: 6,
            context_tokens: 2000,
            history_tokens: 4000,
            full_history_tokens: 6000,
            sources_drift: None,
        };
        let measured = measure(turn, &example()).unwrap();
        // h/R0 = 0.4, t = 5: the corrected row of the published table, times acc(0).
        assert!((measured.attribution_share - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(measured.full_history_tokens, 6000);
        assert!((measured.predicted_accuracy - 0.91 * 0.4152).abs() < 1e-4);
        assert!((measured.accuracy_floor - 0.91 * 0.2603).abs() < 1e-4);
        // Fresh sources do not drift. Reused ones do, as far as the drift is known.
        let kept = Turn {
            sources_drift: Some(0.5),
            ..turn
        };
        let kept = measure(kept, &example()).unwrap();
        let relevance = (-0.08_f64 * 0.5).exp();
        assert!((kept.predicted_accuracy - measured.predicted_accuracy * relevance).abs() < 1e-12);
        assert!((kept.accuracy_floor - measured.accuracy_floor * relevance).abs() < 1e-12);
    }

    #[test]
    fn first_turns_and_turns_without_sources_are_measured() {
        let first = Turn {
            turn_no: 1,
            context_tokens: 100,
            ..Turn::default()
        };
        let measured = measure(first, &example()).unwrap();
        assert_eq!(measured.attribution_share, 1.0);
        assert_eq!(measured.predicted_accuracy, 0.91);
        assert_eq!(measured.accuracy_floor, 0.91);
        let bare = Turn {
            turn_no: 3,
            history_tokens: 50,
            ..Turn::default()
        };
        let measured = measure(bare, &example()).unwrap();
        assert_eq!(measured.attribution_share, 0.0);
        assert_eq!(
            (measured.predicted_accuracy, measured.accuracy_floor),
            (0.0, 0.0)
        );
        // The history may still grow.
        assert_eq!(
            history_limit(0, &example()),
            history_limit(Settings::default().max_tokens as u64, &example())
        );
    }
}
