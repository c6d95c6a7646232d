//! Anthropic's Messages.

use serde_json::{Value, json};

use super::types::{Answer, ChatRequest, chat_result, check_finish, operation_url, tokens};
use crate::failure::Failure;
use crate::http::{Authorization, Http, Request};
use crate::model::Model;

const ENDPOINT: &str = "https://api.anthropic.com/v1";
/// The API requires a limit.
const DEFAULT_MAX_TOKENS: u32 = 1024;
/// Keywords of JSON Schema that the API refuses. The database checks the answer against the whole schema.
const UNSUPPORTED: [&str; 11] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "minItems",
    "uniqueItems",
    "$schema",
];

/// Asks a model for JSON.
///
/// # Errors
/// The [`Failure`] of the call, or of an answer that was refused or cut off.
pub async fn chat(http: &Http, model: &Model, request: &ChatRequest) -> Result<Answer, Failure> {
    let is_system = |role: &str| role == "system";
    let system: Vec<&str> = request
        .messages
        .iter()
        .filter(|message| is_system(&message.role))
        .map(|message| message.content.as_str())
        .collect();
    let messages: Vec<_> = request
        .messages
        .iter()
        .filter(|message| !is_system(&message.role))
        .collect();
    let mut body = json!({
        "model": model.api_model,
        "max_tokens": request.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS),
        "messages": messages,
        "output_config": {"format": {
            "type": "json_schema", "schema": supported_schema(&request.schema)}},
    });
    if !system.is_empty() {
        body["system"] = json!(system.join("\n\n"));
    }
    if let Some(temperature) = request.temperature {
        body["temperature"] = json!(temperature);
    }
    let mut answer = post(http, model, &body).await;
    let refused = matches!(&answer, Err(failure) if failure.unsupported == Some("temperature"));
    if let (true, Some(fields)) = (refused, body.as_object_mut()) {
        fields.remove("temperature");
        answer = post(http, model, &body).await;
    }
    read(&answer?, request)
}

fn read(answer: &Value, request: &ChatRequest) -> Result<Answer, Failure> {
    check_finish(answer.get("stop_reason").and_then(Value::as_str))?;
    let blocks = answer
        .get("content")
        .and_then(Value::as_array)
        .ok_or_else(|| Failure::answer("the answer has no content"))?;
    let content: String = blocks
        .iter()
        .filter(|block| block.get("type").and_then(Value::as_str) == Some("text"))
        .filter_map(|block| block.get("text").and_then(Value::as_str))
        .collect();
    Ok(Answer {
        result: chat_result(&content, &request.schema)?,
        input_tokens: tokens(answer, "/usage/input_tokens"),
        output_tokens: tokens(answer, "/usage/output_tokens"),
    })
}

/// Returns the schema without the keywords that the API refuses. Objects get `additionalProperties: false`, which it requires.
/// The names of properties are no keywords.
fn supported_schema(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let mut supported = serde_json::Map::new();
            for (name, value) in fields {
                if UNSUPPORTED.contains(&name.as_str()) {
                    continue;
                }
                let value = match (name.as_str(), value) {
                    ("properties" | "$defs" | "definitions", Value::Object(properties)) => {
                        let named = properties
                            .iter()
                            .map(|(name, schema)| (name.clone(), supported_schema(schema)));
                        Value::Object(named.collect())
                    }
                    ("enum" | "const" | "default" | "required", value) => value.clone(),
                    (_, value) => supported_schema(value),
                };
                supported.insert(name.clone(), value);
            }
            if fields.contains_key("properties") {
                supported.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            Value::Object(supported)
        }
        Value::Array(schemas) => schemas.iter().map(supported_schema).collect(),
        other => other.clone(),
    }
}

async fn post(http: &Http, model: &Model, body: &Value) -> Result<Value, Failure> {
    http.post(Request {
        url: operation_url(model, Some(ENDPOINT), "/v1", "/messages")?,
        key_name: model.key_name.as_deref(),
        authorization: Authorization::ApiKey,
        headers: &[("anthropic-version", "2023-06-01")],
        body,
        timeout: model.timeout(),
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_lose_what_the_api_refuses() {
        let schema = json!({"type": "object", "required": ["minimum"], "properties": {
            "minimum": {"type": "number", "minimum": 0, "maximum": 1},
            "claims": {"type": "array", "maxItems": 9, "items": {"type": "object", "properties": {}}}}});
        assert_eq!(
            supported_schema(&schema),
            json!({"type": "object", "required": ["minimum"], "additionalProperties": false, "properties": {
                "minimum": {"type": "number"},
                "claims": {"type": "array", "items": {
                    "type": "object", "properties": {}, "additionalProperties": false}}}})
        );
    }
}
