//! Reads the kind of a model from `config.json`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::EncoderError;

/// A family of transformers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Bert,
    /// Also XLM-RoBERTa.
    Roberta,
    Distilbert,
    ModernBert,
    /// Version 2 and 3.
    Deberta,
}

/// The output of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// A hidden state for each token.
    States,
    /// Logits of labels for a text.
    Sequence,
    /// Logits of labels for each token.
    Tokens,
}

/// Names of the families: of the architecture, of the model type, and of the weights of the transformer.
const FAMILIES: [(&str, &str, Family); 7] = [
    ("XLMRoberta", "xlm-roberta", Family::Roberta),
    ("Camembert", "camembert", Family::Roberta),
    ("Roberta", "roberta", Family::Roberta),
    ("DistilBert", "distilbert", Family::Distilbert),
    ("ModernBert", "modernbert", Family::ModernBert),
    ("DebertaV2", "deberta-v2", Family::Deberta),
    ("Bert", "bert", Family::Bert),
];

/// The values of `config.json` that do not depend on the family.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Description {
    architectures: Option<Vec<String>>,
    model_type: Option<String>,
    #[serde(default)]
    id2label: BTreeMap<usize, String>,
    num_labels: Option<usize>,
    pub(crate) classifier_pooling: Option<String>,
}

impl Description {
    /// Returns the architecture, or the model type if there is none.
    pub(crate) fn name(&self) -> String {
        let first = self.architecture().or(self.model_type.as_ref());
        first.cloned().unwrap_or_else(|| "(none)".into())
    }

    fn architecture(&self) -> Option<&String> {
        self.architectures.as_ref()?.first()
    }

    /// Returns the family and the task. Without an architecture, the model type decides.
    pub(crate) fn kind(&self) -> Result<(Family, Task), EncoderError> {
        let unknown = || EncoderError::Architecture(self.name());
        let Some(architecture) = self.architecture() else {
            let (.., family) = FAMILIES
                .iter()
                .find(|(_, kind, _)| Some(*kind) == self.model_type.as_deref())
                .ok_or_else(unknown)?;
            return Ok((*family, Task::States));
        };
        let (name, _, family) = FAMILIES
            .iter()
            .find(|(name, ..)| architecture.starts_with(name))
            .ok_or_else(unknown)?;
        let task = match &architecture[name.len()..] {
            "Model" | "ForMaskedLM" | "ForPreTraining" => Task::States,
            "ForSequenceClassification" => Task::Sequence,
            "ForTokenClassification" => Task::Tokens,
            _ => return Err(unknown()),
        };
        Ok((*family, task))
    }

    /// Returns the names of the labels by number.
    pub(crate) fn labels(&self) -> Vec<String> {
        // transformers writes no labels if there are two without a name.
        let count = match (self.id2label.is_empty(), self.num_labels) {
            (true, count) => count.unwrap_or(2),
            (false, _) => self.id2label.len(),
        };
        let name = |label| {
            let known = self.id2label.get(&label).cloned();
            known.unwrap_or_else(|| format!("LABEL_{label}"))
        };
        (0..count).map(name).collect()
    }
}

impl Family {
    /// Returns the prefix of the names of the weights of the transformer in a model with a head, and the name of one of them.
    pub(crate) fn prefix(self) -> (&'static str, &'static str) {
        const WORDS: &str = "embeddings.word_embeddings.weight";
        match self {
            Self::Bert => ("bert", WORDS),
            Self::Roberta => ("roberta", WORDS),
            Self::Distilbert => ("distilbert", WORDS),
            Self::ModernBert => ("model", "embeddings.tok_embeddings.weight"),
            Self::Deberta => ("deberta", WORDS),
        }
    }
}
