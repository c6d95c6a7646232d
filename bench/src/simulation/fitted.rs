//! The model, fitted to the published table.

use anyhow::Result;
use reground_grounding::attention_model::AttentionModel;
use reground_grounding::settings::strategy::Strategy;

use super::model::fit::{self, Fit};
use super::model::{Conversation, Drift};
use super::printed;

/// The model and its fitted parameters.
pub struct Fitted {
    /// h/R0.
    pub growth: Fit<f64>,
    /// Linear drift.
    pub linear: Fit<Drift>,
    /// Saturating drift.
    pub saturating: Fit<Drift>,
    /// L_max of the source's configuration, in tokens.
    pub max_history: u64,
    /// The model with the better drift.
    pub conversation: Conversation,
}

impl Fitted {
    /// Fits h/R0 to the row `every_turn`, and β·d(t) to the row `first_turn` over it, with the form of the smaller residual.
    pub fn to_the_table() -> Result<Self> {
        let model = AttentionModel::new(printed::BASELINE, printed::DELTA)?;
        let growth = fit::growth(&model, &printed::accuracies(Strategy::EveryTurn));
        let ratios = printed::drifts();
        let (linear, saturating) = (fit::linear_drift(&ratios), fit::saturating_drift(&ratios));
        let best = if linear.residual <= saturating.residual {
            linear
        } else {
            saturating
        };
        let configured = AttentionModel::new(printed::CONFIGURED_BASELINE, printed::DELTA)?;
        let max_history = configured.max_history(printed::SOURCE_TOKENS, printed::TARGET)?;
        Ok(Self {
            growth,
            linear,
            saturating,
            max_history,
            conversation: Conversation {
                model,
                growth: growth.found,
                history_limit: max_history as f64 / printed::SOURCE_TOKENS as f64,
                drift: best.found,
            },
        })
    }

    /// The same model with the h/R0 that the source states, which does not give its table.
    pub fn as_stated(&self) -> Conversation {
        Conversation {
            growth: printed::TURN_TOKENS / printed::SOURCE_TOKENS as f64,
            ..self.conversation
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_implies_less_growth_than_its_source_states() {
        let fitted = Fitted::to_the_table().unwrap();
        // Erratum 3: the figures fit h/R0 ≈ 0.07, not 0.4.
        assert!((fitted.growth.found - 0.07).abs() < 0.005);
        assert!(fitted.growth.residual < 0.005);
        assert_eq!(fitted.max_history, 178);
        assert_eq!(fitted.conversation.drift, fitted.saturating.found);
        // The stated value is far off.
        let stated = fitted.as_stated().accuracy(Strategy::EveryTurn, 10);
        assert!(stated.unwrap() < 0.3);
    }
}
