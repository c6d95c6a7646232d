//! Strategies for JSON that resembles the results of the APIs.

use proptest::prelude::*;
use reground_citations::{Api, import};
use serde_json::{Value, json};

const KEYS: &[&str] = &[
    "content",
    "citations",
    "text",
    "type",
    "start",
    "end",
    "document_ids",
    "sources",
    "id",
    "message",
    "annotations",
    "start_index",
    "end_index",
    "index",
    "url",
    "url_citation",
    "file_citation",
    "file_id",
    "output",
    "choices",
    "candidates",
    "groundingMetadata",
    "grounding_chunks",
    "groundingChunks",
    "groundingSupports",
    "segment",
    "startIndex",
    "endIndex",
    "groundingChunkIndices",
    "web",
    "uri",
    "generatedResponsePart",
    "textResponsePart",
    "span",
    "retrievedReferences",
    "location",
    "s3Location",
    "cited_text",
    "document_index",
    "document_title",
    "start_page_number",
    "end_page_number",
    "value",
    "x",
];
const TEXTS: &[&str] = &[
    "",
    "text",
    "char_location",
    "page_location",
    "web_search_result_location",
    "url_citation",
    "file_citation",
    "output_text",
    "A1",
    "doc_0",
    "One.",
    "Größe",
    "🙂",
    "https://a.b",
    "[1](https://a.b)",
];

/// An answer with characters of all widths.
pub fn answer() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "One.",
        " ",
        "Größe",
        "🙂",
        "\n\n",
        "字。",
        "[1](https://a.b)",
        "word ",
    ]);
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn offset() -> impl Strategy<Value = Value> {
    prop_oneof![8 => (0..40_u64).prop_map(Value::from), 1 => any::<u64>().prop_map(Value::from), 1 => any::<f64>().prop_map(Value::from), 1 => any::<i32>().prop_map(Value::from)]
}

/// Arbitrary JSON with the keys of the APIs.
pub fn json_soup() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        offset(),
        prop::sample::select(TEXTS).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        let key = prop::sample::select(KEYS).prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Results of the right shape with arbitrary offsets.
pub fn result_soup() -> impl Strategy<Value = Value> {
    let text = prop::sample::select(TEXTS);
    let entry = (offset(), offset(), text, any::<bool>());
    (0..5_usize, prop::collection::vec(entry, 0..6)).prop_map(|(api, entries)| {
        let each = entries.into_iter().map(|(start, end, text, says)| {
            let said = if says { json!(text) } else { Value::Null };
            match api {
                0 => json!({"start": start, "end": end, "text": said, "document_ids": [text, "doc_1"]}),
                1 => json!({"type": "url_citation", "start_index": start, "end_index": end, "url": text, "text": said}),
                2 => json!({"segment": {"startIndex": start, "endIndex": end, "text": said}, "groundingChunkIndices": [0]}),
                3 => json!({"generatedResponsePart": {"textResponsePart": {"text": said, "span": {"start": start, "end": end}}},
                            "retrievedReferences": [{"location": {"s3Location": {"uri": text}}}]}),
                _ => json!({"type": "text", "text": text, "citations": [{"type": "page_location", "document_index": start, "start_page_number": end}]}),
            }
        });
        let each: Vec<Value> = each.collect();
        match api {
            0 | 3 => json!({"citations": each}),
            1 => json!({"output": [{"content": [{"type": "output_text", "annotations": each}]}]}),
            2 => json!({"groundingMetadata": {"groundingChunks": [{"web": {"uri": "https://a.b"}}], "groundingSupports": each}}),
            _ => json!({"content": each}),
        }
    })
}

/// Checks the properties of every import.
pub fn check(result: &Value, answer: &str) -> Result<(), String> {
    let chars: Vec<char> = answer.chars().collect();
    let units: Vec<u16> = answer.encode_utf16().collect();
    for api in [None].into_iter().chain(Api::ALL.map(Some)) {
        let Ok(import) = import(result, answer, api) else {
            continue;
        };
        let extraction = &import.extraction;
        let fail = |what: &str| Err(format!("{what}: {import:?} of {result} in {answer:?}"));
        if import.quotes.len() != extraction.citations.len() {
            return fail("quotes differ in number");
        }
        let mut last = 0;
        for citation in &extraction.citations {
            let span = &citation.span;
            let raw = citation.raw(answer);
            let same = answer.get(span.bytes.clone()) == Some(raw)
                && chars
                    .get(span.chars.clone())
                    .is_some_and(|c| c.iter().collect::<String>() == raw)
                && units
                    .get(span.utf16.clone())
                    .is_some_and(|u| String::from_utf16_lossy(u) == raw);
            if !same || span.bytes.start < last {
                return fail("offsets do not give back the text");
            }
            last = span.bytes.start;
            let claim = citation
                .claim
                .map(|claim| extraction.claims.get(claim).map(|claim| claim.sentence));
            if citation
                .sentence
                .is_some_and(|s| s >= extraction.sentences.len())
                || claim.is_some_and(|s| s != citation.sentence)
            {
                return fail("sentence or claim is amiss");
            }
        }
        if extraction
            .sentences
            .iter()
            .any(|sentence| answer.get(sentence.clone()).is_none())
        {
            return fail("a sentence is not of the answer");
        }
    }
    Ok(())
}
