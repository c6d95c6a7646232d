//! The compared settings.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A pair of `retrieve_at` and `query_from`, under the source's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// Only the last turn retrieves, with its own words.
    Base,
    /// Only the last turn retrieves, with all questions of the dialogue.
    Last,
    /// Each turn retrieves, with its own words. Best in the source.
    Rounds,
    /// Each turn retrieves, with all questions so far.
    All,
    /// Each turn retrieves, with its words expanded by the conversation: our default, not in the source.
    Expanded,
}

impl Setting {
    /// All settings, in the order of the source's table.
    pub const ALL: [Self; 5] = [
        Self::Base,
        Self::Last,
        Self::Rounds,
        Self::All,
        Self::Expanded,
    ];

    /// The name in reports and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Last => "last",
            Self::Rounds => "rounds",
            Self::All => "all",
            Self::Expanded => "expanded",
        }
    }

    /// Value of `retrieve_at` before the last turn.
    pub fn retrieve_at(self) -> &'static str {
        match self {
            Self::Base | Self::Last => "on_demand",
            Self::Rounds | Self::All | Self::Expanded => "every_turn",
        }
    }

    /// Value of `query_from`.
    pub fn query_from(self) -> &'static str {
        match self {
            Self::Base | Self::Rounds => "turn",
            Self::Last | Self::All => "dialogue",
            Self::Expanded => "contextual",
        }
    }

    /// Whether a turn that is not the last one retrieves.
    pub fn retrieves_before(self) -> bool {
        self.retrieve_at() == "every_turn"
    }

    /// Settings of a turn. With `on_demand`, the last turn demands its search by `every_turn`.
    ///
    /// Contexts have ten single passages, so that they can be compared. Both branches are exact, so that figures do not depend on
    /// the random HNSW graph.
    pub fn of_turn(self, is_last: bool) -> Value {
        json!({
            "retrieve_at": if is_last { "every_turn" } else { self.retrieve_at() },
            "query_from": self.query_from(),
            "max_sources": 10,
            "max_tokens": 1_000_000,
            "merge_adjacent": false,
            "lexical_search": "exact",
            "vector_search": "exact",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_settings_are_the_four_pairs() {
        let pairs = Setting::ALL.map(|setting| (setting.retrieve_at(), setting.query_from()));
        assert_eq!(
            pairs[..4],
            [
                ("on_demand", "turn"),
                ("on_demand", "dialogue"),
                ("every_turn", "turn"),
                ("every_turn", "dialogue")
            ]
        );
        for setting in Setting::ALL {
            assert_eq!(setting.of_turn(true)["retrieve_at"], "every_turn");
            assert_eq!(setting.of_turn(false)["retrieve_at"], setting.retrieve_at());
            assert_eq!(serde_json::to_value(setting).unwrap(), setting.name());
        }
    }
}
