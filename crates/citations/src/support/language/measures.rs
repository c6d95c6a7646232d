//! Measures of numbers: units and currencies, by sign or by word.

use std::ops::Range;

use super::cues::Cues;

/// Signs that all languages use, and the normal form of each. A degree sign alone is ambiguous.
#[rustfmt::skip]
const SIGNS: [(&str, &str); 61] = [
    ("%", "%"), ("％", "%"), ("٪", "%"), ("‰", "‰"), ("°C", "°C"), ("° C", "°C"), ("℃", "°C"), ("°F", "°F"),
    ("° F", "°F"), ("℉", "°F"), ("km/h", "km/h"), ("kph", "km/h"), ("mph", "mph"), ("m/s", "m/s"), ("km²", "km²"),
    ("m²", "m²"), ("m³", "m³"), ("km", "km"), ("cm", "cm"), ("mm", "mm"), ("nm", "nm"), ("m", "m"), ("mi", "mi"),
    ("ft", "ft"), ("kg", "kg"), ("mg", "mg"), ("µg", "µg"), ("μg", "µg"), ("g", "g"), ("lbs", "lb"), ("lb", "lb"),
    ("oz", "oz"), ("ml", "ml"), ("mL", "ml"), ("l", "l"), ("L", "l"), ("ms", "ms"), ("min", "min"), ("h", "h"),
    ("kWh", "kWh"), ("MWh", "MWh"), ("kW", "kW"), ("MW", "MW"), ("GW", "GW"), ("W", "W"), ("V", "V"), ("kHz", "kHz"),
    ("MHz", "MHz"), ("GHz", "GHz"), ("Hz", "Hz"), ("kB", "kB"), ("KB", "kB"), ("MB", "MB"), ("GB", "GB"),
    ("TB", "TB"), ("kcal", "kcal"), ("kJ", "kJ"), ("Pa", "Pa"), ("hPa", "hPa"), ("dB", "dB"), ("ppm", "ppm"),
];

/// Currencies. They are before or after the number.
#[rustfmt::skip]
const CURRENCIES: [(&str, &str); 12] = [
    ("$", "$"), ("USD", "$"), ("€", "€"), ("EUR", "€"), ("£", "£"), ("GBP", "£"), ("¥", "¥"), ("JPY", "¥"),
    ("₹", "₹"), ("INR", "₹"), ("₩", "₩"), ("CHF", "CHF"),
];

/// Characters allowed between a number and its measure.
const BETWEEN: [char; 4] = [' ', '\u{a0}', '\u{202f}', '-'];

/// Returns the currency at the end of a text and its range.
pub(super) fn before(text: &str) -> Option<(&'static str, Range<usize>)> {
    let text = text.strip_suffix(&BETWEEN[..3]).unwrap_or(text);
    CURRENCIES.iter().find_map(|(sign, of)| {
        let rest = text.strip_suffix(sign)?;
        let whole = !sign.is_ascii() || *sign == "$" || !rest.ends_with(char::is_alphanumeric);
        whole.then_some((*of, rest.len()..text.len()))
    })
}

/// Returns the measure of the number that ends at `end` and its range.
pub(super) fn after(text: &str, end: usize, cues: &Cues) -> Option<(String, Range<usize>)> {
    let rest = &text[end..];
    let start = end + rest.len() - rest.strip_prefix(BETWEEN).unwrap_or(rest).len();
    let rest = &text[start..];
    let ends = |sign: &str| {
        let next = rest[sign.len()..].chars().next();
        // Any character may follow a sign that is not a letter.
        !sign.ends_with(char::is_alphanumeric) || !next.is_some_and(char::is_alphanumeric)
    };
    let signs = SIGNS.iter().chain(&CURRENCIES);
    let sign = signs
        .filter(|(sign, _)| rest.starts_with(sign) && ends(sign))
        .max_by_key(|(sign, _)| sign.len())
        .map(|(sign, of)| (sign.len(), (*of).to_owned()));
    let word = || {
        let (len, of) = cues.numerals().measure_at(rest)?;
        Some((len, of.to_owned()))
    };
    let (len, of) = sign.or_else(word)?;
    Some((of, start..start + len))
}
