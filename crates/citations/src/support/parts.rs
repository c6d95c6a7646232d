//! Support and its components.

use serde::{Deserialize, Serialize, Serializer};
use std::ops::Range;

use super::bit_set::BitSet;
use super::comparison::Comparison;
use super::conflicts::{Conflict, Conflicts};
use super::language::Cues;
use super::quotations::QuotedSpan;
use super::source::SourceUnits;
use super::units::ClaimUnits;

/// Weights of the components. A monotone logistic model (the sign of each weight is fixed by its meaning) was fitted
/// on AttributionBench dev, 1,198 claims. The weights are scaled so that a verbatim copy has support 1 and an empty
/// text has 0, and rounded, which costs no accuracy. Missing quotations are too rare there to be fitted. A conflict keeps
/// a share of the support that is below every useful threshold.
mod weight {
    pub const WINDOW: f64 = 0.65;
    pub const PAIRS: f64 = 0.35;
    pub const NUMBER_MISSING: f64 = 0.2;
    pub const NAME_MISSING: f64 = 0.07;
    pub const QUOTE_MISSING: f64 = 0.1;
    pub const CONFLICT: f64 = 0.38;
}

/// The components of the support of a claim by one or several texts. A unit is a stem, a number, or two neighbouring
/// characters of a script without spaces.
///
/// A number with a different measure counts as missing: 5 g for 5 kg. An equal quantity or time in another notation counts as present: 1.2 km
/// and 1200 m, 2:30 pm and 14:30.
///
/// Support is 0.65 `window` + 0.35 `pairs`, minus 0.2 for each missing number, 0.07 for each word of a missing name and 0.1
/// for each quotation that is not found, at least 0. With a conflict, it is 0.38 of this sum.
///
/// Serialised parts have no members without content, and shares with four digits, because they are stored with each citation.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SupportParts {
    /// The support, in [0, 1]. Not serialised, because it has a column of its own.
    #[serde(skip_serializing)]
    pub support: f64,
    /// The judged text, if it is not the whole claim: the part of a sentence with several facts that the citation
    /// closes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<String>,
    /// Number of distinct units of the claim, at most 256.
    pub units: usize,
    /// Share of the units anywhere in the texts, in [0, 1]. It is not part of the sum, because the window is more
    /// accurate.
    #[serde(serialize_with = "four_digits")]
    pub coverage: f64,
    /// Share of the units in the best window of each text, in [0, 1]. The window is twice as long as the claim.
    #[serde(serialize_with = "four_digits")]
    pub window: f64,
    /// Share of the claim's neighbouring units that are neighbours in a text, in [0, 1].
    #[serde(serialize_with = "four_digits")]
    pub pairs: f64,
    /// The best window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_range: Option<TextRange>,
    /// Numbers of the claim that no text contains, in normal form.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub numbers_missing: Vec<String>,
    /// Missing numbers for which a text has a different one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub numbers_contradicted: Vec<Contradiction>,
    /// Words of names that no text contains. A name is there if its last word is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names_missing: Vec<String>,
    /// Quotations in the claim.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quotations: Vec<Quotation>,
    /// Words that the claim denies and the best window states, or the reverse; `None` if the language is unknown.
    #[serde(skip_serializing_if = "is_without_words")]
    pub negated_words: Option<Vec<String>>,
    /// The conflicts: most of the claim is there, but with another number, another name, or a denial on one side.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<Conflict>,
    /// The language whose negation and numerals are used; `None` if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

fn four_digits<S: Serializer>(share: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((share * 1e4).round() / 1e4)
}

fn is_without_words(words: &Option<Vec<String>>) -> bool {
    words.as_ref().is_none_or(Vec::is_empty)
}

/// Member of serialised parts with the support of all statements, for a citation of the answer.
pub const ANSWER_SUPPORT: &str = "answer";

/// Members of [`SupportParts`] that contain no words of the claim or of the texts.
const MEASURES: [&str; 8] = [
    ANSWER_SUPPORT,
    "units",
    "coverage",
    "window",
    "pairs",
    "window_range",
    "conflicts",
    "language",
];

/// Returns the members of serialised parts that contain no words of a text.
#[must_use]
pub fn measures(parts: &serde_json::Value) -> serde_json::Value {
    let members = parts.as_object().into_iter().flatten();
    members
        .filter(|(name, _)| MEASURES.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// A range of one of the texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextRange {
    /// Index of the text.
    pub text: usize,
    /// The range, in characters.
    pub chars: Range<usize>,
}

/// A number that a text contradicts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contradiction {
    /// The number in the claim.
    pub claimed: String,
    /// The number in the text: a different one, or the same with a different measure, `5 g`.
    pub found: String,
    /// The counted word in the claim: minutes, `%`.
    pub of: String,
}

