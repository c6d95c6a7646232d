//! Support of a claim by texts, without a server.
#![allow(clippy::unwrap_used)] // for the shared functions of tests

use proptest::prelude::*;
use reground_citations::{Conflict, Cues, Lexemes, SupportParts, Text, TextRange, support};

/// Replaces the server: lower-case words of more than two letters without stop words and without a plural s.
fn lexemes(text: &str) -> Lexemes {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.map(str::to_lowercase).filter(|word| {
        word.chars().count() > 2
            && !["the", "and", "does", "doesn", "not", "was", "are"].contains(&word.as_str())
    });
    Lexemes::of(
        text,
        words.map(|word| word.trim_end_matches('s').to_owned()),
    )
}

fn parts_in(language: &str, claim: &str, texts: &[&str]) -> SupportParts {
    let content: Vec<Lexemes> = texts.iter().map(|text| lexemes(text)).collect();
    let texts: Vec<Text<'_>> = texts
        .iter()
        .zip(&content)
        .map(|(text, lexemes)| Text { text, lexemes })
        .collect();
    let claim = Text {
        text: claim,
        lexemes: &lexemes(claim),
    };
    support(claim, &texts, &Cues::built_in(language)).unwrap()
}

fn parts(claim: &str, text: &str) -> SupportParts {
    parts_in("english", claim, &[text])
}

fn at(text: &str, stretch: Option<TextRange>) -> String {
    let chars = stretch.unwrap().chars;
    text.chars().skip(chars.start).take(chars.len()).collect()
}

const SERVER: &str = "Ports differ. The server listens on port 5432 and supports TLS connections. Backups run nightly.";

#[test]
fn verbatim_support_is_one_and_no_content_is_none() {
    let whole = parts("The server listens on port 5432.", SERVER);
    assert_eq!((whole.support, whole.window, whole.pairs), (1.0, 1.0, 1.0));
    assert_eq!(
        at(SERVER, whole.window_range),
        "server listens on port 5432"
    );
    let nothing = parts("Telephones ring loudly", SERVER);
    assert_eq!((nothing.support, nothing.window_range), (0.0, None));
    let (claim, text) = (Lexemes::default(), lexemes(SERVER));
    let empty = Text {
        text: "So it is.",
        lexemes: &claim,
    };
    let text = Text {
        text: SERVER,
        lexemes: &text,
    };
    assert_eq!(support(empty, &[text], &Cues::LANGUAGE_FREE), None);
}

#[test]
fn adjacent_words_count_more_than_scattered_words() {
    let claim = "apples grow beside rivers";
    let together = "Some say that apples grow beside rivers.";
    let filler = "Much else is told about other matters entirely here. ".repeat(3);
    let apart = format!(
        "Some apples exist. {filler}Some plants grow. {filler}It lies beside towns. {filler}Rivers flow."
    );
    let (together, apart) = (parts(claim, together), parts(claim, &apart));
    assert_eq!((together.coverage, apart.coverage), (1.0, 1.0));
    assert!(apart.support < 0.5 && together.support == 1.0, "{apart:?}");
}

#[test]
fn two_texts_together_support_what_neither_does_alone() {
    let claim = "The server supports TLS and cats sleep long";
    let cats = "All cats sleep long.";
    let joint = parts_in("english", claim, &[SERVER, cats]);
    assert!(joint.support > parts(claim, SERVER).support.max(parts(claim, cats).support));
    assert_eq!(joint.window, 1.0);
}

#[test]
fn numbers() {
    let missing = parts("The server listens on port 8080", SERVER);
    assert_eq!(missing.numbers_missing, ["8080"]);
    assert!(missing.numbers_contradicted.is_empty());
    let sales = "Sales rose by 12,5 % to 1.234 units.";
    let german = |claim| parts_in("german", claim, &[sales]);
    assert!(
        german("Sales rose to 1234 units")
            .numbers_missing
            .is_empty()
    );
    let contradicted = german("Sales rose by 14,5 %").numbers_contradicted;
    assert_eq!(
        (contradicted[0].found.as_str(), contradicted[0].of.as_str()),
        ("12.5", "%")
    );
}

