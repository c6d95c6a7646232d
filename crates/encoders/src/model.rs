//! Opens a model of any kind.

use std::path::Path;

use crate::architecture::{Description, Task};
use crate::directory::{CONFIGURATION, find};
use crate::entailment::entailment_label;
use crate::loaded::json;
use crate::{CrossEncoder, EncoderError, EntailmentClassifier, SentenceEncoder, SpanClassifier};

/// A model of the kind that its configuration names.
pub enum Model {
    /// Maps a text to a vector.
    Sentence(SentenceEncoder),
    /// Scores a passage for a query.
    Cross(CrossEncoder),
    /// Judges whether a premise entails a hypothesis.
    Entailment(EntailmentClassifier),
    /// Finds the unsupported parts of an answer.
    Spans(SpanClassifier),
}

impl Model {
    /// Loads the model that [`find`] locates in `dir`. The `architectures` of `config.json` decide its kind. Of the models for
    /// sequence classification, those with two or three labels are entailment classifiers if a label says entailment, or if there
    /// are two labels without names; all others are cross-encoders.
    ///
    /// # Errors
    /// Any [`EncoderError`]: missing or unreadable files, an unknown architecture, or weights that do not fit the configuration.
    pub fn open(dir: &Path) -> Result<Self, EncoderError> {
        let dir = find(dir)?;
        let description: Description = json(&dir.join(CONFIGURATION))?;
        let (_, task) = description.kind()?;
        let labels = description.labels();
        Ok(match task {
            Task::States => Self::Sentence(SentenceEncoder::load(&dir)?),
            Task::Tokens => Self::Spans(SpanClassifier::load(&dir)?),
            Task::Sequence
                if (2..=3).contains(&labels.len()) && entailment_label(&labels).is_some() =>
            {
                Self::Entailment(EntailmentClassifier::load(&dir)?)
            }
            Task::Sequence => Self::Cross(CrossEncoder::load(&dir)?),
        })
    }
}
