//! Export of answers in the shapes of APIs, and the import of the result.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::ops::Range;

use proptest::prelude::*;
use reground_citations::{
    Api, CitationString, DisplayedAnswer, ExportedCitation, ExportedSource, Grammar, Markup,
    PartsFormat, Position, Reference, StringKind, answer_parts, extract, import,
};
use serde_json::{Value, json};

fn source(
    index: usize,
    marker: &str,
    doc_id: &str,
    title: Option<&str>,
    uri: Option<&str>,
) -> ExportedSource {
    ExportedSource {
        index,
        marker: (!marker.is_empty()).then(|| marker.to_owned()),
        corpus: "help".to_owned(),
        doc_id: doc_id.to_owned(),
        chunk_id: Some("7".to_owned()),
        title: title.map(str::to_owned),
        uri: uri.map(str::to_owned),
    }
}

fn citation(citation_id: i64, range: Range<usize>, source: usize, quote: &str) -> ExportedCitation {
    ExportedCitation {
        citation_id,
        range,
        source,
        quote: Some(quote.to_owned()),
        status: "resolved_current".to_owned(),
        holds: Some(true),
        ..ExportedCitation::default()
    }
}

fn api(format: PartsFormat) -> Api {
    format.as_str().parse().unwrap()
}

/// Range, source and quote of each imported citation. Without an API, the shape decides.
fn imported(
    parts: &Value,
    text: &str,
    api: Option<Api>,
) -> Vec<(Range<usize>, Reference, Option<String>)> {
    let import = import(parts, text, api).unwrap();
    assert!(import.notes.is_empty(), "{:?}", import.notes);
    let citations = import.extraction.citations.into_iter().zip(import.quotes);
    citations
        .map(|(citation, quote)| (citation.span.bytes, citation.reference, quote))
        .collect()
}

/// The reference by which a source is found again.
fn reference(source: &ExportedSource) -> Reference {
    match &source.marker {
        Some(marker) => match marker.parse() {
            Ok(number) => Reference::Ordinal {
                number,
                at: Position::default(),
            },
            Err(_) => Reference::Marker {
                marker: marker.clone(),
                name: None,
                at: Position::default(),
            },
        },
        None => Reference::Document {
            name: source.doc_id.clone(),
            at: Position::default(),
        },
    }
}

/// An answer with citations of a web page and of a file.
const MILK: &str = "🐄 give milk. 牛 too.";

fn milk_parts(format: PartsFormat) -> Value {
    let sources = [
        source(
            0,
            "A1",
            "cows.md",
            Some("Cows"),
            Some("https://farm.example/cows"),
        ),
        source(1, "B1", "herd.pdf", None, Some("javascript:alert(1)")),
    ];
    let cited = [
        citation(1, 0..15, 0, "Cows give milk."),
        ExportedCitation {
            document: Some(3..9),
            ..citation(2, 0..15, 1, "Herds.")
        },
        ExportedCitation {
            pages: Some((2, 3)),
            ..citation(3, 16..24, 1, "牛")
        },
        ExportedCitation {
            quote: None,
            holds: Some(false),
            ..citation(4, 16..24, 1, "")
        },
    ];
    let parts = answer_parts(MILK, &cited, &sources, format);
    // An address that is not of the web is in no link.
    assert!(!parts.to_string().contains("javascript"));
    parts
}

#[test]
fn parts_of_openai() {
    let openai = milk_parts(PartsFormat::OpenAi);
    assert_eq!(openai[0]["type"], "output_text");
    assert_eq!(
        openai[0]["annotations"][0],
        json!({"type": "url_citation", "start_index": 0, "end_index": 12, "url": "https://farm.example/cows", "title": "Cows",
            "reground": {"citation_id": 1, "status": "resolved_current", "holds": true, "quote": "Cows give milk.", "marker": "A1", "corpus": "help",
                "doc_id": "cows.md", "chunk_id": "7"}})
    );
    assert_eq!(
        openai[0]["annotations"][3],
        json!({"type": "file_citation", "index": 19, "file_id": "herd.pdf", "filename": "herd.pdf",
            "reground": {"citation_id": 4, "status": "resolved_current", "holds": false, "marker": "B1", "corpus": "help", "doc_id": "herd.pdf", "chunk_id": "7",
                "start_index": 13, "end_index": 19}})
    );
}

