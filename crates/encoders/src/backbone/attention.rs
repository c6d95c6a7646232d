//! Attention of packed texts.

use candle_core::{DType, Device, Result, Tensor};

use super::packed::Packed;
use crate::kernels::{Band, place, scaled_softmax, update};

/// Scores in memory at a time. A smaller number stays in the cache of a core; the memory of a text of thousands of tokens is
/// bounded, too.
const SCORES: usize = 1 << 19;

/// Queries of a block if the attention is local. Keys outside of the reach of the block are not computed.
const BLOCK: usize = 256;

/// Shape of an attention.
#[derive(Clone, Copy)]
pub(super) struct Attention {
    pub(super) heads: usize,
    /// Values of a head.
    pub(super) width: usize,
    /// Largest distance between a query and its keys, if it is limited.
    pub(super) reach: Option<usize>,
}

impl Attention {
    /// Returns the context of each token, (tokens, heads · width). A row of `projected` has the queries of all heads, then the keys,
    /// then the values.
    pub(super) fn forward(&self, projected: &Tensor, batch: &Packed) -> Result<Tensor> {
        let (tokens, _) = projected.dims2()?;
        let context = Tensor::zeros((tokens, self.heads * self.width), DType::F32, &Device::Cpu)?;
        for (first, length) in batch.rows() {
            let text = projected
                .narrow(0, first, length)?
                .reshape((length, 3, self.heads, self.width))?
                .permute((1, 2, 0, 3))?;
            self.text(&text, length, |part, row, column| {
                place(&context, part, first + row, column)
            })?;
        }
        Ok(context)
    }

    /// Computes one text in blocks of queries and heads.
    fn text(
        &self,
        text: &Tensor,
        length: usize,
        put: impl Fn(&Tensor, usize, usize) -> Result<()>,
    ) -> Result<()> {
        let (queries, keys, values) = (text.get(0)?, text.get(1)?, text.get(2)?);
        let scale = 1.0 / (self.width as f32).sqrt();
        let reach = self.reach.filter(|reach| reach + 1 < length);
        let block = match reach {
            Some(_) => BLOCK,
            None => (SCORES / length).max(32),
        };
        for first in (0..length).step_by(block) {
            let rows = block.min(length - first);
            let (begin, end) = match reach {
                Some(reach) => (
                    first.saturating_sub(reach),
                    (first + rows + reach).min(length),
                ),
                None => (0, length),
            };
            let band = reach.map(|reach| Band {
                shift: first - begin,
                reach,
            });
            let width = end - begin;
            let heads = (SCORES / (rows * width)).clamp(1, self.heads);
            for head in (0..self.heads).step_by(heads) {
                let heads = heads.min(self.heads - head);
                let part = |all: &Tensor, first, rows| -> Result<Tensor> {
                    all.narrow(0, head, heads)?.narrow(1, first, rows)
                };
                let scores =
                    part(&queries, first, rows)?.matmul(&part(&keys, begin, width)?.t()?)?;
                update(&scores, |scores| {
                    scaled_softmax(scores, rows, width, scale, band);
                })?;
                let context = scores.matmul(&part(&values, begin, width)?)?;
                put(&context, first, head * self.width)?;
            }
        }
        Ok(())
    }
}
