//! Additions of a corpus or a caller to the grammar.
#![allow(clippy::unwrap_used)]

use reground_citations::{
    Bounds, Cues, DocumentRequest, Evidence, Form, Grammar, GrammarRules, Interval, Lexemes,
    LocatorRange, NamedDocument, Position, Reference, Source, Status, SupportRules, Target,
    document_requests, extract, judge,
};

fn grammar(rules: &str) -> Grammar {
    let rules: GrammarRules = serde_json::from_str(rules).unwrap();
    Grammar::new(&rules).unwrap()
}

fn refusal(rules: &str) -> String {
    match serde_json::from_str::<GrammarRules>(rules) {
        Ok(rules) => Grammar::new(&rules).unwrap_err().to_string(),
        Err(error) => error.to_string(),
    }
}

fn scripture() -> Grammar {
    grammar(
        r#"{"locators": {
            "levels": ["book", "chapter", "verse"],
            "patterns": ["{book} {chapter}:{verse}", "Ch.{chapter} v.{verse}", "{book} {chapter}"],
            "works": [{"name": "Genesis", "abbreviations": ["Gen.", "Gn"]}, {"name": "1 Samuel", "abbreviations": ["1 Sam."]},
                      {"name": "Parashara", "abbreviations": ["BPHS"]}],
            "roman": true}}"#,
    )
}

fn place(work: Option<&str>, start: &[u32], end: &[u32]) -> Reference {
    let work = work.map(str::to_owned);
    Reference::Locator(LocatorRange::new(work, start.to_vec(), end.to_vec()).unwrap())
}

fn read(text: &str, grammar: &Grammar) -> Vec<(String, Reference)> {
    let citations = extract(text, grammar).citations.into_iter();
    citations
        .map(|c| (c.raw(text).to_owned(), c.reference))
        .collect()
}

