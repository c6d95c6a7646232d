//! Embeddings in batches.

use reground_worker::failure::Class;
use reground_worker::model::{Api, Task};
use serde_json::{Value, json};

use crate::server::{Scripted, classes, embed, embeddings, ok, run, runner, scope, status, vector};

#[tokio::test]
async fn one_bad_text_of_a_batch_fails_alone() {
    let server = Scripted::start(|_, seen| {
        if seen.inputs().iter().any(|text| text == "bad") {
            status(400, "input is too long")
        } else {
            embeddings(seen)
        }
    })
    .await;
    let names: Vec<String> = (0..32).map(|number| "x".repeat(number + 1)).collect();
    let mut texts: Vec<&str> = names.iter().map(String::as_str).collect();
    texts[21] = "bad";
    let results = embed(&runner(), server.embedder(), &texts).await;
    for (place, result) in results.iter().enumerate() {
        match result {
            Err(failure) => assert_eq!((place, failure.class), (21, Class::Item)),
            Ok(embedded) => assert_eq!(embedded.vector, [(place + 1) as f32, 1.0]),
        }
    }
    assert!(results[21].is_err());
    // 32, then twice 16, 8, 4, 2 and 1.
    assert_eq!(server.calls(), 11);
}

#[tokio::test]
async fn results_are_ordered_by_their_index() {
    let server = Scripted::start(|_, seen| {
        let texts = seen.inputs();
        let data: Vec<Value> = texts
            .iter()
            .enumerate()
            .rev()
            .map(|(index, text)| json!({"index": index, "embedding": vector(text)}))
            .collect();
        ok(json!({ "data": data }))
    })
    .await;
    let results = embed(&runner(), server.embedder(), &["a", "bb", "ccc"]).await;
    let lengths: Vec<f32> = results
        .iter()
        .map(|result| result.as_ref().expect("an embedding").vector[0])
        .collect();
    assert_eq!(lengths, [1.0, 2.0, 3.0]);
}

#[tokio::test]
async fn a_wrong_number_of_embeddings_is_no_answer() {
    let drops = |dropped: &'static str| {
        Scripted::start(move |_, seen| {
            let texts = seen.inputs();
            let kept = texts.iter().filter(|text| *text != dropped);
            let data: Vec<Value> = kept
                .map(|text| json!({"embedding": vector(text)}))
                .collect();
            ok(json!({ "data": data }))
        })
    };
    let server = drops("bb").await;
    let results = embed(&runner(), server.embedder(), &["a", "bb", "ccc"]).await;
    assert_eq!(classes(&results), [None, Some(Class::Item), None]);

    let server = Scripted::start(|_, _| ok(json!({"data": []}))).await;
    let results = embed(&runner(), server.embedder(), &["a", "bb", "ccc"]).await;
    assert_eq!(classes(&results), [Some(Class::Model); 3]);
}

#[tokio::test]
async fn wrong_dimensions_count_against_the_model() {
    let server = Scripted::start(|_, seen| embeddings(seen)).await;
    let mut model = server.embedder();
    model.dimensions = Some(3);
    let results = embed(&runner(), model, &["a", "bb"]).await;
    assert_eq!(classes(&results), [Some(Class::Model); 2]);
    assert_eq!(server.calls(), 1);
}

#[tokio::test]
async fn requests_ask_for_floats_and_dimensions() {
    let server = Scripted::start(|_, seen| embeddings(seen)).await;
    let mut model = server.embedder();
    model.dimensions = Some(2);
    model.settings.document_prefix = "passage: ".into();
    let results = embed(&runner(), model.clone(), &["text"]).await;
    assert_eq!(classes(&results), [None]);
    model.settings.dimensions_parameter = false;
    embed(&runner(), model, &["text"]).await;
    let seen = server.seen();
    assert_eq!(seen[0].path, "/v1/embeddings");
    assert_eq!(
        seen[0].body,
        json!({"model": "api-name", "input": ["passage: text"], "encoding_format": "float",
            "dimensions": 2})
    );
    assert_eq!(seen[1].body.get("dimensions"), None);
}

#[tokio::test]
async fn texts_that_cannot_be_embedded_are_not_sent() {
    let server = Scripted::start(|_, seen| embeddings(seen)).await;
    let texts = ["one two three", " \n"];
    let results = embed(&runner(), server.embedder(), &texts).await;
    assert_eq!(classes(&results), [None, Some(Class::Item)]);
    assert_eq!(server.seen()[0].inputs(), ["one two three"]);
}

#[tokio::test]
async fn results_have_the_form_of_the_queue() {
    let server = Scripted::start(|_, seen| {
        let texts = seen.inputs();
        let data: Vec<Value> = texts.iter().map(|_| json!({"embedding": [3, 4]})).collect();
        ok(json!({"data": data, "usage": {"prompt_tokens": 9}}))
    })
    .await;
    let (runner, model) = (runner(), server.embedder());
    let task = |id, request| Task {
        id,
        lease_token: uuid::Uuid::nil(),
        kind: "embed".into(),
        attempts: 1,
        request,
    };
    let tasks = [
        task(1, json!({"text": "one"})),
        task(2, json!({"content": "no text"})),
        task(3, json!({"text": "two words"})),
    ];
    let outcomes = runner.run(&model, &tasks, &scope()).await;
    let first = outcomes[0].as_ref().expect("a result");
    let third = outcomes[2].as_ref().expect("a result");
    // Scaled to length 1, with the digits of a 32-bit float.
    assert_eq!(first.result.to_string(), r#"{"embedding":[0.6,0.8]}"#);
    assert_eq!((first.input_tokens, third.input_tokens), (Some(3), Some(6)));
    let failure = outcomes[1].as_ref().expect_err("no text");
    assert_eq!(failure.class, Class::Item);
}

#[tokio::test]
async fn cohere_and_tei_embed() {
    let server = Scripted::start(|_, seen| match seen.path.as_str() {
        "/v2/embed" => ok(json!({"embeddings": {"float": [[3, 4]]},
            "meta": {"billed_units": {"input_tokens": 2}}})),
        "/embed" => ok(json!([[3, 4]])),
        _ => status(404, "no such path"),
    })
    .await;
    for api in [Api::Cohere, Api::Tei] {
        let done = run(&runner(), &server.model(api, "embed"), json!({"text": "t"})).await;
        let result = done.expect("a result").result;
        assert_eq!(result, json!({"embedding": [0.6, 0.8]}));
    }
    assert_eq!(server.seen()[0].body["input_type"], "search_document");
    assert_eq!(
        server.seen()[1].body,
        json!({"inputs": ["t"], "normalize": true})
    );
}
