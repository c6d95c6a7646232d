//! All forms of citations and the sources that they name.

use reground_citations::{
    Extraction, Families, Form, Grammar, Interval, Malformed, Position, Reference, extract,
};

fn ordinals(numbers: &[u32]) -> Vec<Reference> {
    let ordinal = |&number| Reference::Ordinal {
        number,
        at: Position::default(),
    };
    numbers.iter().map(ordinal).collect()
}

fn result(turn: u32, kind: &str, number: u32) -> Reference {
    Reference::Result {
        turn,
        kind: kind.to_owned(),
        number,
    }
}

fn document(name: &str) -> Reference {
    Reference::Document {
        name: name.to_owned(),
        at: Position::default(),
    }
}

fn id(id: &str) -> Reference {
    Reference::Id {
        id: id.to_owned(),
        at: Position::default(),
    }
}

fn read(text: &str) -> Extraction {
    extract(text, &Families::ALL)
}

/// Checks the form, string and references of the only citation string.
fn check(text: &str, raw: &str, form: &Form, references: &[Reference]) {
    let extraction = read(text);
    let citations = &extraction.citations;
    let found: Vec<_> = citations.iter().map(|c| c.reference.clone()).collect();
    assert_eq!(found, references, "{text}");
    for citation in citations {
        assert_eq!((citation.raw(text), &citation.form), (raw, form), "{text}");
        assert_eq!(citation.family, form.family());
    }
}

#[test]
fn numbers_in_every_script_and_bracket() {
    for (raw, form, numbers) in [
        ("[1]", Form::Number, &[1][..]),
        ("【1】", Form::Number, &[1]),
        ("［１］", Form::Number, &[1]),
        ("[١٢]", Form::Number, &[12]),
        ("[१, २]", Form::Number, &[1, 2]),
        ("[1, 2]", Form::Number, &[1, 2]),
        ("[1 and 3]", Form::Number, &[1, 3]),
        ("[1 und 3]", Form::Number, &[1, 3]),
        ("[1-3]", Form::Number, &[1, 2, 3]),
        ("[1–3, 7]", Form::Number, &[1, 2, 3, 7]),
        ("[[1]]", Form::DoubleBracket, &[1]),
        ("[[1]](https://a.example)", Form::LinkedNumber, &[1]),
        ("[1](https://a.example)", Form::LinkedNumber, &[1]),
        ("[1](#id)", Form::LinkedNumber, &[1]),
    ] {
        check(
            &format!("Water boils {raw}."),
            raw,
            &form,
            &ordinals(numbers),
        );
    }
}

#[test]
fn raised_and_circled_numbers() {
    for (text, raw, form, numbers) in [
        ("Water boils①。", "①", Form::CircledNumber, &[1][..]),
        ("Water boils ⑳.", "⑳", Form::CircledNumber, &[20]),
        ("Water boils¹².", "¹²", Form::Superscript, &[12]),
        ("Water boils.³ Then", "³", Form::Superscript, &[3]),
        ("Water boils¹,³.", "¹,³", Form::Superscript, &[1, 3]),
        ("Water boils¹⁻³.", "¹⁻³", Form::Superscript, &[1, 2, 3]),
    ] {
        check(text, raw, &form, &ordinals(numbers));
    }
    for text in [
        "① First\n② Second",
        "They are: ①one; ②two",
        "A field of 3 km² and 10³ m³, R² = 1, Ca²⁺, (a+b)², 3.² and 12 meters²",
    ] {
        assert_eq!(read(text).citations, [], "{text}");
    }
}

#[test]
fn forms_of_other_systems() {
    for (raw, form, numbers) in [
        ("[ID:3]", Form::RagflowId, &[4][..]),
        ("[ID: 3]", Form::RagflowId, &[4]),
        ("(ID: 3)", Form::RagflowId, &[4]),
        ("【ID: 3】", Form::RagflowId, &[4]),
        ("[ID:0, ID:5]", Form::RagflowId, &[1, 6]),
        ("ref3", Form::RagflowRef, &[4]),
        ("[ref3]", Form::RagflowRef, &[4]),
        ("【4:0†source】", Form::DaggerPair, &[1]),
        ("【12†source】", Form::Dagger, &[12]),
        ("【85†L261-269】", Form::Dagger, &[85]),
        ("[cite: 1, 2]", Form::GeminiCite, &[1, 2]),
        ("[citation:1]", Form::LabelledNumber, &[1]),
        ("{{citation:1}}", Form::LabelledNumber, &[1]),
        ("[web:1]", Form::LabelledNumber, &[1]),
        ("[web:1, web:2]", Form::LabelledNumber, &[1, 2]),
        ("[attached_file:1]", Form::LabelledNumber, &[1]),
        ("[Source: 2]", Form::LabelledNumber, &[2]),
        ("[doc1]", Form::DocNumber, &[1]),
        ("[^1]", Form::Footnote, &[1]),
        ("[^1^]", Form::Footnote, &[1]),
        ("Source 1", Form::SourceNumber, &[1]),
        ("SOURCE 1", Form::SourceNumber, &[1]),
        ("Sources 1 and 3", Form::SourceNumber, &[1, 3]),
        ("(Source 1)", Form::SourceNumber, &[1]),
        ("<source id=\"1\">", Form::SourceTag, &[1]),
    ] {
        check(
            &format!("water boils, {raw}."),
            raw,
            &form,
            &ordinals(numbers),
        );
    }
    for (raw, form, references) in [
        ("[e41ac2d]", Form::ShortId, vec![id("e41ac2d")]),
        (
            "【3†report.pdf】",
            Form::Dagger,
            vec![document("report.pdf")],
        ),
        (
            "turn0search3",
            Form::TurnResult,
            vec![result(0, "search", 4)],
        ),
        (
            "citeturn0search0turn1news1",
            Form::TurnResult,
            vec![result(0, "search", 1), result(1, "news", 2)],
        ),
        (
            "\u{e200}cite\u{e202}turn0search0\u{e202}turn0search1\u{e201}",
            Form::PrivateUse,
            vec![result(0, "search", 1), result(0, "search", 2)],
        ),
        (
            "\u{e200}filecite\u{e202}turn0file2\u{e202}L3-L9\u{e201}",
            Form::PrivateUse,
            vec![result(0, "file", 3)],
        ),
        (
            "\u{e200}cite",
            Form::PrivateUse,
            vec![Reference::Malformed(Malformed::Unclosed)],
        ),
    ] {
        check(&format!("Water boils {raw}."), raw, &form, &references);
    }
    for text in [
        "[warning] [section] [1234567] [deadbeef] [E41AC2D]",
        "Open Source 2.0, the source 3, xref3, ref3x, ref2.5, href1",
        "return0search0x and <color> and <code> and {{name}} and {{1}}",
        "[file] [doc] [web] [ID] [id: abc]",
    ] {
        assert_eq!(read(text).citations, [], "{text}");
    }
}

