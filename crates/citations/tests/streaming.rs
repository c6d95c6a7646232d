//! Reading an answer in parts, compared with reading it as a whole.

#![allow(clippy::unwrap_used, reason = "shared functions of tests")]

mod feeding;
mod nasty;

use feeding::{check, with_additions};
use nasty::{few_pieces, nasty, paragraphs};
use proptest::prelude::*;
use reground_citations::{Families, Grammar, Resume, feed, feed_from};
use reground_interrupt::test_support;

#[test]
fn shown_text_and_citations_are_final() {
    for answer in [
        "So it is [A1]. And [B2, C3] so. \n\nNext [A1](https://x.y/z(a)b \"t\") or [A1](no link) x.",
        "x[1] = 3 and x[1], m[1][2].a and [[1]] and [[1]](u) [1]: http://x.y",
        "[1]:\n\n  https://x.y and\n[2]: text [3]",
        "a `b [1] c` d ``e ` [2]`` f ` g [3]\n\nh [4] ` i",
        "```rust\na[1]\n```\nb [1]\n\n``` [2] ` [3]\n~~~\n[4]\n~~~\n[5]",
        "<think>[1]</think>[2] <thinki [3] a < b [4] <b",
        "[A1 and [A2 `x` [A3",
        "(Smith et al., 2020) (Source: \"a, b\", p. 3) （Source: x）【A1】",
        "> ```\n> [1]\n> ```\n> [2]",
        // Before its last backtick, the second line opens a fence.
        "[A1]```\n```(ID: 3)[A1]`",
        "> ```[1] so [2]` and [3]",
        // The end tag becomes part of the bracket if that closes.
        "<cite>[A1, B2]【Source:</cite>】",
        "<cite>[A1](so </cite>) and [B2</cite> so.\n\n[C3]",
        "References\n\n[1] A book.\n\nText. [A1]\n[A2]\n\nSources: [A3]",
        "# References\n\n[1] A book.\n\nRye [2] grows.\n\n[3] Barley.\n\n# Text\n\nOats [4].",
        // Citations alone in a paragraph belong to the sentence before.
        "Cows give milk and sheep give wool [A1].\n\n[B1]\n\nPigs fly. [C1]\n\nSources:\n\n[D1]\n\nSo it is.",
        "It is so [1].\n\nBut why [^1] so.\n\nIt is [2].\n\nSo.\n\n[^1]: cows",
        // Neither reasoning nor the name of a note is words of the next paragraph.
        "It is so [A1].\n\n。[^1]<think>",
        "It is so [A1].\n\n<think>but why</think>[B1].\n\nSo.",
        "It is so [A1].\n\n[^note] [B1].\n\nSo.\n\n[^note]: cows",
        "It is so [A1].\n\n<cite></cite>[B1].\n\nSo.",
        // The rest of the answer has no statement; the paragraph before it has one.
        "1. \n\n1. ? \n\nSource: [1]\n\n of abc",
        // Short words after its citations leave a label a label.
        "It is so [A1]. [B1]\nSources: [C1][D1] of abc\n\n[E1]",
        // An end tag without a source has no words.
        "<cite>[1]\n\n</cite>\n\n",
        "It is so [A1].\n\n[cite_start][B1].\n\nSo.",
        // A paragraph within markup is not read alone.
        "<cite>\n\n1. \n\n[1]</cite># ",
        // The settled part ends within code.
        "`<cite>---\n`</cite>",
        "Citation: [p1, p2][citation:1]```\nSources: [A1][A1] of abc\n\n[A1]",
    ] {
        for grammar in [
            Grammar::default(),
            Families::MARKERS.into(),
            with_additions(),
        ] {
            check(answer, &grammar).unwrap();
        }
    }
}

#[test]
fn feeding_checks_for_interrupts() {
    test_support::assert_checked("feed", 4, |text| feed(text, &Grammar::default(), false));
}

#[test]
fn half_a_marker_is_held_back() {
    fn shown(text: &str) -> &str {
        &text[..feed(text, &Grammar::default(), false).shown]
    }
    assert_eq!(shown("So it is [A"), "So it is ");
    assert_eq!(shown("So it is [A1"), "So it is ");
    assert_eq!(shown("So it is [A1]"), "So it is ");
    assert_eq!(shown("So it is [A1]. It"), "So it is [A1]. ");
    assert_eq!(shown("See [1](https://x.y/"), "See ");
    assert_eq!(shown("Half a wo"), "Half a ");
    let fed = feed("It is so [A1]. Next is", &Grammar::default(), false);
    assert_eq!((fed.extraction.citations.len(), fed.placed), (1, 0));
    let fed = feed("It is so [A1].\n\nNext", &Grammar::default(), false);
    assert_eq!((fed.extraction.citations.len(), fed.placed), (1, 0));
    let fed = feed("It is so [A1].\n\nNext is", &Grammar::default(), false);
    assert_eq!((fed.extraction.citations.len(), fed.placed), (1, 1));
    assert_eq!(fed.extraction.claims[0].text, "It is so.");
}

