//! Extraction: the citations, their sentences and claims.

use reground_citations::{
    ExtractedCitation, Families, Grammar, Interval, Malformed, Position, Reference, extract,
};

fn marker(marker: &str) -> Reference {
    Reference::Marker {
        marker: marker.to_owned(),
        name: None,
        at: Position::default(),
    }
}

fn ordinals(numbers: impl IntoIterator<Item = u32>) -> Vec<Reference> {
    let ordinal = |number| Reference::Ordinal {
        number,
        at: Position::default(),
    };
    numbers.into_iter().map(ordinal).collect()
}

fn document(name: &str, pages: Option<(u32, u32)>) -> Reference {
    Reference::Document {
        name: name.to_owned(),
        at: pages.map(|(start, end)| Interval::new(start, end)).into(),
    }
}

fn read(text: &str) -> Vec<Reference> {
    let extraction = extract(text, &Families::ALL);
    extraction
        .citations
        .into_iter()
        .map(|c| c.reference)
        .collect()
}

#[test]
fn markers_in_every_spelling() {
    for text in [
        "so [A1].",
        "so [a1].",
        "so [ A1 ].",
        "so [A 1].",
        "so 【A1】.",
        "so ［Ａ１］.",
        "so [A01].",
    ] {
        assert_eq!(read(text), [marker("A1")], "{text}");
    }
    // A document may be named A1.
    for text in ["[Source: A1]", "(source: A1)", "[Source A1]"] {
        let named = |mut reference: Reference| {
            if let Reference::Marker { name, .. } = &mut reference {
                *name = Some("A1".to_owned());
            }
            reference
        };
        assert_eq!(read(text), [named(marker("A1"))], "{text}");
    }
    assert_eq!(read("[A1][B2]"), [marker("A1"), marker("B2")]);
    for text in [
        "[A1, B2]",
        "[A1; B2]",
        "[A1,B2]",
        "[A1 and B2]",
        "[A1 & B2]",
        "[A1 B2]",
        "[A1、B2]",
    ] {
        assert_eq!(read(text), [marker("A1"), marker("B2")], "{text}");
    }
    for text in ["[A1-A3]", "[A1–3]"] {
        assert_eq!(
            read(text),
            [marker("A1"), marker("A2"), marker("A3")],
            "{text}"
        );
    }
    assert_eq!(read("[AA12]"), [marker("AA12")]);
}

#[test]
fn misspelled_markers_are_repaired() {
    let repaired = |text| {
        extract(text, &Families::ALL)
            .citations
            .iter()
            .any(|c| c.repaired)
    };
    for text in [
        "[A1]",
        "[A1, B2]",
        "[A1; B2]",
        "[1]",
        "【1】",
        "[Source: guide]",
    ] {
        assert!(!repaired(text), "{text}");
    }
    for text in ["[a1]", "[A 1]", "【A1】", "[ A1]", "[A01]"] {
        assert!(repaired(text), "{text}");
    }
}

#[test]
fn numbers_lists_and_ranges() {
    assert_eq!(read("so [1]."), ordinals([1]));
    assert_eq!(read("so[1][2]."), ordinals([1, 2]));
    assert_eq!(read("so [1, 2]"), ordinals([1, 2]));
    assert_eq!(read("vessels (e.g[4]. tubes)"), ordinals([4]));
    assert_eq!(read("so [1 and 3]"), ordinals([1, 3]));
    assert_eq!(read("so [1-3, 7]"), ordinals([1, 2, 3, 7]));
    assert_eq!(read("so [[1]]."), ordinals([1]));
    assert_eq!(read("so 【12】［3］"), ordinals([12, 3]));
    assert_eq!(read("so \\[4\\]"), ordinals([4]));
    assert_eq!(
        read("so [1](https://a.example/b_(c)) and [A1](#a1)"),
        [ordinals([1]), vec![marker("A1")]].concat()
    );
}

#[test]
fn documents_and_pages() {
    assert_eq!(
        read("[Source: report.pdf, p. 12]"),
        [document("report.pdf", Some((12, 12)))]
    );
    assert_eq!(
        read("[Source: report.pdf, pp. 12–14]"),
        [document("report.pdf", Some((12, 14)))]
    );
    assert_eq!(read("(Source: report.pdf)"), [document("report.pdf", None)]);
    assert_eq!(
        read("(source: Smith, Jones and Co, page 0)"),
        [document("Smith, Jones and Co", Some((0, 0)))]
    );
    assert_eq!(
        read("[Sources: \"a; b, p. 3\", p. 4; c.md p. 5]"),
        [
            document("a; b, p. 3", Some((4, 4))),
            document("c.md", Some((5, 5)))
        ]
    );
    assert_eq!(
        read("[Source: a.md, pp. 3, 5]"),
        [
            document("a.md", Some((3, 3))),
            document("a.md", Some((5, 5)))
        ]
    );
    let paged = |marker: &str, page| Reference::Marker {
        marker: marker.to_owned(),
        name: None,
        at: Some(Interval::new(page, page)).into(),
    };
    assert_eq!(read("[A1, p. 12]"), [paged("A1", 12)]);
    assert_eq!(
        read("[A1 p. 12; B2, p. 3]"),
        [paged("A1", 12), paged("B2", 3)]
    );
    // Erratum 6: a document citation ends at its bracket and at its line.
    assert_eq!(read("[Source: a] b, p. 3]"), [document("a", None)]);
    assert_eq!(read("[Source: a\nb]"), []);
}

