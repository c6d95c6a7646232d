//! Tokenisation, forward pass and pooling.

use std::fs;
use std::path::Path;

use candle_core::{D, DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use tokenizers::{Encoding, Tokenizer, TruncationParams};

use crate::EncoderError;
use crate::directory::{CONFIGURATION, TOKENIZER, WEIGHTS, find};

/// Number of tokens that are read from a text, including the two special ones. The rest is cut off. all-MiniLM-L6-v2 was
/// trained for this length.
pub const MAX_TOKENS: usize = 256;

/// Texts in one forward pass. Attention memory grows with the batch, and larger batches are not faster on a CPU.
const BATCH: usize = 16;

/// A loaded model. `encode` takes `&self`, so several threads can share one encoder.
pub struct Encoder {
    tokenizer: Tokenizer,
    model: BertModel,
    dimensions: usize,
}

impl Encoder {
    /// Loads the model that [`find`] locates in `dir`, with 32-bit float weights.
    ///
    /// # Errors
    /// Any [`EncoderError`]: missing or unreadable files, a configuration of another kind of model, or weights that do not fit it.
    pub fn load(dir: &Path) -> Result<Self, EncoderError> {
        let dir = find(dir)?;
        let path = dir.join(CONFIGURATION);
        let config: Config = serde_json::from_slice(&read(&path)?)
            .map_err(|source| EncoderError::Configuration { path, source })?;
        let (hidden, heads) = (config.hidden_size, config.num_attention_heads);
        if heads == 0 || hidden % heads != 0 {
            return Err(EncoderError::Heads { hidden, heads });
        }

        // The file may set a fixed padding and another truncation. This crate overrides both.
        let mut tokenizer = Tokenizer::from_bytes(read(&dir.join(TOKENIZER))?)?;
        tokenizer
            .with_padding(None)
            .with_truncation(Some(TruncationParams {
                max_length: MAX_TOKENS.min(config.max_position_embeddings),
                ..TruncationParams::default()
            }))?;

        let weights = read(&dir.join(WEIGHTS))?;
        let weights = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu)?;
        let model = BertModel::load(weights, &config)?;
        Ok(Self {
            tokenizer,
            model,
            dimensions: hidden,
        })
    }

    /// Returns the length of every embedding.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Returns one embedding of unit length per text, in the same order: the mean of the last hidden states of the first
    /// [`MAX_TOKENS`] tokens, including special ones, L2-normalised.
    ///
    /// # Errors
    /// [`EncoderError::Tokenizer`] or [`EncoderError::Model`] if a text cannot be tokenised or run.
    pub fn encode(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EncoderError> {
        let encodings = self.tokenizer.encode_batch(texts.to_vec(), true)?;
        // Sorting by length puts texts of similar length into one batch, which reduces padding.
        let mut order: Vec<usize> = (0..encodings.len()).collect();
        order.sort_by_key(|&text| encodings[text].len());

        let mut embeddings = vec![Vec::new(); texts.len()];
        for batch in order.chunks(BATCH) {
            let encodings: Vec<&Encoding> = batch.iter().map(|&text| &encodings[text]).collect();
            for (&text, embedding) in batch.iter().zip(self.forward(&encodings)?) {
                embeddings[text] = embedding;
            }
        }
        Ok(embeddings)
    }

    /// Computes the embeddings of one batch, padded to its longest text.
    fn forward(&self, batch: &[&Encoding]) -> Result<Vec<Vec<f32>>, candle_core::Error> {
        let length = batch
            .iter()
            .map(|encoding| encoding.len())
            .max()
            .unwrap_or(0);
        let shape = (batch.len(), length);
        let (mut ids, mut mask) = (Vec::new(), Vec::new());
        for encoding in batch {
            let padding = length - encoding.len();
            ids.extend_from_slice(encoding.get_ids());
            // Any valid id works, because the mask hides it.
            ids.extend(std::iter::repeat_n(0, padding));
            mask.extend(std::iter::repeat_n(1_f32, encoding.len()));
            mask.extend(std::iter::repeat_n(0_f32, padding));
        }
        let ids = Tensor::from_vec(ids, shape, &Device::Cpu)?;
        let mask = Tensor::from_vec(mask, shape, &Device::Cpu)?;

        let hidden = self.model.forward(&ids, &ids.zeros_like()?, Some(&mask))?;
        let sum = hidden.broadcast_mul(&mask.unsqueeze(D::Minus1)?)?.sum(1)?;
        // The sum is not divided by the number of tokens, because normalisation would cancel the division.
        let norm = sum.sqr()?.sum_keepdim(D::Minus1)?.sqrt()?;
        sum.broadcast_div(&norm)?.to_vec2()
    }
}

fn read(path: &Path) -> Result<Vec<u8>, EncoderError> {
    fs::read(path).map_err(|source| EncoderError::Read {
        path: path.to_path_buf(),
        source,
    })
}