/// A number has one value in all notations.
#[test]
fn numbers_in_words_scales_and_signs() {
    for (language, number, others) in [
        (
            "en",
            "1,200,000 users",
            [
                "1.2 million users",
                "1.2m users",
                "one million two hundred thousand users",
            ],
        ),
        (
            "en",
            "24 eggs broke",
            [
                "two dozen eggs broke",
                "twenty-four eggs broke",
                "24.0 eggs broke",
            ],
        ),
        (
            "en",
            "prices rose 5 %",
            [
                "prices rose 5 percent",
                "prices rose five per cent",
                "prices rose 5%",
            ],
        ),
        (
            "en",
            "cost $1,500",
            ["cost 1,500 dollars", "cost $1.5k", "cost US$1500"],
        ),
        (
            "en",
            "cooled to -3 °C",
            [
                "cooled to −3 degrees Celsius",
                "cooled to -3°C",
                "cooled to –3.0 ℃",
            ],
        ),
        (
            "de",
            "1.200.000 Nutzer",
            [
                "1,2 Millionen Nutzer",
                "1,2 Mio Nutzer",
                "1200 Tausend Nutzer",
            ],
        ),
        (
            "zh",
            "人口1200000",
            ["人口1,200,000", "人口120万", "人口1.2百万"],
        ),
    ] {
        for other in others {
            for (claim, text) in [(number, other), (other, number)] {
                let read = parts_in(language, claim, &[text]);
                assert_eq!(read.numbers_missing, [""; 0], "{claim} / {text}");
                assert!(read.support > 0.8, "{claim} / {text}: {read:?}");
            }
        }
        for other in ["-7 users", "7 million", "cooled to 3 °C", "12 percent"] {
            let read = parts_in(language, number, &[other]);
            assert_eq!(read.numbers_missing.len(), 1, "{number} / {other}");
        }
    }
    // A word that may not be a number is not reported as missing.
    let mere = parts("One of them is half full", SERVER);
    assert_eq!(mere.numbers_missing, [""; 0]);
}

/// The same number with a different measure is a contradiction.
#[test]
fn measures() {
    for (claim, text, found) in [
        ("The parcel weighs 5 kg", "The parcel weighs 5 g.", "5 g"),
        ("The parcel costs $5", "The parcel costs €5.", "5 €"),
        ("The parcel took 3 days", "The parcel took 3 hours.", "3 h"),
        ("Parcels grew 5 percent", "Parcels grew 5 kg.", "5 kg"),
        ("It cooled to 3 °C", "It cooled to -3 °C.", "-3"),
        ("It cooled to -3 °C", "It cooled to 3 °C.", "3"),
    ] {
        let read = parts(claim, text);
        let contradicted = read.numbers_contradicted.iter();
        let contradicted: Vec<&str> = contradicted.map(|number| number.found.as_str()).collect();
        assert_eq!(contradicted, [found], "{claim}: {read:?}");
        assert!(read.support < 0.5, "{claim}: {read:?}");
    }
    for text in [
        "The parcel weighs 5 kg, the other 5 g.",
        "Parcels weigh 2 to 5; the parcel 5 lb.",
        "The parcel weighs 5 kilograms.",
    ] {
        let read = parts("The parcel weighs 5 kg", text);
        assert_eq!(read.numbers_contradicted, [], "{text}");
    }
    // One of two sources with the right measure is enough.
    let both = ["The parcel weighs 5 g.", "The parcel weighs 5 kg."];
    let together = parts_in("en", "The parcel weighs 5 kg", &both);
    assert_eq!(together.support, 1.0);
    assert_eq!(together.numbers_contradicted, []);
}

#[test]
fn negation() {
    let claim = "The server does not support TLS connections";
    let turned = parts(claim, SERVER);
    assert_eq!(turned.negated_words, Some(vec!["support".to_owned()]));
    assert!(turned.support < 0.5);
    let denied = "The server doesn't support TLS connections.";
    assert!(parts("The server supports TLS connections", denied).support < 0.5);
    assert_eq!(parts(claim, denied).support, 1.0);
    let unknown = parts_in("simple", claim, &[SERVER]);
    assert_eq!((unknown.negated_words, unknown.language), (None, None));
}

/// The conflicts of a claim with a text.
fn conflicts(claim: &str, text: &str) -> Vec<Conflict> {
    let parts = parts(claim, text);
    assert_eq!(
        parts.support <= 0.38,
        !parts.conflicts.is_empty(),
        "{parts:?}"
    );
    parts.conflicts
}