#[test]
fn markup_supports_the_enclosed_text() {
    for (text, raw, form, numbers, claim) in [
        (
            "It is hot. <co: 0,1>Water boils</co: 0,1> there.",
            "<co: 0,1>",
            Form::CohereSpan,
            &[1, 2][..],
            "Water boils",
        ),
        (
            "<cite index=\"2\">Water boils</cite> there.",
            "<cite index=\"2\">",
            Form::CiteTag,
            &[2],
            "Water boils",
        ),
        (
            "Water boils <cite>3</cite>.",
            "<cite>3",
            Form::CiteTag,
            &[3],
            "Water boils.",
        ),
        (
            "<source id=\"1\">Water boils</source> there.",
            "<source id=\"1\">",
            Form::SourceTag,
            &[1],
            "Water boils",
        ),
        (
            "So [span_1](start_span)water boils[span_1](end_span) there.",
            "[span_1](start_span)",
            Form::GeminiSpan,
            &[1],
            "water boils",
        ),
        (
            "[cite_start]Water boils.[cite: 2]",
            "[cite: 2]",
            Form::GeminiCite,
            &[2],
            "Water boils.",
        ),
    ] {
        check(text, raw, &form, &ordinals(numbers));
        let extraction = read(text);
        for citation in &extraction.citations {
            assert_eq!(extraction.claim_of(citation), Some(claim), "{text}");
        }
    }
    let bare = "<cite>Water boils</cite> there.";
    let extraction = read(bare);
    assert_eq!(
        extraction.claim_of(&extraction.citations[0]),
        Some("Water boils")
    );
    assert_eq!(read("<cite>Water boils [1]</cite>.").citations.len(), 1);
}

#[test]
fn footnotes_cite_what_their_notes_name() {
    let note = |note: &str| {
        let text = format!("Water boils [^a].\n\n[^a]: {note}\n");
        let extraction = read(&text);
        assert_eq!(extraction.citations.len(), 1, "{text}");
        extraction.citations[0].reference.clone()
    };
    assert_eq!(
        note("https://a.example/b."),
        document("https://a.example/b")
    );
    assert_eq!(
        note("See <https://a.example/b>"),
        document("https://a.example/b")
    );
    let paged = Reference::Document {
        name: "Report".to_owned(),
        at: Some(Interval::new(3, 4)).into(),
    };
    assert_eq!(note("Report, pp. 3-4"), paged);
    assert_eq!(note("Source: Report, pp. 3-4"), paged);
    let marker = Reference::Marker {
        marker: "A1".to_owned(),
        name: None,
        at: Position::default(),
    };
    assert_eq!(note("[A1]"), marker);
    assert_eq!(read("Water boils [^a].").citations[0].reference, id("a"));
}

#[test]
fn a_trailing_list_cites_for_the_whole_answer() {
    for text in [
        "Water boils.\n\nCitation: [p1, p2]",
        "Water boils.\n**Sources:** [p1, p2]\n",
    ] {
        check(text, "[p1, p2]", &Form::TrailingList, &[id("p1"), id("p2")]);
        assert!(read(text).citations.iter().all(|c| c.claim.is_none()));
    }
    let text = "Water boils.\n\nCitation: [A1, B2]";
    assert!(
        read(text)
            .citations
            .iter()
            .all(|c| c.form == Form::Marker && c.claim.is_none())
    );
}

#[test]
fn forms_round_trip_by_name() {
    for form in Form::ALL
        .into_iter()
        .chain([Form::Custom("ours".to_owned())])
    {
        let name = serde_json::to_value(&form).unwrap();
        assert_eq!(serde_json::from_value::<Form>(name.clone()).unwrap(), form);
        assert_eq!(name.as_str(), Some(form.to_string().as_str()));
    }
    assert!(serde_json::from_str::<Form>("\"elsewhere\"").is_err());
    assert!(serde_json::from_str::<Families>("{\"elsewhere\": true}").is_err());
    let families: Families = serde_json::from_str("{\"ordinal\": false}").unwrap();
    assert_eq!(extract("[1] [A1]", &families).citations.len(), 1);
    assert_eq!(extract("[1] [A1]", &Grammar::default()).citations.len(), 2);
}
