//! Import of results of the APIs, and of invalid results.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests are tests"
)]

mod any_json;

use any_json::{json_soup, result_soup};
use proptest::prelude::*;
use reground_citations::{
    Api, Import, ImportProblem, Interval, Position, Reference, UnknownApi, import,
};
use reground_interrupt::{CHECK_INTERVAL, test_support};
use serde_json::{Value, json};

fn read(result: &Value, answer: &str, api: Api) -> Import {
    let told = import(result, answer, Some(api)).unwrap();
    let found = import(result, answer, None).unwrap();
    assert_eq!(told, found, "the shape says another API");
    told
}

/// Raw text, reference, claim and quote of each citation.
fn rows<'a>(
    import: &'a Import,
    answer: &'a str,
) -> Vec<(&'a str, &'a Reference, Option<&'a str>, Option<&'a str>)> {
    let extraction = &import.extraction;
    let row = extraction.citations.iter().zip(&import.quotes);
    row.map(|(c, quote)| {
        (
            c.raw(answer),
            &c.reference,
            extraction.claim_of(c),
            quote.as_deref(),
        )
    })
    .collect()
}

fn document(name: &str) -> Reference {
    Reference::Document {
        name: name.to_owned(),
        at: Position::default(),
    }
}

fn ordinal(number: u32) -> Reference {
    Reference::Ordinal {
        number,
        at: Position::default(),
    }
}

#[test]
fn anthropic_cites_blocks() {
    let answer = "Grass is green. The sky is blue 🙂 and wide. Both are so.";
    let result = json!({"type": "message", "role": "assistant", "content": [
        {"type": "text", "text": "Grass is green.", "citations": [
            {"type": "char_location", "cited_text": "The grass is green.", "document_index": 0, "document_title": null,
             "start_char_index": 0, "end_char_index": 20}]},
        {"type": "text", "text": " The sky is blue 🙂 and wide."},
        {"type": "text", "text": " Both are so.", "citations": [
            {"type": "page_location", "cited_text": "So.", "document_index": 1, "document_title": "sky.pdf", "start_page_number": 2, "end_page_number": 4},
            {"type": "content_block_location", "cited_text": "x", "document_index": 2, "document_title": "B12", "start_block_index": 0, "end_block_index": 1},
            {"type": "search_result_location", "cited_text": "y", "source": "https://a.b/c", "title": "T", "search_result_index": 0, "start_block_index": 0, "end_block_index": 0},
            {"type": "web_search_result_location", "cited_text": "z", "url": "https://d.e", "title": "U", "encrypted_index": "…"}]},
    ]});
    let import = read(&result, answer, Api::Anthropic);
    let pages = Some(Interval { start: 2, end: 3 });
    let sky = Reference::Document {
        name: "sky.pdf".into(),
        at: pages.into(),
    };
    let marker = Reference::Marker {
        marker: "B12".into(),
        name: Some("B12".into()),
        at: Position::default(),
    };
    let last = Some("Both are so.");
    assert_eq!(
        rows(&import, answer),
        [
            (
                "Grass is green.",
                &ordinal(1),
                Some("Grass is green."),
                Some("The grass is green.")
            ),
            (" Both are so.", &sky, last, Some("So.")),
            (" Both are so.", &marker, last, Some("x")),
            (" Both are so.", &document("https://a.b/c"), last, Some("y")),
            (" Both are so.", &document("https://d.e"), last, Some("z")),
        ]
    );
    assert_eq!(import.notes, []);
    // A list alone is about the whole text.
    let list = &result["content"][0]["citations"];
    let text = "Grass is green.";
    let import = read(list, text, Api::Anthropic);
    assert_eq!(import.extraction.citations[0].raw(text), text);
}

#[test]
fn cohere_cites_phrases() {
    let answer = "🙂 Emperor penguins are the tallest. They live in Antarctica.";
    let result = json!({"text": answer, "citations": [
        {"start": 2, "end": 18, "text": "Emperor penguins", "document_ids": ["doc_0"]},
        {"start": 50, "end": 60, "text": "Antarctica", "document_ids": ["doc_1", "A7", "penguins.md"]}]});
    let import = read(&result, answer, Api::Cohere);
    let marker = Reference::Marker {
        marker: "A7".into(),
        name: Some("A7".into()),
        at: Position::default(),
    };
    let live = Some("They live in Antarctica.");
    assert_eq!(
        rows(&import, answer),
        [
            (
                "Emperor penguins",
                &ordinal(1),
                Some("🙂 Emperor penguins are the tallest."),
                None
            ),
            ("Antarctica", &ordinal(2), live, None),
            ("Antarctica", &marker, live, None),
            ("Antarctica", &document("penguins.md"), live, None),
        ]
    );
    // Citations of one sentence share its claim.
    assert_eq!(import.extraction.claims.len(), 2);
    // Version 2, with offsets in UTF-16 that only the text reveals.
    let result = json!({"message": {"role": "assistant", "content": [], "citations": [
        {"start": 3, "end": 19, "text": "Emperor penguins", "sources": [{"type": "document", "id": "doc_4", "document": {}}], "type": "TEXT_CONTENT"},
        {"start": 0, "end": 1, "text": "x", "sources": [{"id": "y"}], "type": "PLAN"}]}});
    let import = read(&result, answer, Api::Cohere);
    assert_eq!(
        rows(&import, answer),
        [(
            "Emperor penguins",
            &ordinal(5),
            Some("🙂 Emperor penguins are the tallest."),
            None
        )]
    );
    assert_eq!(import.notes.len(), 1);
    assert_eq!(
        (import.notes[0].what, import.notes[0].at.as_str()),
        (ImportProblem::UnknownKind, "/message/citations/1")
    );
}

