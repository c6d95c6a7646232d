//! Corrected answers: examples, and properties of any answer.
#![allow(clippy::unwrap_used, reason = "shared functions of tests")]

#[path = "judging/fixture.rs"]
#[allow(dead_code, reason = "shared with the tests of verdicts")]
mod fixture;
mod nasty;

use std::ops::Range;

use fixture::{RULES, context, known, lexemes, look_up};
use nasty::{few_pieces, nasty, paragraphs};
use proptest::prelude::*;
use reground_citations::{
    ChangeKind, Cues, Evidence, ExtractedCitation, Form, Grammar, RepairMode, RepairedAnswer,
    Resume, Source, Text, Unrepaired, document_requests, extract, extract_with_statements,
    feed_from, judge, judge_statements, repair, support,
};
use reground_interrupt::test_support;

fn repaired(answer: &str, mode: RepairMode) -> RepairedAnswer {
    repaired_part(answer, false, mode)
}

fn repaired_part(answer: &str, in_list: bool, mode: RepairMode) -> RepairedAnswer {
    repaired_by(&context(), answer, in_list, mode)
}

fn repaired_by(
    sources: &[Source],
    answer: &str,
    in_list: bool,
    mode: RepairMode,
) -> RepairedAnswer {
    let grammar = Grammar::default();
    let extraction = extract_with_statements(answer, &grammar, in_list);
    let known = known();
    let named = look_up(document_requests(&extraction, sources, &known));
    let claims: Vec<_> = extraction.compared_texts().map(lexemes).collect();
    let evidence = Evidence {
        sources,
        known: &known,
        named: &named,
        claims: &claims,
        rules: RULES,
        cues: &Cues::LANGUAGE_FREE,
    };
    let (judgements, statements) = judge_statements(&extraction, &evidence).unwrap();
    let given = Unrepaired {
        answer,
        in_list,
        extraction: &extraction,
        judgements: &judgements,
        statements: &statements,
        sources,
        grammar: &grammar,
        threshold: RULES.threshold,
    };
    repair(&given, mode)
}

const BACKUPS: &str = "Backups run nightly and take 20 minutes";
const SERVER: &str = "The server listens on port 5432";

/// Checks the corrected texts. `{B}` and `{S}` are supported.
fn check_repointed(answers: &[(&str, &str)]) {
    for (answer, text) in answers {
        let [answer, text] =
            [answer, text].map(|text| text.replace("{B}", BACKUPS).replace("{S}", SERVER));
        assert_eq!(
            repaired(&answer, RepairMode::Repoint).text,
            text,
            "{answer}"
        );
    }
}

#[test]
fn citations_are_corrected() {
    check_repointed(&[
        // The right source, and the citation stays.
        ("{B} [A2].", "{B} [A2]."),
        // Another source of the context.
        ("{B} [A1].", "{B} [A2]."),
        ("{B} [A1, A2].", "{B} [A2]."),
        // A source that does not exist, and one that would be right.
        ("{B} [Z9].", "{B} [A2]."),
        ("{B} [A2][Z9].", "{B} [A2]."),
        ("{B} [A2], [Z9].", "{B} [A2]."),
        ("{B} [Z9] and [A2].", "{B} [A2]."),
        ("{B} [A2, Z9].", "{B} [A2]."),
        ("{B}. [Z9] {S} [A1].", "{B}. [A2] {S} [A1]."),
        // No source is right.
        (
            "Telephones ring loudly everywhere [Z9].",
            "Telephones ring loudly everywhere.",
        ),
        (
            "Telephones [Z9] ring loudly everywhere [Z8], [Z7].",
            "Telephones ring loudly everywhere.",
        ),
        (
            "Telephones ring loudly everywhere [A1].",
            "Telephones ring loudly everywhere [A1].",
        ),
        // A sentence without a citation.
        ("{B}. {S} [A1].", "{B} [A2]. {S} [A1]."),
        ("- {B}\n- {S}\n", "- {B} [A2]\n- {S} [A1]\n"),
        ("{B}.", "{B} [A2]."),
        // Lists of sources.
        ("{B}.\n\nSources: [A2], [Z9]", "{B} [A2].\n\nSources: [A2]"),
        (
            "{B}.\n\nSources:\n- [A2] Backups\n- [Z9] Unknown\n",
            "{B} [A2].\n\nSources:\n- [A2] Backups\n",
        ),
        // Several citations stay in one string.
        (
            "{B}, and the server listens on port 5432 [A1, A2, Z9].",
            "{B}, and the server listens on port 5432 [A1, A2].",
        ),
        // Strings of other forms stay.
        ("<cite id=\"9\">{B}</cite>.", "<cite id=\"9\">{B}</cite>."),
        ("`{B} [Z9]`", "`{B} [Z9]`"),
    ]);
}

