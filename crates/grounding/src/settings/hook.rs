//! Functions of the application that a turn calls. A setting names each of them.

/// The purpose of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    /// Scores the candidates.
    Reranker,
    /// Judges the intent and the dependency.
    Intent,
}

/// Who reranks the candidates, by the setting `reranker`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reranker<'a> {
    /// The application, between two calls.
    Deferred,
    /// A worker, with the model of this name.
    Model(&'a str),
    /// The function of this name.
    Function(&'a str),
}

impl<'a> Reranker<'a> {
    /// Reads the setting; `None` if nothing reranks.
    #[must_use]
    pub fn of(setting: &'a str) -> Option<Self> {
        let value = setting.trim();
        if value.is_empty() || value.eq_ignore_ascii_case("off") {
            return None;
        }
        Some(match value.strip_prefix("model:") {
            Some(model) => Self::Model(model.trim()),
            None if value == "deferred" => Self::Deferred,
            None => Self::Function(value),
        })
    }
}

impl Hook {
    /// All hooks.
    pub const ALL: [Self; 2] = [Self::Reranker, Self::Intent];

    /// The setting that names the function.
    #[must_use]
    pub fn setting(self) -> &'static str {
        match self {
            Self::Reranker => "reranker",
            Self::Intent => "intent_function",
        }
    }

    /// SQL types of its arguments, in parentheses.
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

    /// The hint for a value that names something else.
    #[must_use]
    pub fn expectation(self) -> &'static str {
        match self {
            Self::Reranker => {
                "A reranker is a function f(query text, passages text[]) returns real[], one score a passage, or 'deferred', or 'model:NAME'."
            }
            Self::Intent => {
                "An intent function is f(query text, earlier jsonb) returns jsonb: NULL, or {\"intent\": \"drill_down\"} with confidence, dependency and entities where it knows them."
            }
        }
    }

    /// The function that a setting's value names; `None` if there is none.
    #[must_use]
    pub fn named(self, value: &str) -> Option<&str> {
        match (self, Reranker::of(value)?) {
            (_, Reranker::Function(name)) => Some(name),
            (Self::Reranker, _) => None,
            (Self::Intent, _) => Some(value.trim()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_names_a_function_or_none() {
        assert_eq!(Hook::Reranker.named("s.f"), Some("s.f"));
        assert_eq!(Hook::Reranker.named("deferred"), None);
        assert_eq!(Hook::Reranker.named("model: m"), None);
        assert_eq!(Reranker::of("model: m"), Some(Reranker::Model("m")));
        assert_eq!(Hook::Intent.named("deferred"), Some("deferred"));
        assert_eq!(Hook::Intent.named(" OFF "), None);
        assert_eq!(Hook::Intent.named(" "), None);
        assert_eq!(Hook::Intent.named(" f "), Some("f"));
    }
}
