//! Text Embeddings Inference of Hugging Face: embeddings, rerankers, and classifiers of entailment.

use serde_json::{Value, json};

use super::types::{Answer, Embeddings, in_order, operation_url, read_vector};
use crate::failure::Failure;
use crate::http::{Authorization, Http, Request};
use crate::model::Model;

/// Computes embeddings.
///
/// # Errors
/// The [`Failure`] of the call.
pub async fn embed(http: &Http, model: &Model, texts: &[String]) -> Result<Embeddings, Failure> {
    let mut body = json!({"inputs": texts, "normalize": model.settings.normalize});
    if let (Some(dimensions), true) = (model.dimensions, model.settings.dimensions_parameter) {
        body["dimensions"] = json!(dimensions);
    }
    let answer = post(http, model, "/embed", &body).await?;
    let vectors = answer
        .as_array()
        .ok_or_else(|| Failure::answer("the answer is not a list"))?;
    Ok(Embeddings {
        vectors: vectors.iter().map(read_vector).collect::<Result<_, _>>()?,
        input_tokens: None,
    })
}

/// Scores passages for a query, from 0 to 1.
///
/// # Errors
/// The [`Failure`] of the call.
pub async fn rerank(
    http: &Http,
    model: &Model,
    query: &str,
    passages: &[String],
) -> Result<Answer, Failure> {
    let body = json!({"query": query, "texts": passages, "raw_scores": false});
    let answer = post(http, model, "/rerank", &body).await?;
    let scores = answer
        .as_array()
        .ok_or_else(|| Failure::answer("the answer is not a list"))?
        .iter()
        .map(|result| {
            let index = usize::try_from(result.get("index")?.as_u64()?).ok()?;
            Some((index, result.get("score")?.as_f64()?))
        })
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| Failure::answer("a result lacks its index or its score"))?;
    Ok(Answer {
        result: json!({"scores": in_order(scores, passages.len())?}),
        input_tokens: None,
        output_tokens: None,
    })
}

/// Returns the probability that a premise entails a hypothesis, from a classifier with a label "entailment".
///
/// # Errors
/// The [`Failure`] of the call.
pub async fn entail(
    http: &Http,
    model: &Model,
    premise: &str,
    hypothesis: &str,
) -> Result<Answer, Failure> {
    let body = json!({"inputs": [[premise, hypothesis]], "raw_scores": false});
    let answer = post(http, model, "/predict", &body).await?;
    // One pair can come back as a list of labels, or as a list of such lists.
    let labels = match answer.get(0) {
        Some(Value::Array(labels)) => labels,
        _ => answer
            .as_array()
            .ok_or_else(|| Failure::answer("the answer is not a list"))?,
    };
    let probability = labels
        .iter()
        .find(|entry| {
            let label = entry.get("label").and_then(Value::as_str);
            label.is_some_and(|label| label.eq_ignore_ascii_case("entailment"))
        })
        .and_then(|entry| entry.get("score").and_then(Value::as_f64))
        .ok_or_else(|| Failure::model("the classifier has no label \"entailment\""))?;
    Ok(Answer {
        result: json!({ "probability": probability }),
        input_tokens: None,
        output_tokens: None,
    })
}

async fn post(http: &Http, model: &Model, path: &str, body: &Value) -> Result<Value, Failure> {
    http.post(Request {
        url: operation_url(model, None, "", path)?,
        key_name: model.key_name.as_deref(),
        authorization: Authorization::Bearer,
        headers: &[],
        body,
        timeout: model.timeout(),
    })
    .await
}
