//! Tokenises, runs the transformer, pools.

use std::fs;
use std::path::Path;

use candle_core::{D, DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use tokenizers::{Encoding, Tokenizer, TruncationParams};

use crate::EncoderError;
use crate::directory::{CONFIGURATION, TOKENIZER, WEIGHTS, find};

/// Tokens of a text that are read, the two special ones included; the rest is cut off. It is the length
/// that all-MiniLM-L6-v2 was trained for.
pub const MAX_TOKENS: usize = 256;

/// Texts in one forward pass. Attention takes memory in proportion to it, and larger ones run no faster on
/// a processor.
const BATCH: usize = 16;

/// A loaded model. Encoding borrows it shared, so one serves several threads.
pub struct Encoder {
    tokenizer: Tokenizer,
    model: BertModel,
    dimensions: usize,
}

impl Encoder {
    /// Loads the model that [`find`] locates in `dir`, with its weights as 32-bit floats.
    ///
    /// # Errors
    /// Whatever [`EncoderError`] names: files missing or unreadable, a configuration of another kind of
    /// model, weights that do not fit it.
    pub fn load(dir: &Path) -> Result<Self, EncoderError> {
        let dir = find(dir)?;
        let path = dir.join(CONFIGURATION);
        let config: Config = serde_json::from_slice(&read(&path)?)
            .map_err(|source| EncoderError::Configuration { path, source })?;
        let (hidden, heads) = (config.hidden_size, config.num_attention_heads);
        if heads == 0 || hidden % heads != 0 {
            return Err(EncoderError::Heads { hidden, heads });
        }

        // The file may ask for padding to a fixed length and a shorter cut: both are for this crate to say.
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

    /// Length of every embedding.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// One embedding of unit length for each text, in the same order: the mean of the last hidden states of
    /// its first [`MAX_TOKENS`] tokens, special ones included, normalised in L2.
    ///
    /// # Errors
    /// [`EncoderError::Tokenizer`] or [`EncoderError::Model`] if a text cannot be tokenised or run.
    pub fn encode(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EncoderError> {
        let encodings = self.tokenizer.encode_batch(texts.to_vec(), true)?;
        // Neighbours in length share a batch, so that little of it is padding.
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

    /// Embeddings of one batch, padded to the longest of it.
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
            // Any valid id will do: the mask hides it.
            ids.extend(std::iter::repeat_n(0, padding));
            mask.extend(std::iter::repeat_n(1_f32, encoding.len()));
            mask.extend(std::iter::repeat_n(0_f32, padding));
        }
        let ids = Tensor::from_vec(ids, shape, &Device::Cpu)?;
        let mask = Tensor::from_vec(mask, shape, &Device::Cpu)?;

        let hidden = self.model.forward(&ids, &ids.zeros_like()?, Some(&mask))?;
        let sum = hidden.broadcast_mul(&mask.unsqueeze(D::Minus1)?)?.sum(1)?;
        // Normalisation cancels the division by the number of tokens that would make this sum the mean.
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