#[test]
fn another_number_or_name_is_a_conflict() {
    let text = "According to the council, the grain market of Bergamo was built by Petra Keller in 1843 for 700 traders.";
    let same = "The grain market of Bergamo was built by Petra Keller in 1843.";
    assert_eq!(conflicts(same, text), []);
    let other = |from, to| conflicts(&same.replace(from, to), text);
    assert_eq!(other("1843", "1834"), [Conflict::Number]);
    assert_eq!(other("Petra Keller", "Hedda Szabo"), [Conflict::Name]);
    assert_eq!(other("Bergamo", "Dresden"), [Conflict::Name]);
    // The last word of a name is enough, and other forms of it.
    assert_eq!(other("Petra Keller", "Keller"), []);
    assert_eq!(other("Keller", "Kellers"), []);
    // An addition has neighbours of its own, and a claim about something else is no conflict.
    let added = "The grain market of Bergamo was built by Petra Keller in 1843, replacing shabby Ghent warehouses.";
    assert!(!parts(added, text).conflicts.contains(&Conflict::Name));
    assert_eq!(
        parts("Dresden sells 40 umbrellas to Ghent", text).conflicts,
        []
    );
}

#[test]
fn numbers_that_are_no_conflict() {
    // A year of the decade, a number of a list, and a count of listed items.
    assert_eq!(
        conflicts(
            "The market grew in the 1990s, after the reforms",
            "The market grew in 1991, after the reforms."
        ),
        []
    );
    assert_eq!(
        conflicts(
            "The market grew in the 1980s, after the reforms",
            "The market grew in 1991, after the reforms."
        ),
        [Conflict::Number]
    );
    assert_eq!(
        conflicts(
            "2. Choose options of the skill",
            "Choose options of the skill"
        ),
        []
    );
    assert_eq!(
        conflicts(
            "Three sources are documents, books and letters",
            "Sources are documents, books and letters."
        ),
        []
    );
    assert_eq!(
        conflicts(
            "Three sources are documents, books and letters",
            "Four sources are documents, books and letters."
        ),
        [Conflict::Number]
    );
}

#[test]
fn equal_quantities_in_another_notation_are_no_conflict() {
    for (claimed, found) in [
        ("1.2 km", "1200 m"),
        ("1,200 m", "1.2 kilometres"),
        ("1.2km", "120,000 cm"),
        ("0.5 kg", "500 g"),
        ("2 GW", "2,000 MW"),
        ("2:30 pm", "14:30"),
        ("14:30", "2:30 p.m."),
        ("12:05 am", "0:05"),
        ("12 PM", "12:00"),
        ("14:00", "2 pm"),
        ("09:15", "9:15 a.m."),
    ] {
        let claim =
            format!("The ferry route to Bergamo begins after {claimed} at the northern harbour.");
        let text = claim.replace(claimed, found);
        let judged = parts(&claim, &text);
        assert_eq!(judged.conflicts, [], "{claimed} {found}");
        assert!(judged.numbers_missing.is_empty(), "{judged:?}");
        assert!(judged.numbers_contradicted.is_empty(), "{judged:?}");
        assert!(judged.support > 0.7, "{judged:?}");
    }
    for (claimed, found) in [
        ("1.2 km", "1300 m"),
        ("1.2 km", "1200 cm"),
        ("1.2 km", "1.2 m"),
        ("1200 m", "1200 kg"),
        ("1.5 h", "1500 min"),
        ("2:30 pm", "15:30"),
        ("2:30 pm", "2:45 am"),
        ("2:30", "14:30"),
        ("14:30", "4:30 pm"),
        ("13:05 pm", "1:05"),
    ] {
        let claim =
            format!("The ferry route to Bergamo begins after {claimed} at the northern harbour.");
        let text = claim.replace(claimed, found);
        assert_eq!(
            parts(&claim, &text).conflicts,
            [Conflict::Number],
            "{claimed} {found}"
        );
    }
}

#[test]
fn a_denial_on_one_side_is_a_conflict() {
    let plans = "Lite plans are available with all accounts. Tests never run there.";
    // The denied word need not be in the text.
    assert_eq!(
        conflicts("Lite plans are not accessible with all accounts", plans),
        [Conflict::Negation]
    );
    assert_eq!(
        conflicts("Lite plans are available with all accounts", plans),
        []
    );
    // The denial of another sentence does not count, and both sides may deny in other words.
    assert_eq!(
        conflicts(
            "Lite plans are available with accounts",
            "Lite plans are never available with accounts."
        ),
        [Conflict::Negation]
    );
    assert_eq!(
        conflicts("Plans do not allow any exports", "Plans allow no exports."),
        []
    );
    // The answer says that the text does not tell.
    assert_eq!(
        conflicts(
            "The plans do not mention accounts",
            "The plans of accounts."
        ),
        []
    );
}

#[test]
fn only_repeated_claims_are_contradicted() {
    let text = "The grain market of Bergamo was built by Petra Keller in 1843.";
    let contradicts = |claim: &str| parts(claim, text).contradicts();
    assert!(contradicts(
        "The grain market of Bergamo was not built by Petra Keller in 1843."
    ));
    assert!(!contradicts(text));
    // Another name may be another thing, and looser words may mean another thing.
    assert!(!contradicts(
        "The grain market of Bergamo was built by Hedda Szabo in 1843."
    ));
    assert!(!contradicts(
        "In 1843 Keller, it is said, never built any market of grain."
    ));
}

