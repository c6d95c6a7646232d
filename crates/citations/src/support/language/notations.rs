//! Keys of quantities and times that are equal in all notations: `1.2 km` and `1200 m`, `2:30 pm` and `14:30`.

use std::ops::Range;

use crate::text::canonical;

/// Measures of one dimension that differ by a power of ten: the measure, the base of its dimension, and the power.
#[rustfmt::skip]
const POWERS: [(&str, &str, i32); 32] = [
    ("km", "m", 3), ("m", "m", 0), ("cm", "m", -2), ("mm", "m", -3), ("nm", "m", -9), ("km²", "m²", 6), ("m²", "m²", 0),
    ("m³", "l", 3), ("l", "l", 0), ("ml", "l", -3), ("kg", "g", 3), ("g", "g", 0), ("mg", "g", -3), ("µg", "g", -6),
    ("s", "s", 0), ("ms", "s", -3), ("GW", "W", 9), ("MW", "W", 6), ("kW", "W", 3), ("W", "W", 0), ("MWh", "kWh", 3),
    ("kWh", "kWh", 0), ("GHz", "Hz", 9), ("MHz", "Hz", 6), ("kHz", "Hz", 3), ("Hz", "Hz", 0), ("hPa", "Pa", 2),
    ("Pa", "Pa", 0), ("TB", "GB", 3), ("GB", "GB", 0), ("MB", "GB", -3), ("kB", "GB", -6),
];

/// Largest number of digits of a number that is compared in another measure.
const MOST_DIGITS: usize = 18;

/// Returns the key of a quantity whose number is in normal form; `None` if its measure has no other of its dimension.
pub(super) fn quantity_key(number: &str, measure: &str) -> Option<String> {
    let (_, base, power) = POWERS.iter().find(|(of, ..)| *of == measure)?;
    Some(format!("{} {base}", shifted(number, *power)?))
}

/// Multiplies a number by a power of ten. `None` for versions and numbers with too many digits.
fn shifted(number: &str, power: i32) -> Option<String> {
    let (sign, number) = match number.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", number),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}");
    if digits.len() > MOST_DIGITS || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let zeros = "0".repeat(usize::try_from(power.unsigned_abs()).ok()?);
    let (digits, point) = match power {
        0.. => (format!("{digits}{zeros}"), whole.len() + zeros.len()),
        _ => (format!("{zeros}{digits}"), whole.len()),
    };
    let (whole, fraction) = digits.split_at(point);
    Some(format!(
        "{sign}{}",
        canonical(&format!("{whole}.{fraction}"))
    ))
}

/// Returns the key of the time whose hour is at `hour`, and its end: `2:30 pm`, `2 p.m.`, `14:30`.
pub(in crate::support) fn time_at(text: &str, hour: Range<usize>) -> Option<(String, usize)> {
    if text[..hour.start].ends_with([':', '.', ',']) {
        return None;
    }
    let of_two = |digits: &str| digits.len() <= 2 && digits.bytes().all(|b| b.is_ascii_digit());
    let number: u32 = Some(&text[hour.clone()])
        .filter(|digits| of_two(digits))
        .and_then(|digits| digits.parse().ok())?;
    let minute = text[hour.end..]
        .strip_prefix(':')
        .and_then(|rest| rest.get(..2))
        .filter(|digits| of_two(digits) && *digits < "60");
    let end = hour.end + minute.map_or(0, |minute| 1 + minute.len());
    let rest = &text[end..];
    let number = match half(rest) {
        Some(afternoon) if (1..=12).contains(&number) => number % 12 + 12 * u32::from(afternoon),
        // A score, a ratio or a verse has the same form, but equals only a time.
        None if number < 24 && minute.is_some() && ends(rest) => number,
        _ => return None,
    };
    Some((format!("{number:02}:{}", minute.unwrap_or("00")), end))
}

/// Returns whether the time before a text is in the afternoon, if the text begins with `am` or `pm`.
fn half(text: &str) -> Option<bool> {
    let rest = text
        .strip_prefix([' ', '\u{a0}', '\u{202f}'])
        .unwrap_or(text);
    ["am", "a.m", "pm", "p.m"].into_iter().find_map(|sign| {
        let begins = rest
            .get(..sign.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(sign));
        let whole = begins && !rest[sign.len()..].starts_with(char::is_alphanumeric);
        whole.then(|| sign.starts_with('p'))
    })
}

/// Returns whether neither digits nor seconds follow.
fn ends(rest: &str) -> bool {
    !rest.starts_with(|c: char| c.is_alphanumeric() || c == ':')
}

#[cfg(test)]
mod tests {
    use super::{POWERS, quantity_key, shifted, time_at};
    use proptest::prelude::*;

    #[test]
    fn quantities_of_one_dimension_have_one_key() {
        for (number, measure, key) in [
            ("1.2", "km", Some("1200 m")),
            ("1200", "m", Some("1200 m")),
            ("120000", "cm", Some("1200 m")),
            ("0.5", "mm", Some("0.0005 m")),
            ("-2", "m³", Some("-2000 l")),
            ("0", "kg", Some("0 g")),
            ("1.2.3", "km", None),
            ("5", "min", None),
            ("1234567890123456789", "m", None),
        ] {
            let found = quantity_key(number, measure);
            assert_eq!(found.as_deref(), key, "{number} {measure}");
        }
    }

    #[test]
    fn times_in_both_notations() {
        for (text, key) in [
            ("2:30 pm", Some("14:30")),
            ("2:30 P.M.", Some("14:30")),
            ("2:30pm", Some("14:30")),
            ("02:30", Some("02:30")),
            ("14:30", Some("14:30")),
            ("12 am", Some("00:00")),
            ("12:15 pm", Some("12:15")),
            ("2 pm", Some("14:00")),
            ("2", None),
            ("2 pmol", None),
            ("0:30 pm", None),
            ("14:30 pm", None),
            ("24:00", None),
            ("14:60", None),
            ("14:3", None),
            ("14:300", None),
            ("14:30:15", None),
            ("14:30h", None),
            ("114:30", None),
        ] {
            let digits = text.find(|c: char| !c.is_ascii_digit());
            let found = time_at(text, 0..digits.unwrap_or(text.len()));
            let found = found.map(|(key, _)| key);
            assert_eq!(found.as_deref(), key, "{text}");
        }
        assert_eq!(time_at("1:14:30", 2..4), None);
    }

    proptest! {
        #[test]
        fn shifted_there_and_back_is_the_number(thousandths in 0_u32..10_000_000, power in -9_i32..10) {
            let number = shifted(&thousandths.to_string(), -3).unwrap();
            let there = shifted(&number, power).unwrap();
            prop_assert_eq!(shifted(&there, -power), Some(number.clone()));
            let factor = 10_f64.powi(power);
            let (before, after): (f64, f64) = (number.parse().unwrap(), there.parse().unwrap());
            prop_assert!((after - before * factor).abs() <= 1e-9 * after.abs());
        }

        #[test]
        fn any_text_has_a_valid_time(text in "(\\PC|[0-9:apm. ]){0,12}") {
            for (at, c) in text.char_indices() {
                if let Some((_, end)) = time_at(&text, at..at + c.len_utf8()) {
                    prop_assert!(text.is_char_boundary(end));
                }
            }
        }
    }

    #[test]
    fn no_measure_is_listed_twice() {
        for (at, (of, ..)) in POWERS.iter().enumerate() {
            assert!(POWERS[..at].iter().all(|(other, ..)| other != of), "{of}");
        }
    }
}
