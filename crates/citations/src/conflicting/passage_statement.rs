//! The statements of passages.

use std::collections::BTreeSet;
use std::ops::Range;

use reground_interrupt::checked;

use crate::Cues;
use crate::support::{
    ClaimNumber, ClaimUnits, Sentence, Sentences, SourceUnits, Text, Vocabulary, is_unspaced,
};

/// Fewest units of a statement. A shorter one may be about anything.
const LEAST_UNITS: usize = 5;

/// A sentence of a passage, as a claim and as a source of claims.
pub(super) struct PassageStatement<'a> {
    /// Index of the passage.
    pub passage: usize,
    pub chars: Range<usize>,
    pub claim: ClaimUnits<'a>,
    pub source: SourceUnits<'a>,
}

/// The statements of all passages, in order.
pub(super) struct PassageStatements<'a> {
    pub all: Vec<PassageStatement<'a>>,
    /// Neighbouring units of each passage.
    pub neighbours: Vec<BTreeSet<(u32, u32)>>,
    /// Number of different units.
    pub units: usize,
}

impl<'a> PassageStatements<'a> {
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
            PassageStatement {
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

impl PassageStatement<'_> {
    /// Returns the ids of the units directly before and after a number.
    pub fn beside(&self, number: &ClaimNumber) -> impl Iterator<Item = u32> {
        let id = self.claim.units.get(number.unit);
        let pairs = self.claim.pairs.iter();
        pairs.filter_map(move |(left, right)| match id {
            Some(id) if left == id => Some(*right),
            Some(id) if right == id => Some(*left),
            _ => None,
        })
    }

    /// Returns whether a number counts or dates something. In an identifier, a version, an address or an ordinal it is a name.
    pub fn counts(&self, number: &ClaimNumber) -> bool {
        let Some((before, digits, after)) = self.around(number) else {
            return true;
        };
        let ends_word = |c: char| c.is_whitespace() || is_unspaced(c);
        let before = &before[before.trim_end_matches(|c| !ends_word(c)).len()..];
        let before = before.trim_start_matches(|c: char| !c.is_alphanumeric());
        let after = &after[..after.find(ends_word).unwrap_or(after.len())];
        let is_price = before.ends_with(['$', '€', '£', '¥']);
        let joined = ['/', '_', '+', '=', '@', '#', '\\', ':', '.'];
        let in_word = before.contains(char::is_alphabetic) && !is_price || before.contains(joined);
        let in_path = after.matches('/').count() > 1 || after.contains(['_', '=', '@', '#', '\\']);
        let is_ordinal = ["st", "nd", "rd", "th"].iter().any(|end| {
            let rest = after.strip_prefix(end);
            rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        });
        let next_digits = after
            .strip_prefix(['.', '-', '+', ':'])
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        !(in_word || in_path || is_ordinal || next_digits || is_version(digits))
    }

    /// Returns whether a number may be a year: four digits without a separator.
    pub fn is_year(&self, number: &ClaimNumber) -> bool {
        let year = number.text.parse().unwrap_or(0_u32);
        let written = self
            .around(number)
            .is_none_or(|(_, digits, _)| digits == number.text);
        number.measure.is_none() && (1000..=2100).contains(&year) && written
    }

    /// The text before a number, the number as it is written, and the text after it.
    fn around(&self, number: &ClaimNumber) -> Option<(&str, &str, &str)> {
        let text = self.claim.text();
        let bytes = self.claim.place(number.unit)?;
        Some((
            text.get(..bytes.start)?,
            text.get(bytes.clone())?,
            text.get(bytes.end..)?,
        ))
    }
}

/// Returns whether digits are a version: they have several points that do not separate thousands.
fn is_version(digits: &str) -> bool {
    let mut groups = digits.split('.').skip(1);
    digits.matches('.').count() > 1 && groups.any(|group| group.len() != 3)
}

/// Returns whether a sentence ends with a full stop, which headings, questions and cells of tables do not. Quotation marks, brackets and
/// citations may follow it.
fn ends_like_a_statement(sentence: &str) -> bool {
    let closing = |c: char| c.is_whitespace() || "\"'”“’»«›」』*_)）］".contains(c);
    let mut text = sentence.trim_end_matches(closing);
    while let Some(open) = text
        .strip_suffix([']', '】'])
        .and_then(|_| text.rfind(['[', '【']))
    {
        text = text[..open].trim_end_matches(closing);
    }
    text.ends_with(['.', '!', '。', '！', '।', '۔', '።'])
}