#[test]
fn text_around_a_removed_citation_is_read_as_before() {
    check_repointed(&[
        // Nothing is left of markup around a citation, and words stay.
        (
            "Telephones ring loudly everywhere ([Z9]).",
            "Telephones ring loudly everywhere.",
        ),
        (
            "Telephones ring <sup>[Z9]</sup> loudly **[Z8]** everywhere^[Z7].",
            "Telephones ring loudly everywhere.",
        ),
        (
            "According to [Z9], telephones ring loudly.",
            "According to [Z9], telephones ring loudly.",
        ),
        (
            "[Z9] says that telephones ring loudly.",
            "[Z9] says that telephones ring loudly.",
        ),
        ("Telephones ring, see [Z9].", "Telephones ring, see [Z9]."),
        // Without the citation, the rest would be code, reasoning, a note, or another citation. Other citations are corrected.
        ("[Z9]```[A1]", "[Z9]```[A1]"),
        (
            "Lions roar <[Z9]think> loudly.\n\nTelephones ring [Z8].",
            "Lions roar <[Z9]think> loudly.\n\nTelephones ring.",
        ),
        (
            "Lions roar <[Z9]think> loudly [Z8]. So [A1].",
            "Lions roar <[Z9]think> loudly. So [A1].",
        ),
        (
            "[Z9][^1]: [A1]\n\nTelephones ring loudly [Z8].",
            "[Z9][^1]: [A1]\n\nTelephones ring loudly.",
        ),
        ("[A1][A1[Z9]-", "[A1][A1[Z9]-"),
        ("[A[Z9]1]", "[A[Z9]1]"),
        // Code after a removed citation is still read as code.
        ("- [Z9] `ring` is a command.", "- `ring` is a command."),
        (
            "{B}.\n\nSources:\n- [A2] Backups\n- [Z9] Unknown\n```\nring\n```\n",
            "{B} [A2].\n\nSources:\n- [A2] Backups\n```\nring\n```\n",
        ),
        // Words around a removed citation stay apart.
        ("Telephones ring[Z9]loudly.", "Telephones ring loudly."),
    ]);
}

/// Checks the texts of both modes. `{B}` and `{S}` are supported, `{W}` is not.
fn check_unsupported(answer: &str, marked: &str, strict: &str) {
    let [answer, marked, strict] = [answer, marked, strict].map(|text| {
        text.replace("{B}", BACKUPS)
            .replace("{S}", SERVER)
            .replace("{W}", "Telephones ring loudly everywhere")
    });
    assert_eq!(repaired(&answer, RepairMode::Mark).text, marked, "{answer}");
    assert_eq!(
        repaired(&answer, RepairMode::Strict).text,
        strict,
        "{answer}"
    );
}

#[test]
fn sentences_that_nothing_supports_are_marked_or_removed() {
    for (answer, marked, strict) in [
        ("{B} [A2]. {W}.", "{B} [A2]. {W} [?].", "{B} [A2]."),
        (
            "{B} [A2]. {W} [A1].",
            "{B} [A2]. {W} [A1] [?].",
            "{B} [A2].",
        ),
        (
            "{W}. [A1] {B} [A2].",
            "{W} [?]. [A1] {B} [A2].",
            "{B} [A2].",
        ),
        (
            "- {W}.\n- {B} [A2].\n- {W}\n",
            "- {W} [?].\n- {B} [A2].\n- {W} [?]\n",
            "- {B} [A2].\n",
        ),
        (
            "1. {W}.\n2. {B} [A2].\n",
            "1. {W} [?].\n2. {B} [A2].\n",
            "2. {B} [A2].\n",
        ),
        (
            "{B} [A2].\n\n{W}.\n\n{S} [A1].",
            "{B} [A2].\n\n{W} [?].\n\n{S} [A1].",
            "{B} [A2].\n\n{S} [A1].",
        ),
        (
            "{W}. Lions roar when birds sing.",
            "{W} [?]. Lions roar when birds sing [?].",
            "",
        ),
        (
            "{B} [A2]. {W}. Lions roar when birds sing.\n\nSo.",
            "{B} [A2]. {W} [?]. Lions roar when birds sing [?].\n\nSo.",
            "{B} [A2].\n\nSo.",
        ),
    ] {
        check_unsupported(answer, marked, strict);
    }
}

