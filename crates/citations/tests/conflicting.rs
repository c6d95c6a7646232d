//! Conflicts among passages, without a server.
#![allow(clippy::unwrap_used)] // for the shared functions of tests

#[allow(dead_code, reason = "shared with other tests")]
mod nasty;

use nasty::nasty;
use proptest::prelude::*;
use reground_citations::{
    Cues, Judgement, Lexemes, Quote, SourceConflict, SourceConflictKind, Status, Text,
    source_conflicts,
};
use reground_interrupt::CHECK_INTERVAL;
use reground_interrupt::test_support::{self, Checks};

/// Replaces the server: lower-case words of more than two letters without stop words and without a plural s.
fn lexemes(text: &str) -> Lexemes {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.map(str::to_lowercase).filter(|word| {
        word.chars().count() > 2
            && !["the", "and", "does", "not", "was", "are", "from"].contains(&word.as_str())
    });
    Lexemes::of(
        text,
        words.map(|word| word.trim_end_matches('s').to_owned()),
    )
}

fn conflicts(passages: &[&str]) -> Vec<SourceConflict> {
    let content: Vec<Lexemes> = passages.iter().map(|text| lexemes(text)).collect();
    let texts: Vec<Text<'_>> = passages
        .iter()
        .zip(&content)
        .map(|(text, lexemes)| Text { text, lexemes })
        .collect();
    source_conflicts(&texts, &Cues::built_in("en"))
}

/// The kind of the only conflict of two passages, and its numbers.
fn found(one: &str, other: &str) -> Option<(SourceConflictKind, Option<(String, String)>)> {
    let conflicts = conflicts(&[one, other]);
    assert!(conflicts.len() <= 1, "{conflicts:?}");
    let conflict = conflicts.into_iter().next()?;
    let numbers = conflict.one.number.zip(conflict.other.number);
    Some((conflict.kind, numbers))
}

#[test]
fn statements_that_contradict_each_other() {
    let cases = [
        (
            "The festival in Ghent drew 40,000 visitors to the old harbour.",
            "In its first summer, the festival in Ghent drew 45,000 visitors to the old harbour.",
            (SourceConflictKind::Number, Some(("40000", "45000"))),
        ),
        (
            "Ada Moravec was appointed director of the mill in Linz in 1764.",
            "In 1768 Ada Moravec was appointed director of the mill in Linz.",
            (SourceConflictKind::Date, Some(("1764", "1768"))),
        ),
        (
            "Heat the mixture of flour and butter to 180 °C for a short time.",
            "Heat the mixture of flour and butter to 200 °C for a short time.",
            (SourceConflictKind::Number, Some(("180", "200"))),
        ),
        (
            "The basic plan of the cloud database costs $40/month for small teams.",
            "The basic plan of the cloud database costs $50/month for small teams.",
            (SourceConflictKind::Number, Some(("40", "50"))),
        ),
        // A count is no year. Citations may follow the full stop.
        (
            "The festival in Ghent drew 1,500 visitors to the old harbour.[3]",
            "The festival in Ghent drew 1,800 visitors to the old harbour. [A1]",
            (SourceConflictKind::Number, Some(("1500", "1800"))),
        ),
        (
            "该节日在根特的旧港口吸引了40000名游客。",
            "该节日在根特的旧港口吸引了45000名游客。",
            (SourceConflictKind::Number, Some(("40000", "45000"))),
        ),
        (
            "The standard plan includes backups of the database every night.",
            "The standard plan does not include backups of the database every night.",
            (SourceConflictKind::Negation, None),
        ),
        (
            "Without a licence, the standard plan includes nightly backups of the database.",
            "Without a licence, the standard plan does not include nightly backups of the database.",
            (SourceConflictKind::Negation, None),
        ),
    ];
    for (one, other, (kind, numbers)) in cases {
        let numbers = numbers.map(|(a, b)| (a.to_owned(), b.to_owned()));
        let swapped = numbers.clone().map(|(a, b)| (b, a));
        assert_eq!(found(one, other), Some((kind, numbers)), "{other}");
        assert_eq!(found(other, one), Some((kind, swapped)), "{other}");
    }
}

#[test]
fn each_number_is_compared_with_that_of_the_same_things() {
    let one = "In Ghent the festival had 40 visitors and 5 ferries at the old harbour.";
    let other = "In Ghent the festival had 6 ferries and 45 visitors at the old harbour.";
    let numbers = |a: &str, b: &str| {
        Some((
            SourceConflictKind::Number,
            Some((a.to_owned(), b.to_owned())),
        ))
    };
    // The first number of the earlier passage that differs is returned.
    assert_eq!(found(one, other), numbers("40", "45"));
    assert_eq!(found(other, one), numbers("6", "5"));
}

