//! Loads local models and runs them. A forward pass computes for long, so it runs outside the threads of the network.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use reground_encoders::{EncoderError, Model as LocalModel};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::types::{Answer, Embeddings};
use crate::failure::Failure;
use crate::model::Task;

/// Forward passes at the same time. One uses several cores already; the second keeps them busy between two batches, and lets a
/// query pass a long batch.
const FORWARD_PASSES: usize = 2;

/// The loaded models.
pub struct LocalModels {
    loaded: Arc<Mutex<BTreeMap<PathBuf, Arc<LocalModel>>>>,
    passes: Arc<Semaphore>,
}

impl Default for LocalModels {
    fn default() -> Self {
        Self {
            loaded: Arc::default(),
            passes: Arc::new(Semaphore::new(FORWARD_PASSES)),
        }
    }
}

impl LocalModels {
    /// Computes embeddings.
    ///
    /// # Errors
    /// A failure of the model if it cannot be loaded or run, or is no sentence encoder.
    pub async fn embed(&self, folder: PathBuf, texts: Vec<String>) -> Result<Embeddings, Failure> {
        let vectors = self
            .pass(folder, move |model| match model {
                LocalModel::Sentence(encoder) => {
                    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                    encoder.encode(&texts).map_err(failure)
                }
                other => Err(unfit(other, "embed")),
            })
            .await?;
        Ok(Embeddings {
            vectors,
            input_tokens: None,
        })
    }

    /// Runs a task of another kind.
    ///
    /// # Errors
    /// As [`embed`](Self::embed), and a failure of the task if its request is incomplete or too long.
    pub async fn run(&self, folder: PathBuf, task: &Task) -> Result<Answer, Failure> {
        let (kind, request) = (task.kind.clone(), task.request.clone());
        let result = self
            .pass(folder, move |model| result(model, &kind, request))
            .await?;
        Ok(Answer {
            result,
            input_tokens: None,
            output_tokens: None,
        })
    }

    async fn pass<T: Send + 'static>(
        &self,
        folder: PathBuf,
        work: impl FnOnce(&LocalModel) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let pass = Arc::clone(&self.passes).acquire_owned().await;
        let loaded = Arc::clone(&self.loaded);
        tokio::task::spawn_blocking(move || {
            // The permit is released when the pass ends, also if the caller no longer waits.
            let _pass = pass;
            work(&*load(&loaded, &folder)?)
        })
        .await
        .map_err(|_| Failure::model("the local model failed"))?
    }
}

/// Returns a loaded model. The lock is held while it loads, so that it is loaded once.
fn load(
    loaded: &Mutex<BTreeMap<PathBuf, Arc<LocalModel>>>,
    folder: &Path,
) -> Result<Arc<LocalModel>, Failure> {
    let mut loaded = loaded.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(model) = loaded.get(folder) {
        return Ok(Arc::clone(model));
    }
    let model = Arc::new(LocalModel::open(folder).map_err(failure)?);
    loaded.insert(folder.to_owned(), Arc::clone(&model));
    Ok(model)
}

/// The result of a task, in the form that the queue stores.
fn result(model: &LocalModel, kind: &str, request: Value) -> Result<Value, Failure> {
    match (kind, model) {
        ("rerank", LocalModel::Cross(encoder)) => {
            let RerankRequest { query, passages } = read(request)?;
            let pairs: Vec<(&str, &str)> = passages
                .iter()
                .map(|passage| (query.as_str(), passage.as_str()))
                .collect();
            let scores = encoder.score(&pairs).map_err(failure)?;
            let scores: Vec<f32> = scores.iter().map(|score| score.probability).collect();
            Ok(json!({"scores": scores}))
        }
        ("judge" | "entail", LocalModel::Entailment(classifier)) => {
            let pair: PairRequest = read(request)?;
            let probabilities = classifier.probabilities(&[(&pair.premise, &pair.hypothesis)]);
            let probability = probabilities.map_err(failure)?.into_iter().next();
            Ok(json!({"probability": probability}))
        }
        ("judge" | "entail", LocalModel::Spans(classifier)) => {
            let pair: PairRequest = read(request)?;
            let question = pair.question.as_deref();
            let spans = classifier.unsupported(&[&pair.premise], question, &pair.hypothesis);
            let spans = spans.map_err(failure)?.into_iter().map(|span| {
                json!({"start": span.start, "end": span.end, "probability": span.max_probability})
            });
            Ok(json!({"spans": spans.collect::<Vec<Value>>()}))
        }
        (kind, other) => Err(unfit(other, kind)),
    }
}

#[derive(Deserialize)]
struct RerankRequest {
    query: String,
    passages: Vec<String>,
}

#[derive(Deserialize)]
struct PairRequest {
    premise: String,
    hypothesis: String,
    question: Option<String>,
}

fn read<T: serde::de::DeserializeOwned>(request: Value) -> Result<T, Failure> {
    serde_json::from_value(request)
        .map_err(|error| Failure::item(format!("the request is incomplete: {error}")))
}

fn failure(error: EncoderError) -> Failure {
    match error {
        EncoderError::TooLong { .. } => Failure::item(error.to_string()),
        error => Failure::model(error.to_string()),
    }
}

fn unfit(model: &LocalModel, kind: &str) -> Failure {
    let found = match model {
        LocalModel::Sentence(_) => "a sentence encoder",
        LocalModel::Cross(_) => "a cross-encoder",
        LocalModel::Entailment(_) => "an entailment classifier",
        LocalModel::Spans(_) => "a span classifier",
    };
    Failure::model(format!(
        "the folder has {found}, which has no task \"{kind}\""
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tiny random model of the tests of the encoders.
    fn tiny(name: &str) -> PathBuf {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/encoders/tests/models");
        models.join(name)
    }

    fn task(kind: &str, request: Value) -> Task {
        Task {
            id: 1,
            lease_token: uuid::Uuid::nil(),
            kind: kind.to_owned(),
            attempts: 1,
            request,
        }
    }

    #[tokio::test]
    async fn each_kind_of_model_does_its_tasks_and_no_other() {
        let models = LocalModels::default();
        let texts = vec!["a text".to_owned(), "another".to_owned()];
        let embedded = models.embed(tiny("bert-mean"), texts.clone()).await;
        assert_eq!(embedded.map(|embedded| embedded.vectors.len()), Ok(2));
        let rerank = task("rerank", json!({"query": "q", "passages": ["a", "b", "c"]}));
        let answer = models
            .run(tiny("bert-cross"), &rerank)
            .await
            .expect("scores");
        assert_eq!(answer.result["scores"].as_array().map(Vec::len), Some(3));
        let judge = task(
            "judge",
            json!({"premise": "tea is hot", "hypothesis": "tea is cold", "messages": []}),
        );
        let answer = models
            .run(tiny("roberta-nli"), &judge)
            .await
            .expect("a probability");
        assert!(
            answer.result["probability"]
                .as_f64()
                .is_some_and(|p| (0.0..=1.0).contains(&p))
        );
        let answer = models
            .run(tiny("modernbert-spans"), &judge)
            .await
            .expect("spans");
        assert!(answer.result["spans"].is_array());
        for (name, wrong) in [
            ("bert-cross", &judge),
            ("roberta-nli", &rerank),
            ("bert-mean", &judge),
        ] {
            let failure = models
                .run(tiny(name), wrong)
                .await
                .expect_err("another task");
            assert_eq!(
                failure.class,
                crate::failure::Class::Model,
                "{name}: {failure}"
            );
        }
        assert!(models.embed(tiny("bert-cross"), texts).await.is_err());
    }
}