#[test]
fn openai_cites_marks_and_positions() {
    // Chat and Responses: the link is the mark.
    let answer = "🙂 Rye is hardy. ([a.b](https://a.b/c))";
    let start = answer.chars().count() - "([a.b](https://a.b/c))".len();
    let citation = |start: usize, end: usize| json!({"type": "url_citation", "start_index": start, "end_index": end, "url": "https://a.b/c", "title": "A"});
    let flat = json!({"output": [{"type": "web_search_call"}, {"type": "message", "content": [
        {"type": "output_text", "text": answer, "annotations": [citation(start, start + 22)]}]}]});
    let expected = (
        "([a.b](https://a.b/c))",
        &document("https://a.b/c"),
        Some("🙂 Rye is hardy."),
        None,
    );
    assert_eq!(rows(&read(&flat, answer, Api::OpenAi), answer), [expected]);
    let nested = json!({"choices": [{"message": {"content": answer, "annotations": [
        {"type": "url_citation", "url_citation": {"start_index": start + 1, "end_index": start + 23, "url": "https://a.b/c", "title": "A"}}]}}]});
    // Offsets in UTF-16, which the address reveals.
    assert_eq!(
        rows(&read(&nested, answer, Api::OpenAi), answer),
        [expected]
    );
    // Assistants: the mark is in the text.
    let answer = "Rye is hardy【4:0†source】. See sandbox:/x.csv";
    let message = json!({"content": [{"type": "text", "text": {"value": answer, "annotations": [
        {"type": "file_citation", "text": "【4:0†source】", "start_index": 12, "end_index": 24, "file_citation": {"file_id": "file-1", "quote": "rye is hardy"}},
        {"type": "file_path", "text": "sandbox:/x.csv", "start_index": 30, "end_index": 44, "file_path": {"file_id": "file-2"}}]}}]});
    let import = read(&message, answer, Api::OpenAi);
    let id = |id: &str| Reference::Id {
        id: id.to_owned(),
        at: Position::default(),
    };
    assert_eq!(
        rows(&import, answer)[0],
        (
            "【4:0†source】",
            &id("file-1"),
            Some("Rye is hardy."),
            Some("rye is hardy")
        )
    );
    assert_eq!(rows(&import, answer)[1].1, &id("file-2"));
    // A file citation of Responses has a single position.
    let list =
        json!([{"type": "file_citation", "index": 13, "file_id": "file-1", "filename": "rye.pdf"}]);
    let import = read(&list, "Rye is hardy. Oats are not.", Api::OpenAi);
    assert_eq!(
        rows(&import, answer),
        [("", &document("rye.pdf"), Some("Rye is hardy."), None)]
    );
}

#[test]
fn gemini_counts_bytes() {
    let answer = "Größe zählt. 大きい。 End.";
    let from = answer.find('大').unwrap();
    let result = json!({"candidates": [{"content": {}, "groundingMetadata": {
        "groundingChunks": [{"web": {"uri": "https://a.b", "title": "a.b"}},
                            {"retrievedContext": {"uri": "gs://x/y.pdf", "title": "y", "text": "Big.", "ragChunk": {"pageSpan": {"firstPage": 3, "lastPage": 4}}}}],
        "groundingSupports": [
            {"segment": {"endIndex": 15, "text": "Größe zählt."}, "groundingChunkIndices": [0], "confidenceScores": [0.9]},
            {"segment": {"startIndex": from, "endIndex": from + 12}, "groundingChunkIndices": [1, 0, 7]},
            {"segment": {"startIndex": from + 1, "endIndex": from + 2}, "groundingChunkIndices": [0]}]}}]});
    let import = read(&result, answer, Api::Gemini);
    let big = Reference::Document {
        name: "gs://x/y.pdf".into(),
        at: Some(Interval { start: 3, end: 4 }).into(),
    };
    assert_eq!(
        rows(&import, answer),
        [
            (
                "Größe zählt.",
                &document("https://a.b"),
                Some("Größe zählt."),
                None
            ),
            ("大", &document("https://a.b"), Some("大きい。"), None),
            ("大きい。", &big, Some("大きい。"), Some("Big.")),
            ("大きい。", &document("https://a.b"), Some("大きい。"), None),
        ]
    );
    let notes: Vec<_> = import.notes.iter().map(|note| note.what).collect();
    assert_eq!(
        notes,
        [ImportProblem::NoSource, ImportProblem::InsideCharacter]
    );
}

