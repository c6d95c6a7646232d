//! The sentence of a source that comes nearest to a claim.

use reground_documents::sentence_spans;
use reground_pulse::{STRETCH, along, beat};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

use crate::Lexemes;
use crate::offsets::Ruler;

/// Lexemes of a claim that are looked for; a longer claim is no sentence.
const MAX_LEXEMES: usize = 256;

/// A sentence of a passage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// The sentence, verbatim.
    pub text: String,
    /// Where it stands in the passage's text, in characters.
    pub chars: Range<usize>,
}

/// A passage cut into sentences, ready to be compared with claims.
pub(crate) struct Quotable<'a> {
    text: &'a str,
    sentences: Vec<Sentence>,
}

struct Sentence {
    bytes: Range<usize>,
    chars: Range<usize>,
    lower: String,
    /// Lower-case words, sorted.
    words: Vec<String>,
}

impl<'a> Quotable<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let mut ruler = Ruler::new(text);
        let sentences = along(sentence_spans(text))
            .filter_map(|span| {
                let raw = &text[span.clone()];
                beat(raw.len().min(STRETCH));
                let start = span.start + raw.len() - raw.trim_start().len();
                let bytes = start..start + raw.trim().len();
                let lower = raw.trim().to_lowercase();
                let mut words: Vec<_> = lower.unicode_words().map(str::to_owned).collect();
                words.sort_unstable();
                (!bytes.is_empty()).then(|| Sentence {
                    chars: ruler.span(bytes.clone()).chars,
                    bytes,
                    lower,
                    words,
                })
            })
            .collect();
        Self { text, sentences }
    }

    /// The sentence that holds most of the claim; of equals the shortest, then the first. `None` when none holds any of it.
    pub(crate) fn best(&self, claim: &Lexemes) -> Option<Quote> {
        let held = |sentence: &Sentence| {
            beat(claim.len().min(MAX_LEXEMES));
            let lexemes = claim.iter().take(MAX_LEXEMES);
            lexemes.filter(|lexeme| sentence.holds(lexeme)).count()
        };
        self.sentences
            .iter()
            .map(|sentence| (held(sentence), sentence))
            .filter(|(held, _)| *held > 0)
            .min_by_key(|(held, sentence)| (std::cmp::Reverse(*held), sentence.words.len()))
            .map(|(_, sentence)| Quote {
                text: self.text[sentence.bytes.clone()].to_owned(),
                chars: sentence.chars.clone(),
            })
    }
}

impl Sentence {
    /// Whether a word of the sentence has this lexeme. Stems are read as beginnings of words, their last letter aside, which
    /// stemmers change (`happi`); scripts written without spaces are searched for the lexeme itself.
    fn holds(&self, lexeme: &str) -> bool {
        let stem = match lexeme.char_indices().next_back() {
            Some((last, _)) if lexeme.chars().count() > 4 => &lexeme[..last],
            _ => lexeme,
        };
        let from = self.words.partition_point(|word| word.as_str() < stem);
        let word = self.words.get(from).filter(|word| word.starts_with(stem));
        word.is_some() || (!lexeme.is_ascii() && self.lower.contains(lexeme))
    }
}