#[test]
fn places_match_the_schema() {
    let grammar = scripture();
    let genesis = Some("Genesis");
    for (raw, places) in [
        ("Gen. 1:3", vec![place(genesis, &[1, 3], &[1, 3])]),
        ("gen 1:3", vec![place(genesis, &[1, 3], &[1, 3])]),
        ("Genesis 1:3-5", vec![place(genesis, &[1, 3], &[1, 5])]),
        (
            "Gen. 1:3-5, 8",
            vec![
                place(genesis, &[1, 3], &[1, 5]),
                place(genesis, &[1, 8], &[1, 8]),
            ],
        ),
        (
            "Gen. 1:3; 2:4",
            vec![
                place(genesis, &[1, 3], &[1, 3]),
                place(genesis, &[2, 4], &[2, 4]),
            ],
        ),
        (
            "BPHS 34:28–35:2",
            vec![place(Some("Parashara"), &[34, 28], &[35, 2])],
        ),
        (
            "1 Sam. 3:4",
            vec![place(Some("1 Samuel"), &[3, 4], &[3, 4])],
        ),
        ("Ch.34 v.28", vec![place(None, &[34, 28], &[34, 28])]),
        ("Ch. 34 v. 28", vec![place(None, &[34, 28], &[34, 28])]),
        ("Gen. IV:2", vec![place(genesis, &[4, 2], &[4, 2])]),
        ("Genesis 50", vec![place(genesis, &[50], &[50])]),
    ] {
        for text in [
            format!("so {raw}."),
            format!("So it is ({raw}) there."),
            format!("[{raw}]"),
        ] {
            let found = read(&text, &grammar);
            assert!(found.iter().all(|(own, _)| own == raw), "{text}: {found:?}");
            let found: Vec<_> = found.into_iter().map(|(_, reference)| reference).collect();
            assert_eq!(found, places, "{text}");
        }
    }
    assert_eq!(
        read("In Gen. 1:3, 8 people came", &grammar),
        [("Gen. 1:3".to_owned(), place(genesis, &[1, 3], &[1, 3]))]
    );
    for text in [
        "Degen. 1:3",
        "Gen. q",
        "`Gen. 1:3`",
        "Gen. 1:3.5",
        "generally 5:3",
    ] {
        let found = read(text, &grammar);
        assert!(
            found.iter().all(|(raw, _)| raw == "Gen. 1"),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn letters_and_signs() {
    let law = grammar(
        r#"{"locators": {"levels": ["section", "letter"], "patterns": ["§ {section}({letter})", "§ {section}"]}}"#,
    );
    assert_eq!(
        read("By § 12(b) and §7.", &law),
        [
            ("§ 12(b)".to_owned(), place(None, &[12, 2], &[12, 2])),
            ("§7".to_owned(), place(None, &[7], &[7]))
        ]
    );
    let lines = grammar(
        r#"{"locators": {"levels": ["section", "page", "line"], "patterns": ["sec. {section}, p. {page}, l. {line}"]}}"#,
    );
    assert_eq!(
        read("See sec. 3, p. 4, l. 5-9.", &lines),
        [(
            "sec. 3, p. 4, l. 5-9".to_owned(),
            place(None, &[3, 4, 5], &[3, 4, 9])
        )]
    );
}

#[test]
fn patterns_of_the_user() {
    let ours = grammar(
        r##"{"patterns": [{"name": "ticket", "regex": "\\bKB-(?P<id>\\d+)(?:, page (?P<page>\\d+))?"},
                         {"name": "nth", "regex": "#(?P<number>\\d+)#"}]}"##,
    );
    let citations = extract(
        "See KB-12, page 3 and #4# and [Source: KB-9] and `KB-1`.",
        &ours,
    )
    .citations;
    let forms: Vec<_> = citations.iter().map(|c| c.form.to_string()).collect();
    assert_eq!(forms, ["custom:ticket", "custom:nth", "named_source"]);
    let ticket = Reference::Id {
        id: "12".to_owned(),
        at: Some(Interval::new(3, 3)).into(),
    };
    assert_eq!(citations[0].reference, ticket);
    let fourth = Reference::Ordinal {
        number: 4,
        at: Position::default(),
    };
    assert_eq!(citations[1].reference, fourth);
}

#[test]
fn invalid_rules_are_rejected() {
    for (rules, why) in [
        (
            r#"{"patterns": [{"name": "a", "regex": "("}]}"#,
            "unclosed group",
        ),
        (
            r#"{"patterns": [{"name": "a", "regex": "x"}]}"#,
            "has no group",
        ),
        (
            r#"{"patterns": [{"name": "a", "regex": "(?P<who>x)"}]}"#,
            "\"who\"",
        ),
        (
            r#"{"patterns": [{"name": "a", "regex": "(?P<id>x*)"}]}"#,
            "empty string",
        ),
        (
            r#"{"patterns": [{"name": "A b", "regex": "(?P<id>x)"}]}"#,
            "a-z",
        ),
        (
            r#"{"patterns": [{"name": "a", "regex": "(?P<id>(a{1000}){1000})"}]}"#,
            "size limit",
        ),
        (
            r#"{"patterns": [{"name": "a", "regex": "(?P<id>x)(?=y)"}]}"#,
            "look-around",
        ),
        (
            r#"{"locators": {"levels": [], "patterns": ["x"]}}"#,
            "1 to 8 levels",
        ),
        (
            r#"{"locators": {"levels": ["a"], "patterns": ["{b}"]}}"#,
            "\"b\"",
        ),
        (
            r#"{"locators": {"levels": ["a", "b"], "patterns": ["{b}:{a}"]}}"#,
            "order",
        ),
        (
            r#"{"locators": {"levels": ["a", "b"], "patterns": ["{a}{b}"]}}"#,
            "between",
        ),
        (
            r#"{"locators": {"levels": ["a"], "patterns": ["{a"]}}"#,
            "brace",
        ),
        (
            r#"{"locators": {"levels": ["a", "b"], "patterns": ["{a} {b}"], "works": [{"name": "X"}, {"name": "x."}]}}"#,
            "be unique",
        ),
        (r#"{"families": {"elsewhere": true}}"#, "unknown field"),
    ] {
        let refusal = refusal(rules);
        assert!(refusal.contains(why), "{rules}: {refusal}");
    }
}

#[test]
fn mentions_in_prose() {
    let titled = grammar(
        r#"{"titles": [{"name": "q3.pdf", "aliases": ["Q3 report", "Q3"]}, {"name": "Annual Review"}], "positions": true}"#,
    );
    let names = |text: &str| -> Vec<(String, String)> {
        let citations = extract(text, &titled).citations.into_iter();
        let name = |c: reground_citations::ExtractedCitation| match (&c.form, &c.reference) {
            (Form::Mention, Reference::Mention { name }) => {
                Some((c.raw(text).to_owned(), name.clone()))
            }
            _ => None,
        };
        citations.filter_map(name).collect()
    };
    let pair = |raw: &str, name: &str| (raw.to_owned(), name.to_owned());
    assert_eq!(
        names("According to the Q3 doc, it grew."),
        [pair("Q3", "q3.pdf")]
    );
    assert_eq!(
        names("The q3 report says so."),
        [pair("q3 report", "q3.pdf")]
    );
    assert_eq!(
        names("The second section says so."),
        [pair("second section", "Annual Review")]
    );
    assert_eq!(names("The third section and Q30 and [Source: Q3]."), []);
}

/// A place, the bounds of Genesis, and two sources of it.
fn verdict(answer: &str) -> Status {
    let grammar = scripture();
    let locators = grammar.locators().unwrap();
    let range = |text: &str| locators.read(text);
    let lexemes = || Lexemes::from(vec!["light".to_owned()]);
    let source = |marker: &str, at: &str| Source {
        marker: marker.to_owned(),
        doc_id: "genesis".to_owned(),
        chunk_id: at.to_owned(),
        title: Some("The Beginning".to_owned()),
        locators: range(at),
        content: "Light.".to_owned(),
        lexemes: lexemes(),
        ..Source::default()
    };
    let sources = [source("A1", "Gen 1:1-5"), source("A2", "Gen 1:6-31")];
    let extraction = extract(answer, &grammar);
    let whole = [range("Gen 1:1-31").unwrap(), range("Gen 50:1-26").unwrap()];
    let look_up = |asked: DocumentRequest| {
        let known = matches!(&asked.target, Target::Locator(place) if place.work.as_deref() != Some("Parashara"));
        known.then(|| NamedDocument {
            corpus: String::new(),
            doc_id: "genesis".to_owned(),
            title: None,
            uri: None,
            page_count: None,
            version: None,
            place: None,
            bounds: Some(Bounds::of(&whole)),
            passages: Vec::new(),
            asked,
        })
    };
    let named: Vec<_> = document_requests(&extraction, &sources, &[])
        .into_iter()
        .filter_map(look_up)
        .collect();
    let claims = vec![lexemes(); extraction.claims.len()];
    let evidence = Evidence {
        cues: &Cues::LANGUAGE_FREE,
        sources: &sources,
        known: &[],
        named: &named,
        claims: &claims,
        rules: SupportRules {
            threshold: 0.5,
            other_source_margin: 0.2,
        },
    };
    let judged = judge(&extraction, &evidence).unwrap();
    assert_eq!(judged.len(), 1, "{answer}");
    judged[0].status
}

#[test]
fn places_are_checked_in_context_and_document() {
    for (answer, status) in [
        ("Light (Gen 1:3).", Status::ResolvedCurrent),
        ("Light (Genesis 1:7-9).", Status::ResolvedCurrent),
        ("Light (Ch.1 v.3).", Status::ResolvedCurrent),
        ("Light (Gen 51:1).", Status::OutOfBounds),
        ("Light (Gen 1:0).", Status::OutOfBounds),
        ("Light (Gen 1:30-32).", Status::OutOfBounds),
        ("Light (BPHS 1:1).", Status::UnknownId),
        ("Light [Source: The Begining].", Status::ResolvedCurrent),
    ] {
        assert_eq!(verdict(answer), status, "{answer}");
    }
    assert!(matches!(
        verdict("Light (Gen 50:3)."),
        Status::Unretrieved | Status::InvalidPage
    ));
}
