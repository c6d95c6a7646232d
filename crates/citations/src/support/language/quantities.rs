//! Reads quantities: `1,200,000`, `1.2 million`, `1.2m`, `twenty-one`, `-3 °C`, `$5`.

use std::ops::Range;

use super::cues::Cues;
use super::measures;
use super::notations::quantity_key;
use crate::text::{canonical, spellings};

/// A number and its measure.
pub(crate) struct Quantity {
    /// The numbers it may stand for, in normal form. There is more than one only for digits with commas.
    pub numbers: Vec<String>,
    /// The end of the number and its scale.
    pub end: usize,
    /// The measure and its range.
    pub measure: Option<(String, Range<usize>)>,
}

impl Quantity {
    /// Returns whether it may be an ordinary word: one of them, a half.
    pub fn is_ambiguous(&self) -> bool {
        let number = self.numbers.first().map(|number| number.parse::<f64>());
        matches!(number, Some(Ok(number)) if number <= 1.0)
    }

    /// Returns a key that equal quantities have in all measures of their dimension.
    pub fn key(&self) -> Option<String> {
        match (&self.numbers[..], &self.measure) {
            ([number], Some((measure, _))) => quantity_key(number, measure),
            _ => None,
        }
    }
}

/// Largest number of words in a number, more than in `nine hundred and ninety-nine thousand nine hundred and
/// ninety-nine`.
const MOST_WORDS: usize = 12;

/// Largest number of digits of a number with a scale.
const MOST_DIGITS: usize = 18;

/// Returns the quantity whose digits are at `digits`. `is_content` returns whether a lower-case word has content:
/// such a word after `1.2m` makes it 1.2 million.
pub(crate) fn quantity_from_digits(
    text: &str,
    digits: Range<usize>,
    cues: &Cues,
    is_content: impl Fn(&str) -> bool,
) -> Quantity {
    let before = &text[..digits.start];
    let (sign, before) = match signless(before) {
        Some(before) => ("-", before),
        None => ("", before),
    };
    let point = before.strip_suffix(cues.decimal());
    let bare = point.is_some_and(|rest| !rest.ends_with(char::is_alphanumeric));
    let mut numbers = spelled(&text[digits.clone()], cues, bare);
    let mut end = digits.end;
    let prefix = measures::before(before).map(|(of, bytes)| (of.to_owned(), bytes));
    let scale = cues.numerals().scale_after(&text[end..]).filter(|scale| {
        let after = text[end + scale.len..].trim_start_matches([' ', '\u{a0}']);
        scale.is_sure || prefix.is_some() || is_content(&first_word(after).to_lowercase())
    });
    if let (Some(scale), [number]) = (&scale, &mut numbers[..])
        && let Some(scaled) = times(number, scale.factor)
    {
        *number = scaled;
        end += scale.len;
    }
    if let [number] = &mut numbers[..]
        && number != "0"
    {
        number.insert_str(0, sign);
    }
    Quantity {
        measure: prefix.or_else(|| measures::after(text, end, cues)),
        numbers,
        end,
    }
}

/// Returns the quantity that begins with the word at `start`: `two`, `twenty-one`, `two hundred and fifty thousand`.
pub(crate) fn quantity_from_words(text: &str, start: usize, cues: &Cues) -> Option<Quantity> {
    let numerals = cues.numerals();
    let (len, first) = numerals.number_at(&text[start..])?;
    let mut end = start + len;
    let Some(mut part) = whole(first) else {
        return Some(Quantity {
            numbers: vec![first.to_owned()],
            measure: measures::after(text, end, cues),
            end,
        });
    };
    // `two hundred and fifty thousand`: `part` collects the value below a thousand, and a scale of at least a
    // thousand adds it to the total.
    let mut total = 0_u64;
    let mut last = part;
    for _ in 1..MOST_WORDS {
        let rest = &text[end..];
        let scale = numerals.scale_after(rest).filter(|scale| scale.is_word);
        if let Some(scale) = scale.filter(|_| part > 0) {
            part = part.checked_mul(scale.factor)?;
            last = scale.factor;
            end += scale.len;
            if scale.factor >= 1000 {
                total = total.checked_add(std::mem::take(&mut part))?;
            }
            continue;
        }
        let next = numerals.number_after(rest).and_then(|(len, next, joined)| {
            let next = whole(next)?;
            // `hundred and five` and `twenty one` are one number, `two three` are two.
            let fits = next < last && last.is_multiple_of(100)
                || next < 10 && last.is_multiple_of(10) && !joined;
            fits.then_some((len, next))
        });
        let Some((len, next)) = next else {
            break;
        };
        part = part.checked_add(next)?;
        last = next;
        end += len;
    }
    Some(Quantity {
        numbers: vec![total.checked_add(part)?.to_string()],
        measure: measures::after(text, end, cues),
        end,
    })
}

/// Parses a whole number above zero.
fn whole(number: &str) -> Option<u64> {
    number.parse().ok().filter(|number| *number > 0)
}

/// Returns the text before the sign of a negative number. A dash after a word or a number is not a sign.
fn signless(before: &str) -> Option<&str> {
    let rest = before.strip_suffix(['-', '−', '–'])?;
    let free = |c: char| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '“' | '„' | '=' | '~');
    rest.chars().next_back().is_none_or(free).then_some(rest)
}