#[test]
fn the_text_decides_the_span_of_bedrock() {
    let answer = "Rye is hardy. Oats are not.";
    let part = |start: usize, end: usize, text: &str| json!({"textResponsePart": {"text": text, "span": {"start": start, "end": end}}});
    let reference = json!({"content": {"text": "Rye survives frost."}, "location": {"type": "S3", "s3Location": {"uri": "s3://b/rye.pdf"}},
                           "metadata": {"x-amz-bedrock-kb-document-page-number": 7.0}});
    let result = json!({"output": {"text": answer}, "citations": [
        {"generatedResponsePart": part(0, 12, "Rye is hardy."), "retrievedReferences": [reference]},
        {"generatedResponsePart": part(14, 26, "Oats are not."), "retrievedReferences": []}]});
    let import = read(&result, answer, Api::Bedrock);
    let rye = Reference::Document {
        name: "s3://b/rye.pdf".into(),
        at: Some(Interval { start: 7, end: 7 }).into(),
    };
    assert_eq!(
        rows(&import, answer),
        [(
            "Rye is hardy.",
            &rye,
            Some("Rye is hardy."),
            Some("Rye survives frost.")
        )]
    );
    assert_eq!(import.notes[0].what, ImportProblem::NoSource);
}

#[test]
fn invalid_offsets_are_moved_and_noted() {
    let citation = |start: Value, end: Value, text: Value| json!([{"start": start, "end": end, "text": text, "document_ids": ["x"]}]);
    let case = |start, end, text| {
        let import = read(&citation(start, end, text), "Short text.", Api::Cohere);
        (
            import.extraction.citations[0].raw("Short text.").to_owned(),
            import.notes[0].what,
        )
    };
    assert_eq!(
        case(json!(6), json!(99), json!(null)),
        ("text.".into(), ImportProblem::OutsideText)
    );
    assert_eq!(
        case(json!(u64::MAX), json!(u64::MAX), json!(null)),
        (String::new(), ImportProblem::OutsideText)
    );
    assert_eq!(
        case(json!(5), json!(2), json!(null)),
        (String::new(), ImportProblem::OutsideText)
    );
    assert_eq!(
        case(json!(0), json!(5), json!("Other")),
        ("Short".into(), ImportProblem::OtherText)
    );
    assert_eq!(
        case(json!(-1), json!(5), json!(null)),
        ("Short text.".into(), ImportProblem::NoPlace)
    );
    assert_eq!(
        case(json!("0"), json!(1.5), json!(null)),
        ("Short text.".into(), ImportProblem::NoPlace)
    );
}

#[test]
fn unknown_results_are_an_error() {
    for result in [
        json!(null),
        json!([]),
        json!({}),
        json!({"citations": []}),
        json!("x"),
        json!([1, [2]]),
        json!({"content": "text"}),
    ] {
        assert_eq!(
            import(&result, "x", None),
            Err(UnknownApi::Shape),
            "{result}"
        );
        for api in Api::ALL {
            assert!(
                import(&result, "x", Some(api))
                    .unwrap()
                    .extraction
                    .citations
                    .is_empty()
            );
        }
    }
    for api in Api::ALL {
        assert_eq!(api.as_str().parse(), Ok(api));
    }
    assert_eq!("bard".parse::<Api>(), Err(UnknownApi::Name));
}

#[test]
fn importing_checks_for_interrupts() {
    let result = json!([{"start": 0, "end": 9, "document_ids": ["x"]}]);
    for unit in test_support::UNITS {
        let answer = test_support::text_of(unit, 4 * CHECK_INTERVAL);
        let checks = test_support::measure(|| import(&result, &answer, None));
        assert!(checks.count >= 8, "{unit:?}: {checks:?}");
    }
}

#[test]
fn citations_of_one_sentence_share_its_claim() {
    let answer = "word ".repeat(10_000);
    let citations: Vec<_> = (0..10_000)
        .map(|n| json!({"start": n, "end": n + 1, "document_ids": ["x"]}))
        .collect();
    let import = read(&json!({"citations": citations}), &answer, Api::Cohere);
    assert_eq!(
        (
            import.extraction.citations.len(),
            import.extraction.claims.len()
        ),
        (10_000, 1)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn any_result_is_read_or_noted(result in prop_oneof![json_soup(), result_soup()], answer in any_json::answer()) {
        if let Err(why) = any_json::check(&result, &answer) {
            return Err(TestCaseError::fail(why));
        }
    }
}
