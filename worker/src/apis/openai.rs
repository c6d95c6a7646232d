//! OpenAI's interface, which most servers of models offer too.

use serde_json::{Value, json};

use super::types::{
    Answer, ChatRequest, Embeddings, chat_result, check_finish, in_order, operation_url,
    read_vector, tokens,
};
use crate::failure::Failure;
use crate::http::{Authorization, Http, Request};
use crate::model::Model;

const ENDPOINT: &str = "https://api.openai.com/v1";

/// Computes embeddings.
///
/// # Errors
/// The [`Failure`] of the call.
pub async fn embed(http: &Http, model: &Model, texts: &[String]) -> Result<Embeddings, Failure> {
    let mut body = json!({"model": model.api_model, "input": texts, "encoding_format": "float"});
    if let (Some(dimensions), true) = (model.dimensions, model.settings.dimensions_parameter) {
        body["dimensions"] = json!(dimensions);
    }
    let answer = post(http, model, "/embeddings", &body).await?;
    let data = answer
        .get("data")
        .and_then(Value::as_array)
        .ok_or_else(|| Failure::answer("the answer has no \"data\""))?;
    let mut results = Vec::with_capacity(data.len());
    for (place, item) in data.iter().enumerate() {
        let index = item
            .get("index")
            .and_then(Value::as_u64)
            .map_or(place, |index| usize::try_from(index).unwrap_or(usize::MAX));
        results.push((
            index,
            read_vector(item.get("embedding").unwrap_or(&Value::Null))?,
        ));
    }
    Ok(Embeddings {
        vectors: in_order(results, texts.len())?,
        input_tokens: tokens(&answer, "/usage/prompt_tokens")
            .or_else(|| tokens(&answer, "/usage/total_tokens")),
    })
}

/// Asks a chat model for JSON.
///
/// # Errors
/// The [`Failure`] of the call, or of an answer that was refused or cut off.
pub async fn chat(http: &Http, model: &Model, request: &ChatRequest) -> Result<Answer, Failure> {
    let mut body = json!({
        "model": model.api_model,
        "messages": request.messages,
        "response_format": {"type": "json_schema", "json_schema": {
            "name": request.schema_name, "schema": request.schema, "strict": true}},
    });
    if let Some(temperature) = request.temperature {
        body["temperature"] = json!(temperature);
    }
    if let Some(max_tokens) = request.max_tokens {
        body["max_tokens"] = json!(max_tokens);
    }
    let mut answer = post(http, model, "/chat/completions", &body).await;
    // A model can refuse both parameters, one after the other.
    for _ in 0..2 {
        let Err(Failure {
            unsupported: Some(parameter),
            ..
        }) = &answer
        else {
            break;
        };
        let Some(value) = body
            .as_object_mut()
            .and_then(|body| body.remove(*parameter))
        else {
            break;
        };
        if *parameter == "max_tokens" {
            body["max_completion_tokens"] = value;
        }
        answer = post(http, model, "/chat/completions", &body).await;
    }
    read_chat(&answer?, request)
}

fn read_chat(answer: &Value, request: &ChatRequest) -> Result<Answer, Failure> {
    let choice = answer
        .pointer("/choices/0")
        .ok_or_else(|| Failure::answer("the answer has no \"choices\""))?;
    check_finish(choice.get("finish_reason").and_then(Value::as_str))?;
    let refused = choice.pointer("/message/refusal").and_then(Value::as_str);
    if refused.is_some_and(|text| !text.is_empty()) {
        check_finish(Some("refusal"))?;
    }
    let content = choice
        .pointer("/message/content")
        .and_then(Value::as_str)
        .ok_or_else(|| Failure::answer("the answer has no content"))?;
    Ok(Answer {
        result: chat_result(content, &request.schema)?,
        input_tokens: tokens(answer, "/usage/prompt_tokens"),
        output_tokens: tokens(answer, "/usage/completion_tokens"),
    })
}

async fn post(http: &Http, model: &Model, path: &str, body: &Value) -> Result<Value, Failure> {
    http.post(Request {
        url: operation_url(model, Some(ENDPOINT), "/v1", path)?,
        key_name: model.key_name.as_deref(),
        authorization: Authorization::Bearer,
        headers: &[],
        body,
        timeout: model.timeout(),
    })
    .await
}