#[test]
fn parts_of_anthropic() {
    let anthropic = milk_parts(PartsFormat::Anthropic);
    let texts: Vec<&str> = anthropic
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["🐄 give milk.", " ", "牛 too."]);
    let kinds: Vec<&Value> = [(0, 0), (0, 1), (2, 0), (2, 1)]
        .map(|(block, n): (usize, usize)| &anthropic[block]["citations"][n])
        .into_iter()
        .collect();
    let types: Vec<&str> = kinds
        .iter()
        .map(|kind| kind["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        types,
        [
            "search_result_location",
            "char_location",
            "page_location",
            "content_block_location"
        ]
    );
    assert_eq!(
        (
            &kinds[1]["start_char_index"],
            &kinds[1]["end_char_index"],
            &kinds[1]["document_title"]
        ),
        (&json!(3), &json!(9), &json!("herd.pdf"))
    );
    assert_eq!(
        (
            &kinds[2]["start_page_number"],
            &kinds[2]["end_page_number"],
            &kinds[2]["cited_text"]
        ),
        (&json!(2), &json!(4), &json!("牛"))
    );
}

#[test]
fn parts_of_vercel() {
    let vercel = milk_parts(PartsFormat::Vercel);
    assert_eq!(vercel.as_array().unwrap().len(), 3);
    assert_eq!(
        vercel[0],
        json!({"type": "text", "text": MILK, "state": "done"})
    );
    assert_eq!(
        (
            &vercel[1]["type"],
            &vercel[1]["sourceId"],
            &vercel[1]["url"],
            &vercel[1]["title"]
        ),
        (
            &json!("source-url"),
            &json!("A1"),
            &json!("https://farm.example/cows"),
            &json!("Cows")
        )
    );
    assert_eq!(
        (
            &vercel[2]["type"],
            &vercel[2]["mediaType"],
            &vercel[2]["filename"]
        ),
        (
            &json!("source-document"),
            &json!("application/pdf"),
            &json!("herd.pdf")
        )
    );
    assert_eq!(
        vercel[2]["providerMetadata"]["reground"]["citations"][1]["utf16_start"],
        14
    );
    assert_eq!(
        vercel[2]["providerMetadata"]["reground"]["citations"][1]["utf16_end"],
        20
    );
}

#[test]
fn parts_of_vercel_without_our_positions_are_for_the_whole_answer() {
    let parts = json!({"id": "m", "role": "assistant", "parts": [
        {"type": "text", "text": "Cows give milk."},
        {"type": "source-url", "sourceId": "1", "url": "https://farm.example/cows", "title": "Cows"},
        {"type": "source-document", "sourceId": "2", "mediaType": "application/pdf", "title": "Herds", "filename": "herd.pdf"},
        {"type": "source-url", "sourceId": "3"}]});
    let read = import(&parts, "Cows give milk.", None).unwrap();
    assert_eq!(read.api, Api::Vercel);
    let names: Vec<(Range<usize>, Reference)> = read
        .extraction
        .citations
        .iter()
        .map(|c| (c.span.bytes.clone(), c.reference.clone()))
        .collect();
    let document = |name: &str| Reference::Document {
        name: name.to_owned(),
        at: Position::default(),
    };
    assert_eq!(
        names,
        [
            (0..15, document("https://farm.example/cows")),
            (0..15, document("herd.pdf"))
        ]
    );
    assert_eq!(read.notes.len(), 3);
    let parts = json!([{"type": "source", "sourceType": "url", "id": "1", "url": "https://farm.example/cows"}]);
    assert_eq!(import(&parts, "Cows.", None).unwrap().api, Api::Vercel);
}

#[test]
fn an_answer_without_citations_is_one_text() {
    for format in PartsFormat::ALL {
        for text in ["", "Moo."] {
            let parts = answer_parts(text, &[], &[], format);
            assert_eq!(parts.as_array().unwrap().len(), 1);
            assert_eq!(parts[0]["text"], text);
            assert!(imported(&parts, text, Some(api(format))).is_empty());
        }
    }
}

