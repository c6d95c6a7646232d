//! A server with OpenAI's and Cohere's interface, in a thread of its own. What it answers depends on the texts.

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Result;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};

/// What the server does, besides its answers to `poison` (400) and `slow` (two seconds).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mood {
    /// It answers.
    #[default]
    Well,
    /// Its embeddings have a dimension too many.
    Long,
    /// It refuses the key, and quotes it.
    Locked,
    /// Its first answer is 429 with `Retry-After: 1`.
    Busy,
}

/// What the server has seen.
#[derive(Debug, Default)]
pub struct Seen {
    /// Calls.
    pub calls: AtomicUsize,
    /// Embedded texts, each time that one was embedded.
    pub texts: Mutex<Vec<String>>,
    /// Values of the header `Authorization`.
    pub authorizations: Mutex<Vec<String>>,
}

/// A running server.
pub struct FakeApi {
    pub address: SocketAddr,
    pub seen: Arc<Seen>,
}

impl FakeApi {
    /// Starts a server.
    pub fn start(mood: Mood) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let seen = Arc::new(Seen::default());
        let state = (mood, Arc::clone(&seen));
        let runtime = tokio::runtime::Runtime::new()?;
        std::thread::spawn(move || {
            let routes = Router::new()
                .route("/v1/embeddings", post(embed))
                .route("/v2/rerank", post(rerank))
                .with_state(state);
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener)?;
                axum::serve(listener, routes).await
            })
        });
        Ok(Self { address, seen })
    }
}

/// The embedding of a text: its length in bytes, and 1.
pub fn vector(text: &str) -> Vec<f32> {
    vec![u16::try_from(text.len()).map_or(0.0, f32::from), 1.0]
}

type Shared = State<(Mood, Arc<Seen>)>;

async fn embed(State((mood, seen)): Shared, headers: HeaderMap, body: Json<Value>) -> Response {
    let call = seen.calls.fetch_add(1, Ordering::SeqCst);
    let authorization = headers
        .get("authorization")
        .and_then(|value| value.to_str().ok());
    let authorization = authorization.unwrap_or_default().to_owned();
    seen.authorizations
        .lock()
        .unwrap()
        .push(authorization.clone());
    let refused = |code, message: String| {
        (code, Json(json!({"error": {"message": message}}))).into_response()
    };
    let texts: Vec<String> = serde_json::from_value(body["input"].clone()).unwrap();
    match mood {
        Mood::Locked => {
            return refused(
                StatusCode::UNAUTHORIZED,
                format!("wrong key: {authorization}"),
            );
        }
        Mood::Busy if call == 0 => {
            let headers = [("retry-after", "1")];
            return (StatusCode::TOO_MANY_REQUESTS, headers, "slow down").into_response();
        }
        _ => {}
    }
    if texts.iter().any(|text| text.contains("slow")) {
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    if texts.iter().any(|text| text.contains("poison")) {
        return refused(StatusCode::BAD_REQUEST, "an input is not acceptable".into());
    }
    let data: Vec<Value> = (0..)
        .zip(&texts)
        .map(|(index, text)| {
            let mut embedding = vector(text);
            if mood == Mood::Long {
                embedding.push(1.0);
            }
            json!({"index": index, "embedding": embedding})
        })
        .collect();
    seen.texts.lock().unwrap().extend(texts);
    Json(json!({"data": data, "usage": {"prompt_tokens": 7}})).into_response()
}

async fn rerank(State((_, seen)): Shared, body: Json<Value>) -> Response {
    seen.calls.fetch_add(1, Ordering::SeqCst);
    let documents: Vec<String> = serde_json::from_value(body["documents"].clone()).unwrap();
    // The longest document first.
    let mut order: Vec<usize> = (0..documents.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(documents[index].len()));
    let score = |index: &usize| json!({"index": index, "relevance_score": documents[*index].len() as f64 / 1000.0});
    Json(json!({"results": order.iter().map(score).collect::<Vec<Value>>()})).into_response()
}