#[test]
fn held_back_text_is_bounded() {
    let held = |text: String| text.len() - feed(&text, &Grammar::default(), false).shown;
    assert!(held("word ".repeat(1000)) < 5);
    for open in ["[", "(", "【", "{{", "[[", "[a](", "<a"] {
        assert_eq!(held(format!("{open}{}", "it is ".repeat(500))), 0, "{open}");
        let lines = format!("{open}\n{}", "it is ".repeat(20));
        assert_eq!(held(lines), 0, "{open}");
    }
    assert_eq!(held(format!("[1](http://{}", "x/".repeat(2000))), 0);
    // An open backtick is held back until its paragraph ends, an open fence is not.
    assert_eq!(held("a `b c\n".to_owned()), 5);
    assert_eq!(held("a `b c\n\n".to_owned()), 0);
    assert_eq!(held("```\nlet x\n\ny = [1".to_owned()), 0);
}

/// The work of a call at the end of an answer of this many paragraphs that was read one word at a time, in steps.
fn work_of_last_call(paragraphs: usize) -> usize {
    let paragraph =
        "Cows give milk every day [A1], and 山羊 give wool in spring [B1]. So it is [C1].\n\n";
    let answer = paragraph.repeat(paragraphs) + "Pigs fly";
    let mut from = Resume::default();
    for (at, _) in answer.match_indices(' ') {
        from = feed_from(&answer[..at], &Grammar::default(), false, &from)
            .unwrap()
            .resume;
    }
    // The last citation waits for the words of the next paragraph.
    assert_eq!(from.settled, paragraphs * 3 - 1);
    let calls = 10_000;
    let checks = test_support::measure(|| {
        for _ in 0..calls {
            feed_from(&answer, &Grammar::default(), false, &from).unwrap();
        }
    });
    checks.count * reground_interrupt::CHECK_INTERVAL / calls
}

#[test]
fn the_work_of_a_call_does_not_grow_with_the_answer() {
    let (short, long) = (work_of_last_call(4), work_of_last_call(400));
    assert!(
        short > 0 && long.abs_diff(short) * 20 <= short,
        "{short} and {long}"
    );
}

#[test]
fn a_resume_of_another_answer_is_refused() {
    let from = |text: &str| text.parse::<Resume>();
    for text in [
        "",
        "1",
        "1.1.1.0.0.2",
        "1.2.1.0.0.0",
        "1.1.1.0.70000.0",
        "-1.0.0.0.0.0",
        "a.b.c",
    ] {
        assert!(from(text).is_err(), "{text}");
    }
    let far = from("100.9.9.0.0.0").unwrap();
    assert!(feed_from("short", &Grammar::default(), false, &far).is_err());
    let within = from("1.1.1.0.0.0").unwrap();
    assert!(feed_from("é", &Grammar::default(), false, &within).is_err());
    // Another text with as many bytes, and a position between the two units of a character.
    let after = |chars, utf16| Resume {
        bytes: 4,
        chars,
        utf16,
        ..Resume::default()
    };
    for (text, chars, utf16) in [("🐄 moo", 1, 2), ("cows moo", 4, 4), ("éé moo", 2, 2)] {
        for wrong in [after(1, 1), after(1, 2), after(2, 2), after(4, 4)] {
            let fed = feed_from(text, &Grammar::default(), false, &wrong);
            assert_eq!(fed.is_ok(), wrong == after(chars, utf16), "{text} {wrong}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn every_prefix_agrees_with_the_whole(answer in prop_oneof![nasty(0..24), paragraphs(0..16), few_pieces(0..16)]) {
        if let Err(why) = check(&answer, &Grammar::default()) {
            return Err(TestCaseError::fail(why));
        }
        if let Err(why) = check(&answer, &Families::MARKERS.into()) {
            return Err(TestCaseError::fail(why));
        }
        if let Err(why) = check(&answer, &with_additions()) {
            return Err(TestCaseError::fail(why));
        }
    }
}