#[test]
fn paragraphs_and_lines() {
    let at = |pages: Option<u32>, paragraph: Option<u32>, lines: Option<(u32, u32)>| Position {
        pages: pages.map(|page| Interval::new(page, page)),
        paragraphs: paragraph.map(|number| Interval::new(number, number)),
        lines: lines.map(|(start, end)| Interval::new(start, end)),
    };
    let big = |at| Reference::Document {
        name: "big.pdf".to_owned(),
        at,
    };
    for (text, expected) in [
        (
            "[Source: big.pdf, p. 7, para 1]",
            at(Some(7), Some(1), None),
        ),
        (
            "[Source: big.pdf, page 7, lines 1-2]",
            at(Some(7), None, Some((1, 2))),
        ),
        (
            "(Source: big.pdf, lines 12-14)",
            at(None, None, Some((12, 14))),
        ),
        ("[Source: big.pdf (p. 7, ¶ 2)]", at(Some(7), Some(2), None)),
        ("[Source: big.pdf, p. 7, table 2]", at(Some(7), None, None)),
        ("[Source: big.pdf, p.]", Position::default()),
        ("[Source: big.pdf, section 3]", Position::default()),
        (
            "[Source: \"big.pdf\", p. 7, para 1]",
            at(Some(7), Some(1), None),
        ),
    ] {
        assert_eq!(read(text), [big(expected)], "{text}");
    }
    let marker = |at| Reference::Marker {
        marker: "A1".to_owned(),
        name: None,
        at,
    };
    assert_eq!(
        read("[A1, p. 7, para 1]"),
        [marker(at(Some(7), Some(1), None))]
    );
    assert_eq!(
        read("[A1, lines 3-4]"),
        [marker(at(None, None, Some((3, 4))))]
    );
    // Without pages, only a comma separates a name from its lines.
    assert_eq!(
        read("[Source: Guide line 5]"),
        [document("Guide line 5", None)]
    );
}

#[test]
fn file_names_without_a_colon() {
    let a = |page: Option<u32>| document("a.pdf", page.map(|page| (page, page)));
    for text in [
        "[a.pdf, p. 1]",
        "[Source a.pdf, p. 1]",
        "(a.pdf, p. 1)",
        "(Source a.pdf, p. 1)",
        "[source \"a.pdf\", page 1]",
        "[a.pdf p. 1]",
        "［a.pdf，p. 1］",
    ] {
        assert_eq!(read(text), [a(Some(1))], "{text}");
    }
    for text in ["[a.pdf]", "[Source a.pdf]", "[Source: a.pdf]"] {
        assert_eq!(read(text), [a(None)], "{text}");
    }
    for text in [
        "[a.pdf, p. 1; b.md, p. 2]",
        "[a.pdf, p. 1, b.md, p. 2]",
        "[Sources: a.pdf, p. 1 and b.md, p. 2]",
    ] {
        assert_eq!(
            read(text),
            [a(Some(1)), document("b.md", Some((2, 2)))],
            "{text}"
        );
    }
    assert_eq!(
        read("[Sources: a.pdf, b.md]"),
        [a(None), document("b.md", None)]
    );
    assert_eq!(read("[data.csv, lines 3-4]").len(), 1);
    for text in [
        "[see a.pdf]",
        "(see a.pdf)",
        "(a.pdf)",
        "[data.csv]",
        "[main.rs]",
        "[source code]",
        "[document the change]",
        "[a.pdf](https://a.example/a.pdf)",
        "![a.pdf](a.pdf)",
        "`[a.pdf, p. 1]`",
        "[a.pdf]: https://a.example/a.pdf",
        "[e.g. this, p. 1]",
        "[v2.0, p. 1]",
        "[The plan, p. 1]",
    ] {
        assert_eq!(read(text), [], "{text}");
    }
    let known = Grammar::default().naming(["Q3 report", "plan", "x", "ö", "7"]);
    let known = |text: &str| {
        extract(text, &known)
            .citations
            .into_iter()
            .map(|c| c.reference)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        known("[Q3 report, p. 1]"),
        [document("Q3 report", Some((1, 1)))]
    );
    assert_eq!(
        known("(Q3 report, p. 1)"),
        [document("Q3 report", Some((1, 1)))]
    );
    assert_eq!(
        known("[plan] (plan) [x] [ö] [a plan]"),
        [document("plan", None)]
    );
}

