//! Cross-encoders, which rerank passages.

use std::path::Path;

use crate::EncoderError;
use crate::architecture::Task;
use crate::kernels::sigmoid;
use crate::loaded::Loaded;

/// A model that scores a passage for a query.
pub struct CrossEncoder {
    model: Loaded,
}

/// The relevance of a passage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Relevance {
    /// The logit of the model: of its last label, if there are several.
    pub logit: f32,
    /// The logistic function of the logit, between 0 and 1.
    pub probability: f32,
}

impl CrossEncoder {
    /// Loads the model that [`find`](crate::find) locates in `dir`.
    ///
    /// # Errors
    /// Any [`EncoderError`]: missing or unreadable files, a configuration of another kind of model, or weights that do not fit it.
    pub fn load(dir: &Path) -> Result<Self, EncoderError> {
        let model = Loaded::open(dir, Task::Sequence, "a cross-encoder")?;
        Ok(Self::new(model))
    }

    pub(crate) fn new(model: Loaded) -> Self {
        Self { model }
    }

    /// Returns the relevance for each pair of query and passage, in the same order. If a pair is too long, the longer of the two
    /// texts is cut off.
    ///
    /// # Errors
    /// [`EncoderError::Tokenizer`] or [`EncoderError::Model`] if a text cannot be tokenised or run.
    pub fn score(&self, pairs: &[(&str, &str)]) -> Result<Vec<Relevance>, EncoderError> {
        let encodings = self.model.tokenizer.encode_batch(pairs.to_vec(), true)?;
        let relevance = |rows: &Vec<Vec<f32>>| {
            let logit = rows.first().and_then(|row| row.last()).copied();
            let logit = logit.unwrap_or(f32::NAN);
            Relevance {
                logit,
                probability: sigmoid(logit),
            }
        };
        Ok(self
            .model
            .logits(&encodings)?
            .iter()
            .map(relevance)
            .collect())
    }
}
