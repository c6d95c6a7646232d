//! Divides texts into batches and runs these in parallel.

use std::sync::OnceLock;

use rayon::prelude::*;
use tokenizers::Encoding;

use crate::EncoderError;
use crate::backbone::Packed;

/// Largest number of tokens of a batch of several texts. The values of a layer remain in the cache of a core.
const TOKENS: usize = 768;

/// Smallest number of tokens for which another thread is worthwhile.
const MIN_TOKENS: usize = 64;

/// Runs `forward`, which returns one result per text of a batch, and returns the results in the order of `encodings`.
pub(crate) fn run<T: Send>(
    encodings: &[Encoding],
    forward: impl Fn(&Packed) -> Result<Vec<T>, EncoderError> + Sync,
) -> Result<Vec<T>, EncoderError> {
    let batches = divide(encodings, rayon::current_num_threads());
    share_threads(batches.len());
    let results: Vec<Vec<T>> = batches
        .par_iter()
        .map(|texts| forward(&pack(texts.iter().map(|text| &encodings[*text]))))
        .collect::<Result<_, _>>()?;
    let mut all: Vec<(usize, T)> = batches
        .iter()
        .flatten()
        .copied()
        .zip(results.into_iter().flatten())
        .collect();
    all.sort_unstable_by_key(|(text, _)| *text);
    Ok(all.into_iter().map(|(_, result)| result).collect())
}

/// Returns the texts of each batch. The longest texts are first, so that the threads end at about the same time, and texts of
/// similar length are together, which saves padding where a model needs it.
fn divide(encodings: &[Encoding], threads: usize) -> Vec<Vec<usize>> {
    let total: usize = encodings.iter().map(Encoding::len).sum();
    let most = total.div_ceil(threads).clamp(MIN_TOKENS, TOKENS);
    let mut order: Vec<usize> = (0..encodings.len()).collect();
    order.sort_by_key(|&text| std::cmp::Reverse(encodings[text].len()));
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut tokens = 0;
    for text in order {
        let length = encodings[text].len();
        match batches.last_mut() {
            Some(batch) if tokens + length <= most => {
                batch.push(text);
                tokens += length;
            }
            _ => {
                batches.push(vec![text]);
                tokens = length;
            }
        }
    }
    batches
}

fn pack<'a>(encodings: impl Iterator<Item = &'a Encoding>) -> Packed {
    let mut packed = Packed::default();
    for encoding in encodings {
        packed.ids.extend_from_slice(encoding.get_ids());
        packed.types.extend_from_slice(encoding.get_type_ids());
        packed.lengths.push(encoding.len());
    }
    packed
}

/// Lets a matrix product use several threads only if there are fewer batches than threads. The setting is one of the process: two
/// calls at the same time can get the setting of the other, which changes only their speed.
fn share_threads(batches: usize) {
    static DEFAULT: OnceLock<usize> = OnceLock::new();
    let default = *DEFAULT.get_or_init(gemm::get_threading_threshold);
    let threshold = if batches < rayon::current_num_threads() {
        default
    } else {
        usize::MAX
    };
    gemm::set_threading_threshold(threshold);
}