#[test]
fn statements_that_do_not() {
    let cases = [
        // The same in another notation.
        (
            "The bridge across the river Drau is 1.2 km long and has three lanes.",
            "The bridge across the river Drau is 1200 m long and has three lanes.",
        ),
        // Different times.
        (
            "In 2015 the company in Ghent sold 400 machines to new customers.",
            "In 2016 the company in Ghent sold 450 machines to new customers.",
        ),
        // A measure of something else.
        (
            "The pump of the new model moves 40 litres of cooling water.",
            "The pump of the new model moves 40 tons of cooling water upwards within 20 minutes.",
        ),
        // A passage with both values.
        (
            "The small plan stores 20 files of each user. The large plan stores 90 files of each user.",
            "The large plan stores 90 files of each user.",
        ),
        // The same for a denial, in overlapping passages.
        (
            "The free plan does not include nightly backups of the whole database. The team plan includes nightly backups of the whole database.",
            "The free plan does not include nightly backups of the whole database. The team plan includes nightly backups of the whole database. It is new.",
        ),
        // A decade and a year of it, two ordinals, counts of different things.
        (
            "The bridge across the river Drau was built by the city in the 1990s.",
            "The bridge across the river Drau was built by the city in 1994.",
        ),
        (
            "The 15th festival in Ghent drew many visitors to the old harbour.",
            "The 16th festival in Ghent drew many visitors to the old harbour.",
        ),
        (
            "The festival in Ghent drew 40,000 visitors to the old harbour.",
            "The festival in Ghent drew 300 ships and visitors to the old harbour.",
        ),
        // Identifiers and versions.
        (
            "The change log of the metrics server v4.9.0-20220222 lists all changes.",
            "The change log of the metrics server v4.6.0-20220308 lists all changes.",
        ),
        (
            "Read the guide at https://example.org/docs/814/menu and select the row.",
            "Read the guide at https://example.org/docs/4712/menu and select the row.",
        ),
        // Headings, questions and short sentences.
        (
            "Changes of the worker nodes since the release 25",
            "Changes of the worker nodes since the release 26",
        ),
        (
            "Did the festival in Ghent draw 40,000 visitors to the harbour?",
            "Did the festival in Ghent draw 45,000 visitors to the harbour?",
        ),
        ("It takes 5 minutes.", "It takes 6 minutes."),
        // Another subject.
        (
            "The festival in Ghent drew 40,000 visitors to the old harbour.",
            "The market of Bruges attracted 45,000 merchants with spices and cloth.",
        ),
    ];
    for (one, other) in cases {
        assert_eq!(found(one, other), None, "{other}");
    }
    // Two statements of one passage are a matter of its author.
    let both =
        "The festival in Ghent drew 40,000 visitors. The festival in Ghent drew 45,000 visitors.";
    assert_eq!(conflicts(&[both]), []);
}

#[test]
fn an_answer_must_cite_both_sides() {
    let passages = [
        "It rains. The festival in Ghent drew 40,000 visitors to the old harbour.",
        "The festival in Ghent drew 45,000 visitors to the old harbour.",
        "Tickets are sold at the gate.",
    ];
    let conflicts = conflicts(&passages);
    assert_eq!(conflicts.len(), 1);
    let judged = |source: usize, status, chars: std::ops::Range<usize>| Judgement {
        source: Some(source),
        quote: Some(Quote {
            text: String::new(),
            chars,
        }),
        ..judgement(status)
    };
    let relies = || judged(0, Status::ResolvedCurrent, 10..20);
    let is_one_sided = |conflicts: &[SourceConflict], judgements: &[Judgement]| {
        reground_citations::is_one_sided(conflicts, judgements, |citation, number| {
            citation == 0 && number == "40000"
        })
    };
    assert!(is_one_sided(&conflicts, &[relies()]));
    assert!(is_one_sided(
        &conflicts,
        &[relies(), judged(2, Status::ResolvedCurrent, 0..9)]
    ));
    // Both sides, another statement of the passage, a citation that does not hold.
    let other = judged(1, Status::Unsupported, 0..9);
    assert!(!is_one_sided(&conflicts, &[relies(), other]));
    assert!(!is_one_sided(
        &conflicts,
        &[judged(0, Status::ResolvedCurrent, 0..9)]
    ));
    assert!(!is_one_sided(
        &conflicts,
        &[judged(0, Status::Unsupported, 10..20)]
    ));
    assert!(!is_one_sided(&[], &[relies()]));
    // Only the claim of the first citation has the number.
    let unrelated = judged(2, Status::ResolvedCurrent, 0..9);
    assert!(!is_one_sided(&conflicts, &[unrelated, relies()]));
    // A third source agrees with the first one.
    let third = format!("{} It is true.", passages[0]);
    let three = self::conflicts(&[passages[0], passages[1], &third]);
    assert_eq!(three.len(), 2);
    let other = judged(1, Status::ResolvedCurrent, 0..20);
    assert!(!is_one_sided(&three, &[relies(), other]));
    assert!(is_one_sided(&three, &[relies()]));
}