#[test]
fn names_and_quotations() {
    let text = "In 1843 Ada wrote: ‘the engine   weaves algebraic patterns’.";
    let claim = "The notes of Ada and Babbage say \"The engine weaves algebraic patterns\" and \"it never sleeps\"";
    let read = parts(claim, text);
    assert_eq!(read.names_missing, ["Babbage"]);
    let found: Vec<Option<String>> = read
        .quotations
        .into_iter()
        .map(|quotation| quotation.found.map(|stretch| at(text, Some(stretch))))
        .collect();
    assert_eq!(
        found,
        [
            Some("the engine   weaves algebraic patterns".to_owned()),
            None
        ]
    );
}

#[test]
fn scripts_without_spaces() {
    let text = "泡沫实际上是由空气和水与肥皂所含的表面活性剂相互作用产生的，即由摩擦产生。";
    let read = |claim| parts_in("zh", claim, &[text]);
    assert_eq!(read("由空气和水与肥皂").support, 1.0);
    assert_eq!(read("银行明天开门").support, 0.0);
    let some = read("泡沫由空气和水产生").support;
    assert!(some > 0.4 && some < 1.0, "{some}");
}

#[test]
fn a_currency_before_its_number_is_in_the_window() {
    let parts = parts_in("en", "two $-2 kg", &["$2-2 g"]);
    assert_eq!(parts.window_range.map(|stretch| stretch.chars), Some(0..2));
}

proptest! {
    #[test]
    fn support_equals_the_sum_of_its_parts(claim in "(\\PC|[a-z1-3 .,\"'不的-]|million |-2 kg|two |% |\\$){0,40}", texts in prop::collection::vec("(\\PC|[a-z1-3 .,\"'不的-]|million |-2 g|two |% |\\$){0,60}", 0..3)) {
        let content: Vec<Lexemes> = texts.iter().map(|text| lexemes(text)).collect();
        let given: Vec<Text<'_>> = texts.iter().zip(&content).map(|(text, lexemes)| Text { text, lexemes }).collect();
        let claimed = lexemes(&claim);
        let claim_text = Text { text: &claim, lexemes: &claimed };
        for language in ["en", "de", "zh", "none"] {
            let Some(parts) = support(claim_text, &given, &Cues::built_in(language)) else {
                continue;
            };
            for share in [parts.support, parts.coverage, parts.window, parts.pairs] {
                prop_assert!((0.0..=1.0).contains(&share));
            }
            prop_assert!(parts.window <= parts.coverage);
            for stretch in parts.window_range.iter().chain(parts.quotations.iter().filter_map(|q| q.found.as_ref())) {
                prop_assert!(stretch.chars.start < stretch.chars.end);
                prop_assert!(stretch.chars.end <= texts[stretch.text].chars().count());
            }
        }
    }

    /// A part of a text is supported by that text, also among other texts.
    #[test]
    fn copied_text_is_supported(words in prop::collection::vec("[a-z]{3,7}", 6..20), from in 0_usize..3, len in 2_usize..4) {
        let text = words.join(" ");
        let claim = words[from..from + len].join(" ");
        let parts = parts_in("none", &claim, &["nothing to see", &text]);
        prop_assert_eq!(parts.window, 1.0);
        prop_assert_eq!(parts.support, 1.0);
        prop_assert_eq!(parts.window_range.map(|stretch| stretch.text), Some(1));
    }
}

/// The figures of a judgement contain no words of the claim or of the text.
#[test]
fn measures_contain_no_words() {
    let claim = "Zebras and Quokkas weigh 12 tons, and \"run like the wind\", but never sleep";
    let judged = parts(
        claim,
        "Zebras weigh 300 kilos. They run like a horse and sleep.",
    );
    let written = serde_json::to_value(&judged).unwrap();
    assert!(written.to_string().contains("Quokkas"), "{written}");
    let kept = reground_citations::measures(&written);
    assert!(written.get("support").is_none());
    for name in ["coverage", "window", "pairs"] {
        assert_eq!(kept[name], written[name]);
    }
    let kept = kept.to_string();
    for word in ["Quokkas", "12", "300", "like", "never", "tons"] {
        assert!(!kept.contains(&format!("\"{word}")), "{word}: {kept}");
    }
    assert!(!kept.contains("missing") && !kept.contains("quotations") && !kept.contains("segment"));
}
