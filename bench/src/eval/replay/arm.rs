//! The ways in which a conversation is held again.

use serde_json::{Value, json};

use super::citing::Marking;

/// Passages in a context of the arms that are compared at equal size.
pub const CONTEXT: usize = 10;

/// One way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arm {
    /// Nothing is carried over: what the others are compared with.
    None,
    /// Sources stay active by a citation of what humans judged relevant, or by fresh retrieval.
    OracleContext,
    /// Sources stay active only by a citation of what humans judged relevant.
    OracleCited,
    /// Sources stay active by a citation where the answer's text is supported, or by fresh retrieval.
    AnswerContext,
    /// Sources stay active only by a citation where the answer's text is supported.
    AnswerCited,
    /// The settings that users start from, cited by the oracle.
    Default,
    /// As [`Self::OracleContext`], and neighbours in the knowledge graph are nominated, without weight of their own.
    GraphNominates,
    /// As [`Self::OracleContext`], with the knowledge graph at its default weight.
    Graph,
}

impl Arm {
    /// Those that are compared, the baseline first; the knowledge graph is compared apart.
    pub const ALL: [Self; 6] = [
        Self::None,
        Self::OracleContext,
        Self::OracleCited,
        Self::AnswerContext,
        Self::AnswerCited,
        Self::Default,
    ];

    /// Those of the sample.
    pub const SAMPLE: [Self; 2] = [Self::None, Self::OracleContext];

    /// The name in reports and floors.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::OracleContext => "oracle-cited/context",
            Self::OracleCited => "oracle-cited/cited",
            Self::AnswerContext => "answer-cited/context",
            Self::AnswerCited => "answer-cited/cited",
            Self::Default => "defaults",
            Self::GraphNominates => "graph, nominates only",
            Self::Graph => "graph",
        }
    }

    /// Which sources the answers cite.
    pub fn marking(self) -> Marking {
        match self {
            Self::AnswerContext | Self::AnswerCited => Marking::Answer,
            _ => Marking::Oracle,
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
        let activation = match self {
            Self::OracleCited | Self::AnswerCited => "cited",
            _ => "context",
        };
        json!({
            "max_sources": CONTEXT,
            "min_sources": CONTEXT,
            "max_tokens": 1_000_000,
            "merge_adjacent": false,
            "lexical_search": "exact",
            "vector_search": "exact",
            "carry_over": self != Self::None,
            "carry_activation": activation,
            "graph": matches!(self, Self::GraphNominates | Self::Graph),
            "graph_weight": if self == Self::GraphNominates { 0.0 } else { 1.0 },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_of_equal_size_differ_in_carrying_alone() {
        let equal = Arm::ALL.into_iter().filter(|arm| arm.equal_size());
        for arm in equal.clone() {
            let mut settings = arm.settings();
            for (name, value) in [
                ("carry_over", json!(false)),
                ("carry_activation", json!("context")),
            ] {
                settings[name] = value;
            }
            assert_eq!(settings, Arm::None.settings(), "{}", arm.name());
        }
        let mut all: Vec<String> = equal
            .map(|arm| format!("{} {:?}", arm.settings(), arm.marking()))
            .collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 5, "two arms are the same");
    }
}
