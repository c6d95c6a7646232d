//! The transformers, from token ids to hidden states.
//!
//! Texts of a batch are packed: their tokens follow each other without padding, and attention is computed text by text. BERT and
//! ModernBERT are written for this form. DeBERTa-v2 is candle's, and gets a padded batch.

mod attention;
mod bert;
mod deberta;
mod modern_bert;
mod packed;
mod weights;

use candle_core::{Result, Tensor};

pub(crate) use bert::{Bert, BertConfig, BertKind};
pub(crate) use deberta::{Deberta, configuration as deberta_configuration};
pub(crate) use modern_bert::{ModernBert, ModernBertConfig};
pub(crate) use packed::Packed;
pub(crate) use weights::{Dense, Weights};

/// A transformer without its head.
pub(crate) enum Backbone {
    Bert(Bert),
    ModernBert(ModernBert),
    Deberta(Box<Deberta>),
}

impl Backbone {
    /// Returns the last hidden states, (tokens, width).
    pub(crate) fn forward(&self, batch: &Packed) -> Result<Tensor> {
        match self {
            Self::Bert(model) => model.forward(batch),
            Self::ModernBert(model) => model.forward(batch),
            Self::Deberta(model) => model.forward(batch),
        }
    }
}
