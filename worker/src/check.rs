//! `--check`: connects, lists the models, and calls each one once.

use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::apis::types::InputType;
use crate::batch::{Runner, Scope};
use crate::database::connection::Target;
use crate::failure::Failure;
use crate::model::{Api, Model, Task};
use crate::queue;

/// Time for the test call of one model.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Checks one database and prints one line per model. Returns whether everything works.
pub async fn check(target: &Target, runner: &Runner) -> bool {
    let label = &target.label;
    let models = match target.connect().await {
        Ok(client) => queue::worker_models(&client).await,
        Err(error) => Err(error),
    };
    let models = match models {
        Ok(models) => models,
        Err(error) => {
            println!("{label}: {error}");
            return false;
        }
    };
    println!("{label}: connected, {} models", models.len());
    let mut works = true;
    for model in models {
        let (name, result) = match model {
            Ok(model) => {
                let result = check_model(&model, runner).await;
                (describe(&model), result)
            }
            Err(unusable) => (unusable.name, Err(unusable.reason)),
        };
        works &= result.is_ok();
        let result = result.unwrap_or_else(|error| format!("FAILED: {error}"));
        println!("{label}: {name}: {result}");
    }
    works
}

fn describe(model: &Model) -> String {
    format!(
        "{} ({}, {} {})",
        model.name, model.task, model.api, model.api_model
    )
}

async fn check_model(model: &Model, runner: &Runner) -> Result<String, String> {
    runner
        .apis
        .can_serve(model)
        .map_err(|failure| failure.message)?;
    let key = match &model.key_name {
        Some(name) => format!("key \"{name}\""),
        None if model.api == Api::Local => "local".to_owned(),
        None => "no key".to_owned(),
    };
    let start = std::time::Instant::now();
    let result = test_call(model, runner)
        .await
        .map_err(|failure| failure.message)?;
    let milliseconds = start.elapsed().as_millis();
    Ok(format!("{key}, {result}, {milliseconds} ms"))
}

async fn test_call(model: &Model, runner: &Runner) -> Result<String, Failure> {
    let scope = Scope::lasting(TIMEOUT, &CancellationToken::new());
    if model.task == "embed" {
        let texts = ["This is a test.".to_owned()];
        let results = runner
            .embed(model, &texts, InputType::Document, &scope)
            .await;
        let mut dimensions = 0;
        for result in results {
            dimensions = result?.vector.len();
        }
        return Ok(format!("{dimensions} dimensions"));
    }
    let task = Task {
        id: 0,
        lease_token: uuid::Uuid::nil(),
        kind: model.task.clone(),
        attempts: 1,
        request: test_request(&model.task),
    };
    for outcome in runner.run(model, &[task], &scope).await {
        outcome?;
    }
    Ok("answers".to_owned())
}

fn test_request(task: &str) -> serde_json::Value {
    if task == "rerank" {
        return json!({"query": "test", "passages": ["This is a test.", "Another sentence."]});
    }
    json!({
        "messages": [
            {"role": "system", "content": "Answer with JSON."},
            {"role": "user", "content": "Is the sky blue? {\"answer\": true or false}"}],
        "schema_name": "test",
        "schema": {"type": "object", "properties": {"answer": {"type": "boolean"}},
            "required": ["answer"], "additionalProperties": false},
        "temperature": 0,
        "max_tokens": 500,
        "premise": "The sky is blue.",
        "hypothesis": "The sky is blue.",
        "question": "Is the sky blue?",
    })
}
