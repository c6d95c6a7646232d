//! Random texts and results, checked for general properties: for a moment as tests, for `REGROUND_SOAK_SECONDS` each
//! as a soak test (`make soak`).

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests are tests"
)]

mod any_json;
mod feeding;
mod nasty;

use std::cell::Cell;
use std::time::{Duration, Instant};

use nasty::{few_pieces, nasty, paragraphs};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use reground_citations::{Families, Grammar, GrammarRules, LocatorSchema, Reference, extract};

/// Cases between two looks at the clock.
const ROUND: u32 = 200;

/// Checks values until the time is over, and shrinks the first one that fails.
fn soak<S: Strategy>(values: S, check: impl Fn(&S::Value) -> Result<(), String>) {
    let seconds = std::env::var("REGROUND_SOAK_SECONDS").ok();
    let seconds = seconds.and_then(|seconds| seconds.parse().ok());
    let time = Duration::from_secs(seconds.unwrap_or_default());
    let begun = Instant::now();
    let mut runner = TestRunner::new(Config {
        cases: ROUND,
        failure_persistence: None,
        ..Config::default()
    });
    loop {
        let run = runner.run(&values, |value| check(&value).map_err(TestCaseError::fail));
        if let Err(why) = run {
            panic!("{why}");
        }
        if begun.elapsed() >= time {
            return;
        }
    }
}

/// Checks the properties of the rows of any text.
fn rows_fit(text: &str, grammar: &Grammar) -> Result<(), String> {
    let extraction = extract(text, grammar);
    let mut last = 0;
    for citation in &extraction.citations {
        let bytes = citation.span.bytes.clone();
        let claim = citation.claim.map(|claim| extraction.claims.get(claim));
        let raw = citation.raw(text);
        let fits = text.get(bytes.clone()) == Some(raw)
            && citation.span.chars.len() == raw.chars().count()
            && citation.span.utf16.len() == raw.encode_utf16().count()
            && last <= bytes.start
            && citation
                .sentence
                .is_none_or(|s| s < extraction.sentences.len())
            && claim
                .is_none_or(|claim| claim.is_some_and(|c| c.sentence < extraction.sentences.len()));
        if !fits {
            return Err(format!("{citation:?} of {text:?}"));
        }
        last = bytes.start;
    }
    if extract(text, grammar) != extraction {
        return Err(format!("a second reading of {text:?} differs"));
    }
    Ok(())
}

#[test]
fn extraction() {
    soak(nasty(0..60), |text| rows_fit(text, &Grammar::default()));
}

#[test]
fn streaming() {
    let added = feeding::with_additions();
    soak(
        prop_oneof![nasty(0..30), paragraphs(0..16), few_pieces(0..16)],
        |text| {
            feeding::check(text, &Grammar::default())?;
            feeding::check(text, &Families::MARKERS.into())?;
            feeding::check(text, &added)
        },
    );
}

/// Parts of places in a text.
const PLACE_PARTS: &[&str] = &[
    " Gen. 1:3 ",
    " 3:12 ",
    " Ch. 4 ",
    " § 5 (6) ",
    "Gen.",
    "Genesis",
    " ",
    "1",
    "12",
    ":",
    "3",
    "-",
    "–",
    ",",
    "xiv",
    "Ch.",
    "§",
    "(b)",
    "v.",
    "b",
    "99999999999",
    "\n",
    "é",
];

const LEVELS: [&str; 4] = ["book", "chapter", "verse", "letter"];

/// Notations of places that occur in the texts below.
const NOTATIONS: &[&str] = &[
    "{book} {chapter}:{verse}",
    "{book} {chapter}",
    "{book}:{chapter}",
    "{chapter}:{verse}",
    "Ch. {chapter}",
    "§ {book} ({chapter})",
    "§ {book}",
];

#[test]
fn locators() {
    let piece = || {
        prop::sample::select(vec![
            "{book}",
            "{chapter}",
            "{verse}",
            "{letter}",
            "{",
            "}",
            " ",
            ":",
            ".",
            "Ch.",
            "§ ",
            "(",
            ")",
            "v.",
            "-",
            "é",
            "1",
            "x",
        ])
    };
    let pieces = prop::collection::vec(piece(), 0..8).prop_map(|pieces| pieces.concat());
    let notation = prop::sample::select(NOTATIONS).prop_map(str::to_owned);
    let pattern = prop_oneof![6 => notation, 1 => pieces];
    let levels = prop_oneof![
        6 => Just(LEVELS.to_vec()),
        1 => prop::sample::subsequence(LEVELS.to_vec(), 0..=4),
    ];
    let schema = (
        levels,
        prop::collection::vec(pattern, 0..4),
        any::<bool>(),
        any::<bool>(),
    );
    let place = prop::sample::select(PLACE_PARTS);
    let text = prop::collection::vec(place, 0..20).prop_map(|pieces| pieces.concat());
    let places = Cell::new(0);
    soak(
        (schema, text, nasty(0..12)),
        |((levels, patterns, roman, named), text, nasty)| {
            let works = if *named {
                r#"[{"name": "Genesis", "abbreviations": ["Gen."]}]"#
            } else {
                "[]"
            };
            let works = serde_json::from_str(works).map_err(|error| error.to_string())?;
            let levels = serde_json::to_value(levels).and_then(serde_json::from_value);
            let locators = LocatorSchema {
                levels: levels.map_err(|error| error.to_string())?,
                patterns: patterns.clone(),
                works,
                roman: *roman,
            };
            let rules = GrammarRules {
                locators: Some(locators),
                ..GrammarRules::default()
            };
            // An invalid schema is rejected, which is correct.
            let Ok(grammar) = Grammar::new(&rules) else {
                return Ok(());
            };
            let text = format!("{text}{nasty}{text}");
            let citations = extract(&text, &grammar).citations;
            let mut references = citations.iter().map(|citation| &citation.reference);
            if references.any(|reference| matches!(reference, Reference::Locator(_))) {
                places.set(places.get() + 1);
            }
            rows_fit(&text, &grammar)
        },
    );
    assert!(places.get() > 0, "no text had a place");
}

#[test]
fn importers() {
    let result = prop_oneof![any_json::json_soup(), any_json::result_soup()];
    soak((result, any_json::answer()), |(result, answer)| {
        any_json::check(result, answer)
    });
}
