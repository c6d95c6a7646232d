//! The statements of passages.

use std::collections::BTreeSet;
use std::ops::Range;

use reground_interrupt::checked;

use crate::Cues;
use crate::support::{ClaimNumber, ClaimUnits, Sentence, Sentences, SourceUnits, Text, Vocabulary};

/// Fewest units of a statement. A shorter one does not tell what it is about.
const LEAST_UNITS: usize = 5;

/// A sentence of a passage, as a claim and as a source of claims.
pub(super) struct Statement<'a> {
    /// Index of the passage.
    pub passage: usize,
    pub chars: Range<usize>,
    pub claim: ClaimUnits<'a>,
    pub source: SourceUnits<'a>,
}

/// The statements of all passages, in order.
pub(super) struct Statements<'a> {
    pub all: Vec<Statement<'a>>,
    /// Neighbouring units of each passage.
    pub neighbours: Vec<BTreeSet<(u32, u32)>>,
    /// Number of different units.
    pub units: usize,
}

impl<'a> Statements<'a> {
    pub fn read(texts: &[Text<'a>], cues: &Cues) -> Self {
        let mut vocabulary = Vocabulary::default();
        let mut neighbours = Vec::with_capacity(texts.len());
        let mut claims: Vec<(usize, Sentence, ClaimUnits<'_>)> = Vec::new();
        for (passage, text) in texts.iter().enumerate() {
            let mut of_passage = BTreeSet::new();
            for sentence in checked(Sentences::of(text.text).0) {
                let words = &text.text[sentence.bytes.clone()];
                let claim = ClaimUnits::part(words, text.lexemes, cues, &mut vocabulary);
                of_passage.extend(claim.pairs.iter().copied());
                if claim.units.len() >= LEAST_UNITS && ends_like_a_statement(words) {
                    claims.push((passage, sentence, claim));
                }
            }
            neighbours.push(of_passage);
        }
        // A source contains only units that are in the vocabulary, so all claims are read before.
        let read = |(passage, sentence, claim): (usize, Sentence, ClaimUnits<'a>)| {
            let lexemes = texts[passage].lexemes;
            Statement {
                passage,
                chars: sentence.chars,
                source: SourceUnits::part(claim.text(), lexemes, cues, &vocabulary),
                claim,
            }
        };
        Self {
            all: checked(claims).map(read).collect(),
            neighbours,
            units: vocabulary.len(),
        }
    }
}

impl Statement<'_> {
    /// Ids of the units beside a number.
    pub fn beside(&self, number: &ClaimNumber) -> impl Iterator<Item = u32> {
        let id = self.claim.units.get(number.unit);
        let pairs = self.claim.pairs.iter();
        pairs.filter_map(move |(left, right)| match id {
            Some(id) if left == id => Some(*right),
            Some(id) if right == id => Some(*left),
            _ => None,
        })
    }

    /// Whether a number counts or dates something. In an identifier, a version or an address it names a thing.
    pub fn counts(&self, number: &ClaimNumber) -> bool {
        let text = self.claim.text();
        let (before, after) = match self.claim.place(number.unit) {
            Some(bytes) => (&text[..bytes.start], &text[bytes.end..]),
            None => return true,
        };
        let start = before.trim_end_matches(|c: char| !c.is_whitespace()).len();
        let rest = after.trim_start_matches(|c: char| !c.is_whitespace());
        let word =
            text[start..text.len() - rest.len()].trim_matches(|c: char| !c.is_alphanumeric());
        let follows_letters = before[start..].contains(char::is_alphabetic);
        let points = word.matches('.').count();
        points < 2 && !follows_letters && !word.contains(['/', '_', '+', '=', '@', '#', '\\'])
    }
}

/// Headings, questions and cells of tables do not end like statements.
fn ends_like_a_statement(sentence: &str) -> bool {
    let closing = ['"', '”', '»', '\'', '’', '*', '_', ')', ']'];
    let text = sentence.trim_end_matches(closing);
    text.ends_with(['.', '!', '。', '！', '।', '۔', '።'])
}
