//! Support as it is explained: what it is made of, and how the parts add up.

use serde::{Deserialize, Serialize};
use std::ops::Range;

use super::bit_set::BitSet;
use super::comparison::Comparison;
use super::language::Cues;
use super::quotations::QuotedSpan;
use super::source::SourceUnits;
use super::units::ClaimUnits;

/// Weights of the parts. A monotone logistic model (no weight may turn against what its part means) was fitted on
/// AttributionBench dev, 1,198 claims; scaled so that what is said word for word has 1 and nothing at all has 0, and
/// rounded, which costs nothing. Its even odds are at 0.45 on that scale. Numbers contradicted, quotations missing and
/// negation are too rare there to be fitted: they are set so that what is otherwise said word for word falls below one
/// half when it is denied, and a sentence to about one half when its only number is another.
mod weight {
    pub const WINDOW: f64 = 0.65;
    pub const PAIRS: f64 = 0.35;
    pub const NUMBER_MISSING: f64 = 0.2;
    pub const NUMBER_CONTRADICTED: f64 = 0.3;
    pub const NAME_MISSING: f64 = 0.05;
    pub const QUOTE_MISSING: f64 = 0.1;
    pub const DENIED: f64 = 0.6;
}

/// What the support of a claim by one text or several is made of. A unit is a stem, a number, or two neighbouring
/// characters of a script without spaces.
///
/// A number counts as missing where it is given for something else only: 5 g for 5 kg.
///
/// Support is 0.65 `window` + 0.35 `pairs`, less 0.2 for each number missing, 0.3 more for each of them contradicted, 0.05
/// for each name missing, 0.1 for each quotation not found, 0.6 if one side denies what the other states; not below 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SupportParts {
    /// The sum, in [0, 1].
    pub support: f64,
    /// What was judged, where it is not the whole claim: the part of a sentence of several facts that the citation closes.
    pub segment: Option<String>,
    /// Distinct units of the claim, at most 256.
    pub units: usize,
    /// Share of them anywhere in the texts, in [0, 1]. Not in the sum: the window says it better.
    pub coverage: f64,
    /// Share of them in the best window of each text, twice as long as the claim, in [0, 1].
    pub window: f64,
    /// Share of the claim's neighbouring units that are neighbours in a text, in [0, 1].
    pub pairs: f64,
    /// The best window.
    pub window_at: Option<TextRange>,
    /// Numbers of the claim that no text gives, in one spelling.
    pub numbers_missing: Vec<String>,
    /// Those of them in whose place a text gives another one.
    pub numbers_contradicted: Vec<Contradiction>,
    /// Capitalised words of the claim that no text holds.
    pub names_missing: Vec<String>,
    /// What the claim puts in quotation marks.
    pub quotations: Vec<Quotation>,
    /// Words of the claim that it denies and the best window states, or the reverse; `None` where the language is not known.
    pub denied_by_one: Option<Vec<String>>,
    /// The language that negation and numbers are read in; `None` if without any.
    pub language: Option<String>,
}

/// Members of [`SupportParts`] that hold no words of the claim or of the texts.
const MEASURES: [&str; 7] = [
    "support",
    "units",
    "coverage",
    "window",
    "pairs",
    "window_at",
    "language",
];

/// What stays of the parts, as they are written, where no words are kept.
#[must_use]
pub fn measures(parts: &serde_json::Value) -> serde_json::Value {
    let members = parts.as_object().into_iter().flatten();
    members
        .filter(|(name, _)| MEASURES.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// A stretch of one of the texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextRange {
    /// Index of the text.
    pub text: usize,
    /// Where in it, in characters.
    pub chars: Range<usize>,
}

/// A number that a text gives otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contradiction {
    /// What the claim says.
    pub claimed: String,
    /// What the text says: another number, or the same of another measure, `5 g`.
    pub found: String,
    /// Of what, in the claim's words: minutes, `%`.
    pub of: String,
}

/// A quotation of the claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quotation {
    /// Where it stands in the claim, in characters, its marks left out.
    pub chars: Range<usize>,
    /// Where a text says it word for word; case, spaces and punctuation make no difference.
    pub found: Option<TextRange>,
}

/// The shares and counts that support is the sum of.
pub(crate) struct SupportSum {
    coverage: f64,
    window: f64,
    pairs: f64,
    missing: BitSet,
    contradicted: BitSet,
    opposed: BitSet,
    pub support: f64,
}