#[test]
fn markup_stays_when_sentences_are_marked_or_removed() {
    for (answer, marked, strict) in [
        // Removing the tag would show what it hides.
        (
            "Sources:<think>.\n\n[Z9]",
            "Sources: [?]<think>.\n\n[Z9]",
            "Sources:<think>.\n\n[Z9]",
        ),
        (
            "| Animal | Sound |\n|---|---|\n| Lion | {W} |",
            "| Animal | Sound |\n|---|---|\n| Lion | {W} [?] |",
            "| Animal | Sound |\n|---|---|\n| Lion | {W} [?] |",
        ),
        ("- {W}. {B} [A2].", "- {W} [?]. {B} [A2].", "- {B} [A2]."),
        (
            "> 1. {W}. {B} [A2].",
            "> 1. {W} [?]. {B} [A2].",
            "> 1. {B} [A2].",
        ),
        (
            "**{W}. {B} [A2].** {S} [A1].",
            "**{W} [?]. {B} [A2].** {S} [A1].",
            "**{B} [A2].** {S} [A1].",
        ),
        (
            "**Animals**\n\n{B} [A2].",
            "**Animals**\n\n{B} [A2].",
            "**Animals**\n\n{B} [A2].",
        ),
        (
            "Animals\n=====\n\n{B} [A2].",
            "Animals\n=====\n\n{B} [A2].",
            "Animals\n=====\n\n{B} [A2].",
        ),
        ("{W} [?].", "{W} [?].", ""),
        ("Yes. {B} [A2].", "Yes. {B} [A2].", "Yes. {B} [A2]."),
        (
            "# Telephones\n\nWhat rings loudly?",
            "# Telephones\n\nWhat rings loudly?",
            "# Telephones\n\nWhat rings loudly?",
        ),
    ] {
        check_unsupported(answer, marked, strict);
    }
}

#[test]
fn a_source_without_text_may_support_anything() {
    let mut sources = context();
    sources[2] = sources[2].clone().hide();
    let answer = format!("{BACKUPS} [A1]. Telephones ring loudly everywhere.");
    for mode in [RepairMode::Mark, RepairMode::Strict] {
        let repaired = repaired_by(&sources, &answer, false, mode);
        let kinds = repaired.changes.iter().map(|change| change.kind);
        assert!(kinds.eq(match mode {
            RepairMode::Mark => vec![],
            _ => vec![ChangeKind::Repointed],
        }));
    }
}

/// The work of a correction of an answer of this many lines.
fn work(lines: usize) -> usize {
    let line = format!("- Telephones ring `loudly` everywhere [Z9]. {BACKUPS}, see `it` [A1].\n");
    // Without the first citation of this line, the others would be hidden.
    let misread = format!(
        "Lions roar <[Z9]think> {}[A1].\n",
        "word [Z8] ".repeat(lines)
    );
    let answer = line.repeat(lines) + &misread;
    let checks = test_support::measure(|| {
        for mode in RepairMode::ALL {
            repaired(&answer, mode);
        }
    });
    checks.count
}

#[test]
fn the_work_of_a_correction_is_linear() {
    let (some, more) = (work(100), work(800));
    assert!(some > 0 && more < 12 * some, "{some} and {more}");
}

/// A statement is compared with each source as [`support`] compares them, also if a citation shares its text.
#[test]
fn statements_are_compared_with_each_source() {
    let sources = context();
    for answer in [
        format!(
            "{BACKUPS} [A1]. {SERVER}. Telephones ring [B1]. {SERVER} [A1], backups run nightly [A2]. Yes."
        ),
        format!("{BACKUPS} [A1]. {SERVER}. {BACKUPS}.\n\nSources: [A1]"),
    ] {
        let extraction = extract_with_statements(&answer, &Grammar::default(), false);
        let claims: Vec<_> = extraction.compared_texts().map(lexemes).collect();
        let evidence = Evidence {
            sources: &sources,
            known: &[],
            named: &[],
            claims: &claims,
            rules: RULES,
            cues: &Cues::LANGUAGE_FREE,
        };
        let (judgements, statements) = judge_statements(&extraction, &evidence).unwrap();
        assert_eq!(judgements, judge(&extraction, &evidence).unwrap());
        assert_eq!(statements.len(), extraction.statements.len());
        assert!(statements.iter().flatten().count() >= 3);
        for (statement, compared) in extraction.statements.iter().zip(statements) {
            let words = lexemes(&statement.text);
            let claim = Text {
                text: &statement.text,
                lexemes: &words,
            };
            let alone = sources.iter().map(|source| {
                let text = Text {
                    text: &source.content,
                    lexemes: &source.lexemes,
                };
                support(claim, &[text], &Cues::LANGUAGE_FREE).map(|parts| parts.support)
            });
            let alone: Option<Vec<f64>> = alone.collect();
            assert_eq!(compared.map(|compared| compared.alone), alone, "{answer}");
        }
    }
}

/// Words that join two citations.
const JOINING: [&str; 9] = ["and", "or", "und", "oder", "et", "y", "e", "и", "和"];

