//! DeBERTa-v2 and -v3, as candle implements them.

use candle_core::{Device, Result, Tensor};
use candle_transformers::models::debertav2::{Config, DebertaV2Model};
use serde_json::{Map, Value, json};

use super::packed::Packed;
use super::weights::Weights;

/// The transformer.
pub(crate) struct Deberta {
    model: DebertaV2Model,
    has_types: bool,
}

/// Reads `config.json`. candle requires some values for which transformers has a default.
pub(crate) fn configuration(config: &Value) -> serde_json::Result<Config> {
    let mut all: Map<String, Value> = serde_json::from_value(config.clone())?;
    let defaults = json!({
        "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1,
        "max_position_embeddings": 512, "type_vocab_size": 0, "initializer_range": 0.02,
        "layer_norm_eps": 1e-7, "relative_attention": false, "max_relative_positions": -1,
        "position_biased_input": true, "pos_att_type": [],
    });
    if let Value::Object(defaults) = defaults {
        for (name, value) in defaults {
            let known = all.entry(name).or_insert(Value::Null);
            if known.is_null() {
                *known = value;
            }
        }
    }
    serde_json::from_value(Value::Object(all))
}

impl Deberta {
    /// Reads the weights.
    pub(crate) fn load(weights: &Weights, config: &Config) -> Result<Self> {
        Ok(Self {
            model: DebertaV2Model::load(weights.builder(), config)?,
            has_types: config.type_vocab_size > 0,
        })
    }

    pub(super) fn forward(&self, batch: &Packed) -> Result<Tensor> {
        let longest = batch.lengths.iter().copied().max().unwrap_or(0);
        let shape = (batch.lengths.len(), longest);
        let padded = |values: &[u32]| {
            let mut all = vec![0; shape.0 * shape.1];
            for (row, (first, length)) in all.chunks_exact_mut(longest).zip(batch.rows()) {
                row[..length].copy_from_slice(&values[first..first + length]);
            }
            Tensor::from_vec(all, shape, &Device::Cpu)
        };
        let mask = padded(&vec![1; batch.ids.len()])?;
        let types = if self.has_types {
            Some(padded(&batch.types)?)
        } else {
            None
        };
        let states = self
            .model
            .forward(&padded(&batch.ids)?, types, Some(mask))?;
        let texts: Vec<Tensor> = batch
            .lengths
            .iter()
            .enumerate()
            .map(|(text, length)| states.get(text)?.narrow(0, 0, *length))
            .collect::<Result<_>>()?;
        Tensor::cat(&texts, 0)
    }
}
