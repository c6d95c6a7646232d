//! Functions of the application that a turn calls, each named by a setting.

/// What a setting names a function for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    /// Scores the candidates (C6).
    Reranker,
    /// Judges the intent (C1) and the dependency (H2).
    Intent,
}

/// The setting's value for a rerank that the application makes itself, between two calls of ours.
pub const DEFERRED: &str = "deferred";

impl Hook {
    /// All.
    pub const ALL: [Self; 2] = [Self::Reranker, Self::Intent];

    /// The setting that names it.
    #[must_use]
    pub fn setting(self) -> &'static str {
        match self {
            Self::Reranker => "reranker",
            Self::Intent => "intent_function",
        }
    }

    /// SQL types of its arguments, in brackets, with their schema: they are looked up along the caller's search_path.
    #[must_use]
    pub fn arguments(self) -> &'static str {
        match self {
            Self::Reranker => "(pg_catalog.text, pg_catalog.text[])",
            Self::Intent => "(pg_catalog.text, pg_catalog.jsonb)",
        }
    }

    /// SQL type of its result.
    #[must_use]
    pub fn result(self) -> &'static str {
        match self {
            Self::Reranker => "pg_catalog.float4[]",
            Self::Intent => "pg_catalog.jsonb",
        }
    }

    /// What it has to be, for whoever named something else.
    #[must_use]
    pub fn expectation(self) -> &'static str {
        match self {
            Self::Reranker => {
                "A reranker is a function f(query text, passages text[]) returns real[], one score a passage, or 'deferred'."
            }
            Self::Intent => {
                "An intent function is f(query text, earlier jsonb) returns jsonb: NULL, or {\"intent\": \"drill_down\"} with confidence, dependency and entities where it knows them."
            }
        }
    }

    /// The function that a setting's value names; `None` where it names none.
    #[must_use]
    pub fn named(self, value: &str) -> Option<&str> {
        let value = value.trim();
        let none = value.is_empty()
            || value.eq_ignore_ascii_case("off")
            || (self == Self::Reranker && value == DEFERRED);
        (!none).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_names_a_function_or_none() {
        assert_eq!(Hook::Reranker.named("s.f"), Some("s.f"));
        assert_eq!(Hook::Reranker.named(DEFERRED), None);
        assert_eq!(Hook::Intent.named(DEFERRED), Some(DEFERRED));
        assert_eq!(Hook::Intent.named(" OFF "), None);
        assert_eq!(Hook::Intent.named(" "), None);
        assert_eq!(Hook::Intent.named(" f "), Some("f"));
    }
}
