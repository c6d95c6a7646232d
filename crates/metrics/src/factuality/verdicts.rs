//! Verdicts of statements and facts.

use serde::{Deserialize, Serialize};

/// How a text relates to a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entailment {
    /// The statement follows from the text.
    Entailed,
    /// The statement and the text cannot both be true.
    Contradicted,
    /// Neither.
    Neutral,
}

impl Entailment {
    /// All values, in the order of confusion matrices.
    pub const ALL: [Self; 3] = [Self::Entailed, Self::Contradicted, Self::Neutral];

    /// The name in JSON and SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Entailed => "entailed",
            Self::Contradicted => "contradicted",
            Self::Neutral => "neutral",
        }
    }

    /// The value of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

/// The verdicts of one answer. A verdict is `None` if its judge failed, a list is `None` if its decomposition failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerVerdicts {
    /// For each statement of the answer, the verdict of the whole reference answer.
    pub statements: Option<Vec<Option<Entailment>>>,
    /// For each must-have fact, the verdict of the whole answer.
    pub facts: Option<Vec<Option<Entailment>>>,
    /// Tokens of the answer, in the encoding o200k_base.
    pub tokens: u64,
}

/// Why an answer has no measures. Not the same as measures of 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unmeasured {
    /// The reference has no facts.
    NoFacts,
    /// The answer states nothing, such as a refusal or a question.
    NoStatements,
    /// A decomposition or a verdict is missing.
    JudgeFailed,
}

impl Unmeasured {
    /// All values.
    pub const ALL: [Self; 3] = [Self::NoFacts, Self::NoStatements, Self::JudgeFailed];

    /// The name in JSON and SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoFacts => "no_facts",
            Self::NoStatements => "no_statements",
            Self::JudgeFailed => "judge_failed",
        }
    }
}
