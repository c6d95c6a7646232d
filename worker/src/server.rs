//! The optional server: figures, health, and embeddings in OpenAI's format for queries of the application.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use crate::apis::types::InputType;
use crate::batch::{Embedded, Scope};
use crate::database::lane::Worker;
use crate::failure::{Class, Failure};
use crate::http::keys::Secret;
use crate::model::Model;
use crate::registry::{NameError, Registry};

/// Most bytes of a request.
const BODY_LIMIT: usize = 8 * 1024 * 1024;
/// Most texts of a request.
const INPUT_LIMIT: usize = 2048;
/// A caller waits at most this long.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What the server serves.
pub struct Served {
    /// Runs the calls.
    pub worker: Arc<Worker>,
    /// The models.
    pub registry: Arc<Registry>,
    /// The token that `/v1/embeddings` asks for.
    pub token: Option<Secret>,
}

#[derive(Deserialize)]
struct EmbeddingsRequest {
    model: String,
    input: Input,
    #[serde(default)]
    input_type: RequestType,
    encoding_format: Option<String>,
    dimensions: Option<usize>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Input {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum RequestType {
    #[default]
    Query,
    Document,
}

/// Returns the routes.
pub fn routes(served: Arc<Served>) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .route("/healthz", get(health))
        .route("/v1/embeddings", post(embeddings))
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .with_state(served)
}

/// Serves until it is stopped.
///
/// # Errors
/// The error of listening.
pub async fn serve(
    address: SocketAddr,
    served: Arc<Served>,
    stop: CancellationToken,
) -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind(address).await?;
    tracing::info!(%address, "listens");
    axum::serve(listener, routes(served))
        .with_graceful_shutdown(stop.cancelled_owned())
        .await
}

async fn metrics(State(served): State<Arc<Served>>) -> Response {
    match served.worker.runner.metrics.render() {
        Ok(text) => ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn health(State(served): State<Arc<Served>>) -> Response {
    let databases = served.registry.databases();
    let healthy = databases.values().all(|&connected| connected);
    let status = if healthy {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (status, Json(json!({ "connected": databases }))).into_response()
}

async fn embeddings(
    State(served): State<Arc<Served>>,
    headers: HeaderMap,
    request: Result<Json<EmbeddingsRequest>, JsonRejection>,
) -> Response {
    if !authorized(&headers, served.token.as_ref()) {
        return error(StatusCode::UNAUTHORIZED, "the bearer token is wrong");
    }
    let request = match request {
        Ok(Json(request)) => request,
        Err(rejection) if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE => {
            return error(rejection.status(), "the request is too large");
        }
        Err(rejection) => return error(rejection.status(), "the request is not valid JSON"),
    };
    let model = match served.registry.embedding_model(&request.model) {
        Ok(model) => model,
        Err(wrong @ NameError::Unknown) => return error(StatusCode::NOT_FOUND, &wrong.to_string()),
        Err(wrong @ NameError::Ambiguous) => {
            return error(StatusCode::CONFLICT, &wrong.to_string());
        }
    };
    let texts = match request.texts(&model) {
        Ok(texts) => texts,
        Err(message) => return error(StatusCode::BAD_REQUEST, message),
    };
    let input = match request.input_type {
        RequestType::Query => InputType::Query,
        RequestType::Document => InputType::Document,
    };
    match embed(&served.worker, &model, &texts, input).await {
        Ok(embedded) => answer(&model, &embedded),
        Err(failure) => failed(&failure),
    }
}

impl EmbeddingsRequest {
    /// Returns the texts, after a check of the parameters that cannot be served.
    fn texts(&self, model: &Model) -> Result<Vec<String>, &'static str> {
        if self
            .encoding_format
            .as_ref()
            .is_some_and(|format| format != "float")
        {
            return Err("encoding_format is \"float\"");
        }
        if self.dimensions.is_some() && self.dimensions != model.dimensions {
            return Err("dimensions differ from those of the model");
        }
        let texts = match &self.input {
            Input::One(text) => vec![text.clone()],
            Input::Many(texts) => texts.clone(),
        };
        if texts.is_empty() || texts.len() > INPUT_LIMIT {
            return Err("input has 1 to 2048 texts");
        }
        Ok(texts)
    }
}

async fn embed(
    worker: &Worker,
    model: &Model,
    texts: &[String],
    input: InputType,
) -> Result<Vec<Embedded>, Failure> {
    let scope = Scope::lasting(TIMEOUT, &worker.kill);
    let mut embedded = Vec::with_capacity(texts.len());
    for batch in texts.chunks(model.batch()) {
        for result in worker.runner.embed(model, batch, input, &scope).await {
            embedded.push(result?);
        }
    }
    Ok(embedded)
}

fn answer(model: &Model, embedded: &[Embedded]) -> Response {
    let tokens: i64 = embedded.iter().filter_map(|one| one.tokens).sum();
    let data: Vec<Value> = embedded
        .iter()
        .enumerate()
        .map(|(index, one)| json!({"object": "embedding", "index": index, "embedding": one.vector}))
        .collect();
    Json(json!({
        "object": "list",
        "data": data,
        "model": model.name,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }))
    .into_response()
}

fn failed(failure: &Failure) -> Response {
    let status = match failure.class {
        Class::Item | Class::Answer => StatusCode::BAD_REQUEST,
        Class::Model => StatusCode::BAD_GATEWAY,
        Class::Limit => StatusCode::TOO_MANY_REQUESTS,
        Class::Stopped => StatusCode::SERVICE_UNAVAILABLE,
    };
    let mut response = error(status, &failure.message);
    if let Some(pause) = failure.retry_after {
        let seconds = pause.as_secs_f64().ceil() as u64;
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

/// Compares the token by its hash, so that the time does not depend on the number of equal characters.
fn authorized(headers: &HeaderMap, token: Option<&Secret>) -> bool {
    let Some(token) = token else {
        return true;
    };
    let sent = headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.strip_prefix("Bearer "));
    sent.is_some_and(|sent| Sha256::digest(sent) == Sha256::digest(token.expose()))
}

fn error(status: StatusCode, message: &str) -> Response {
    (status, Json(json!({"error": {"message": message}}))).into_response()
}
