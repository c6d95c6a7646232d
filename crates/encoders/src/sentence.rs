//! Sentence encoders.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use tokenizers::TruncationStrategy;

use crate::EncoderError;
use crate::architecture::Task;
use crate::loaded::{Loaded, json};
use crate::pooling::{Pooling, normalise};

/// A model that maps a text to a vector. `encode` takes `&self`, so several threads can share one encoder.
pub struct SentenceEncoder {
    model: Loaded,
    pooling: Pooling,
    is_normalised: bool,
}

/// An entry of `modules.json`.
#[derive(Deserialize)]
struct Module {
    path: String,
    #[serde(rename = "type")]
    kind: String,
}

impl SentenceEncoder {
    /// Loads the model that [`find`](crate::find) locates in `dir`, with 32-bit float weights. Pooling and normalisation are those
    /// of `modules.json`; without this file, the vector is the normalised mean.
    ///
    /// # Errors
    /// Any [`EncoderError`]: missing or unreadable files, a configuration of another kind of model, or weights that do not fit it.
    pub fn load(dir: &Path) -> Result<Self, EncoderError> {
        let mut model = Loaded::open(dir, Task::States, "a sentence encoder")?;
        let (pooling, is_normalised) = modules(&model.dir)?;
        let path = model.dir.join("sentence_bert_config.json");
        if path.is_file() {
            let settings: Value = json(&path)?;
            let declared = settings.get("max_seq_length").and_then(Value::as_u64);
            let declared = declared.and_then(|tokens| usize::try_from(tokens).ok());
            model.max_tokens = declared.unwrap_or(model.max_tokens).min(model.positions);
        }
        model.truncate(model.max_tokens, TruncationStrategy::LongestFirst)?;
        Ok(Self {
            model,
            pooling,
            is_normalised,
        })
    }

    /// Returns the length of every embedding.
    pub fn dimensions(&self) -> usize {
        self.model.width
    }

    /// Returns the number of tokens that are read of a text, with special tokens. The rest is cut off.
    pub fn max_tokens(&self) -> usize {
        self.model.max_tokens
    }

    /// Returns one embedding per text, in the same order. It does not depend on the other texts.
    ///
    /// # Errors
    /// [`EncoderError::Tokenizer`] or [`EncoderError::Model`] if a text cannot be tokenised or run.
    pub fn encode(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EncoderError> {
        let encodings = self.model.tokenizer.encode_batch(texts.to_vec(), true)?;
        self.model.states(&encodings, |states| {
            let mut embedding = self.pooling.apply(states, self.model.width);
            if self.is_normalised {
                normalise(&mut embedding);
            }
            embedding
        })
    }
}

/// Returns the pooling, and whether the vector is normalised.
fn modules(dir: &Path) -> Result<(Pooling, bool), EncoderError> {
    let path = dir.join("modules.json");
    let (mut pooling, mut is_normalised) = (None, !path.is_file());
    let modules: Vec<Module> = if path.is_file() {
        json(&path)?
    } else {
        Vec::new()
    };
    for module in modules {
        // The type is the name of a Python class.
        match module.kind.rsplit('.').next().unwrap_or_default() {
            "Transformer" => {}
            "Pooling" => pooling = Some(read_pooling(&dir.join(module.path))?),
            "Normalize" => is_normalised = true,
            what => {
                return Err(EncoderError::Unsupported {
                    path,
                    what: what.to_string(),
                });
            }
        }
    }
    let pooling = match pooling {
        Some(pooling) => pooling,
        None => read_pooling(&dir.join("1_Pooling"))?,
    };
    Ok((pooling, is_normalised))
}

/// Reads the configuration of a pooling layer; the default is the mean.
fn read_pooling(dir: &Path) -> Result<Pooling, EncoderError> {
    let path = dir.join("config.json");
    if !path.is_file() {
        return Ok(Pooling::Mean);
    }
    let config: Value = json(&path)?;
    // Before version 6 of sentence-transformers, there is a flag for each mode.
    let flags = config.as_object().into_iter().flatten();
    let mut modes: Vec<&str> = flags
        .filter(|(_, value)| **value == Value::Bool(true))
        .filter_map(|(name, _)| name.strip_prefix("pooling_mode_"))
        .collect();
    modes.extend(config.get("pooling_mode").and_then(Value::as_str));
    match modes.as_slice() {
        [] | ["mean" | "mean_tokens"] => Ok(Pooling::Mean),
        ["cls" | "cls_token"] => Ok(Pooling::First),
        ["max" | "max_tokens"] => Ok(Pooling::Max),
        ["mean_sqrt_len_tokens"] => Ok(Pooling::MeanSqrt),
        ["lasttoken"] => Ok(Pooling::Last),
        _ => Err(EncoderError::Unsupported {
            path,
            what: format!("the pooling {}", modes.join(" and ")),
        }),
    }
}
