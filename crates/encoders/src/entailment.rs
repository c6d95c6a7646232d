//! Entailment classifiers, which judge whether a text supports a claim.

use std::ops::Range;
use std::path::Path;

use tokenizers::{Encoding, TruncationStrategy};
use unicode_segmentation::UnicodeSegmentation;

use crate::EncoderError;
use crate::architecture::Task;
use crate::kernels::softmax_of;
use crate::loaded::Loaded;

/// Tokens of a window of a premise. MiniCheck divides documents into windows of this size.
const WINDOW: usize = 400;

/// Tokens that the input has besides premise and hypothesis: special tokens, and differences between the tokens of a sentence and
/// those of the window.
const MARGIN: usize = 16;

/// Fewest tokens that a hypothesis must leave for the premise.
const MIN_WINDOW: usize = 32;

/// A model with two or three labels that judges whether a premise entails a hypothesis.
pub struct EntailmentClassifier {
    model: Loaded,
    /// Number of the label of entailment.
    entailment: usize,
    /// The separator between the two texts if they are one input for the tokenizer, as MiniCheck writes them. None if they are a
    /// pair.
    separator: Option<String>,
}

impl EntailmentClassifier {
    /// Loads the model that [`find`](crate::find) locates in `dir`. The label of entailment is the one whose name says so. Of two
    /// labels without names it is the second, and the input has MiniCheck's form: premise, end-of-sequence token, hypothesis.
    ///
    /// # Errors
    /// Any [`EncoderError`]: missing or unreadable files, a configuration of another kind of model, labels without entailment, or
    /// weights that do not fit.
    pub fn load(dir: &Path) -> Result<Self, EncoderError> {
        let model = Loaded::open(dir, Task::Sequence, "an entailment classifier")?;
        Self::new(model)
    }

    pub(crate) fn new(mut model: Loaded) -> Result<Self, EncoderError> {
        let entailment = entailment_label(&model.labels).ok_or_else(|| EncoderError::Labels {
            labels: model.labels.clone(),
            expected: "entailment",
        })?;
        let has_names = !model.labels.iter().all(|label| label.starts_with("LABEL_"));
        let known = |token: &&str| model.tokenizer.token_to_id(token).is_some();
        let separator = ["</s>", "[SEP]", "<|endoftext|>"]
            .into_iter()
            .find(known)
            .filter(|_| !has_names)
            .map(str::to_string);
        // A hypothesis is never cut off. See `windows`.
        let strategy = if separator.is_some() {
            TruncationStrategy::LongestFirst
        } else {
            TruncationStrategy::OnlyFirst
        };
        model.truncate(model.max_tokens, strategy)?;
        Ok(Self {
            model,
            entailment,
            separator,
        })
    }

    /// Returns the probability, for each pair of premise and hypothesis, that the premise entails the hypothesis. A premise of more
    /// than 400 tokens is divided into windows of whole sentences, and the largest probability is returned.
    ///
    /// # Errors
    /// [`EncoderError::TooLong`] if a hypothesis leaves no space for the premise. [`EncoderError::Tokenizer`] or
    /// [`EncoderError::Model`] if a text cannot be tokenised or run.
    pub fn probabilities(&self, pairs: &[(&str, &str)]) -> Result<Vec<f32>, EncoderError> {
        let (mut inputs, mut pair_of) = (Vec::new(), Vec::new());
        for (number, (premise, hypothesis)) in pairs.iter().enumerate() {
            for window in self.windows(premise, hypothesis)? {
                inputs.push((premise[window].trim(), *hypothesis));
                pair_of.push(number);
            }
        }
        let mut probabilities = vec![0_f32; pairs.len()];
        let encodings = self.encode(inputs)?;
        for (number, rows) in pair_of.iter().zip(self.model.logits(&encodings)?) {
            let found = rows.first().map(|row| softmax_of(row)[self.entailment]);
            let largest = &mut probabilities[*number];
            *largest = largest.max(found.unwrap_or(0.0));
        }
        Ok(probabilities)
    }