/// The words of a text outside its citations and some ranges.
fn words(text: &str, without: impl Iterator<Item = Range<usize>>) -> Vec<String> {
    let mut bare = text.to_owned().into_bytes();
    let read = extract(text, &Grammar::default()).citations;
    let cited = read.into_iter().map(|citation| citation.span.bytes);
    for range in without.chain(cited) {
        bare[range].fill(b' ');
    }
    let bare = String::from_utf8(bare).unwrap();
    let words = bare.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// The number of markers of a text outside some ranges.
fn markers(text: &str, without: impl Iterator<Item = Range<usize>>) -> usize {
    let without: Vec<_> = without.collect();
    let read = extract(text, &Grammar::default()).citations;
    let marker = |citation: &&ExtractedCitation| {
        let at = citation.span.bytes.start;
        citation.form == Form::Marker && !without.iter().any(|range| range.contains(&at))
    };
    read.iter().filter(marker).count()
}

/// Whether the second text has the words of the first, except words that joined citations. A removed citation can separate a word.
fn keeps_words(before: &[String], after: &[String]) -> bool {
    let rest = before.iter().try_fold(after, |after, word| match after {
        [first, rest @ ..] if first == word => Some(rest),
        _ if JOINING.contains(&word.as_str()) => Some(after),
        _ => None,
    });
    rest.is_some_and(<[String]>::is_empty)
}

/// The corrected text of an answer that grows by one character, from the parts that are final.
fn streamed(answer: &str, mode: RepairMode) -> String {
    let grammar = Grammar::default();
    let mut from = Resume::default();
    let mut text = String::new();
    for (at, _) in answer.char_indices() {
        let fed = feed_from(&answer[..at], &grammar, false, &from).unwrap();
        let part = &answer[from.bytes..fed.resume.bytes];
        text += &repaired_part(part, from.in_list, mode).text;
        from = fed.resume;
    }
    text + &repaired_part(&answer[from.bytes..], from.in_list, mode).text
}

/// Parts of answers with words that the context has.
fn answers() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        nasty(0..6),
        paragraphs(0..4),
        few_pieces(0..4),
        Just(BACKUPS.to_owned()),
        Just(SERVER.to_owned()),
        Just("[Z9]".to_owned()),
        Just("[A1]".to_owned()),
        Just("<[Z9]think>".to_owned()),
        Just("`[Z9]``".to_owned()),
        Just(". ".to_owned()),
        Just(".\n\n".to_owned()),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

/// Without its citation, the second paragraph begins with a fence or with reasoning. The first is removed all the same.
#[test]
fn an_edit_that_joins_the_opening_of_code_is_dropped_alone() {
    for rest in [
        "`[Z9]``</cite>\n\n[A1]",
        "``[Z9]` x\n\n[A1]",
        "<[Z9]think>x</think>\n\n[A1]",
    ] {
        let answer = format!("[1000-1002].\n\n{rest}");
        assert_eq!(repaired(&answer, RepairMode::Strict).text, rest);
        assert_eq!(streamed(&answer, RepairMode::Strict), rest);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_stream_is_corrected_as_the_whole(answer in answers()) {
        for mode in RepairMode::ALL {
            prop_assert_eq!(streamed(&answer, mode), repaired(&answer, mode).text, "{:?} of {:?}", mode, answer);
        }
    }

    #[test]
    fn no_word_changes(answer in answers()) {
        for mode in RepairMode::ALL {
            let repaired = repaired(&answer, mode);
            let before = repaired.changes.iter().map(|change| change.before.clone());
            let after = repaired.changes.iter().map(|change| change.after.clone());
            let (before, after) = (words(&answer, before), words(&repaired.text, after));
            prop_assert!(keeps_words(&before, &after), "{before:?} {after:?} of {answer:?}\n{repaired:?}");
            let before = repaired.changes.iter().map(|change| change.before.clone());
            let after = repaired.changes.iter().map(|change| change.after.clone());
            prop_assert!(markers(&answer, before) <= markers(&repaired.text, after), "{answer:?}\n{repaired:?}");
            let mut end = 0;
            for change in &repaired.changes {
                prop_assert!(answer.get(change.before.clone()).is_some(), "{change:?} of {answer:?}");
                prop_assert!(repaired.text.get(change.after.clone()).is_some(), "{change:?} of {answer:?}");
                prop_assert!(end <= change.after.start || change.kind == ChangeKind::Removed, "{change:?} of {answer:?}");
                end = change.after.start;
            }
            if repaired.changes.is_empty() {
                prop_assert_eq!(&repaired.text, &answer);
            }
            // The text reads as it says.
            let read = extract(&repaired.text, &Grammar::default());
            for change in repaired.changes.iter().filter(|c| c.source.is_some() && !c.after.is_empty()) {
                let found = read.citations.iter().any(|c| c.span.bytes == change.after);
                prop_assert!(found, "{change:?} of {answer:?}\n{repaired:?}");
            }
        }
    }
}
