//! Cohere's interface, version 2. Other servers offer its `rerank`.

use serde_json::{Value, json};

use super::types::{
    Answer, ChatRequest, Embeddings, InputType, chat_result, check_finish, in_order, operation_url,
    read_vector, tokens,
};
use crate::failure::Failure;
use crate::http::{Authorization, Http, Request};
use crate::model::Model;

const ENDPOINT: &str = "https://api.cohere.com/v2";

/// Computes embeddings.
///
/// # Errors
/// The [`Failure`] of the call.
pub async fn embed(
    http: &Http,
    model: &Model,
    texts: &[String],
    input: InputType,
) -> Result<Embeddings, Failure> {
    let input_type = match input {
        InputType::Query => "search_query",
        InputType::Document => "search_document",
    };
    // Without `truncate`, the API cuts texts that are too long.
    let mut body = json!({"model": model.api_model, "texts": texts, "input_type": input_type,
        "embedding_types": ["float"], "truncate": "NONE"});
    if let (Some(dimensions), true) = (model.dimensions, model.settings.dimensions_parameter) {
        body["output_dimension"] = json!(dimensions);
    }
    let answer = post(http, model, "/embed", &body).await?;
    let vectors = answer
        .pointer("/embeddings/float")
        .and_then(Value::as_array)
        .ok_or_else(|| Failure::answer("the answer has no \"embeddings\""))?;
    Ok(Embeddings {
        vectors: vectors.iter().map(read_vector).collect::<Result<_, _>>()?,
        input_tokens: tokens(&answer, "/meta/billed_units/input_tokens"),
    })
}

/// Scores passages for a query.
///
/// # Errors
/// The [`Failure`] of the call.
pub async fn rerank(
    http: &Http,
    model: &Model,
    query: &str,
    passages: &[String],
) -> Result<Answer, Failure> {
    let body = json!({"model": model.api_model, "query": query, "documents": passages,
        "top_n": passages.len()});
    let answer = post(http, model, "/rerank", &body).await?;
    let results = answer
        .get("results")
        .and_then(Value::as_array)
        .ok_or_else(|| Failure::answer("the answer has no \"results\""))?;
    let scores = results
        .iter()
        .map(|result| {
            let index = usize::try_from(result.get("index")?.as_u64()?).ok()?;
            Some((index, result.get("relevance_score")?.as_f64()?))
        })
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| Failure::answer("a result lacks its index or its score"))?;
    Ok(Answer {
        result: json!({"scores": in_order(scores, passages.len())?}),
        input_tokens: tokens(&answer, "/meta/tokens/input_tokens")
            .or_else(|| tokens(&answer, "/usage/total_tokens")),
        output_tokens: None,
    })
}

/// Asks a chat model for JSON.
///
/// # Errors
/// The [`Failure`] of the call, or of an answer that was refused or cut off.
pub async fn chat(http: &Http, model: &Model, request: &ChatRequest) -> Result<Answer, Failure> {
    let mut body = json!({"model": model.api_model, "messages": request.messages,
        "response_format": {"type": "json_object", "json_schema": request.schema}});
    if let Some(temperature) = request.temperature {
        body["temperature"] = json!(temperature);
    }
    if let Some(max_tokens) = request.max_tokens {
        body["max_tokens"] = json!(max_tokens);
    }
    let answer = post(http, model, "/chat", &body).await?;
    check_finish(answer.get("finish_reason").and_then(Value::as_str))?;
    let blocks = answer
        .pointer("/message/content")
        .and_then(Value::as_array)
        .ok_or_else(|| Failure::answer("the answer has no content"))?;
    let content: String = blocks
        .iter()
        .filter_map(|block| block.get("text").and_then(Value::as_str))
        .collect();
    Ok(Answer {
        result: chat_result(&content, &request.schema)?,
        input_tokens: tokens(&answer, "/usage/tokens/input_tokens"),
        output_tokens: tokens(&answer, "/usage/tokens/output_tokens"),
    })
}

async fn post(http: &Http, model: &Model, path: &str, body: &Value) -> Result<Value, Failure> {
    http.post(Request {
        url: operation_url(model, Some(ENDPOINT), "/v2", path)?,
        key_name: model.key_name.as_deref(),
        authorization: Authorization::Bearer,
        headers: &[],
        body,
        timeout: model.timeout(),
    })
    .await
}
