//! Dates of documents, read from the text that a corpus gives.

use std::ops::RangeInclusive;

const SECONDS_OF_DAY: f64 = 86_400.0;

/// Returns the seconds since 1970 of a date in the form of ISO 8601: a year, a month, a day, or a time with or without
/// an offset from UTC. `None` for any other text, such as `infinity`. Without an offset the time is UTC.
#[must_use]
pub fn epoch_seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    // No valid form is longer, so a huge text is not read.
    if text.len() > 64 || !text.is_ascii() {
        return None;
    }
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (text.get(..at)?, Some(text.get(at + 1..)?)),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let year = number(parts.next()?, 4..=6)?;
    let month = parts.next().map_or(Some(1), |part| number(part, 2..=2))?;
    let day = parts.next().map_or(Some(1), |part| number(part, 2..=2))?;
    let is_date = (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
    if parts.next().is_some() || !is_date {
        return None;
    }
    let seconds = time.map_or(Some(0.0), seconds_of_day)?;
    Some(days_since_1970(year, month, day) as f64 * SECONDS_OF_DAY + seconds)
}

/// The number that some digits make.
fn number(text: &str, digits: RangeInclusive<usize>) -> Option<i64> {
    let is_number = digits.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// Seconds from the start of the day in UTC. An offset can make them negative, or more than a day.
fn seconds_of_day(text: &str) -> Option<f64> {
    let (time, offset) = match text.find(['Z', 'z', '+', '-']) {
        Some(at) => (text.get(..at)?, offset(text.get(at..)?)?),
        None => (text, 0.0),
    };
    let mut parts = time.split(':');
    let hours = number(parts.next()?, 2..=2)?;
    let minutes = number(parts.next()?, 2..=2)?;
    let seconds = parts.next().map_or(Some(0.0), decimal)?;
    let is_time = hours < 24 && minutes < 60 && (0.0..61.0).contains(&seconds);
    let whole = (hours * 3600 + minutes * 60) as f64;
    (is_time && parts.next().is_none()).then_some(whole + seconds - offset)
}

/// Two digits with or without decimals.
fn decimal(text: &str) -> Option<f64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    number(whole, 2..=2)?;
    number(decimals, 1..=12)?;
    text.parse().ok()
}

/// Seconds of an offset such as `Z`, `+02`, `+05:30` or `-00:01:15`.
fn offset(text: &str) -> Option<f64> {
    if text.eq_ignore_ascii_case("z") {
        return Some(0.0);
    }
    let (sign, rest) = text.split_at_checked(1)?;
    let sign = if sign == "-" { -1.0 } else { 1.0 };
    let spread = if rest.len() == 4 && !rest.contains(':') {
        format!("{}:{}", rest.get(..2)?, rest.get(2..)?)
    } else {
        rest.to_owned()
    };
    let mut seconds = 0;
    let mut unit = 3600;
    for part in spread.split(':') {
        let count = number(part, 2..=2)?;
        if unit == 0 || count > 59 {
            return None;
        }
        seconds += count * unit;
        unit /= 60;
    }
    Some(sign * seconds as f64)
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days of the Gregorian calendar from 1 January 1970. The year begins in March, so that a leap day is its last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leap_days + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dates_and_times_are_read() {
        for (text, seconds) in [
            ("1970-01-01", 0.0),
            ("1970", 0.0),
            ("1970-02", 31.0 * SECONDS_OF_DAY),
            ("2000-03-01", 951_868_800.0),
            ("2026-05-01T00:00:00+00:00", 1_777_593_600.0),
            ("2026-05-01 02:00:00+02", 1_777_593_600.0),
            ("2026-05-01T00:00:00.25Z", 1_777_593_600.25),
            ("2026-04-30T18:30:00-05:30", 1_777_593_600.0),
            (" 2026-05-01T02:00+0200 ", 1_777_593_600.0),
            ("12026-05-01", 317_347_113_600.0),
        ] {
            assert_eq!(epoch_seconds(text), Some(seconds), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_dates() {
        for text in [
            "",
            "infinity",
            "-infinity",
            "soon",
            "1 May 2026",
            "2026-13-01",
            "2026-02-30",
            "2026-05-01T25:00:00",
            "2026-05-01T10",
            "0044-03-15 BC",
            "0044-03-15T00:00:00+00:00 BC",
            "2026-05-01T00:00:00+99:99",
            "2026-05-01-02",
            "99-01-01",
            "２０２６-05-01",
            "2026-05-01T",
            "T",
            "2026-05-01T00:00:60.5.5",
        ] {
            assert_eq!(epoch_seconds(text), None, "{text}");
        }
        assert_eq!(epoch_seconds(&"2026-05-01".repeat(100_000)), None);
    }

    proptest! {
        /// Days that are counted one by one.
        #[test]
        fn each_day_is_one_later(year in 1_i64..3000, count in 0_i64..800) {
            let text = |year, month, day| format!("{year:04}-{month:02}-{day:02}");
            let first = epoch_seconds(&text(year, 1, 1)).unwrap();
            let (mut y, mut month, mut day) = (year, 1, 1);
            for _ in 0..count {
                day += 1;
                if epoch_seconds(&text(y, month, day)).is_none() {
                    (month, day) = (month + 1, 1);
                }
                if month > 12 {
                    (y, month) = (y + 1, 1);
                }
            }
            let then = epoch_seconds(&text(y, month, day)).unwrap();
            prop_assert_eq!(then - first, count as f64 * SECONDS_OF_DAY);
        }

        /// No text makes it panic.
        #[test]
        fn any_text_is_safe(text in "[0-9TZ:+. -]{0,40}|\\PC{0,20}") {
            let seconds = epoch_seconds(&text);
            prop_assert!(seconds.is_none_or(f64::is_finite));
        }
    }
}
