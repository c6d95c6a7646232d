//! ModernBERT: normalisation before each part, rotary positions, gated units, and local attention in most layers.

use candle_core::{DType, Device, Result, Tensor};
use serde::Deserialize;
use serde_json::Value;

use super::attention::Attention;
use super::packed::Packed;
use super::weights::{Dense, Weights};
use crate::kernels::{Norm, Rotation, combine, gate, update};

/// The part of `config.json` that describes the transformer.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ModernBertConfig {
    pub(crate) vocab_size: usize,
    pub(crate) hidden_size: usize,
    num_hidden_layers: usize,
    pub(crate) num_attention_heads: usize,
    intermediate_size: usize,
    pub(crate) max_position_embeddings: usize,
    #[serde(default = "default_epsilon", alias = "layer_norm_eps")]
    pub(crate) norm_eps: f64,
    #[serde(default = "default_period")]
    global_attn_every_n_layers: usize,
    #[serde(default = "default_local")]
    local_attention: usize,
    global_rope_theta: Option<f64>,
    local_rope_theta: Option<f64>,
    /// Since version 5 of transformers.
    rope_parameters: Option<Value>,
    layer_types: Option<Vec<String>>,
}

fn default_epsilon() -> f64 {
    1e-5
}

fn default_period() -> usize {
    3
}

fn default_local() -> usize {
    128
}

/// The transformer.
pub(crate) struct ModernBert {
    words: Tensor,
    norm: Norm,
    layers: Vec<Layer>,
    final_norm: Norm,
    global: (Attention, Rotation),
    local: (Attention, Rotation),
    /// Width of the gated units.
    inner: usize,
}

struct Layer {
    /// The first layer has none.
    attention_norm: Option<Norm>,
    projections: Dense,
    attention: Dense,
    norm: Norm,
    inner: Dense,
    outer: Dense,
    is_local: bool,
}

impl ModernBertConfig {
    fn is_local(&self, layer: usize) -> bool {
        match &self.layer_types {
            Some(types) => types
                .get(layer)
                .is_some_and(|kind| kind == "sliding_attention"),
            None => !layer.is_multiple_of(self.global_attn_every_n_layers.max(1)),
        }
    }

    /// Returns the base of the rotary positions.
    fn theta(&self, kind: &str, direct: Option<f64>, default: f64) -> f64 {
        let nested = || {
            self.rope_parameters
                .as_ref()?
                .get(kind)?
                .get("rope_theta")?
                .as_f64()
        };
        direct.or_else(nested).unwrap_or(default)
    }
}

impl ModernBert {
    /// Reads the weights.
    pub(crate) fn load(weights: &Weights, config: &ModernBertConfig) -> Result<Self> {
        let (width, heads) = (config.hidden_size, config.num_attention_heads);
        let at = weights.at("embeddings");
        let norm = |weights: &Weights, name| weights.norm(name, width, config.norm_eps);
        let attention = |reach, theta| {
            let shape = Attention {
                heads,
                width: width / heads,
                reach,
            };
            let rotation = Rotation::new(config.max_position_embeddings, width / heads, theta);
            (shape, rotation)
        };
        let global = config.theta("full_attention", config.global_rope_theta, 160_000.0);
        let local = config.theta("sliding_attention", config.local_rope_theta, 10_000.0);
        Ok(Self {
            words: at
                .at("tok_embeddings")
                .matrix("weight", config.vocab_size, width)?,
            norm: norm(&at, "norm")?,
            layers: (0..config.num_hidden_layers)
                .map(|layer| Layer::load(weights, config, layer))
                .collect::<Result<_>>()?,
            final_norm: norm(weights, "final_norm")?,
            global: attention(None, global),
            local: attention(Some(config.local_attention / 2), local),
            inner: config.intermediate_size,
        })
    }

    pub(super) fn forward(&self, batch: &Packed) -> Result<Tensor> {
        let ids = Tensor::from_slice(&batch.ids, batch.ids.len(), &Device::Cpu)?;
        let mut states = self.words.index_select(&ids, 0)?;
        update(&states, |values| self.norm.apply(values))?;
        for layer in &self.layers {
            states = (&states + self.attend(layer, &states, batch)?)?;
            let input = normalised(&states, &layer.norm)?;
            states = (&states + self.transform(layer, &input)?)?;
        }
        update(&states, |values| self.final_norm.apply(values))?;
        Ok(states)
    }

    fn attend(&self, layer: &Layer, states: &Tensor, batch: &Packed) -> Result<Tensor> {
        let (attention, rotation) = if layer.is_local {
            &self.local
        } else {
            &self.global
        };
        let projected = match &layer.attention_norm {
            Some(norm) => layer.projections.forward(&normalised(states, norm)?)?,
            None => layer.projections.forward(states)?,
        };
        let row = 3 * attention.heads * attention.width;
        update(&projected, |values| {
            for (first, length) in batch.rows() {
                let text = &mut values[first * row..(first + length) * row];
                // Queries and keys, not the values.
                rotation.apply(text, row, 2 * attention.heads);
            }
        })?;
        let context = attention.forward(&projected, batch)?;
        layer.attention.forward(&context)
    }

    fn transform(&self, layer: &Layer, input: &Tensor) -> Result<Tensor> {
        let inner = layer.inner.forward(input)?;
        let gated = Tensor::zeros((inner.dim(0)?, self.inner), DType::F32, &Device::Cpu)?;
        combine(&gated, &inner, |output, input| {
            gate(output, input, self.inner);
        })?;
        layer.outer.forward(&gated)
    }
}

fn normalised(states: &Tensor, norm: &Norm) -> Result<Tensor> {
    let copy = states.copy()?;
    update(&copy, |values| norm.apply(values))?;
    Ok(copy)
}

impl Layer {
    fn load(weights: &Weights, config: &ModernBertConfig, layer: usize) -> Result<Self> {
        let at = weights.at("layers").at(layer);
        let (width, inner) = (config.hidden_size, config.intermediate_size);
        let norm = |name| at.norm(name, width, config.norm_eps);
        Ok(Self {
            attention_norm: if layer == 0 {
                None
            } else {
                Some(norm("attn_norm")?)
            },
            projections: at.dense("attn.Wqkv", width, 3 * width)?,
            attention: at.dense("attn.Wo", width, width)?,
            norm: norm("mlp_norm")?,
            inner: at.dense("mlp.Wi", width, 2 * inner)?,
            outer: at.dense("mlp.Wo", inner, width)?,
            is_local: config.is_local(layer),
        })
    }
}