/// A quotation of the claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quotation {
    /// Position in the claim, in characters, without the quotation marks.
    pub chars: Range<usize>,
    /// Position in a text that contains it. Case, spaces and punctuation are ignored.
    pub found: Option<TextRange>,
}

/// The shares and counts that support is computed from.
pub(crate) struct SupportSum {
    coverage: f64,
    window: f64,
    pairs: f64,
    conflicts: Conflicts,
    pub support: f64,
}

impl SupportSum {
    pub fn of(claim: &ClaimUnits<'_>, comparison: &Comparison) -> Self {
        let share = |held: usize, of: usize| {
            if of == 0 {
                0.0
            } else {
                held as f64 / of as f64
            }
        };
        let window = share(comparison.window.len(), claim.units.len());
        let pairs = match claim.pairs.len() {
            0 => window,
            pairs => share(comparison.pairs.len(), pairs),
        };
        let quotes = claim.quotes.len().saturating_sub(comparison.quotes.len());
        let conflicts = Conflicts::of(claim, comparison);
        let support = weight::WINDOW * window + weight::PAIRS * pairs
            - weight::NUMBER_MISSING * conflicts.weighed_numbers(claim) as f64
            - weight::NAME_MISSING * conflicts.names.len() as f64
            - weight::QUOTE_MISSING * quotes as f64;
        let share_kept = match conflicts.kinds.len() {
            0 => 1.0,
            _ => weight::CONFLICT,
        };
        Self {
            coverage: share(comparison.held.len(), claim.units.len()),
            window,
            pairs,
            conflicts,
            support: support.clamp(0.0, 1.0) * share_kept,
        }
    }
}

/// Smallest share of the other units in the window, and of the pairs of neighbours, when a claim repeats a text.
const REPEATED: f64 = 0.9;
const REPEATED_PAIRS: f64 = 0.8;

impl SupportParts {
    /// Returns whether the claim repeats a text, except for a number or a denial. The shares were chosen on seed 1 of the faults put
    /// into answers, so that few right answers are refused.
    #[must_use]
    pub fn contradicts(&self) -> bool {
        let differs =
            |conflict: &Conflict| matches!(conflict, Conflict::Number | Conflict::Negation);
        let missing = self.numbers_missing.len() + self.names_missing.len();
        let others = self.units.saturating_sub(missing) as f64;
        self.conflicts.iter().any(differs)
            && self.pairs >= REPEATED_PAIRS
            && self.window * self.units as f64 >= REPEATED * others
    }

    /// Computes the components for one source.
    pub(crate) fn alone(claim: &ClaimUnits<'_>, source: &SourceUnits<'_>, cues: &Cues) -> Self {
        Self::of(claim, &Comparison::of(claim, source, 0), &[source], cues)
    }

    /// Computes the components from a comparison with these texts.
    pub(crate) fn of(
        claim: &ClaimUnits<'_>,
        comparison: &Comparison,
        texts: &[&SourceUnits<'_>],
        cues: &Cues,
    ) -> Self {
        let sum = SupportSum::of(claim, comparison);
        let numbers = |among: &BitSet| {
            let among = *among;
            let mut seen = BitSet::default();
            claim.numbers.iter().filter(move |number| {
                let first = among.holds(number.unit) && !seen.holds(number.unit);
                seen.add(number.unit);
                first
            })
        };
        let contradiction = |number: &super::units::ClaimNumber| {
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
        Self {
            support: sum.support,
            segment: None,
            units: claim.units.len(),
            coverage: sum.coverage,
            window: sum.window,
            pairs: sum.pairs,
            window_range: comparison.place.map(|place| TextRange {
                text: place.text,
                chars: place.chars.0..place.chars.1,
            }),
            numbers_missing: numbers(&sum.conflicts.numbers)
                .map(|number| number.text.clone())
                .collect(),
            numbers_contradicted: claim
                .numbers
                .iter()
                .filter(|number| sum.conflicts.rivals.holds(number.unit))
                .filter_map(contradiction)
                .collect(),
            names_missing: sum
                .conflicts
                .names
                .iter()
                .map(|name| claim.word(name).to_owned())
                .collect(),
            quotations: claim.quotes.iter().map(quotation).collect(),
            negated_words: cues.language().map(|_| {
                let opposed = sum.conflicts.denied.iter();
                opposed
                    .map(|number| claim.word(number).to_owned())
                    .collect()
            }),
            conflicts: sum.conflicts.kinds,
            language: cues.language().map(str::to_owned),
        }
    }
}