#[test]
fn author_and_year() {
    for text in [
        "(Smith et al., 2020)",
        "(Smith et\u{a0}al., 2020a)",
        "(Bradley and Smyth, 2001)",
        "(see van der Berg, 2019, p. 4)",
        "(Davoodi et al. 2014)",
        "[Taylor & Jensen, 2018]",
        "(J. O’Neil, 1999)",
    ] {
        assert!(
            matches!(read(text).as_slice(), [Reference::AuthorYear(_)]),
            "{text}"
        );
    }
    assert_eq!(read("(Devlin et al., 2019; Radford et al., 2018)").len(), 2);
    for text in [
        "(2020)",
        "(May, 2020)",
        "(Paris 2020)",
        "(version 2, 2020)",
        "(Smith, 20200)",
        "(in Rome, 2020)",
    ] {
        assert_eq!(read(text), [], "{text}");
    }
}

#[test]
fn malformed_citations() {
    for (text, why) in [
        ("Open it [A1 and then\n", Malformed::Unclosed),
        ("Open it [A1", Malformed::Unclosed),
        ("[A1,]", Malformed::TrailingSeparator),
        ("[A-1]", Malformed::BadMarker),
        ("[A1, 3]", Malformed::UnexpectedText),
        ("[A1: the guide]", Malformed::UnexpectedText),
        ("[A5-A2]", Malformed::DescendingRange),
        ("[5-2]", Malformed::DescendingRange),
        ("[1-900]", Malformed::RangeTooLong),
        ("[Source: , p. 3]", Malformed::EmptyName),
    ] {
        assert_eq!(read(text), [Reference::Malformed(why)], "{text}");
    }
}

#[test]
fn text_that_is_not_a_citation() {
    for text in [
        "`[A1]` and ``a [1] ` b``",
        "```\nx[1] [A1]\n```",
        "~~~~\n[1]\n~~~\n[2]",
        "<think>[A1]</think>",
        "[the guide](https://a.example/[1])",
        "![A1](a.png)",
        "a[1] and my_list[0] and m[1][2] and rows[3].name and v[0] = 1",
        "[2024]",
        "- [x] done\n- [ ] open",
        "[Online] [they] [Accessed: 2020-01-01] [Word count: 149] [300 words] [EMIM][TfO] [sic]",
        "at [12:45] on [9/11], [24/7] and [3|5], 9.8 meters per second², 500 kilometers² and weight/height²",
        "[in 2019] [EU 27] [10,000] [0.5] [007] [-1, 1] [i] [i : j] []",
        "[1]: https://a.example",
        "an open [ bracket and [another",
    ] {
        assert_eq!(read(text), [], "{text}");
    }
}

#[test]
fn long_numbers_are_read_if_a_source_has_them() {
    let numbers = |text: &str, grammar: &Grammar| -> Vec<u32> {
        let citations = extract(text, grammar).citations.into_iter();
        let number = |c: ExtractedCitation| match c.reference {
            Reference::Ordinal { number, .. } => Some(number),
            _ => None,
        };
        citations.filter_map(number).collect()
    };
    let text = "So [999], [1000] and [1001, 7], [998-1001], 【１００１】; in [2024] [1000-2024] [01001] [100000] [4711].";
    let short = Grammar::default();
    assert_eq!(numbers(text, &short), [999]);
    let grammar = Grammar::default().numbering([1000, 1001, 4711, 100_000, 12]);
    let read = [999, 1000, 1001, 7, 998, 999, 1000, 1001, 1001, 4711];
    assert_eq!(numbers(text, &grammar), read);
    assert_eq!(
        numbers("[12345]", &Grammar::default().numbering([12_345])),
        [12_345]
    );
}

#[test]
fn families_can_be_switched_off() {
    let text = "[A1] [1] [Source: a] (Smith et al., 2020) [A1,]";
    assert_eq!(extract(text, &Families::MARKERS).citations.len(), 2);
    let only = Families {
        marker: false,
        ..Families::ALL
    };
    assert_eq!(extract(text, &only).citations.len(), 3);
}

fn claims(text: &str) -> Vec<Option<String>> {
    let extraction = extract(text, &Families::ALL);
    let claim = |c| extraction.claim_of(c).map(str::to_owned);
    extraction.citations.iter().map(claim).collect()
}