fn any_source() -> impl Strategy<Value = ExportedSource> {
    let uri = prop_oneof![
        Just(None),
        Just(Some("install.md".to_owned())),
        "https://[a-z]{1,5}\\.example/[a-z🐄]{0,4}".prop_map(Some),
        "[hH][tT]{2}[pP]://x/\\PC{0,5}".prop_map(Some)
    ];
    let marker = prop_oneof![
        Just(None),
        "[A-Z]{1,3}[0-9]{1,3}".prop_map(Some),
        "[1-9][0-9]{0,4}".prop_map(Some),
        "[a-z][a-z0-9]{0,3}".prop_map(Some)
    ];
    (
        "[a-zA-Z0-9./ ()\\[\\]ü🐄]{0,10}[a-z]",
        proptest::option::of("\\PC{0,10}"),
        uri,
        marker,
        0usize..20,
        proptest::option::of("[0-9]{1,3}"),
    )
        .prop_map(
            |(doc_id, title, uri, marker, index, chunk_id)| ExportedSource {
                index,
                marker,
                doc_id,
                title,
                uri,
                chunk_id,
                corpus: if index % 3 == 0 {
                    String::new()
                } else {
                    "c".to_owned()
                },
            },
        )
}

/// Source, quote, position in the document and pages of a citation.
type Cited = (
    prop::sample::Index,
    Option<String>,
    Option<(usize, usize)>,
    Option<(u32, u32)>,
);

fn any_cited() -> impl Strategy<Value = Cited> {
    (
        any::<prop::sample::Index>(),
        proptest::option::of("[ \\PC\\n]{0,12}[a-z🐄]"),
        proptest::option::of((0usize..1000, 0usize..100)),
        proptest::option::of((1u32..50, 0u32..3)),
    )
}

fn exported(number: usize, range: Range<usize>, sources: usize, cited: &Cited) -> ExportedCitation {
    let (index, quote, chars, pages) = cited;
    ExportedCitation {
        citation_id: number as i64,
        range,
        source: index.index(sources),
        quote: quote.clone(),
        document: chars.map(|(start, length)| start..start + length),
        pages: pages.map(|(first, more)| (first, first + more)),
        status: "unsupported".to_owned(),
        holds: Some(number.is_multiple_of(2)),
    }
}

/// The citations of `stored`, as the import must return them.
fn expected(
    stored: &[ExportedCitation],
    sources: &[ExportedSource],
) -> Vec<(Range<usize>, Reference, Option<String>)> {
    let mut stored: Vec<&ExportedCitation> = stored.iter().collect();
    stored.sort_by_key(|citation| (citation.range.start, citation.range.end));
    let row = stored.into_iter();
    row.map(|citation| {
        (
            citation.range.clone(),
            reference(&sources[citation.source]),
            citation.quote.clone(),
        )
    })
    .collect()
}

/// Whether two citations have different ranges that overlap.
fn overlap(one: &ExportedCitation, other: &ExportedCitation) -> bool {
    let (one, other) = (&one.range, &other.range);
    one != other && one.start < other.end && other.start < one.end
}

/// Checks that ranges, sources and quotes come back from every format. Anthropic's blocks do not overlap, so there an overlapping range
/// becomes that of its block.
fn come_back(
    text: &str,
    stored: &[ExportedCitation],
    sources: &[ExportedSource],
) -> Result<(), TestCaseError> {
    let expected = expected(stored, sources);
    let overlaps = stored
        .iter()
        .any(|one| stored.iter().any(|other| overlap(one, other)));
    for format in PartsFormat::ALL {
        let parts = answer_parts(text, stored, sources, format);
        let mut read = imported(&parts, text, Some(api(format)));
        // Import sorts by position.
        read.sort_by_key(|(range, ..)| (range.start, range.end));
        if overlaps && format == PartsFormat::Anthropic {
            prop_assert_eq!(read.len(), expected.len());
            for (range, source, quote) in &expected {
                let came_back = read.iter().any(|(block, other, words)| {
                    block.start <= range.start
                        && range.end <= block.end
                        && (other, words) == (source, quote)
                });
                prop_assert!(came_back);
            }
        } else {
            prop_assert_eq!(read, expected.clone(), "{:?}", format);
        }
        let texts = parts.as_array().unwrap().iter();
        let texts = texts.filter_map(|part| part["text"].as_str());
        prop_assert_eq!(texts.collect::<String>(), text);
    }
    Ok(())
}

