//! Properties of the extraction of any text.

use proptest::prelude::*;
use reground_citations::{Families, Form, Grammar, GrammarRules, MAX_CITATIONS, extract};
use std::time::{Duration, Instant};

/// Text with many characters that the scanner reads.
fn noise() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "[A1]", "[A1, B2]", "[a 1]", "【A1】", "[1-3]", "[[1]]", "[1](x)", "(Source: \"a, b\", p. 3)", "(Smith et al., 2020)",
            "<co: 0>", "</co: 0>", "<cite>", "</cite>", "<source id=\"2\">", "</source>", "\u{e200}cite", "\u{e202}turn0search0", "\u{e201}",
            "turn0search1", "①", "¹²", "{{citation:1}}", "{{", "}}", "[^1]", "[^1]: x\n", "【4:0†source】", "[ID:3]", "ref3", "Source 1",
            "Citation: ", "[span_1](start_span)", "[span_1](end_span)", "[١]", "[e41ac2d]",
            "[A1,", "[", "]", "(", ")", "【", "`", "``", "```\n", "~~~\n", "<think>", "</think>", "\n", "\n\n", "# ", "- ", ". ", "。",
            "\"", ";", ",", "Source:", "References\n", "p. 3", "\\", "!", "]:", "http", "A1", "et al.", "🙂", "é", "\u{a0}", "\r\n",
        ])
        .prop_map(str::to_owned),
        1 => "\\PC{0,8}",
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Patterns, places and titles are outside all other forms.
    #[test]
    fn custom_forms_overlap_no_other_citation(text in noise()) {
        let rules: GrammarRules = serde_json::from_str(
            r#"{"patterns": [{"name": "x", "regex": "(?P<id>A\\d|et al)"}], "titles": [{"name": "References"}],
                "locators": {"levels": ["page"], "patterns": ["p. {page}"]}}"#,
        ).unwrap();
        let grammar = Grammar::new(&rules).unwrap();
        let plain = extract(&text, &Families::ALL);
        let all = extract(&text, &grammar);
        let mut last = 0..0;
        for citation in &all.citations {
            let bytes = citation.span.bytes.clone();
            prop_assert_eq!(&text[bytes.clone()], citation.raw(&text));
            prop_assert!(bytes == last || bytes.start >= last.end);
            last = bytes;
        }
        let kept = all.citations.iter().filter(|c| !matches!(c.form, Form::Custom(_) | Form::Locator | Form::Mention));
        let kept: Vec<_> = kept.map(|c| (&c.span, &c.reference)).collect();
        let alone: Vec<_> = plain.citations.iter().map(|c| (&c.span, &c.reference)).collect();
        prop_assert_eq!(kept, alone);
    }

    #[test]
    fn offsets_select_the_citation_string(text in noise()) {
        let extraction = extract(&text, &Families::ALL);
        let chars: Vec<char> = text.chars().collect();
        let units: Vec<u16> = text.encode_utf16().collect();
        let mut last = 0;
        for citation in &extraction.citations {
            let span = &citation.span;
            prop_assert_eq!(&text[span.bytes.clone()], citation.raw(&text));
            prop_assert_eq!(chars[span.chars.clone()].iter().collect::<String>(), citation.raw(&text));
            prop_assert_eq!(String::from_utf16(&units[span.utf16.clone()]).unwrap(), citation.raw(&text));
            prop_assert!(last <= span.bytes.start);
            last = span.bytes.start;
            prop_assert!(citation.sentence.is_none_or(|s| s < extraction.sentences.len()));
            let claim = extraction.claim_of(citation);
            prop_assert_eq!(citation.claim_at.is_some(), claim.is_some());
            prop_assert!(claim.is_none_or(|claim| claim.is_char_boundary(citation.claim_at.unwrap())));
            prop_assert!(citation.claim.is_none_or(|c| Some(extraction.claims[c].sentence) == citation.sentence));
        }
        for sentence in &extraction.sentences {
            prop_assert_eq!(text[sentence.clone()].trim(), &text[sentence.clone()]);
            prop_assert!(!sentence.is_empty());
        }
        for claim in &extraction.claims {
            prop_assert!(claim.text.chars().any(char::is_alphanumeric));
        }
    }

    #[test]
    fn surrounding_text_does_not_change_a_citation(text in "[^`~<]{0,30}", inner in "[a-z]{2,8}( [a-z]{2,8}){0,3}") {
        let citation = format!("{inner} [A1, B2] {inner} [Source: x, p. 3].");
        let alone = extract(&citation, &Families::ALL);
        let whole = format!("{text}\n\n{citation}\n\n{text}");
        let around = extract(&whole, &Families::ALL);
        let start = text.len() + 2;
        let within: Vec<_> = around
            .citations
            .iter()
            .filter(|c| (start..start + citation.len()).contains(&c.span.bytes.start))
            .collect();
        prop_assert_eq!(within.len(), alone.citations.len());
        for (found, expected) in within.into_iter().zip(&alone.citations) {
            prop_assert_eq!(&found.reference, &expected.reference);
            prop_assert_eq!(found.raw(&whole), expected.raw(&citation));
            prop_assert_eq!(around.claim_of(found), alone.claim_of(expected));
        }
    }

    #[test]
    fn markers_round_trip(letters in "[A-Z]{1,3}", number in 1..99_999_u32) {
        let canonical = format!("[{letters}{number}]");
        let first = extract(&canonical, &Families::ALL);
        prop_assert_eq!(first.citations.len(), 1);
        let citation = &first.citations[0];
        prop_assert!(!citation.repaired);
        prop_assert_eq!(citation.raw(&canonical), &canonical);
    }
}