/// Returns the numbers that digits with points and commas can stand for in the notation of the language. `bare` means
/// that a decimal point precedes them: `.5`.
fn spelled(raw: &str, cues: &Cues, bare: bool) -> Vec<String> {
    let exchange = |c| match c {
        ',' => '.',
        '.' => ',',
        c => c,
    };
    match cues.decimal() {
        ',' => spellings(&raw.chars().map(exchange).collect::<String>(), bare),
        _ => spellings(raw, bare),
    }
}

/// Multiplies a number, in normal form. `None` for versions and numbers with too many digits.
fn times(number: &str, factor: u64) -> Option<String> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}");
    if digits.len() > MOST_DIGITS {
        return None;
    }
    let product = digits.parse::<u128>().ok()? * u128::from(factor);
    let padded = format!("{product:0>width$}", width = fraction.len() + 1);
    let (whole, fraction) = padded.split_at(padded.len() - fraction.len());
    Some(canonical(&format!("{whole}.{fraction}")))
}

/// Returns the letters that a text begins with.
fn first_word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphabetic());
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::{Cues, quantity_from_digits, quantity_from_words, times};
    use proptest::prelude::*;

    /// The numbers and the measure of the first quantity in a text.
    fn figure(text: &str, language: &str) -> (String, Option<String>) {
        let cues = Cues::built_in(language);
        let figure = match text.find(|c: char| c.is_ascii_digit()) {
            Some(start) => {
                let rest = &text[start..];
                let len = rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',')));
                let end = start + len.unwrap_or(rest.len());
                quantity_from_digits(text, start..end, &cues, |word| word == "users")
            }
            None => quantity_from_words(text, 0, &cues).unwrap(),
        };
        let measure = figure.measure.map(|(of, _)| of);
        (figure.numbers.join(" "), measure)
    }

    #[test]
    fn numbers_in_all_notations() {
        for (text, language, number) in [
            ("1,200,000", "en", "1200000"),
            ("1.2 million", "en", "1200000"),
            ("1.2 Millionen", "none", "1.2"),
            ("1,2 Millionen", "de", "1200000"),
            ("1.2m users", "en", "1200000"),
            ("$1.2m", "en", "1200000"),
            ("1.2m of cable", "en", "1.2"),
            ("3bn", "en", "3000000000"),
            ("5k", "en", "5"),
            ("two dozen", "en", "24"),
            ("half a dozen", "en", "6"),
            ("twenty-one", "en", "21"),
            ("Ninety nine", "en", "99"),
            ("two hundred and fifty thousand", "en", "250000"),
            ("three million two hundred", "en", "3000200"),
            ("two three", "en", "2"),
            ("one and only", "en", "1"),
            ("120万", "zh", "1200000"),
            ("1.5 миллиона", "none", "1.5"),
            ("-3", "en", "-3"),
            ("at (-3.0", "en", "-3"),
            ("at −3", "en", "-3"),
            ("2019-2020", "en", "2019"),
            ("covid-19", "en", "19"),
            ("-0", "en", "0"),
            (".5", "en", "0.5"),
            ("1.2.3 million", "en", "1.2.3"),
        ] {
            assert_eq!(figure(text, language).0, number, "{text}");
        }
    }

    #[test]
    fn measures_of_numbers() {
        for (text, of) in [
            ("5 %", Some("%")),
            ("5 percent", Some("%")),
            ("five per cent", Some("%")),
            ("5kg", Some("kg")),
            ("5 kilograms", Some("kg")),
            ("5 g", Some("g")),
            ("3 °C", Some("°C")),
            ("3° C", Some("°C")),
            ("3 degrees Celsius", Some("°C")),
            ("$5", Some("$")),
            ("US$ 5", Some("$")),
            ("EUR 5", Some("€")),
            ("€1.2 million", Some("€")),
            ("5 dollars", Some("$")),
            ("20-minute", Some("min")),
            ("90 km/h", Some("km/h")),
            ("1990s", None),
            ("5 in", None),
            ("5 gates", None),
            ("5 servers", None),
        ] {
            assert_eq!(figure(text, "en").1.as_deref(), of, "{text}");
        }
    }

    proptest! {
        #[test]
        fn times_equals_multiplication(whole in 0_u32..100_000, tenths in 0_u32..10, factor in 1_u32..2_000_000) {
            let number = format!("{whole}.{tenths}");
            let tens = u64::from(whole * 10 + tenths) * u64::from(factor);
            let expected = match tens % 10 {
                0 => (tens / 10).to_string(),
                rest => format!("{}.{rest}", tens / 10),
            };
            prop_assert_eq!(times(&number, factor.into()), Some(expected));
        }

        #[test]
        fn any_text_has_valid_quantities(text in "(\\PC|[a-z1-3 .,$%°-]|two|hundred|and|million| ){0,30}", language in "en|de|zh|none") {
            let cues = Cues::built_in(&language);
            for (start, c) in text.char_indices() {
                let end = start + c.len_utf8();
                if c.is_numeric() {
                    let figure = quantity_from_digits(&text, start..end, &cues, |_| true);
                    prop_assert!(figure.end >= end && text.is_char_boundary(figure.end));
                }
                if let Some(figure) = quantity_from_words(&text, start, &cues) {
                    prop_assert!(figure.end > start && text.is_char_boundary(figure.end));
                    prop_assert!(figure.measure.is_none_or(|(_, at)| text.get(at).is_some()));
                }
            }
        }
    }
}
