//! The settings of a model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::ModelError;

/// The settings of a model, with their defaults. Those that only the worker uses are stored for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelSettings {
    /// Attempts before a task is given up.
    pub max_attempts: u32,
    /// Tasks of all tenants an hour; `None`: no limit.
    pub max_tasks_per_hour: Option<u32>,
    /// Length to which a text is cut before it is embedded, in tokens of o200k_base.
    pub max_input_tokens: u32,
    /// Text before a question that is embedded.
    pub query_prefix: String,
    /// Text before a passage that is embedded.
    pub document_prefix: String,
    /// Passages in one call.
    pub max_batch: u32,
    /// Calls at a time, for each worker.
    pub concurrency: u32,
    /// Time limit of a call, in seconds.
    pub timeout: u32,
    /// Calls a minute, for each worker; `None`: no limit.
    pub requests_per_minute: Option<u32>,
    /// Tokens a minute, for each worker; `None`: no limit.
    pub tokens_per_minute: Option<u32>,
    /// Whether embeddings get the length 1.
    pub normalize: bool,
    /// Whether the number of dimensions is sent to the API.
    pub dimensions_parameter: bool,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            max_attempts: 5,
            max_tasks_per_hour: None,
            max_input_tokens: 8000,
            query_prefix: String::new(),
            document_prefix: String::new(),
            max_batch: 32,
            concurrency: 4,
            timeout: 60,
            requests_per_minute: None,
            tokens_per_minute: None,
            normalize: true,
            dimensions_parameter: true,
        }
    }
}

impl ModelSettings {
    /// Reads stored or given settings.
    ///
    /// # Errors
    /// A setting is unknown, has another type, or is out of range.
    pub fn read(settings: &Value) -> Result<Self, ModelError> {
        let invalid = |fault: String| ModelError::Property {
            property: "settings",
            fault,
            hint: "The guide lists the settings of a model.",
        };
        let read: Self =
            serde_json::from_value(settings.clone()).map_err(|error| invalid(error.to_string()))?;
        let ranges = [
            ("max_attempts", read.max_attempts, 1, 100),
            ("max_input_tokens", read.max_input_tokens, 1, 1_000_000),
            ("max_batch", read.max_batch, 1, 2048),
            ("concurrency", read.concurrency, 1, 256),
            ("timeout", read.timeout, 1, 3600),
        ];
        for (name, value, least, most) in ranges {
            if !(least..=most).contains(&value) {
                return Err(invalid(format!("{name} is not between {least} and {most}")));
            }
        }
        let limits = [
            ("max_tasks_per_hour", read.max_tasks_per_hour),
            ("requests_per_minute", read.requests_per_minute),
            ("tokens_per_minute", read.tokens_per_minute),
        ];
        match limits.into_iter().find(|(_, limit)| *limit == Some(0)) {
            Some((name, _)) => Err(invalid(format!("{name} is 0"))),
            None => Ok(read),
        }
    }
}
