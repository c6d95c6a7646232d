//! Chat models, rerankers and classifiers.

use reground_worker::failure::Class;
use reground_worker::model::Api;
use serde_json::{Value, json};

use crate::server::{Scripted, judge_request, ok, run, runner, runner_with, status};

const VERDICT: &str = "{\"supported\": true}";

fn choice(finish: &str, message: Value) -> Value {
    json!({"choices": [{"finish_reason": finish, "message": message}],
        "usage": {"prompt_tokens": 70, "completion_tokens": 5}})
}

#[tokio::test]
async fn openai_answers_with_json() {
    let server = Scripted::start(|_, _| ok(choice("stop", json!({"content": VERDICT})))).await;
    let done = run(
        &runner(),
        &server.model(Api::Openai, "judge"),
        judge_request(),
    )
    .await
    .expect("an answer");
    assert_eq!(done.result, json!({"content": VERDICT}));
    assert_eq!((done.input_tokens, done.output_tokens), (Some(70), Some(5)));
    let seen = &server.seen()[0];
    assert_eq!(seen.path, "/v1/chat/completions");
    let schema = &seen.body["response_format"]["json_schema"];
    assert_eq!(schema["name"], "verdict");
    assert_eq!(schema["schema"], judge_request()["schema"]);
    assert_eq!(
        (&seen.body["temperature"], &seen.body["max_tokens"]),
        (&json!(0.0), &json!(500))
    );
}

#[tokio::test]
async fn refused_and_unusable_answers_count_against_the_task() {
    let content = |text: &str| json!({ "content": text });
    for answer in [
        choice("length", content("{\"supported\":")),
        choice("content_filter", content("")),
        choice("stop", json!({"content": null, "refusal": "I cannot"})),
        choice("stop", content("Yes, it is supported.")),
        choice("stop", content("{\"verdict\": true}")),
        choice("stop", json!({})),
        json!({"result": "of another schema"}),
    ] {
        let server = Scripted::start(move |_, _| ok(answer.clone())).await;
        let model = server.model(Api::Openai, "judge");
        let failure = run(&runner(), &model, judge_request()).await;
        assert_eq!(failure.expect_err("unusable").class, Class::Item);
        assert_eq!(server.calls(), 1);
    }
}

#[tokio::test]
async fn parameters_that_a_model_refuses_are_changed() {
    let server = Scripted::start(|_, seen| {
        let refused = ["max_tokens", "temperature"]
            .into_iter()
            .find(|&name| seen.body.get(name).is_some());
        match refused {
            Some(name) => status(400, &format!("Unsupported parameter: '{name}'")),
            None => ok(choice("stop", json!({"content": VERDICT}))),
        }
    })
    .await;
    let model = server.model(Api::Openai, "judge");
    let done = run(&runner(), &model, judge_request()).await;
    assert!(done.is_ok());
    assert_eq!(server.seen()[2].body["max_completion_tokens"], 500);
}

#[tokio::test]
async fn anthropic_answers_with_json() {
    let server = Scripted::start(|_, _| {
        ok(
            json!({"stop_reason": "end_turn", "content": [{"type": "text", "text": VERDICT}],
            "usage": {"input_tokens": 70, "output_tokens": 5}}),
        )
    })
    .await;
    let mut model = server.model(Api::Anthropic, "judge");
    model.key_name = Some("claude".into());
    let runner = runner_with(&["127.0.0.1"], &[("claude", "sk-ant", &[])]);
    let done = run(&runner, &model, judge_request())
        .await
        .expect("an answer");
    assert_eq!(done.result, json!({"content": VERDICT}));
    assert_eq!((done.input_tokens, done.output_tokens), (Some(70), Some(5)));
    let seen = &server.seen()[0];
    assert_eq!(seen.path, "/v1/messages");
    assert_eq!(seen.headers["x-api-key"], "sk-ant");
    assert!(seen.headers.contains_key("anthropic-version"));
    assert!(!seen.headers.contains_key("authorization"));
    assert_eq!(seen.body["system"], "Be strict.");
    assert_eq!(
        seen.body["messages"],
        json!([{"role": "user", "content": "Judge."}])
    );
}

#[tokio::test]
async fn anthropic_refuses_and_stops_early() {
    for reason in ["refusal", "max_tokens"] {
        let server = Scripted::start(move |_, _| {
            ok(json!({"stop_reason": reason, "content": [{"type": "text", "text": VERDICT}]}))
        })
        .await;
        let model = server.model(Api::Anthropic, "entail");
        let failure = run(&runner(), &model, judge_request()).await;
        assert_eq!(
            failure.expect_err("no answer").class,
            Class::Item,
            "{reason}"
        );
    }
}

#[tokio::test]
async fn cohere_answers_with_json() {
    let server = Scripted::start(|_, _| {
        ok(json!({"finish_reason": "COMPLETE", "message": {"content": [{"type": "text", "text": VERDICT}]},
            "usage": {"tokens": {"input_tokens": 70.0, "output_tokens": 5}}}))
    })
    .await;
    let model = server.model(Api::Cohere, "decompose");
    let done = run(&runner(), &model, judge_request())
        .await
        .expect("an answer");
    assert_eq!(done.result, json!({"content": VERDICT}));
    assert_eq!((done.input_tokens, done.output_tokens), (Some(70), Some(5)));
}

#[tokio::test]
async fn rerankers_score_in_the_order_of_the_passages() {
    let server = Scripted::start(|_, seen| match seen.path.as_str() {
        "/v2/rerank" => ok(json!({"results": [
            {"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.25}]})),
        _ => ok(json!([{"index": 1, "score": 0.9}, {"index": 0, "score": 0.25}])),
    })
    .await;
    for api in [Api::Cohere, Api::Tei] {
        let request = json!({"query": "q", "passages": ["a", "b"]});
        let model = server.model(api, "rerank");
        let done = run(&runner(), &model, request).await.expect("scores");
        assert_eq!(done.result, json!({"scores": [0.25, 0.9]}));
        let request = json!({"query": "q", "passages": ["a", "b", "c"]});
        let failure = run(&runner(), &model, request).await;
        assert_eq!(failure.expect_err("a score lacks").class, Class::Item);
    }
}

#[tokio::test]
async fn tei_classifies_entailment() {
    let server = Scripted::start(|_, _| {
        ok(json!([[{"label": "NEUTRAL", "score": 0.75}, {"label": "ENTAILMENT", "score": 0.25}]]))
    })
    .await;
    let model = server.model(Api::Tei, "entail");
    let done = run(&runner(), &model, judge_request())
        .await
        .expect("a probability");
    assert_eq!(done.result, json!({"probability": 0.25}));
    let seen = &server.seen()[0];
    assert_eq!(
        (seen.path.as_str(), &seen.body["inputs"]),
        ("/predict", &json!([["p", "h"]]))
    );
}

#[tokio::test]
async fn a_kind_that_the_api_lacks_counts_against_the_model() {
    let server = Scripted::start(|_, _| status(500, "never called")).await;
    for (api, task) in [
        (Api::Anthropic, "rerank"),
        (Api::Openai, "rerank"),
        (Api::Tei, "decompose"),
        (Api::Local, "rerank"),
        (Api::Openai, "unknown"),
    ] {
        let mut request = judge_request();
        request["query"] = json!("q");
        request["passages"] = json!(["a"]);
        let failure = run(&runner(), &server.model(api, task), request).await;
        assert_eq!(failure.expect_err("unsupported").class, Class::Model);
    }
    assert_eq!(server.calls(), 0);
}
