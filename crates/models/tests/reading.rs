//! Strict reading: what is accepted, each refusal with its message, and arbitrary input.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "shared functions of tests"
)]

use proptest::prelude::*;
use reground_metrics::factuality::verdicts::Entailment;
use reground_models::{decompose, entail};
use serde_json::{Value, json};

fn refusal<T: std::fmt::Debug>(read: Result<T, impl ToString>) -> String {
    read.unwrap_err().to_string()
}

#[test]
fn statements_are_read_in_order_and_trimmed() {
    let read =
        decompose::read("\n {\"statements\": [\" Ada wrote it. \", \"Zürich liegt am See.\"]}\n");
    assert_eq!(read.unwrap(), ["Ada wrote it.", "Zürich liegt am See."]);
    assert_eq!(
        decompose::read(r#"{"statements": []}"#).unwrap(),
        Vec::<String>::new()
    );
    let full = json!({"statements": vec!["x"; decompose::MAX_STATEMENTS]}).to_string();
    assert_eq!(decompose::read(&full).unwrap().len(), 200);
    let result = json!({"content": "{\"statements\": [\"x\"]}"});
    assert_eq!(decompose::read_result(&result).unwrap(), ["x"]);
}

#[test]
fn anything_but_one_object_is_refused() {
    let message = "the answer must be one JSON object, without text or code marks around it";
    // The third is a list of the fields in order, which derived readers accept for an object.
    for content in [
        "",
        "[]",
        r#"[["x"]]"#,
        "```json\n{}\n```",
        "\u{a0}{}",
        "null",
        "\u{feff}{}",
    ] {
        assert_eq!(refusal(decompose::read(content)), message, "{content}");
    }
    for (content, message) in [
        (
            r#"{"statements": ["x"]} Done."#,
            "trailing characters at line 1 column 23",
        ),
        (
            r#"{"statements": ["x"]}{}"#,
            "trailing characters at line 1 column 22",
        ),
        (
            r#"{"statements": ["x""#,
            "EOF while parsing a list at line 1 column 19",
        ),
        (
            r#"{'statements': []}"#,
            "key must be a string at line 1 column 2",
        ),
    ] {
        let expected = format!("the answer is not valid JSON: {message}");
        assert_eq!(refusal(decompose::read(content)), expected, "{content}");
    }
    let message = "the result must be an object with only \"content\", a string";
    for result in [
        json!(null),
        json!({}),
        json!({"content": 1}),
        json!({"content": "{}", "x": 1}),
        json!("{}"),
    ] {
        assert_eq!(
            refusal(decompose::read_result(&result)),
            message,
            "{result}"
        );
    }
}

#[test]
fn unusable_statements_are_refused_with_their_reason() {
    let too_many = json!({"statements": vec!["x"; decompose::MAX_STATEMENTS + 1]}).to_string();
    let array = "\"statements\" must be an array, but is";
    for (content, message) in [
        ("{}", "the answer lacks the key \"statements\"".to_owned()),
        (
            r#"{"statements": [], "note": 1}"#,
            "the answer has a key other than statements".to_owned(),
        ),
        (
            r#"{"Statements": []}"#,
            "the answer has a key other than statements".to_owned(),
        ),
        (
            r#"{"statements": [], "statements": ["x"]}"#,
            "the answer has the key \"statements\" twice".to_owned(),
        ),
        (r#"{"statements": null}"#, format!("{array} null")),
        (r#"{"statements": "x"}"#, format!("{array} a string")),
        (
            r#"{"statements": {"0": "x"}}"#,
            format!("{array} an object"),
        ),
        (
            r#"{"statements": ["x", 1]}"#,
            "statement 2 must be a string, but is a number".to_owned(),
        ),
        (
            r#"{"statements": [["x"]]}"#,
            "statement 1 must be a string, but is an array".to_owned(),
        ),
        (
            r#"{"statements": [true]}"#,
            "statement 1 must be a string, but is a boolean".to_owned(),
        ),
        (
            r#"{"statements": ["x", ""]}"#,
            "statement 2 is empty".to_owned(),
        ),
        (
            "{\"statements\": [\"\u{a0} \\n\"]}",
            "statement 1 is empty".to_owned(),
        ),
        (
            r#"{"statements": ["a\u0000b"]}"#,
            "statement 1 contains a zero character".to_owned(),
        ),
        (
            &too_many,
            "the answer has 201 statements, more than 200".to_owned(),
        ),
    ] {
        assert_eq!(refusal(decompose::read(content)), message, "{content}");
    }
}

#[test]
fn verdicts_are_read_from_each_form_of_a_result() {
    let read = |result: Value| entail::read_result(&result, "héllo").unwrap();
    for verdict in Entailment::ALL {
        assert_eq!(
            read(json!({"content": json!({"verdict": verdict}).to_string()})),
            verdict
        );
    }
    // A classifier's probability holds from a half.
    for (probability, verdict) in [
        (0.0, Entailment::Neutral),
        (0.499_999, Entailment::Neutral),
        (0.5, Entailment::Entailed),
        (1.0, Entailment::Entailed),
    ] {
        assert_eq!(read(json!({"probability": probability})), verdict);
        assert_eq!(entail::verdict_of(probability).unwrap(), verdict);
    }
    assert_eq!(read(json!({"probability": 1})), Entailment::Entailed);
    // Five characters, six bytes.
    let span =
        |end: u64, probability: f64| json!({"start": 1, "end": end, "probability": probability});
    assert_eq!(read(json!({"spans": []})), Entailment::Entailed);
    assert_eq!(
        read(json!({"spans": [span(5, 0.49)]})),
        Entailment::Entailed
    );
    assert_eq!(
        read(json!({"spans": [span(2, 0.1), span(5, 0.5)]})),
        Entailment::Neutral
    );
}

#[test]
fn unusable_verdicts_are_refused_with_their_reason() {
    let values = "\"verdict\" must be one of \"entailed\", \"contradicted\" and \"neutral\"";
    for (content, message) in [
        (r#"{"verdict": "Entailed"}"#, values),
        (r#"{"verdict": " entailed"}"#, values),
        (
            r#"{"verdict": ["entailed"]}"#,
            "\"verdict\" must be a string, but is an array",
        ),
        (
            r#"{"verdict": "entailed", "why": "x"}"#,
            "the answer has a key other than verdict",
        ),
        (
            "entailed",
            "the answer must be one JSON object, without text or code marks around it",
        ),
        (
            "\"entailed\"",
            "the answer must be one JSON object, without text or code marks around it",
        ),
    ] {
        assert_eq!(refusal(entail::read(content)), message, "{content}");
    }
    let read = |result: Value| refusal(entail::read_result(&result, "hello"));
    let forms = "the result must be an object with only \"content\", \"probability\" or \"spans\"";
    assert_eq!(read(json!({"probability": 0.7, "spans": []})), forms);
    assert_eq!(read(json!({"probability": "0.7"})), forms);
    assert_eq!(read(json!([])), forms);
    let probability = "the probability must be a probability between 0 and 1";
    assert_eq!(read(json!({"probability": 1.01})), probability);
    assert_eq!(read(json!({"probability": -0.1})), probability);
    assert_eq!(refusal(entail::verdict_of(f64::NAN)), probability);
    let range = "span 1 must be a range of characters within the hypothesis";
    for span in [
        json!({"start": 2, "end": 2, "probability": 0.1}),
        json!({"start": 0, "end": 6, "probability": 0.1}),
        json!({"start": -1, "end": 2, "probability": 0.1}),
        json!({"start": 0, "end": 2}),
        json!({"start": 0, "end": 2, "probability": 0.1, "x": 1}),
    ] {
        assert_eq!(read(json!({"spans": [span]})), range);
    }
    let span = json!({"start": 0, "end": 2, "probability": 2});
    let message = "the probability of span 1 must be a probability between 0 and 1";
    assert_eq!(read(json!({"spans": [span]})), message);
    assert_eq!(
        read(json!({"spans": [1]})),
        "span 1 must be an object, but is a number"
    );
}

/// Arbitrary JSON, often with our keys.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        prop::sample::select(vec![
            "entailed",
            "neutral",
            "{\"statements\": [\"x\"]}",
            "secret"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        let keys = prop::sample::select(vec![
            "statements",
            "verdict",
            "content",
            "probability",
            "spans",
            "start",
            "end",
            "secret",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(keys.prop_map(str::to_owned), inner, 0..4)
                .prop_map(Value::from_iter),
        ]
    })
}

proptest! {
    /// Arbitrary JSON is accepted only in the form of the schema. A refusal never repeats it.
    #[test]
    fn arbitrary_json_is_read_or_refused(value in value(), cut in 0..200_usize) {
        let content = value.to_string();
        let is_form = |key: &str| value.as_object().is_some_and(|object| object.len() == 1 && object.contains_key(key));
        match decompose::read(&content) {
            Ok(statements) => {
                prop_assert!(is_form("statements"));
                prop_assert_eq!(statements.len(), value["statements"].as_array().unwrap().len());
            }
            Err(error) => prop_assert!(!error.to_string().contains("secret"), "{}", error),
        }
        match entail::read(&content) {
            Ok(verdict) => prop_assert_eq!(value, json!({"verdict": verdict})),
            Err(error) => prop_assert!(!error.to_string().contains("secret"), "{}", error),
        }
        let cut = content.char_indices().map(|(at, _)| at).nth(cut).unwrap_or(content.len());
        if cut < content.len() && content.starts_with('{') {
            prop_assert!(decompose::read(&content[..cut]).is_err());
        }
    }

    #[test]
    fn arbitrary_results_are_read_or_refused(value in value(), hypothesis in ".{0,10}") {
        let _ = decompose::read_result(&value);
        if let Ok(verdict) = entail::read_result(&value, &hypothesis) {
            // Only a chat finds contradictions.
            prop_assert!(verdict != Entailment::Contradicted || value.get("content").is_some());
        }
    }

    #[test]
    fn arbitrary_text_is_read_or_refused(text in "\\PC*|[{}\\[\\]\":,a-z0-9\\\\ ]{0,60}") {
        let _ = (decompose::read(&text), entail::read(&text));
        let quoted = json!({"statements": [text]}).to_string();
        match decompose::read(&quoted) {
            Ok(read) => prop_assert_eq!(read, [text.trim()]),
            Err(_) => prop_assert!(text.contains('\0') || text.chars().all(|c| c.is_whitespace() || c.is_control())),
        }
    }

    /// Strict reading returns what was written, for every list of usable statements.
    #[test]
    fn written_statements_are_read(statements in prop::collection::vec("[a-zé字\"\\\\{}]{1,20}", 0..30)) {
        let content = json!({"statements": statements}).to_string();
        prop_assert_eq!(decompose::read(&content).unwrap(), statements);
    }
}

#[test]
fn deep_nesting_is_refused() {
    let deep = format!(
        "{{\"statements\": {}{}}}",
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    assert!(refusal(decompose::read(&deep)).contains("recursion limit"));
}
