//! The adapters of the APIs.

pub mod anthropic;
pub mod cohere;
pub mod local;
pub mod openai;
pub mod tei;
pub mod types;

use serde_json::Value;

use crate::failure::Failure;
use crate::http::Http;
use crate::model::{Api, Model, Task};
use local::Local;
use types::{Answer, ChatRequest, Embeddings, InputType};

/// All APIs.
pub struct Apis {
    /// The client of the remote ones.
    pub http: Http,
    /// The local models.
    pub local: Local,
}

impl Apis {
    /// Checks that this worker has what a model needs: its key, or its folder.
    ///
    /// # Errors
    /// What is missing.
    pub fn can_serve(&self, model: &Model) -> Result<(), Failure> {
        if model.api == Api::Local {
            return self.local.find(model).map(drop);
        }
        match &model.key_name {
            Some(name) if !self.http.keys().contains(name) => {
                Err(Failure::model(format!("the worker has no key \"{name}\"")))
            }
            _ => Ok(()),
        }
    }

    /// Computes embeddings, of unit length if the model's settings say so. The prefix of queries or passages is put before
    /// each text.
    ///
    /// # Errors
    /// The [`Failure`] of the call. Embeddings of another length than the model's are a failure of the model.
    pub async fn embed(
        &self,
        model: &Model,
        texts: &[String],
        input: InputType,
    ) -> Result<Embeddings, Failure> {
        let prefix = match input {
            InputType::Query => &model.settings.query_prefix,
            InputType::Document => &model.settings.document_prefix,
        };
        let texts: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let mut embeddings = match model.api {
            Api::Openai => openai::embed(&self.http, model, &texts).await?,
            Api::Cohere => cohere::embed(&self.http, model, &texts, input).await?,
            Api::Tei => tei::embed(&self.http, model, &texts).await?,
            Api::Local => self.local.embed(model, &texts).await?,
            Api::Anthropic => return Err(unsupported(model, "embed")),
        };
        check_embeddings(model, &embeddings.vectors, texts.len())?;
        if model.settings.normalize {
            for vector in &mut embeddings.vectors {
                normalise(vector)?;
            }
        }
        Ok(embeddings)
    }

    /// Runs a task that is not an embedding.
    ///
    /// # Errors
    /// The [`Failure`] of the call.
    pub async fn run(&self, model: &Model, task: &Task) -> Result<Answer, Failure> {
        if model.api == Api::Local {
            return self.local.run(model, task).await;
        }
        if task.kind == "rerank" {
            let query = text(&task.request, "query")?;
            let passages = passages(&task.request)?;
            return match model.api {
                Api::Cohere => cohere::rerank(&self.http, model, query, &passages).await,
                Api::Tei => tei::rerank(&self.http, model, query, &passages).await,
                _ => Err(unsupported(model, &task.kind)),
            };
        }
        if !matches!(task.kind.as_str(), "judge" | "decompose" | "entail") {
            return Err(unsupported(model, &task.kind));
        }
        if model.api == Api::Tei && task.kind != "decompose" {
            let premise = text(&task.request, "premise")?;
            let hypothesis = text(&task.request, "hypothesis")?;
            return tei::entail(&self.http, model, premise, hypothesis).await;
        }
        let request = ChatRequest::read(&task.request)?;
        match model.api {
            Api::Openai => openai::chat(&self.http, model, &request).await,
            Api::Anthropic => anthropic::chat(&self.http, model, &request).await,
            Api::Cohere => cohere::chat(&self.http, model, &request).await,
            Api::Tei | Api::Local => Err(unsupported(model, &task.kind)),
        }
    }
}

fn unsupported(model: &Model, kind: &str) -> Failure {
    let api = model.api;
    Failure::model(format!("the api {api} has no tasks of kind \"{kind}\""))
}

/// Returns a text of a request.
///
/// # Errors
/// A failure of the task if it is missing.
pub fn text<'a>(request: &'a Value, field: &str) -> Result<&'a str, Failure> {
    request
        .get(field)
        .and_then(Value::as_str)
        .ok_or_else(|| Failure::item(format!("the request lacks \"{field}\"")))
}

fn passages(request: &Value) -> Result<Vec<String>, Failure> {
    request
        .get("passages")
        .and_then(|passages| serde::Deserialize::deserialize(passages).ok())
        .filter(|passages: &Vec<String>| !passages.is_empty())
        .ok_or_else(|| Failure::item("the request lacks \"passages\""))
}

fn check_embeddings(model: &Model, vectors: &[Vec<f32>], count: usize) -> Result<(), Failure> {
    if vectors.len() != count {
        let found = vectors.len();
        return Err(Failure::answer(format!(
            "the answer has {found} embeddings for {count} texts"
        )));
    }
    let Some(dimensions) = model.dimensions else {
        return Ok(());
    };
    match vectors.iter().find(|vector| vector.len() != dimensions) {
        None => Ok(()),
        // All texts would fail alike.
        Some(wrong) => Err(Failure::model(format!(
            "the embeddings have {} dimensions, not {dimensions}",
            wrong.len()
        ))),
    }
}

/// Scales a vector to length 1.
fn normalise(vector: &mut [f32]) -> Result<(), Failure> {
    let squares: f64 = vector
        .iter()
        .map(|&number| f64::from(number) * f64::from(number))
        .sum();
    let length = squares.sqrt();
    if length == 0.0 {
        return Err(Failure::answer("an embedding is zero"));
    }
    for number in vector {
        *number = (f64::from(*number) / length) as f32;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_scaled() {
        let mut vector = [3.0, 4.0];
        assert_eq!(normalise(&mut vector), Ok(()));
        assert_eq!(vector, [0.6, 0.8]);
        assert!(normalise(&mut [0.0, 0.0]).is_err());
    }
}
