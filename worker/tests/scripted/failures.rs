//! What the failures of an API count against.

use std::time::{Duration, Instant};

use axum::response::IntoResponse;
use reground_worker::failure::Class;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::server::{
    Scripted, classes, embed, embed_failure, embeddings, ok, runner, runner_with, status,
};
use reground_worker::apis::types::InputType;
use reground_worker::batch::Scope;

#[tokio::test]
async fn too_many_requests_hold_the_model() {
    let server = Scripted::start(|_, _| {
        (
            axum::http::StatusCode::TOO_MANY_REQUESTS,
            [("retry-after", "7")],
            "{}",
        )
            .into_response()
    })
    .await;
    let runner = runner();
    let failure = embed_failure(&runner, server.embedder()).await;
    assert_eq!(failure.class, Class::Limit);
    assert_eq!(failure.retry_after, Some(Duration::from_secs(7)));
    let held = embed_failure(&runner, server.embedder()).await;
    assert_eq!(held.class, Class::Limit);
    assert!(held.retry_after > Some(Duration::from_secs(6)));
    assert_eq!(server.calls(), 1);
}

#[tokio::test]
async fn a_server_error_is_repeated_twice() {
    let recovers = Scripted::start(|number, seen| match number {
        0 | 1 => status(500, "internal"),
        _ => embeddings(seen),
    })
    .await;
    let results = embed(&runner(), recovers.embedder(), &["text"]).await;
    assert_eq!(classes(&results), [None]);
    assert_eq!(recovers.calls(), 3);

    let broken = Scripted::start(|_, _| status(503, "overloaded")).await;
    let results = embed(&runner(), broken.embedder(), &["a", "b"]).await;
    assert_eq!(classes(&results), [Some(Class::Model); 2]);
    assert_eq!(broken.calls(), 3);
}

#[tokio::test]
async fn lasting_errors_of_the_model_are_not_repeated() {
    for code in [401, 403, 404] {
        let server = Scripted::start(move |_, _| status(code, "no")).await;
        let failure = embed_failure(&runner(), server.embedder()).await;
        assert_eq!(failure.class, Class::Model, "{code}");
        assert_eq!(server.calls(), 1, "{code}");
    }
}

#[tokio::test]
async fn a_connection_that_ends_without_an_answer_counts_against_the_model() {
    let server = Scripted::raw(b"").await;
    let failure = embed_failure(&runner(), server.embedder()).await;
    assert_eq!(failure.class, Class::Model);
    assert_eq!(server.calls(), 3);
}

#[tokio::test]
async fn a_closed_port_counts_against_the_model() {
    let mut model = Scripted::raw(b"").await.embedder();
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = free.local_addr().expect("an address");
    drop(free);
    model.endpoint = Some(format!("http://{address}"));
    let failure = embed_failure(&runner(), model).await;
    assert_eq!(failure.class, Class::Model);
    assert!(failure.message.contains("cannot connect"), "{failure}");
}

#[tokio::test]
async fn a_very_slow_answer_counts_against_the_model() {
    let server = Scripted::delayed(Duration::from_secs(30), |_, seen| embeddings(seen)).await;
    let start = Instant::now();
    let failure = embed_failure(&runner(), server.embedder()).await;
    assert_eq!(failure.class, Class::Model);
    assert!(failure.message.contains("in time"), "{failure}");
    assert!(start.elapsed() < Duration::from_secs(15));
    assert_eq!(server.calls(), 3);
}

#[tokio::test]
async fn calls_end_with_the_lease_and_with_the_worker() {
    let server = Scripted::delayed(Duration::from_secs(30), |_, seen| embeddings(seen)).await;
    let mut model = server.embedder();
    model.settings.timeout = 60.0;
    let (runner, texts) = (runner(), ["text".to_owned()]);
    let short = Scope::lasting(Duration::from_millis(300), &CancellationToken::new());
    let stop = CancellationToken::new();
    let stopped = Scope::lasting(Duration::from_secs(60), &stop);
    let (lease, worker, ()) = tokio::join!(
        runner.embed(&model, &texts, InputType::Query, &short),
        runner.embed(&model, &texts, InputType::Query, &stopped),
        async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            stop.cancel();
        }
    );
    assert_eq!(classes(&lease), [Some(Class::Stopped)]);
    assert_eq!(classes(&worker), [Some(Class::Stopped)]);
}

#[tokio::test]
async fn a_shutdown_ends_waits_but_not_calls() {
    let server = Scripted::delayed(Duration::from_millis(400), |_, seen| embeddings(seen)).await;
    let mut model = server.embedder();
    model.settings.requests_per_minute = Some(1);
    let (runner, texts) = (runner(), ["text".to_owned()]);
    let (stop, drain) = (CancellationToken::new(), CancellationToken::new());
    let scope = Scope {
        drain: drain.clone(),
        ..Scope::lasting(Duration::from_secs(300), &stop)
    };
    let start = Instant::now();
    let (runs, waits, ()) = tokio::join!(
        runner.embed(&model, &texts, InputType::Query, &scope),
        runner.embed(&model, &texts, InputType::Query, &scope),
        async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            drain.cancel();
        }
    );
    assert_eq!(classes(&runs), [None]);
    assert_eq!(classes(&waits), [Some(Class::Stopped)]);
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn truncated_json_counts_against_the_task_alone() {
    for server in [
        Scripted::raw(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"data\": [").await,
        Scripted::raw(
            b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\nconnection: close\r\n\r\n{\"data\": [",
        )
        .await,
    ] {
        let failure = embed_failure(&runner(), server.embedder()).await;
        assert_eq!(failure.class, Class::Item, "{failure}");
        let results = embed(&runner(), server.embedder(), &["a", "b", "c"]).await;
        assert_eq!(classes(&results), [Some(Class::Model); 3]);
    }
}

#[tokio::test]
async fn an_answer_of_another_form_is_unusable() {
    for wrong in [
        json!({"embeddings": [[1]]}),
        json!({"data": [{"index": 0}]}),
        json!({"data": [{"index": 0, "embedding": "AACAPw=="}]}),
        json!([]),
    ] {
        let server = Scripted::start(move |_, _| ok(wrong.clone())).await;
        let failure = embed_failure(&runner(), server.embedder()).await;
        assert_eq!(failure.class, Class::Item);
    }
}

#[tokio::test]
async fn a_body_without_end_is_not_read() {
    let server =
        Scripted::raw(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n{\"data\": [").await;
    let failure = embed_failure(&runner(), server.embedder()).await;
    assert_eq!(failure.class, Class::Item);
    assert!(failure.message.contains("more than"), "{failure}");
}

#[tokio::test]
async fn no_failure_contains_a_key() {
    let key = "sk-abcdefghijklmnopqrstuvwxyz";
    // The limit of the message would cut the key in two.
    let padding = "x".repeat(260);
    let message = format!("{padding} {key} {key}");
    let server = Scripted::start(move |_, _| status(400, &message)).await;
    let mut model = server.embedder();
    model.key_name = Some("main".into());
    let runner = runner_with(&["127.0.0.1"], &[("main", key, &[])]);
    let failure = embed_failure(&runner, model).await;
    assert_eq!(failure.class, Class::Item);
    assert!(!failure.message.contains("sk-"), "{failure}");
    assert!(failure.message.contains("***"), "{failure}");
    assert_eq!(
        server.seen()[0].headers["authorization"],
        format!("Bearer {key}")
    );
}