impl SupportSum {
    pub fn of(claim: &ClaimUnits<'_>, reading: &Comparison) -> Self {
        let share = |held: usize, of: usize| {
            if of == 0 {
                0.0
            } else {
                held as f64 / of as f64
            }
        };
        let window = share(reading.window.len(), claim.units.len());
        let pairs = match claim.pairs.len() {
            0 => window,
            pairs => share(reading.pairs.len(), pairs),
        };
        let mut numbers = BitSet::default();
        for number in &claim.numbers {
            numbers.add(number.unit);
        }
        let missing = numbers.without(&reading.held);
        let contradicted = missing.and(&reading.rivals);
        let names = claim.names.iter();
        let names = names.filter(|name| !reading.held.holds(**name)).count();
        let quotes = claim.quotes.len().saturating_sub(reading.quotes.len());
        // A word that stands there both denied and not is no one's contradiction.
        let by_claim = claim.denied.and(&reading.stated).without(&reading.denied);
        let by_text = reading
            .denied
            .without(&reading.stated)
            .without(&claim.denied);
        // Where both sides deny something, which word it belongs to is told by its place alone: order differs too easily.
        let both_deny = claim.denied.len() > 0 && reading.denied.len() > 0;
        let opposed = if both_deny {
            BitSet::default()
        } else {
            by_claim.or(&by_text)
        };
        let support = weight::WINDOW * window + weight::PAIRS * pairs
            - weight::NUMBER_MISSING * missing.len() as f64
            - weight::NUMBER_CONTRADICTED * contradicted.len() as f64
            - weight::NAME_MISSING * names as f64
            - weight::QUOTE_MISSING * quotes as f64
            - if opposed.len() > 0 {
                weight::DENIED
            } else {
                0.0
            };
        Self {
            coverage: share(reading.held.len(), claim.units.len()),
            window,
            pairs,
            missing,
            contradicted,
            opposed,
            support: support.clamp(0.0, 1.0),
        }
    }
}

impl SupportParts {
    /// What one source alone says of a claim.
    pub(crate) fn alone(claim: &ClaimUnits<'_>, source: &SourceUnits<'_>, cues: &Cues) -> Self {
        Self::of(claim, &Comparison::of(claim, source, 0), &[source], cues)
    }

    /// Writes out what a reading of these texts came to.
    pub(crate) fn of(
        claim: &ClaimUnits<'_>,
        reading: &Comparison,
        texts: &[&SourceUnits<'_>],
        cues: &Cues,
    ) -> Self {
        let sum = SupportSum::of(claim, reading);
        let numbers = |among: &BitSet| {
            let among = *among;
            let mut seen = BitSet::default();
            claim.numbers.iter().filter(move |number| {
                let first = among.holds(number.unit) && !seen.holds(number.unit);
                seen.add(number.unit);
                first
            })
        };
        let contradiction = |number: &super::units::Number| {
            let (id, of) = number.of.as_ref()?;
            let other_number = |text: &&SourceUnits<'_>| match text.other_measure(claim, number) {
                Some(other) => Some(format!("{} {other}", number.text)),
                None => text.number_before(*id).map(str::to_owned),
            };
            Some(Contradiction {
                claimed: number.text.clone(),
                found: texts.iter().find_map(other_number)?,
                of: of.clone(),
            })
        };
        let quotation = |quoted: &QuotedSpan| Quotation {
            chars: quoted.chars.clone(),
            found: texts.iter().enumerate().find_map(|(text, source)| {
                let chars = source.folded().find(quoted)?;
                Some(TextRange { text, chars })
            }),
        };
        let names = claim.names.iter();
        Self {
            support: sum.support,
            segment: None,
            units: claim.units.len(),
            coverage: sum.coverage,
            window: sum.window,
            pairs: sum.pairs,
            window_at: reading.place.map(|place| TextRange {
                text: place.text,
                chars: place.chars.0..place.chars.1,
            }),
            numbers_missing: numbers(&sum.missing)
                .map(|number| number.text.clone())
                .collect(),
            numbers_contradicted: claim
                .numbers
                .iter()
                .filter(|number| sum.contradicted.holds(number.unit))
                .filter_map(contradiction)
                .collect(),
            names_missing: names
                .filter(|name| !reading.held.holds(**name))
                .map(|name| claim.word(*name).to_owned())
                .collect(),
            quotations: claim.quotes.iter().map(quotation).collect(),
            denied_by_one: cues.language().map(|_| {
                let opposed = sum.opposed.iter();
                opposed
                    .map(|number| claim.word(number).to_owned())
                    .collect()
            }),
            language: cues.language().map(str::to_owned),
        }
    }
}
