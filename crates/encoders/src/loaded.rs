//! Reads a model folder: transformer, head and tokenizer.

use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::Value;
use tokenizers::{Encoding, Tokenizer, TruncationDirection, TruncationParams, TruncationStrategy};

use crate::EncoderError;
use crate::architecture::{Description, Family, Task};
use crate::backbone::{
    Backbone, Bert, BertConfig, BertKind, Deberta, ModernBert, ModernBertConfig, Packed, Weights,
    deberta_configuration,
};
use crate::batch;
use crate::directory::{CONFIGURATION, TOKENIZER, WEIGHTS, find};
use crate::head::{Head, HeadShape};

/// A model in memory.
pub(crate) struct Loaded {
    pub(crate) dir: PathBuf,
    pub(crate) tokenizer: Tokenizer,
    /// Labels of the head by number.
    pub(crate) labels: Vec<String>,
    /// Width of a hidden state.
    pub(crate) width: usize,
    /// Tokens that the model reads.
    pub(crate) max_tokens: usize,
    /// Tokens for which it has positions.
    pub(crate) positions: usize,
    backbone: Backbone,
    head: Option<Head>,
    vocabulary: usize,
}

/// Width, tokens that the model reads, vocabulary, and epsilon of the normalisations.
struct Shape {
    width: usize,
    heads: usize,
    max_tokens: usize,
    vocabulary: usize,
    epsilon: f64,
}

impl Loaded {
    /// Loads the model that [`find`] locates in `dir`, which must be for `task`.
    pub(crate) fn open(
        dir: &Path,
        task: Task,
        expected: &'static str,
    ) -> Result<Self, EncoderError> {
        let dir = find(dir)?;
        let path = dir.join(CONFIGURATION);
        let config: Value = json(&path)?;
        let description: Description = parse(&config, &path)?;
        let (family, found) = description.kind()?;
        if found != task {
            return Err(EncoderError::Task {
                architecture: description.name(),
                expected,
            });
        }
        check_variant(&config, &path)?;
        let all = Weights::new(read(&dir.join(WEIGHTS))?)?;
        let (prefix, name) = family.prefix();
        let below = all.below(prefix, name);
        let (backbone, shape) = backbone(&config, &path, family, &below)?;
        let labels = description.labels();
        let head = match task {
            Task::States => None,
            Task::Sequence | Task::Tokens => {
                let shape = HeadShape {
                    width: shape.width,
                    labels: labels.len(),
                    epsilon: shape.epsilon,
                    pooling: description.classifier_pooling.as_deref(),
                };
                Some(Head::load(&all, &below, family, task, &shape)?)
            }
        };
        let tokenizer = Tokenizer::from_bytes(read(&dir.join(TOKENIZER))?)?;
        let mut model = Self {
            tokenizer,
            labels,
            width: shape.width,
            max_tokens: shape.max_tokens.min(declared_tokens(&dir)?),
            positions: shape.max_tokens,
            backbone,
            head,
            vocabulary: shape.vocabulary,
            dir,
        };
        model.truncate(model.max_tokens, TruncationStrategy::LongestFirst)?;
        Ok(model)
    }

    /// Sets the number of tokens that remain of a text or a pair.
    pub(crate) fn truncate(
        &mut self,
        max_length: usize,
        strategy: TruncationStrategy,
    ) -> Result<(), EncoderError> {
        // The file may set a fixed padding and another truncation.
        let truncation = TruncationParams {
            max_length,
            strategy,
            stride: 0,
            direction: TruncationDirection::Right,
        };
        self.tokenizer
            .with_padding(None)
            .with_truncation(Some(truncation))?;
        Ok(())
    }

    /// Returns `each` of the hidden states of each text, (tokens, width), in the order of `encodings`.
    pub(crate) fn states<T: Send>(
        &self,
        encodings: &[Encoding],
        each: impl Fn(&[f32]) -> T + Sync,
    ) -> Result<Vec<T>, EncoderError> {
        self.check(encodings)?;
        batch::run(encodings, |batch| {
            let states = self.forward(batch)?;
            let text = |(first, length)| each(self.rows(&states, first, length));
            Ok(batch.rows().map(text).collect())
        })
    }

    /// Returns the logits of each text, in the order of `encodings`: one row, or one per token if the head classifies tokens.
    pub(crate) fn logits(
        &self,
        encodings: &[Encoding],
    ) -> Result<Vec<Vec<Vec<f32>>>, EncoderError> {
        self.check(encodings)?;
        let Some(head) = &self.head else {
            return Ok(Vec::new());
        };
        batch::run(encodings, |batch| {
            let states = self.forward(batch)?;
            let Some(pooling) = head.pooling else {
                let mut rows = head.logits(states, self.width)?.into_iter();
                let text = |(_, length)| rows.by_ref().take(length).collect();
                return Ok(batch.rows().map(text).collect());
            };
            let pooled = batch.rows().flat_map(|(first, length)| {
                pooling.apply(self.rows(&states, first, length), self.width)
            });
            let rows = head.logits(pooled.collect(), self.width)?;
            Ok(rows.into_iter().map(|row| vec![row]).collect())
        })
    }