/// Ten times the text takes about ten times as long. Quadratic work would take a hundred times as long.
#[test]
fn linear_on_hostile_text() {
    let shapes: [&str; 27] = [
        "[",
        "[A1,",
        "`",
        "``` ` ",
        "(",
        "[a](",
        "[1](x ",
        "(Source: ",
        "<think",
        "]",
        "【",
        "[A1] ",
        "\n> ",
        "[[",
        "\"",
        "[Source: \"a;",
        "<co: 0>",
        "<cite>a",
        "<cite>a</cite>",
        "\u{e200}",
        "turn0search0",
        "{{",
        "①",
        "¹",
        "[^a]: x\n",
        "Source 1",
        " ~",
    ];
    for shape in shapes {
        let time = |bytes: usize| {
            let text = shape.repeat(bytes / shape.len());
            let started = Instant::now();
            let extraction = extract(&text, &Families::ALL);
            assert!(extraction.citations.len() <= MAX_CITATIONS);
            started.elapsed()
        };
        // The machine may stall in one run. Quadratic work is slow in every run.
        let linear = || time(1_000_000) < time(100_000) * 40 + Duration::from_millis(200);
        assert!((0..5).any(|_| linear()), "{shape:?} is not linear");
    }
    // Runs of backticks of increasing length, none closed.
    let runs: String = (1..1400).map(|n| "`".repeat(n) + " ").collect();
    let read = || {
        let started = Instant::now();
        extract(&runs, &Families::ALL);
        started.elapsed()
    };
    assert!((0..5).any(|_| read() < Duration::from_secs(2)));
}

#[test]
fn ten_thousand_markers_are_ten_thousand_rows() {
    let text: String = (0..10_000).map(|n| format!("Fact {n} [A{n}]. ")).collect();
    let extraction = extract(&text, &Families::ALL);
    assert_eq!(extraction.citations.len(), 10_000);
    assert_eq!(extraction.claims.len(), 10_000);
    assert_eq!(extraction.omitted, 0);
    let one_sentence = "[A1]".repeat(10_000) + " is all.";
    assert_eq!(extract(&one_sentence, &Families::ALL).claims.len(), 1);
}

#[test]
fn citations_beyond_the_limit_are_counted() {
    let extraction = extract(&"[1-64]".repeat(2_000), &Families::ALL);
    assert_eq!(extraction.citations.len(), MAX_CITATIONS);
    assert_eq!(extraction.omitted, 2_000 * 64 - MAX_CITATIONS);
}

/// Every row contains its string. Many rows with one string must not turn a text of megabytes into gigabytes.
#[test]
fn strings_with_many_citations_are_short() {
    let turns = "turn0search0".repeat(20_000);
    let sources = format!("Sources {}1", "1, ".repeat(20_000));
    let raised = format!("boils{}", "¹,".repeat(20_000));
    let listed = format!("[{}1]", "1-64, ".repeat(150));
    for text in [turns, sources, raised, listed] {
        for citation in extract(&text, &Families::ALL).citations {
            let length = citation.raw(&text).len();
            assert!(length <= 2_048, "{length}");
        }
    }
}
