//! The sentences of a stored answer that contain its citations.

use std::ops::Range;

use reground_documents::sentence_spans;
use reground_interrupt::checked;

use super::parse_answer::ParsedAnswer;

/// The sentences of an answer.
pub struct AnswerSentences<'a> {
    answer: &'a str,
    /// The sentences in bytes and characters, in order.
    spans: Vec<(Range<usize>, Range<usize>)>,
    /// For each citation, its bytes and the index of its sentence.
    placed: Vec<(Range<usize>, Option<usize>)>,
}

/// A sentence of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence<'a> {
    /// The text, with its citations.
    pub text: &'a str,
    /// Position in the answer, in characters.
    pub chars: Range<usize>,
}

impl<'a> AnswerSentences<'a> {
    /// The sentences of a parsed answer.
    #[must_use]
    pub fn of(read: &ParsedAnswer<'a>) -> Self {
        let answer = read.answer;
        let extraction = &read.extraction;
        let bytes = match extraction.sentences.is_empty() {
            true => sentence_spans(answer),
            false => extraction.sentences.clone(),
        };
        let (mut at, mut chars) = (0, 0);
        let mut advance = |to: usize| {
            chars += answer.get(at..to).unwrap_or_default().chars().count();
            at = at.max(to);
            chars
        };
        let spans = checked(bytes)
            .map(|bytes| {
                let chars = advance(bytes.start)..advance(bytes.end);
                (bytes, chars)
            })
            .collect();
        let placed = checked(&extraction.citations)
            .map(|citation| (citation.span.bytes.clone(), citation.sentence))
            .collect();
        Self {
            answer,
            spans,
            placed,
        }
    }

    /// The sentence of a citation, by its number from 1 and its bytes. A citation that supports no sentence, such as one in a list of
    /// references, is in the sentence that contains it.
    #[must_use]
    pub fn of_citation(&self, citation_no: usize, bytes: &Range<usize>) -> Option<Sentence<'a>> {
        let placed = self.placed.get(citation_no.checked_sub(1)?);
        let index = placed
            .filter(|(placed, _)| placed == bytes)
            .and_then(|(_, sentence)| *sentence)
            .or_else(|| {
                let index = self
                    .spans
                    .partition_point(|(span, _)| span.end <= bytes.start);
                let (span, _) = self.spans.get(index)?;
                (span.start < bytes.end.max(bytes.start + 1)).then_some(index)
            })?;
        let (bytes, chars) = self.spans.get(index)?;
        Some(Sentence {
            text: self.answer.get(bytes.clone())?,
            chars: chars.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::end::parse_answer::parse_answer;
    use reground_citations::Grammar;

    #[test]
    fn a_sentence_has_its_place_in_characters() {
        let answer = "Ü cows give milk [A1]. It is so. [B2]\n\n- Sheep 🐑 give wool [A1, C3].";
        let read = parse_answer(answer, &Grammar::default(), None).unwrap();
        let sentences = AnswerSentences::of(&read);
        let texts: Vec<(String, String)> = (1..)
            .zip(&read.extraction.citations)
            .map(|(number, citation)| {
                let sentence = sentences.of_citation(number, &citation.span.bytes).unwrap();
                let skipped = answer.chars().skip(sentence.chars.start);
                let there = skipped.take(sentence.chars.len()).collect();
                (sentence.text.to_owned(), there)
            })
            .collect();
        let expected = [
            "Ü cows give milk [A1].",
            "It is so.",
            "- Sheep 🐑 give wool [A1, C3].",
            "- Sheep 🐑 give wool [A1, C3].",
        ];
        assert_eq!(texts.len(), expected.len());
        for ((text, there), expected) in texts.iter().zip(expected) {
            assert_eq!((text.as_str(), there.as_str()), (expected, expected));
        }
        assert_eq!(sentences.of_citation(0, &(0..1)), None);
        assert_eq!(sentences.of_citation(9, &(900..901)), None);
    }
}
