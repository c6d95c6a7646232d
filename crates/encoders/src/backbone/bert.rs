//! BERT, RoBERTa, XLM-RoBERTa and DistilBERT. They differ in the names of their weights and in positions and token types.

use candle_core::{Device, Result, Tensor};
use serde::Deserialize;

use super::attention::Attention;
use super::packed::Packed;
use super::weights::{Dense, Weights};
use crate::kernels::{Activation, Norm, combine, update};

/// The part of `config.json` that describes the transformer. DistilBERT has names of its own.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct BertConfig {
    pub(crate) vocab_size: usize,
    #[serde(alias = "dim")]
    pub(crate) hidden_size: usize,
    #[serde(alias = "n_layers")]
    num_hidden_layers: usize,
    #[serde(alias = "n_heads")]
    pub(crate) num_attention_heads: usize,
    #[serde(alias = "hidden_dim")]
    intermediate_size: usize,
    #[serde(alias = "activation")]
    hidden_act: Activation,
    pub(crate) max_position_embeddings: usize,
    #[serde(default = "default_epsilon")]
    layer_norm_eps: f64,
    #[serde(default)]
    type_vocab_size: usize,
    #[serde(default)]
    pad_token_id: usize,
}

fn default_epsilon() -> f64 {
    1e-12
}

/// Names of the weights, and number of the first position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BertKind {
    Bert,
    Roberta,
    Distilbert,
}

/// Names of the weights of a layer.
struct Names {
    layers: &'static str,
    projections: [&'static str; 3],
    attention: &'static str,
    attention_norm: &'static str,
    inner: &'static str,
    outer: &'static str,
    norm: &'static str,
}

const BERT: Names = Names {
    layers: "encoder.layer",
    projections: [
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
    ],
    attention: "attention.output.dense",
    attention_norm: "attention.output.LayerNorm",
    inner: "intermediate.dense",
    outer: "output.dense",
    norm: "output.LayerNorm",
};

const DISTILBERT: Names = Names {
    layers: "transformer.layer",
    projections: ["attention.q_lin", "attention.k_lin", "attention.v_lin"],
    attention: "attention.out_lin",
    attention_norm: "sa_layer_norm",
    inner: "ffn.lin1",
    outer: "ffn.lin2",
    norm: "output_layer_norm",
};

/// The transformer.
pub(crate) struct Bert {
    words: Tensor,
    positions: Tensor,
    types: Option<Tensor>,
    norm: Norm,
    layers: Vec<Layer>,
    attention: Attention,
    activation: Activation,
    first_position: usize,
}

struct Layer {
    projections: Dense,
    attention: Dense,
    attention_norm: Norm,
    inner: Dense,
    outer: Dense,
    norm: Norm,
}

impl BertConfig {
    /// Returns the number of the position of a first token.
    fn first_position(&self, kind: BertKind) -> usize {
        match kind {
            BertKind::Roberta => self.pad_token_id + 1,
            BertKind::Bert | BertKind::Distilbert => 0,
        }
    }

    /// Returns the largest number of tokens.
    pub(crate) fn max_tokens(&self, kind: BertKind) -> usize {
        self.max_position_embeddings
            .saturating_sub(self.first_position(kind))
    }
}

impl Bert {
    /// Reads the weights.
    pub(crate) fn load(weights: &Weights, config: &BertConfig, kind: BertKind) -> Result<Self> {
        let width = config.hidden_size;
        let at = weights.at("embeddings");
        let table = |name: &str, rows| at.at(name).matrix("weight", rows, width);
        let types = match (kind, config.type_vocab_size) {
            (BertKind::Distilbert, _) | (_, 0) => None,
            (_, rows) => Some(table("token_type_embeddings", rows)?),
        };
        let names = match kind {
            BertKind::Bert | BertKind::Roberta => &BERT,
            BertKind::Distilbert => &DISTILBERT,
        };
        let layers = weights.at(names.layers);
        Ok(Self {
            words: table("word_embeddings", config.vocab_size)?,
            positions: table("position_embeddings", config.max_position_embeddings)?,
            types,
            norm: at.norm("LayerNorm", width, config.layer_norm_eps)?,
            layers: (0..config.num_hidden_layers)
                .map(|layer| Layer::load(&layers.at(layer), names, config))
                .collect::<Result<_>>()?,
            attention: Attention {
                heads: config.num_attention_heads,
                width: width / config.num_attention_heads,
                reach: None,
            },
            activation: config.hidden_act,
            first_position: config.first_position(kind),
        })
    }

    pub(super) fn forward(&self, batch: &Packed) -> Result<Tensor> {
        let mut states = self.embed(batch)?;
        for layer in &self.layers {
            let projected = layer.projections.forward(&states)?;
            let context = self.attention.forward(&projected, batch)?;
            let attended = layer.attention.product(&context)?;
            combine(&attended, &states, |values, states| {
                let bias = &layer.attention.bias;
                layer.attention_norm.add(values, states, bias);
            })?;
            let inner = layer.inner.activated(&attended, self.activation)?;
            states = layer.outer.product(&inner)?;
            combine(&states, &attended, |values, attended| {
                layer.norm.add(values, attended, &layer.outer.bias);
            })?;
        }
        Ok(states)
    }

    fn embed(&self, batch: &Packed) -> Result<Tensor> {
        let rows = |table: &Tensor, rows: Vec<u32>| {
            let count = rows.len();
            table.index_select(&Tensor::from_vec(rows, count, &Device::Cpu)?, 0)
        };
        let first = self.first_position as u32;
        let positions = batch
            .lengths
            .iter()
            .flat_map(|length| first..first + *length as u32);
        let mut states =
            (rows(&self.words, batch.ids.clone())? + rows(&self.positions, positions.collect())?)?;
        if let Some(types) = &self.types {
            // RoBERTa has one type, although its tokenizer may number the texts of a pair.
            let last = types.dim(0)?.saturating_sub(1) as u32;
            let numbers = batch.types.iter().map(|number| (*number).min(last));
            states = (states + rows(types, numbers.collect())?)?;
        }
        update(&states, |values| self.norm.apply(values))?;
        Ok(states)
    }
}

impl Layer {
    fn load(weights: &Weights, names: &Names, config: &BertConfig) -> Result<Self> {
        let (width, inner) = (config.hidden_size, config.intermediate_size);
        let norm = |name| weights.norm(name, width, config.layer_norm_eps);
        Ok(Self {
            projections: weights.joined(&names.projections, width, width)?,
            attention: weights.dense(names.attention, width, width)?,
            attention_norm: norm(names.attention_norm)?,
            inner: weights.dense(names.inner, width, inner)?,
            outer: weights.dense(names.outer, inner, width)?,
            norm: norm(names.norm)?,
        })
    }
}
