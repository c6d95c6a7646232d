//! The server, and a worker that calls it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use reground_worker::apis::Apis;
use reground_worker::apis::local::Local;
use reground_worker::apis::types::InputType;
use reground_worker::batch::{Embedded, Outcome, Runner, Scope};
use reground_worker::failure::{Class, Failure};
use reground_worker::http::addresses::AllowedAddresses;
use reground_worker::http::keys::{Key, Keys, Secret};
use reground_worker::http::{Http, tls};
use reground_worker::limits::Limits;
use reground_worker::metrics::Metrics;
use reground_worker::model::{Api, Model, Settings, Task};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// A request that the server got.
#[derive(Debug, Clone)]
pub struct Seen {
    pub path: String,
    pub headers: HeaderMap,
    pub body: Value,
}

impl Seen {
    /// Returns the texts of a request for embeddings.
    pub fn inputs(&self) -> Vec<String> {
        serde_json::from_value(self.body["input"].clone()).expect("a list of texts")
    }
}

/// A running server.
pub struct Scripted {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Scripted {
    /// Starts a server that answers the nth request (from 0) by the script, after a delay.
    pub async fn delayed(
        delay: Duration,
        script: impl Fn(usize, &Seen) -> Response + Send + Sync + 'static,
    ) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (list, script) = (Arc::clone(&seen), Arc::new(script));
        let answer = move |uri: Uri, headers: HeaderMap, body: Bytes| async move {
            let request = Seen {
                path: uri.path().to_owned(),
                headers,
                body: serde_json::from_slice(&body).unwrap_or(Value::Null),
            };
            let number = {
                let mut list = list.lock().expect("not poisoned");
                list.push(request.clone());
                list.len() - 1
            };
            tokio::time::sleep(delay).await;
            script(number, &request)
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let router = Router::new().fallback(answer);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, seen }
    }

    /// Starts a server that answers at once.
    pub async fn start(script: impl Fn(usize, &Seen) -> Response + Send + Sync + 'static) -> Self {
        Self::delayed(Duration::ZERO, script).await
    }

    /// Starts a server that answers each connection with these bytes and closes it.
    pub async fn raw(bytes: &'static [u8]) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&seen);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = [0; 65536];
                let _ = stream.read(&mut request).await;
                list.lock().expect("not poisoned").push(Seen {
                    path: String::new(),
                    headers: HeaderMap::new(),
                    body: Value::Null,
                });
                let _ = stream.write_all(bytes).await;
            }
        });
        Self { address, seen }
    }

    /// Returns all requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("not poisoned").clone()
    }

    /// Returns the number of requests so far.
    pub fn calls(&self) -> usize {
        self.seen().len()
    }

    /// Returns a model of this server.
    pub fn model(&self, api: Api, task: &str) -> Model {
        Model {
            name: "scripted".into(),
            task: task.into(),
            api,
            endpoint: Some(format!("http://{}", self.address)),
            api_model: "api-name".into(),
            dimensions: None,
            key_name: None,
            settings: Settings {
                timeout: 1.0,
                ..Settings::default()
            },
        }
    }

    /// Returns an embedding model with OpenAI's interface.
    pub fn embedder(&self) -> Model {
        self.model(Api::Openai, "embed")
    }
}

/// Returns a JSON answer.
pub fn ok(body: Value) -> Response {
    axum::Json(body).into_response()
}

/// Returns an error of an API.
pub fn status(code: u16, message: &str) -> Response {
    let code = StatusCode::from_u16(code).expect("a status");
    (code, axum::Json(json!({"error": {"message": message}}))).into_response()
}

/// Returns the embedding that the scripts give a text: its length in bytes, and 1.
pub fn vector(text: &str) -> Value {
    json!([text.len(), 1])
}

/// Answers a request for embeddings as OpenAI does.
pub fn embeddings(seen: &Seen) -> Response {
    let data: Vec<Value> = seen
        .inputs()
        .iter()
        .enumerate()
        .map(|(index, text)| json!({"index": index, "embedding": vector(text)}))
        .collect();
    let tokens = 10 * data.len();
    ok(json!({"data": data, "usage": {"prompt_tokens": tokens}}))
}

/// Returns a worker that may call 127.0.0.1.
pub fn runner() -> Runner {
    runner_with(&["127.0.0.1"], &[])
}

/// Returns a worker with private addresses that it may call, and with keys and their hosts.
pub fn runner_with(allowed: &[&str], keys: &[(&str, &str, &[&str])]) -> Runner {
    let mut all = Keys::default();
    for (name, value, hosts) in keys {
        let value = Secret::new(value);
        let hosts = hosts.iter().map(|&host| host.to_owned()).collect();
        all.insert(name, Key { value, hosts });
    }
    let https = tls::https().expect("TLS");
    let http = Http::new(AllowedAddresses::new(allowed), all, &https).expect("a client");
    Runner {
        apis: Apis {
            http,
            local: Local::new(None),
        },
        limits: Limits::default(),
        metrics: Arc::new(Metrics::new().expect("metrics")),
    }
}

/// Returns a scope of a minute.
pub fn scope() -> Scope {
    Scope::lasting(Duration::from_secs(60), &CancellationToken::new())
}

/// Embeds passages without scaling.
pub async fn embed(
    runner: &Runner,
    mut model: Model,
    texts: &[&str],
) -> Vec<Result<Embedded, Failure>> {
    model.settings.normalize = false;
    let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
    let scope = scope();
    runner
        .embed(&model, &texts, InputType::Document, &scope)
        .await
}

/// Returns the failure of a single passage.
pub async fn embed_failure(runner: &Runner, model: Model) -> Failure {
    let mut results = embed(runner, model, &["text"]).await;
    assert_eq!(results.len(), 1);
    results.remove(0).expect_err("a failure")
}

/// Returns the classes of failures; none for successes.
pub fn classes(results: &[Result<Embedded, Failure>]) -> Vec<Option<Class>> {
    let class = |result: &Result<Embedded, Failure>| result.as_ref().err().map(|f| f.class);
    results.iter().map(class).collect()
}

/// Runs one task.
pub async fn run(runner: &Runner, model: &Model, request: Value) -> Outcome {
    let task = Task {
        id: 1,
        lease_token: uuid::Uuid::nil(),
        kind: model.task.clone(),
        attempts: 1,
        request,
    };
    let mut outcomes = runner.run(model, &[task], &scope()).await;
    assert_eq!(outcomes.len(), 1);
    outcomes.remove(0)
}

/// Returns a request to judge.
pub fn judge_request() -> Value {
    json!({
        "messages": [{"role": "system", "content": "Be strict."}, {"role": "user", "content": "Judge."}],
        "schema_name": "verdict",
        "schema": {"type": "object", "properties": {"supported": {"type": "boolean"}}, "required": ["supported"]},
        "temperature": 0,
        "max_tokens": 500,
        "premise": "p",
        "hypothesis": "h",
    })
}
