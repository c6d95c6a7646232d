//! Span classifiers, which find the unsupported parts of an answer.

use std::path::Path;

use tokenizers::{Encoding, TruncationStrategy};

use crate::EncoderError;
use crate::architecture::Task;
use crate::kernels::softmax_of;
use crate::loaded::Loaded;

/// Tokens of an input. LettuceDetect's models are trained for this number.
const MAX_TOKENS: usize = 4096;

/// Number of the label of unsupported tokens.
const UNSUPPORTED: usize = 1;

/// A model that labels each token of an answer as supported or unsupported, such as those of LettuceDetect.
pub struct SpanClassifier {
    model: Loaded,
}

/// An unsupported part of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// First character, counted from 0 in Unicode characters.
    pub start: usize,
    /// End, exclusive.
    pub end: usize,
    /// Mean probability of its tokens.
    pub mean_probability: f32,
    /// Largest probability of its tokens.
    pub max_probability: f32,
}

/// A token of the answer: its characters, and the probability that it is unsupported.
#[derive(Debug, Clone, Copy)]
struct Token {
    start: usize,
    end: usize,
    probability: f32,
}

impl SpanClassifier {
    /// Loads the model that [`find`](crate::find) locates in `dir`.
    ///
    /// # Errors
    /// Any [`EncoderError`]: missing or unreadable files, a configuration of another kind of model, other than two labels, or
    /// weights that do not fit.
    pub fn load(dir: &Path) -> Result<Self, EncoderError> {
        Self::new(Loaded::open(dir, Task::Tokens, "a span classifier")?)
    }

    pub(crate) fn new(mut model: Loaded) -> Result<Self, EncoderError> {
        if model.labels.len() != 2 {
            return Err(EncoderError::Labels {
                labels: model.labels,
                expected: "exactly supported and unsupported",
            });
        }
        model.max_tokens = model.positions.min(MAX_TOKENS);
        model.truncate(model.max_tokens, TruncationStrategy::OnlyFirst)?;
        Ok(Self { model })
    }

    /// Returns the parts of `answer` that the passages do not support, in order. `question` is the question that it answers; without
    /// one, the answer is a summary of the passages.
    ///
    /// Passages that are too long for one input are divided among several. A token is unsupported if it is so in all of them.
    ///
    /// # Errors
    /// [`EncoderError::TooLong`] if the answer and the question alone are too long. [`EncoderError::Tokenizer`] or
    /// [`EncoderError::Model`] if a text cannot be tokenised or run.
    pub fn unsupported(
        &self,
        passages: &[&str],
        question: Option<&str>,
        answer: &str,
    ) -> Result<Vec<Span>, EncoderError> {
        let inputs: Vec<(String, &str)> = self
            .groups(passages, question, answer)?
            .into_iter()
            .map(|group| (prompt(group, question), answer))
            .collect();
        let tokenizer = &self.model.tokenizer;
        let encodings = tokenizer.encode_batch_char_offsets(inputs, true)?;
        let logits = self.model.logits(&encodings)?;
        let mut tokens: Vec<Token> = Vec::new();
        for (encoding, rows) in encodings.iter().zip(&logits) {
            let found = answer_tokens(encoding, rows);
            if tokens.is_empty() {
                tokens = found;
            } else {
                for (token, other) in tokens.iter_mut().zip(found) {
                    token.probability = token.probability.min(other.probability);
                }
            }
        }
        Ok(merge(&tokens))
    }

    /// Divides passages among inputs.
    fn groups<'a>(
        &self,
        passages: &'a [&'a str],
        question: Option<&str>,
        answer: &str,
    ) -> Result<Vec<&'a [&'a str]>, EncoderError> {
        let count = |text: &str| -> Result<usize, EncoderError> {
            let encoding = self.model.tokenizer.encode(text, false)?;
            let rest = encoding.get_overflowing().iter().map(Encoding::len);
            Ok(encoding.len() + rest.sum::<usize>())
        };
        let max_tokens = self.model.max_tokens;
        // Three special tokens, and the digits of the number of passages.
        let fixed = count(answer)? + count(&prompt(&[], question))? + 8;
        if fixed >= max_tokens {
            return Err(EncoderError::TooLong {
                tokens: fixed,
                max_tokens,
            });
        }
        let (mut groups, mut first, mut filled) = (Vec::new(), 0, 0);
        for (number, passage) in passages.iter().enumerate() {
            // A group begins with passage 1, so its numbers are not longer.
            let tokens = count(&passage_line(number, passage))? + 1;
            if number > first && fixed + filled + tokens > max_tokens {
                groups.push(&passages[first..number]);
                (first, filled) = (number, 0);
            }
            filled += tokens;
        }
        groups.push(&passages[first..]);
        Ok(groups)
    }
}

/// Returns the prompt that LettuceDetect's models are trained with.
fn prompt(passages: &[&str], question: Option<&str>) -> String {
    let lines: Vec<String> = passages
        .iter()
        .enumerate()
        .map(|(number, passage)| passage_line(number, passage))
        .collect();
    let context = lines.join("\n");
    match question {
        Some(question) => format!(
            "\nBriefly answer the following question:\n{question}\nBear in mind that your response should be strictly based on the \
             following {} passages:\n{context}\nIn case the passages do not contain the necessary information to answer the \
             question, please reply with: \"Unable to answer based on given passages.\"\noutput:\n",
            passages.len()
        ),
        None => format!("\nSummarize the following text:\n{context}\noutput:\n"),
    }
}

fn passage_line(number: usize, passage: &str) -> String {
    format!("passage {}: {passage}", number + 1)
}

/// Returns the tokens of the second text of a pair.
fn answer_tokens(encoding: &Encoding, logits: &[Vec<f32>]) -> Vec<Token> {
    let sequences = encoding.get_sequence_ids();
    let places = encoding.get_offsets();
    sequences
        .iter()
        .zip(places)
        .zip(logits)
        .filter(|((sequence, (start, end)), _)| **sequence == Some(1) && start < end)
        .map(|((_, (start, end)), logits)| Token {
            start: *start,
            end: *end,
            probability: softmax_of(logits)[UNSUPPORTED],
        })
        .collect()
}

/// Joins neighbouring unsupported tokens.
fn merge(tokens: &[Token]) -> Vec<Span> {
    let is_unsupported = |token: &Token| token.probability > 0.5;
    let runs = tokens.chunk_by(|a, b| is_unsupported(a) == is_unsupported(b));
    runs.filter(|run| run.iter().all(is_unsupported))
        .filter_map(|run| {
            let probabilities = || run.iter().map(|token| token.probability);
            Some(Span {
                start: run.first()?.start,
                end: run.last()?.end,
                mean_probability: probabilities().sum::<f32>() / run.len() as f32,
                max_probability: probabilities().fold(0.0, f32::max),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_unsupported_tokens_are_one_span() {
        let token = |start, probability| Token {
            start,
            end: start + 3,
            probability,
        };
        let tokens = [
            token(0, 0.9),
            token(4, 0.2),
            token(7, 0.6),
            token(12, 0.8),
            token(16, 0.5),
        ];
        let spans = merge(&tokens);
        assert_eq!(spans.len(), 2);
        assert_eq!((spans[0].start, spans[0].end), (0, 3));
        assert_eq!((spans[1].start, spans[1].end), (7, 15));
        assert!((spans[1].mean_probability - 0.7).abs() < 1e-6);
        assert_eq!(spans[1].max_probability, 0.8);
        assert!(merge(&[]).is_empty());
    }
}
