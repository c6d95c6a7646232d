//! The server of the worker itself.

use std::sync::Arc;

use reground_worker::database::lane::{Tally, Worker};
use reground_worker::http::keys::Secret;
use reground_worker::model::Model;
use reground_worker::registry::Registry;
use reground_worker::server::{Served, routes};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::server::{Scripted, embeddings, runner, status};

/// Starts the server with one model, and returns its base URL.
async fn serve(model: Model, token: Option<&str>) -> String {
    let registry = Arc::new(Registry::default());
    registry.set_models("h/app", &[model]);
    let served = Arc::new(Served {
        worker: Arc::new(Worker {
            name: "test".into(),
            runner: runner(),
            tally: Tally::default(),
            once: false,
            kill: CancellationToken::new(),
        }),
        registry,
        token: token.map(Secret::new),
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, routes(served)).await });
    format!("http://{address}")
}

fn client() -> reqwest::Client {
    let https = reground_worker::http::tls::https().expect("TLS");
    reqwest::Client::builder()
        .tls_backend_preconfigured(https)
        .no_proxy()
        .build()
        .expect("a client")
}

async fn post(base: &str, token: &str, body: Value) -> (u16, Value) {
    let response = client()
        .post(format!("{base}/v1/embeddings"))
        .bearer_auth(token)
        .json(&body)
        .send()
        .await
        .expect("an answer");
    let status = response.status().as_u16();
    (status, response.json().await.expect("JSON"))
}

#[tokio::test]
async fn queries_and_documents_are_embedded() {
    let api = Scripted::start(|_, seen| embeddings(seen)).await;
    let mut model = api.embedder();
    model.settings.query_prefix = "query: ".into();
    model.settings.document_prefix = "passage: ".into();
    model.settings.normalize = false;
    let base = serve(model, None).await;
    let (status, answer) = post(&base, "", json!({"model": "scripted", "input": "abc"})).await;
    assert_eq!(status, 200);
    assert_eq!(answer["data"][0]["embedding"], json!([10.0, 1.0]));
    assert_eq!(answer["model"], "scripted");
    assert_eq!(answer["usage"]["prompt_tokens"], 10);
    let (_, answer) = post(
        &base,
        "",
        json!({"model": "scripted", "input": ["a", "b"], "input_type": "document"}),
    )
    .await;
    assert_eq!(answer["data"][1]["index"], 1);
    assert_eq!(api.seen()[0].inputs(), ["query: abc"]);
    assert_eq!(api.seen()[1].inputs(), ["passage: a", "passage: b"]);
}

#[tokio::test]
async fn wrong_requests_are_refused() {
    let api = Scripted::start(|_, _| status(401, "no")).await;
    let base = serve(api.embedder(), Some("token")).await;
    let good = json!({"model": "scripted", "input": "abc"});
    assert_eq!(post(&base, "tokem", good.clone()).await.0, 401);
    assert_eq!(post(&base, "", good.clone()).await.0, 401);
    assert_eq!(api.calls(), 0);
    for (body, status) in [
        (json!({"model": "other", "input": "abc"}), 404),
        (json!({"model": "scripted"}), 422),
        (json!({"model": "scripted", "input": []}), 400),
        (
            json!({"model": "scripted", "input": "a", "encoding_format": "base64"}),
            400,
        ),
        (
            json!({"model": "scripted", "input": "a", "dimensions": 7}),
            400,
        ),
        (good, 502),
    ] {
        assert_eq!(post(&base, "token", body.clone()).await.0, status, "{body}");
    }
    assert_eq!(api.calls(), 1);
}

#[tokio::test]
async fn figures_and_health_are_served() {
    let api = Scripted::start(|_, seen| embeddings(seen)).await;
    let base = serve(api.embedder(), Some("token")).await;
    post(&base, "token", json!({"model": "scripted", "input": "abc"})).await;
    let get = async |path: &str| {
        let response = client().get(format!("{base}{path}")).send().await;
        let response = response.expect("an answer");
        (
            response.status().as_u16(),
            response.text().await.expect("text"),
        )
    };
    let (status, figures) = get("/metrics").await;
    assert_eq!(status, 200);
    assert!(figures.contains("reground_worker_calls_total{model=\"scripted\",outcome=\"done\"} 1"));
    let (status, health) = get("/healthz").await;
    assert_eq!(
        (status, health.as_str()),
        (503, r#"{"connected":{"h/app":false}}"#)
    );
}
