//! The ways in which a conversation is held again.

use reground_grounding::settings::strategy::Strategy;
use serde_json::{Value, json};

/// Passages in a context of the arms that are compared at equal size.
pub const CONTEXT: usize = 10;

/// One way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arm {
    /// Nothing is carried over: what the others are compared with.
    None,
    /// Three slots at .5; sources stay active by a citation where the answer's text is supported, or by fresh retrieval.
    AnswerContext,
    /// The same, active only by such a citation.
    AnswerCited,
    /// Two slots at .7 for what answers cited.
    AnswerMiddle,
    /// One slot at .85 for what answers cited.
    AnswerNarrow,
    /// One slot for what a turn that cannot be understood alone is about, or what is as relevant as the best.
    AnswerAnchor,
    /// Nothing is carried over, and only the user's words are searched for.
    TurnNone,
    /// Three slots at .5 for what answers cited, and only the user's words are searched for.
    TurnCited,
    /// As [`Self::None`], with what earlier turns were shown ranked among what this one finds.
    Integrated,
    /// The settings that users start from.
    Default,
    /// As [`Self::None`], and neighbours in the knowledge graph are nominated, without weight of their own.
    GraphNominates,
    /// As [`Self::None`], with the knowledge graph at its default weight.
    Graph,
    /// As [`Self::None`], with this done about history.
    Strategy(Strategy),
}

impl Arm {
    /// Those that are compared, the baseline first; the knowledge graph is compared apart.
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

    /// Those of the sample.
    pub const SAMPLE: [Self; 2] = [Self::None, Self::AnswerAnchor];

    /// The name in reports and floors.
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

    /// Whether its contexts hold [`CONTEXT`] single passages, as those of the baseline do.
    pub fn equal_size(self) -> bool {
        self != Self::Default
    }

    /// The settings of each of its turns. Contexts of equal size need room for any ten passages, and none merged. Both
    /// branches are exact, so that the figures do not hang on how an index was built.
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
            "min_sources": CONTEXT,
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
    fn arms_of_equal_size_differ_in_carrying_and_asking_alone() {
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