    fn encode(&self, inputs: Vec<(&str, &str)>) -> Result<Vec<Encoding>, EncoderError> {
        let tokenizer = &self.model.tokenizer;
        let Some(separator) = &self.separator else {
            return Ok(tokenizer.encode_batch(inputs, true)?);
        };
        let joined = inputs
            .iter()
            .map(|(premise, hypothesis)| format!("{premise}{separator}{hypothesis}"));
        Ok(tokenizer.encode_batch(joined.collect::<Vec<_>>(), true)?)
    }

    /// Divides a premise into windows of whole sentences. A sentence that is longer than a window is divided between tokens.
    fn windows(&self, premise: &str, hypothesis: &str) -> Result<Vec<Range<usize>>, EncoderError> {
        let tokens = self.tokens(hypothesis)?.len();
        let max_tokens = self.model.max_tokens;
        let space = max_tokens.saturating_sub(tokens + MARGIN).min(WINDOW);
        if space < MIN_WINDOW {
            return Err(EncoderError::TooLong { tokens, max_tokens });
        }
        let mut pieces = Vec::new();
        for (begin, sentence) in premise.split_sentence_bound_indices() {
            let tokens = self.tokens(sentence)?;
            for part in tokens.chunks(space) {
                let (Some(first), Some(last)) = (part.first(), part.last()) else {
                    continue;
                };
                pieces.push((begin + first.start..begin + last.end, part.len()));
            }
        }
        Ok(join(&pieces, space))
    }

    /// Returns the place of each token of a text, in bytes, without truncation.
    fn tokens(&self, text: &str) -> Result<Vec<Range<usize>>, EncoderError> {
        let encoding = self.model.tokenizer.encode(text, false)?;
        let parts = std::iter::once(&encoding).chain(encoding.get_overflowing());
        let offsets = parts.flat_map(|part| part.get_offsets());
        Ok(offsets.map(|(start, end)| *start..*end).collect())
    }
}

/// Joins neighbouring pieces, with their numbers of tokens, to windows of at most `space` tokens.
fn join(pieces: &[(Range<usize>, usize)], space: usize) -> Vec<Range<usize>> {
    let mut windows: Vec<Range<usize>> = Vec::new();
    let mut filled = 0;
    for (piece, tokens) in pieces {
        match windows.last_mut() {
            Some(window) if filled + tokens <= space => {
                window.end = piece.end;
                filled += tokens;
            }
            _ => {
                windows.push(piece.clone());
                filled = *tokens;
            }
        }
    }
    if windows.is_empty() {
        windows.push(0..0);
    }
    windows
}

/// Returns the number of the label that says entailment.
pub(crate) fn entailment_label(labels: &[String]) -> Option<usize> {
    const NAMES: [&str; 6] = [
        "entailment",
        "entailed",
        "entail",
        "supported",
        "support",
        "supports",
    ];
    let named = labels.iter().position(|label| {
        let label = label.to_lowercase();
        NAMES.contains(&label.as_str())
    });
    let second =
        || (labels.len() == 2 && labels.iter().all(|l| l.starts_with("LABEL_"))).then_some(1);
    named.or_else(second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_fill_a_window() {
        let pieces = [
            (0..10, 3),
            (10..15, 2),
            (15..30, 4),
            (30..31, 1),
            (31..90, 5),
        ];
        assert_eq!(join(&pieces, 5), [0..15, 15..31, 31..90]);
        assert_eq!(join(&[], 5).as_slice(), std::slice::from_ref(&(0..0)));
    }

    #[test]
    fn the_name_decides_which_label_is_entailment() {
        let find = |labels: &[&str]| {
            let labels: Vec<String> = labels.iter().map(ToString::to_string).collect();
            entailment_label(&labels)
        };
        assert_eq!(find(&["contradiction", "ENTAILMENT", "neutral"]), Some(1));
        assert_eq!(find(&["entailment", "not_entailment"]), Some(0));
        assert_eq!(find(&["unsupported", "supported"]), Some(1));
        assert_eq!(find(&["LABEL_0", "LABEL_1"]), Some(1));
        assert_eq!(find(&["LABEL_0", "LABEL_1", "LABEL_2"]), None);
        assert_eq!(find(&["positive", "negative"]), None);
    }
}
