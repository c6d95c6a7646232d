//! Results as Markdown on standard output.

pub mod answerability;
pub mod citations;
pub mod compression;
pub mod conversation;
pub mod floors;
pub mod follow_ups;
pub mod graph;
pub mod loads;
pub mod near_twins;
pub mod partly_embedded;
pub mod query;
pub mod replay;
pub mod retrieval;
pub mod titles;

use reground_metrics::interval::Interval;

/// A share without its leading zero.
fn share(value: f64) -> String {
    let text = format!("{value:.3}");
    match text.strip_prefix('0') {
        Some(rest) => rest.to_owned(),
        None => text,
    }
}

/// A difference of two shares, with its sign.
fn difference(value: f64) -> String {
    let sign = if value < 0.0 { '−' } else { '+' };
    format!("{sign}{}", share(value.abs()))
}

/// A difference with its interval.
fn signed(interval: Interval) -> String {
    let [mean, low, high] = [interval.mean, interval.low, interval.high].map(difference);
    format!("{mean} [{low}, {high}]")
}

/// A part in percent.
fn percent(part: usize, whole: usize) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    format!("{:.1} %", 100.0 * part as f64 / whole as f64)
}

/// A value, formatted by `write`, or a dash.
fn or_dash<T>(value: Option<T>, write: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), write)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_no_leading_zero() {
        assert_eq!(share(0.2104), ".210");
        assert_eq!(share(1.0), "1.000");
    }

    #[test]
    fn differences_have_a_sign() {
        assert_eq!(difference(-0.0104), "−.010");
        assert_eq!(difference(0.0), "+.000");
    }

    #[test]
    fn a_part_of_nothing_is_a_dash() {
        assert_eq!(
            (percent(1, 8), percent(0, 0)),
            ("12.5 %".to_owned(), "–".to_owned())
        );
    }
}