/// A judgement with a status and nothing else.
fn judgement(status: Status) -> Judgement {
    Judgement {
        status,
        source: None,
        place: None,
        coordinate_fidelity: None,
        support: None,
        quote: None,
        parts: None,
        repaired: false,
        detail: None,
        best_other: None,
        answer: None,
    }
}

/// The interrupt checks while two passages are compared. Each has this number of groups of statements that differ in a number.
fn checks(groups: usize, of_group: usize) -> Checks {
    let passage = |first: usize| -> String {
        let statements = (0..groups * of_group).map(|number| {
            let group = number / of_group;
            let words = ["alpha", "beta", "gamma", "delta", "omega"];
            let words =
                words.map(|word| format!("{word}{}", "x".repeat(1 + group % 40) + &letters(group)));
            format!(
                "Here {} drew {} guests. ",
                words.join(" and "),
                first + number
            )
        });
        statements.collect()
    };
    let passages = [passage(1000), passage(500_000)];
    test_support::measure(|| conflicts(&[&passages[0], &passages[1]]))
}

/// A word for a number.
fn letters(number: usize) -> String {
    let digits = number.to_string().into_bytes();
    digits
        .into_iter()
        .map(|digit| char::from(digit - b'0' + b'k'))
        .collect()
}

#[test]
fn the_work_is_linear_and_checks_for_interrupts() {
    for of_group in [8, 200] {
        let some = checks(4_800 / of_group, of_group);
        let more = checks(19_200 / of_group, of_group);
        assert!(
            more.count >= 2 && more.count < 6 * some.count,
            "{some:?} {more:?}"
        );
        assert!(more.longest < 3 * CHECK_INTERVAL, "{more:?}");
    }
}

/// Sentences that differ in a number, a denial or a space.
fn any_passage() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        "[1-9][0-9]{0,3}",
        "[0-9]\\.[0-9]",
        "v?[0-9]\\.[0-9]\\.[0-9]"
    ];
    let space = prop_oneof![Just(" "), Just("\u{a0}"), Just("\u{3000}"), Just("/")];
    let sentence = (
        number,
        space,
        prop_oneof![Just("drew"), Just("never drew"), Just("did not draw")],
        prop_oneof![Just("."), Just("!"), Just("。"), Just(""), Just(" (é).")],
    );
    let sentence = sentence.prop_map(|(number, space, verb, end)| {
        format!(
            "The festival in Ghent {verb}{space}{number}{space}visitors to the old harbour{end} "
        )
    });
    proptest::collection::vec(prop_oneof![4 => sentence, 1 => nasty(1..20)], 0..4)
        .prop_map(|sentences| sentences.concat())
}

proptest! {
    #[test]
    fn conflicts_are_between_two_passages_and_independent_of_their_order(
        passages in proptest::collection::vec(any_passage(), 0..4),
    ) {
        let given: Vec<&str> = passages.iter().map(String::as_str).collect();
        let found = conflicts(&given);
        for conflict in &found {
            prop_assert!(conflict.one.passage < conflict.other.passage);
            for side in [&conflict.one, &conflict.other] {
                let text: String = given[side.passage]
                    .chars()
                    .skip(side.chars.start)
                    .take(side.chars.len())
                    .collect();
                prop_assert_eq!(&text, &side.text);
                prop_assert_eq!(side.number.is_none(), conflict.kind == SourceConflictKind::Negation);
            }
            prop_assert!(conflict.one.number.is_none() || conflict.one.number != conflict.other.number);
        }
        let reversed: Vec<&str> = given.iter().rev().copied().collect();
        let place = |passage: usize, is_reversed: bool| match is_reversed {
            true => given.len() - 1 - passage,
            false => passage,
        };
        let sides = |found: &[SourceConflict], is_reversed: bool| {
            let mut sides: Vec<_> = found
                .iter()
                .map(|conflict| {
                    let mut sides = [&conflict.one, &conflict.other].map(|side| {
                        (place(side.passage, is_reversed), side.chars.start, side.number.clone())
                    });
                    sides.sort();
                    (conflict.kind, sides)
                })
                .collect();
            sides.sort();
            sides
        };
        prop_assert_eq!(sides(&found, false), sides(&conflicts(&reversed), true));
    }

    #[test]
    fn equal_passages_have_no_conflict(passage in any_passage()) {
        prop_assert_eq!(conflicts(&[&passage, &passage]), []);
    }
}
