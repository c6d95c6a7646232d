//! Models as the database lists them, and tasks as the queue hands them out.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

/// The interface that a model is called over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// OpenAI, and the many servers with its interface.
    Openai,
    /// Anthropic's Messages.
    Anthropic,
    /// Cohere, and servers with its `rerank`.
    Cohere,
    /// Text Embeddings Inference of Hugging Face.
    Tei,
    /// A model of the local folder.
    Local,
}

impl FromStr for Api {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Ok(match name {
            "openai" => Self::Openai,
            "anthropic" => Self::Anthropic,
            "cohere" => Self::Cohere,
            "tei" => Self::Tei,
            "local" => Self::Local,
            _ => return Err(format!("unrecognized api \"{name}\"")),
        })
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
            Self::Cohere => "cohere",
            Self::Tei => "tei",
            Self::Local => "local",
        })
    }
}

/// Settings of a model, all with a default. Settings that the worker does not use are ignored.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Text before a query.
    pub query_prefix: String,
    /// Text before a passage.
    pub document_prefix: String,
    /// Seconds that a call may take.
    pub timeout: f64,
    /// Most texts in one call.
    pub max_batch: usize,
    /// Most calls at the same time.
    pub concurrency: usize,
    /// Most calls in a minute.
    pub requests_per_minute: Option<u32>,
    /// Most tokens in a minute.
    pub tokens_per_minute: Option<u64>,
    /// Whether embeddings are scaled to length 1.
    pub normalize: bool,
    /// Whether `dimensions` is sent to the API.
    pub dimensions_parameter: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            query_prefix: String::new(),
            document_prefix: String::new(),
            timeout: 60.0,
            max_batch: 32,
            concurrency: 4,
            requests_per_minute: None,
            tokens_per_minute: None,
            normalize: true,
            dimensions_parameter: true,
        }
    }
}

/// A model that tasks name.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Our name.
    pub name: String,
    /// embed, rerank, judge, decompose or entail.
    pub task: String,
    /// The interface.
    pub api: Api,
    /// Base URL, or the URL of the operation itself.
    pub endpoint: Option<String>,
    /// The name at the API, or the folder of a local model.
    pub api_model: String,
    /// Length of the embeddings.
    pub dimensions: Option<usize>,
    /// The name of the key.
    pub key_name: Option<String>,
    /// The settings.
    pub settings: Settings,
}

impl Model {
    /// Returns how long one call may take, between 1 second and 30 minutes.
    pub fn timeout(&self) -> Duration {
        let seconds = self.settings.timeout;
        Duration::from_secs_f64(if seconds.is_finite() {
            seconds.clamp(1.0, 1800.0)
        } else {
            60.0
        })
    }

    /// Returns how long tasks are claimed for: a call, two repetitions, and the pauses between them.
    pub fn lease(&self) -> Duration {
        Duration::from_secs(300).max(self.timeout() * 3 + Duration::from_secs(60))
    }

    /// Returns the number of tasks that one call serves: only embeddings are computed in batches.
    pub fn batch(&self) -> usize {
        if self.task == "embed" {
            self.settings.max_batch.clamp(1, 2048)
        } else {
            1
        }
    }

    /// Returns the number of calls at the same time.
    pub fn concurrency(&self) -> usize {
        self.settings.concurrency.clamp(1, 256)
    }
}

/// A claimed task.
#[derive(Debug, Clone)]
pub struct Task {
    /// The id.
    pub id: i64,
    /// Proves that this worker holds the task.
    pub lease_token: Uuid,
    /// embed, rerank, judge, decompose or entail.
    pub kind: String,
    /// Number of attempts, this one included.
    pub attempts: i32,
    /// The request, whose form depends on the kind.
    pub request: Value,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a model for tests.
    pub(crate) fn model(task: &str) -> Model {
        Model {
            name: "m".into(),
            task: task.into(),
            api: Api::Openai,
            endpoint: None,
            api_model: "api-m".into(),
            dimensions: None,
            key_name: None,
            settings: Settings::default(),
        }
    }

    #[test]
    fn settings_have_defaults_and_ignore_others() {
        let settings: Settings =
            serde_json::from_value(serde_json::json!({"max_batch": 8, "max_attempts": 3}))
                .expect("valid settings");
        assert_eq!(settings.max_batch, 8);
        assert_eq!(settings.concurrency, 4);
        assert!(settings.normalize && settings.dimensions_parameter);
    }

    #[test]
    fn the_lease_covers_three_calls() {
        let mut slow = model("judge");
        assert_eq!(slow.lease(), Duration::from_secs(300));
        slow.settings.timeout = 200.0;
        assert_eq!(slow.lease(), Duration::from_secs(660));
        slow.settings.timeout = f64::NAN;
        assert_eq!(slow.timeout(), Duration::from_secs(60));
        assert_eq!((slow.batch(), model("embed").batch()), (1, 32));
    }
}
