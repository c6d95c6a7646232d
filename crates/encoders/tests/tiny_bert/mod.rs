//! A BERT model with a few thousand random weights: its files, and its forward pass in plain loops.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::path::Path;

use candle_core::{Device, Tensor};

pub const WORDS: [&str; 6] = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"];
const SPECIAL: [&str; 4] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"];
const UNKNOWN: usize = 1;
const BEGIN: usize = 2;
const END: usize = 3;
const HIDDEN: usize = 8;
const HEADS: usize = 2;
const LAYERS: usize = 2;
const INNER: usize = 12;
const POSITIONS: usize = 300;
/// Tokens of a text in `sentence_bert_config.json`.
pub const MAX_TOKENS: usize = 256;

type Row = Vec<f64>;

/// Weights by name with their shapes: (out, in) for matrices, (1, n) for vectors.
pub struct TinyBert(BTreeMap<String, (usize, usize, Vec<f32>)>);

impl TinyBert {
    pub fn new() -> Self {
        let mut shapes = vec![
            (
                "embeddings.word_embeddings.weight".into(),
                SPECIAL.len() + WORDS.len(),
                HIDDEN,
            ),
            (
                "embeddings.position_embeddings.weight".into(),
                POSITIONS,
                HIDDEN,
            ),
            ("embeddings.token_type_embeddings.weight".into(), 2, HIDDEN),
            ("embeddings.LayerNorm.weight".into(), 1, HIDDEN),
            ("embeddings.LayerNorm.bias".into(), 1, HIDDEN),
        ];
        for layer in 0..LAYERS {
            for (part, outputs, inputs) in [
                ("attention.self.query", HIDDEN, HIDDEN),
                ("attention.self.key", HIDDEN, HIDDEN),
                ("attention.self.value", HIDDEN, HIDDEN),
                ("attention.output.dense", HIDDEN, HIDDEN),
                ("attention.output.LayerNorm", 1, HIDDEN),
                ("intermediate.dense", INNER, HIDDEN),
                ("output.dense", HIDDEN, INNER),
                ("output.LayerNorm", 1, HIDDEN),
            ] {
                let name = format!("encoder.layer.{layer}.{part}");
                let bias = if part.ends_with("LayerNorm") {
                    HIDDEN
                } else {
                    outputs
                };
                shapes.push((format!("{name}.weight"), outputs, inputs));
                shapes.push((format!("{name}.bias"), 1, bias));
            }
        }
        let mut state = 1_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
        };
        let fill = |(name, rows, columns): (String, usize, usize)| {
            let values = (0..rows * columns).map(|_| random()).collect();
            (name, (rows, columns, values))
        };
        Self(shapes.into_iter().map(fill).collect())
    }

    /// Writes `config.json`, `tokenizer.json` and `model.safetensors`.
    pub fn write(&self, dir: &Path) -> Result<(), Box<dyn Error>> {
        let config = serde_json::json!({
            "model_type": "bert", "vocab_size": SPECIAL.len() + WORDS.len(), "hidden_size": HIDDEN,
            "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": INNER,
            "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "max_position_embeddings": POSITIONS,
            "type_vocab_size": 2, "initializer_range": 0.02, "layer_norm_eps": 1e-12, "pad_token_id": 0
        });
        let vocabulary: BTreeMap<&str, usize> =
            SPECIAL.iter().chain(&WORDS).copied().zip(0..).collect();
        let special =
            |id: usize| serde_json::json!({ "SpecialToken": { "id": SPECIAL[id], "type_id": 0 } });
        let tokens = |id: usize| serde_json::json!({ "id": SPECIAL[id], "ids": [id], "tokens": [SPECIAL[id]] });
        let sequence = serde_json::json!({ "Sequence": { "id": "A", "type_id": 0 } });
        // Like published files, it sets its own truncation and padding.
        let tokenizer = serde_json::json!({
            "version": "1.0", "added_tokens": [], "decoder": null,
            "truncation": { "max_length": 5, "strategy": "LongestFirst", "stride": 0, "direction": "Right" },
            "padding": {
                "strategy": { "Fixed": 7 }, "direction": "Right", "pad_to_multiple_of": null,
                "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"
            },
            "normalizer": {
                "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                "strip_accents": null, "lowercase": true
            },
            "pre_tokenizer": { "type": "BertPreTokenizer" },
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [special(BEGIN), sequence, special(END)],
                "pair": [special(BEGIN), sequence, special(END)],
                "special_tokens": { "[CLS]": tokens(BEGIN), "[SEP]": tokens(END) }
            },
            "model": {
                "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100, "vocab": vocabulary
            }
        });
        let mut tensors = HashMap::new();
        for (name, (rows, columns, values)) in &self.0 {
            let is_vector = name.ends_with("bias") || name.contains("LayerNorm");
            let shape = if is_vector {
                vec![*columns]
            } else {
                vec![*rows, *columns]
            };
            tensors.insert(
                name.clone(),
                Tensor::from_slice(values, shape, &Device::Cpu)?,
            );
        }
        std::fs::write(dir.join("config.json"), config.to_string())?;
        std::fs::write(dir.join("tokenizer.json"), tokenizer.to_string())?;
        let settings = serde_json::json!({ "max_seq_length": MAX_TOKENS });
        std::fs::write(dir.join("sentence_bert_config.json"), settings.to_string())?;
        candle_core::safetensors::save(&tensors, dir.join("model.safetensors"))?;
        Ok(())
    }

    /// Returns the embedding of a text of words separated by blanks, in double precision.
    pub fn embed(&self, text: &str, max_tokens: usize) -> Row {
        let id = |word: &str| {
            WORDS
                .iter()
                .position(|known| *known == word)
                .map_or(UNKNOWN, |place| SPECIAL.len() + place)
        };
        let words = text.split_whitespace().take(max_tokens - 2).map(id);
        let ids = std::iter::once(BEGIN).chain(words).chain([END]);
        let states: Vec<Row> = ids
            .enumerate()
            .map(|(position, id)| {
                let word = self.row("embeddings.word_embeddings.weight", id);
                let place = self.row("embeddings.position_embeddings.weight", position);
                let kind = self.row("embeddings.token_type_embeddings.weight", 0);
                self.normalise("embeddings.LayerNorm", &add(&add(&word, &place), &kind))
            })
            .collect();
        let states = (0..LAYERS).fold(states, |states, layer| self.layer(layer, &states));
        let mean: Row = (0..HIDDEN)
            .map(|i| states.iter().map(|state| state[i]).sum())
            .collect();
        let norm = mean.iter().map(|x| x * x).sum::<f64>().sqrt();
        mean.iter().map(|x| x / norm).collect()
    }

    /// Attention and feed-forward, each followed by its residual and normalisation.
    fn layer(&self, layer: usize, states: &[Row]) -> Vec<Row> {
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let project = |part: &str| -> Vec<Row> {
            states
                .iter()
                .map(|state| self.linear(&name(part), state))
                .collect()
        };
        let (queries, keys, values) = (
            project("attention.self.query"),
            project("attention.self.key"),
            project("attention.self.value"),
        );
        let width = HIDDEN / HEADS;
        let attend = |query: &Row| -> Row {
            let mut context = vec![0.0; HIDDEN];
            for head in (0..HIDDEN).step_by(width) {
                let dot = |key: &Row| (head..head + width).map(|i| query[i] * key[i]).sum::<f64>();
                let weights: Row = keys
                    .iter()
                    .map(|key| (dot(key) / (width as f64).sqrt()).exp())
                    .collect();
                let total: f64 = weights.iter().sum();
                for (weight, value) in weights.iter().zip(&values) {
                    for i in head..head + width {
                        context[i] += weight / total * value[i];
                    }
                }
            }
            context
        };
        states
            .iter()
            .zip(&queries)
            .map(|(state, query)| {
                let attended = self.linear(&name("attention.output.dense"), &attend(query));
                let state =
                    self.normalise(&name("attention.output.LayerNorm"), &add(state, &attended));
                let inner: Row = self
                    .linear(&name("intermediate.dense"), &state)
                    .into_iter()
                    .map(gelu)
                    .collect();
                let outer = self.linear(&name("output.dense"), &inner);
                self.normalise(&name("output.LayerNorm"), &add(&state, &outer))
            })
            .collect()
    }

    fn linear(&self, name: &str, input: &Row) -> Row {
        let bias = self.row(&format!("{name}.bias"), 0);
        let weight = format!("{name}.weight");
        let output = |(i, bias): (usize, &f64)| -> f64 {
            bias + self
                .row(&weight, i)
                .iter()
                .zip(input)
                .map(|(w, x)| w * x)
                .sum::<f64>()
        };
        bias.iter().enumerate().map(output).collect()
    }

    fn normalise(&self, name: &str, input: &Row) -> Row {
        let weight = self.row(&format!("{name}.weight"), 0);
        let bias = self.row(&format!("{name}.bias"), 0);
        let mean = input.iter().sum::<f64>() / input.len() as f64;
        let variance = input.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / input.len() as f64;
        let scale = (variance + 1e-12).sqrt();
        input
            .iter()
            .zip(weight.iter().zip(bias))
            .map(|(x, (w, b))| (x - mean) / scale * w + b)
            .collect()
    }

    fn row(&self, name: &str, row: usize) -> Row {
        let (_, columns, values) = &self.0[name];
        values[row * columns..(row + 1) * columns]
            .iter()
            .map(|x| f64::from(*x))
            .collect()
    }
}

fn add(a: &Row, b: &Row) -> Row {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// x · Φ(x). The error function is computed by its Maclaurin series, which is accurate enough for |x| < 6. Beyond, it is 0 or 1 in
/// single precision.
fn gelu(x: f64) -> f64 {
    let z = (x / std::f64::consts::SQRT_2).clamp(-4.5, 4.5);
    let (mut term, mut sum) = (z, z);
    for n in 1..120 {
        let n = f64::from(n);
        term *= -z * z / n;
        sum += term / (2.0 * n + 1.0);
    }
    x * 0.5 * (1.0 + sum * std::f64::consts::FRAC_2_SQRT_PI)
}
