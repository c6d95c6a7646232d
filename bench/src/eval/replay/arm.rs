//! The arms: the settings with which conversations are replayed.

use reground_grounding::settings::strategy::Strategy;
use serde_json::{Value, json};

/// Passages per context in the arms of equal size.
pub const CONTEXT: usize = 10;

/// One arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arm {
    /// Nothing is carried over: the baseline.
    None,
    /// Three slots at .5. A supported citation or fresh retrieval keeps a source active.
    AnswerContext,
    /// The same, but only a supported citation keeps a source active.
    AnswerCited,
    /// Two slots at .7 for cited sources.
    AnswerMiddle,
    /// One slot at .85 for cited sources.
    AnswerNarrow,
    /// One slot for the document of a turn that cannot be understood alone, or for a source as relevant as the best.
    AnswerAnchor,
    /// Nothing is carried over, and the query is the user's words.
    TurnNone,
    /// Three slots at .5 for cited sources, and the query is the user's words.
    TurnCited,
    /// As [`Self::None`], with the sources of earlier turns ranked among the results.
    Integrated,
    /// The default settings.
    Default,
    /// As [`Self::None`], with neighbours in the knowledge graph as candidates, at weight 0.
    GraphNominates,
    /// As [`Self::None`], with the knowledge graph at its default weight.
    Graph,
    /// As [`Self::None`], with this history strategy.
    Strategy(Strategy),
}

impl Arm {
    /// The compared arms, the baseline first; the knowledge graph is compared separately.
    pub const ALL: [Self; 10] = [
        Self::None,
        Self::AnswerContext,
        Self::AnswerCited,
        Self::AnswerMiddle,
        Self::AnswerNarrow,
        Self::AnswerAnchor,
        Self::TurnNone,
        Self::TurnCited,
        Self::Integrated,
        Self::Default,
    ];

    /// The arms of the sample.
    pub const SAMPLE: [Self; 2] = [Self::None, Self::AnswerAnchor];

    /// The name in reports and in the floors.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::AnswerContext => "answer-cited/context",
            Self::AnswerCited => "answer-cited/cited",
            Self::AnswerMiddle => "answer-cited/two slots",
            Self::AnswerNarrow => "answer-cited/one slot",
            Self::AnswerAnchor => "answer-cited/anchor",
            Self::TurnNone => "turn/none",
            Self::TurnCited => "turn/answer-cited",
            Self::Integrated => "integrated",
            Self::Default => "defaults",
            Self::GraphNominates => "graph, nominates only",
            Self::Graph => "graph",
            Self::Strategy(strategy) => strategy.name(),
        }
    }

    /// Whether its contexts have [`CONTEXT`] single passages, as those of the baseline.
    pub fn equal_size(self) -> bool {
        self != Self::Default
    }

    /// The settings of each turn. Contexts of equal size need room for ten passages of any length, and no merging. Both branches
    /// are exact, so that the figures do not depend on the random HNSW graph.
    pub fn settings(self) -> Value {
        if !self.equal_size() {
            return json!({});
        }
        let (slots, threshold) = match self {
            Self::AnswerMiddle => (2, 0.7),
            Self::AnswerNarrow => (1, 0.85),
            Self::AnswerAnchor => (1, 1.0),
            _ => (3, 0.5),
        };
        let activation = match self {
            Self::AnswerContext => "context",
            _ => "cited",
        };
        let from = match self {
            Self::TurnNone | Self::TurnCited => "turn",
            _ => "contextual",
        };
        let mut settings = json!({
            "max_sources": CONTEXT,
            "max_tokens": 1_000_000,
            "merge_adjacent": false,
            "lexical_search": "exact",
            "vector_search": "exact",
            "query_from": from,
            "carry_over": self.carries(),
            "carry_activation": activation,
            "reserved_slots": slots,
            "carry_threshold": threshold,
            "graph": matches!(self, Self::GraphNominates | Self::Graph),
            "graph_weight": if self == Self::GraphNominates { 0.0 } else { 1.0 },
            "fusion": if self == Self::Integrated { "integrated" } else { "scores" },
        });
        if let Self::Strategy(strategy) = self {
            settings["strategy"] = json!(strategy);
        }
        settings
    }

    fn carries(self) -> bool {
        matches!(
            self,
            Self::AnswerContext
                | Self::AnswerCited
                | Self::AnswerMiddle
                | Self::AnswerNarrow
                | Self::AnswerAnchor
                | Self::TurnCited
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_of_equal_size_differ_only_in_carrying_querying_and_fusion() {
        let equal = Arm::ALL.into_iter().filter(|arm| arm.equal_size());
        for arm in equal.clone() {
            let mut settings = arm.settings();
            let none = Arm::None.settings();
            for name in [
                "carry_over",
                "carry_activation",
                "reserved_slots",
                "carry_threshold",
                "query_from",
                "fusion",
            ] {
                settings[name] = none[name].clone();
            }
            assert_eq!(settings, Arm::None.settings(), "{}", arm.name());
        }
        let mut all: Vec<String> = equal.map(|arm| arm.settings().to_string()).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 9, "two arms are the same");
    }
}