    fn forward(&self, batch: &Packed) -> Result<Vec<f32>, EncoderError> {
        Ok(self.backbone.forward(batch)?.flatten_all()?.to_vec1()?)
    }

    fn rows<'a>(&self, states: &'a [f32], first: usize, length: usize) -> &'a [f32] {
        &states[first * self.width..(first + length) * self.width]
    }

    fn check(&self, encodings: &[Encoding]) -> Result<(), EncoderError> {
        if encodings.iter().any(Encoding::is_empty) {
            return Err(EncoderError::Empty);
        }
        let ids = encodings.iter().flat_map(Encoding::get_ids);
        match ids.max() {
            Some(token) if *token as usize >= self.vocabulary => Err(EncoderError::Vocabulary {
                token: *token,
                vocabulary: self.vocabulary,
            }),
            _ => Ok(()),
        }
    }
}

/// Variants of a transformer that need another computation.
fn check_variant(config: &Value, path: &Path) -> Result<(), EncoderError> {
    for (name, supported) in [
        ("position_embedding_type", "absolute"),
        ("hidden_activation", "gelu"),
        ("classifier_activation", "gelu"),
        ("pooler_hidden_act", "gelu"),
    ] {
        match config.get(name).and_then(Value::as_str) {
            Some(value) if value != supported => {
                return Err(EncoderError::Unsupported {
                    path: path.to_path_buf(),
                    what: format!("{name} = {value}"),
                });
            }
            _ => {}
        }
    }
    Ok(())
}

fn backbone(
    config: &Value,
    path: &Path,
    family: Family,
    weights: &Weights,
) -> Result<(Backbone, Shape), EncoderError> {
    let bert = |kind| -> Result<_, EncoderError> {
        let config: BertConfig = parse(config, path)?;
        let shape = Shape {
            width: config.hidden_size,
            heads: config.num_attention_heads,
            max_tokens: config.max_tokens(kind),
            vocabulary: config.vocab_size,
            epsilon: 0.0,
        };
        shape.check()?;
        let model = Bert::load(weights, &config, kind)?;
        Ok((Backbone::Bert(model), shape))
    };
    match family {
        Family::Bert => bert(BertKind::Bert),
        Family::Roberta => bert(BertKind::Roberta),
        Family::Distilbert => bert(BertKind::Distilbert),
        Family::ModernBert => {
            let config: ModernBertConfig = parse(config, path)?;
            let shape = Shape {
                width: config.hidden_size,
                heads: config.num_attention_heads,
                max_tokens: config.max_position_embeddings,
                vocabulary: config.vocab_size,
                epsilon: config.norm_eps,
            };
            shape.check()?;
            let model = ModernBert::load(weights, &config)?;
            Ok((Backbone::ModernBert(model), shape))
        }
        Family::Deberta => {
            let config = deberta_configuration(config).map_err(|source| wrong(path, source))?;
            let shape = Shape {
                width: config.hidden_size,
                heads: config.num_attention_heads,
                max_tokens: config.max_position_embeddings,
                vocabulary: config.vocab_size,
                epsilon: config.layer_norm_eps,
            };
            shape.check()?;
            let model = Deberta::load(weights, &config)?;
            Ok((Backbone::Deberta(Box::new(model)), shape))
        }
    }
}

impl Shape {
    fn check(&self) -> Result<(), EncoderError> {
        let (hidden, heads) = (self.width, self.heads);
        if heads == 0 || hidden == 0 || hidden % heads != 0 {
            return Err(EncoderError::Heads { hidden, heads });
        }
        Ok(())
    }
}

/// Returns the number of tokens that `tokenizer_config.json` declares, which is an enormous number if there is no limit.
fn declared_tokens(dir: &Path) -> Result<usize, EncoderError> {
    let path = dir.join("tokenizer_config.json");
    if !path.is_file() {
        return Ok(usize::MAX);
    }
    let config: Value = json(&path)?;
    let declared = config.get("model_max_length").and_then(Value::as_u64);
    let declared = declared.and_then(|tokens| usize::try_from(tokens).ok());
    Ok(declared.unwrap_or(usize::MAX))
}

/// Reads a file of JSON.
pub(crate) fn json<T: DeserializeOwned>(path: &Path) -> Result<T, EncoderError> {
    serde_json::from_slice(&read(path)?).map_err(|source| wrong(path, source))
}

fn parse<T: DeserializeOwned>(config: &Value, path: &Path) -> Result<T, EncoderError> {
    T::deserialize(config).map_err(|source| wrong(path, source))
}

fn wrong(path: &Path, source: serde_json::Error) -> EncoderError {
    EncoderError::Configuration {
        path: path.to_path_buf(),
        source,
    }
}

fn read(path: &Path) -> Result<Vec<u8>, EncoderError> {
    fs::read(path).map_err(|source| EncoderError::Read {
        path: path.to_path_buf(),
        source,
    })
}