/// Answers with citation strings of many forms, emoji and ideographs.
fn answer() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zé牛🐄👩‍🌾]{1,6}", 3 => Just(" ".to_owned()), 2 => "[.!?。,;\\n-]{1,2}", 4 => "\\[[A-C][1-3]\\]", 1 => "\\[[A-C]1, [A-C]2\\]",
        1 => Just("[1]".to_owned()), 1 => Just("【4:0†source】".to_owned()), 1 => Just("¹²".to_owned()), 1 => Just("(Smith et al., 2020)".to_owned()),
        1 => Just("[Source: a.pdf, p. 3]".to_owned()), 1 => Just("<co: 0>x</co: 0>".to_owned()), 2 => "<co: [01]>|</co: [01]>|<co>|</co>",
        2 => "\\[span_[12]\\]\\((start|end)_span\\)", 1 => "<source id=\"1\">|</source>|<cite>1?|</cite>|\\[cite_start\\]|\\[cite: 1\\]", 1 => Just("[A1".to_owned()), 1 => Just("`[A1]`".to_owned()),
        1 => Just("\n\nSources:\n[1] One\n".to_owned()), 1 => "\\PC{0,5}",
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    /// Import and export are inverse: for a stored answer with any sources, ranges, sources and quotes come back from every format.
    #[test]
    fn import_is_the_inverse_of_export(
        answer in answer(), sources in proptest::collection::vec(any_source(), 1..5), cited in proptest::collection::vec(any_cited(), 60), omitted in any::<u64>(),
    ) {
        let extraction = extract(&answer, &Grammar::default());
        let strings: Vec<CitationString> = extraction.citations.iter().map(|citation| CitationString {
            bytes: citation.span.bytes.clone(),
            kind: StringKind::of(&citation.form, citation.raw(&answer), matches!(citation.reference, Reference::Malformed(_)), false),
            sentence: citation.sentence,
        }).collect();
        let markup = Markup::of(&answer, &Grammar::default());
        let displayed = DisplayedAnswer::of(&answer, &strings, &markup, &extraction.sentences);
        prop_assert_eq!(displayed.ranges.len(), strings.len());
        // Some citations have no source.
        let stored: Vec<ExportedCitation> = displayed.ranges.iter().zip(cited.iter().cycle()).enumerate()
            .filter(|(number, _)| omitted >> (number % 64) & 1 == 0)
            .map(|(number, (range, cited))| exported(number, range.clone(), sources.len(), cited)).collect();
        let spans = |citation: &ExportedCitation| markup.encloses(strings[citation.citation_id as usize].bytes.start);
        for one in &stored {
            prop_assert!(displayed.text.get(one.range.clone()).is_some());
            prop_assert!(stored.iter().all(|other| spans(one) || spans(other) || !overlap(one, other)));
        }
        come_back(&displayed.text, &stored, &sources)?;
        if !stored.is_empty() {
            for format in PartsFormat::ALL {
                let parts = answer_parts(&displayed.text, &stored, &sources, format);
                prop_assert_eq!(import(&parts, &displayed.text, None).unwrap().api, api(format));
            }
        }
    }

    /// Markup that the extraction read is not displayed, and the citations of closed markup cover what it encloses.
    #[test]
    fn no_markup_is_displayed(
        answer in "([a-zé🐄]{1,4}|[ .\n]|<co: [01]>|</co: [01]>|</co>|<source id=\"1\">|</source>|\\[span_[12]\\]\\((start|end)_span\\)){0,16}",
    ) {
        let extraction = extract(&answer, &Grammar::default());
        let markup = Markup::of(&answer, &Grammar::default());
        let strings: Vec<CitationString> = extraction.citations.iter().map(|citation| CitationString {
            bytes: citation.span.bytes.clone(), kind: StringKind::of(&citation.form, "", false, false), sentence: citation.sentence,
        }).collect();
        let text = DisplayedAnswer::of(&answer, &strings, &markup, &extraction.sentences).text;
        // End tags without a beginning stay.
        prop_assert!(!text.contains("<co: ") && !text.contains("<source") && !text.contains("_span)"), "{}", text);
    }

    /// The same for ranges that an API returned, which may overlap. Anthropic's blocks do not overlap, so there an overlapping range
    /// becomes that of its block.
    #[test]
    fn any_ranges_come_back(
        text in "([a-z牛🐄 .\\n]{0,6}|\\PC{0,4}){0,12}", sources in proptest::collection::vec(any_source(), 1..5),
        cited in proptest::collection::vec((any_cited(), any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..8),
    ) {
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let stored: Vec<ExportedCitation> = cited.iter().enumerate().map(|(number, (cited, one, other))| {
            let (one, other) = (*one.get(&ends), *other.get(&ends));
            exported(number, one.min(other)..one.max(other), sources.len(), cited)
        }).collect();
        come_back(&text, &stored, &sources)?;
    }
}