#[test]
fn citations_have_their_position_in_the_claim() {
    for (text, before) in [
        (
            "1. Ann [1],  Bo [2][3] and Cy [4]. Next.",
            &["Ann", "Ann, Bo", "Ann, Bo", "Ann, Bo and Cy"][..],
        ),
        ("[1] Ann is.", &[""]),
        ("Ann [1] is. [2]", &["Ann", "Ann is."]),
        ("It is. [1] <co:0>Bo</co> is.", &["It is.", "Bo"]),
    ] {
        let extraction = extract(text, &Families::ALL);
        let read = extraction.citations.iter().map(|citation| {
            let claim = extraction.claim_of(citation).unwrap();
            &claim[..citation.claim_at.unwrap()]
        });
        assert_eq!(read.collect::<Vec<_>>(), before, "{text}");
    }
}

#[test]
fn abbreviations_and_ordinals_do_not_end_a_claim() {
    for claim in [
        "Am 3. Oktober 1990 zog Dr. Müller um, z. B. nach Bonn, u. a. mit Nr. 5, bzw. ca. 5 Leuten.",
        "Plants, e.g. Fig. 3 and No. 5, were drawn by Smith et al. Nature vs. Culture says so.",
    ] {
        let cited = format!("{} [A1].", claim.trim_end_matches('.'));
        assert_eq!(claims(&cited), [Some(claim.to_owned())]);
    }
}

#[test]
fn claims_are_sentences_without_citations() {
    let one = "It is so.";
    let two = "Next it is not.";
    for (text, expected) in [
        ("It is  so [A1].", vec![one]),
        ("It [A1] is so.", vec![one]),
        ("It is so. [A1] Next it is not.", vec![one]),
        ("It is so.[A1] Next it is not.[B1]", vec![one, two]),
        (
            "It is so. [A1][B1] Next it is not. [C1]",
            vec![one, one, two],
        ),
        ("It is so [A1]. Next it is not [B1].", vec![one, two]),
        ("It is so.\n\n[A1]\n\nNext it is not.", vec![one]),
        ("It is so.\n\n[A1]\n[B1]", vec![one, one]),
        ("[A1] Next it is not.", vec![two]),
        ("It is so [A1]. [B1] Next it is not.", vec![one, two]),
        ("它是这样的。[1]下一句。", vec!["它是这样的。"]),
    ] {
        let expected: Vec<_> = expected
            .into_iter()
            .map(|claim| Some(claim.to_owned()))
            .collect();
        assert_eq!(claims(text), expected, "{text}");
    }
}

#[test]
fn reference_lists_support_no_claim() {
    for text in [
        "[A1]",
        "Sources: [A1]",
        "## References\n[A1] Installing the server\n",
        "**Sources:**\n- [A1] Installing",
    ] {
        assert_eq!(claims(text), [None], "{text}");
    }
    assert_eq!(
        claims("It is so. [A1]\n\nSources: [A1]"),
        [Some("It is so.".to_owned()), None]
    );
}

#[test]
fn the_number_of_the_next_item_is_no_part_of_a_claim() {
    let claims = |answer: &str| -> Vec<String> {
        let claims = extract(answer, &Grammar::default()).claims;
        claims.into_iter().map(|claim| claim.text).collect()
    };
    assert_eq!(
        claims("Causes of it are: 1. Low weight [A1] 2. High fever [A1] 3. Old age [A1]."),
        ["Low weight", "High fever", "Old age."]
    );
    assert_eq!(
        claims(
            "Causes of it are [A1]: 1. Low weight 2 [A1]. High fever 3 [A1]. It has number 7 [A1]."
        ),
        [
            "Causes of it are:",
            "Low weight",
            "High fever",
            "It has number 7."
        ]
    );
}

#[test]
fn lists_of_sources_cite_the_answer() {
    for list in [
        "Sources: [A1] and [B1].",
        "Sources: [A1] (p. 3), [B1] (p. 4)",
        "Sources:\n\n1. [A1]\n2. [B1]",
        "**Sources**\n1. [A1]\n2. [B1]",
        "Sources: [A1], [B1]",
        "Sources:\n- [A1]\n- [B1]",
    ] {
        let answer = format!("Tea is green. Coffee is roasted.\n\n{list}");
        let read = extract(&answer, &Grammar::default());
        let citations = &read.citations;
        assert_eq!(citations.len(), 2, "{list}");
        for citation in citations {
            let claim = read.claim_of(citation).unwrap_or_default();
            assert!(
                !claim.contains("ources") && !claim.starts_with("1."),
                "{list}: {claim}"
            );
        }
    }
}
