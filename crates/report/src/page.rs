//! What all pages share: head, style, figures.

use crate::html::Html;

/// Nothing is fetched, nothing runs, nothing is sent; styles stand in the page.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// What stands for a figure that there is not.
const NONE: &str = "–";

/// A whole page.
#[must_use]
pub fn page(title: &str, body: impl FnOnce(&mut Html)) -> String {
    let mut html = Html::default();
    html.own("<!DOCTYPE html>\n");
    html.element("html", &[("lang", "en")], |html| {
        html.element("head", &[], |html| {
            html.void("meta", &[("charset", "utf-8")]);
            html.void(
                "meta",
                &[
                    ("http-equiv", "Content-Security-Policy"),
                    ("content", POLICY),
                ],
            );
            html.void("meta", &[("name", "referrer"), ("content", "no-referrer")]);
            html.void(
                "meta",
                &[
                    ("name", "viewport"),
                    ("content", "width=device-width, initial-scale=1"),
                ],
            );
            html.void(
                "meta",
                &[("name", "color-scheme"), ("content", "light dark")],
            );
            html.leaf("title", &[], title);
            html.element("style", &[], |html| html.own(include_str!("style.css")));
        });
        html.line();
        html.element("body", &[], |html| {
            html.element("main", &[], body);
            html.line();
            html.leaf(
                "footer",
                &[],
                "Made by reground from what the database holds. Nothing on this page is fetched from elsewhere.",
            );
        });
    });
    html.line();
    html.finish()
}

/// A figure between 0 and 1.
#[must_use]
pub fn share(value: Option<f64>) -> String {
    figure(value, |value| format!("{value:.2}"))
}

/// A rate, in per cent.
#[must_use]
pub fn percent(value: Option<f64>) -> String {
    figure(value, |value| {
        let percent = format!("{:.1}", value * 100.0);
        format!("{} %", percent.strip_suffix(".0").unwrap_or(&percent))
    })
}

/// One of the other; nothing of nothing.
#[must_use]
pub fn rate(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// A count, in groups of three digits.
#[must_use]
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A count and what is counted.
#[must_use]
pub fn counted(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

/// The figures at the head of a page: what, how much, and what it means.
pub fn totals(html: &mut Html, totals: &[(&str, String, String)]) {
    html.element("dl", &[("class", "totals")], |html| {
        for (name, value, note) in totals {
            html.element("div", &[], |html| {
                html.leaf("dt", &[], name);
                html.leaf("dd", &[("class", "figure")], value);
                if !note.is_empty() {
                    html.leaf("dd", &[("class", "note")], note);
                }
            });
        }
    });
    html.line();
}

fn figure(value: Option<f64>, written: impl Fn(f64) -> String) -> String {
    value
        .filter(|value| value.is_finite())
        .map_or_else(|| NONE.to_owned(), written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures() {
        assert_eq!(share(Some(0.866)), "0.87");
        assert_eq!(share(Some(f64::NAN)), "–");
        assert_eq!(percent(rate(1, 3)), "33.3 %");
        assert_eq!(percent(rate(2, 2)), "100 %");
        assert_eq!(percent(rate(0, 0)), "–");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(100), "100");
        assert_eq!(counted(1, "turn", "turns"), "1 turn");
        assert_eq!(counted(0, "turn", "turns"), "0 turns");
    }
}
