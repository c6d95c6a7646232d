//! The properties of a registered model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::ModelError;
use crate::kind::{Api, Kind};
use crate::settings::ModelSettings;

/// Properties that a caller gives; `None` keeps the present value.
#[derive(Clone, Debug, Default)]
pub struct Changes<'a> {
    /// Task of the model.
    pub task: Option<&'a str>,
    /// Protocol of the endpoint.
    pub api: Option<&'a str>,
    /// Base address.
    pub endpoint: Option<&'a str>,
    /// Name of the model at the API.
    pub api_model: Option<&'a str>,
    /// Dimensions of the embeddings.
    pub dimensions: Option<i32>,
    /// Name of the key.
    pub key_name: Option<&'a str>,
    /// Settings to be merged into the present ones; null removes one.
    pub settings: Option<Value>,
}

/// A registered model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Registration {
    /// Name of the model in reground.
    pub model: String,
    /// Task of the model.
    pub task: Kind,
    /// Protocol of the endpoint.
    pub api: Api,
    /// Base address; `None` for local.
    pub endpoint: Option<String>,
    /// Name of the model at the API.
    pub api_model: String,
    /// Dimensions of the embeddings; `None` for other tasks.
    pub dimensions: Option<i32>,
    /// Name of the key; `None` for none.
    pub key_name: Option<String>,
    /// The given settings, without defaults.
    pub settings: Value,
}

impl Registration {
    /// The registration of `model` after the changes; `before` is the present one.
    ///
    /// # Errors
    /// A property is missing or invalid.
    pub fn changed(
        model: &str,
        before: Option<Self>,
        changes: Changes<'_>,
    ) -> Result<Self, ModelError> {
        let task = changes.task.map(Kind::parse).transpose()?;
        let task = task.or(before.as_ref().map(|before| before.task));
        let task = task.ok_or_else(|| missing("task", "A new model needs task and api."))?;
        let api = changes.api.map(Api::parse).transpose()?;
        let api = api.or(before.as_ref().map(|before| before.api));
        let api = api.ok_or_else(|| missing("api", "A new model needs task and api."))?;
        if !api.serves(task) {
            return Err(ModelError::Property {
                property: "api",
                fault: format!("{} has no task {}", api.name(), task.name()),
                hint: "openai: embed, judge, decompose, entail. anthropic: judge, decompose, entail. cohere, tei: embed, rerank. local: all but decompose.",
            });
        }
        let mut settings = before.as_ref().map_or_else(
            || Value::Object(serde_json::Map::new()),
            |before| before.settings.clone(),
        );
        merge(&mut settings, changes.settings)?;
        ModelSettings::read(&settings)?;
        let kept = before.as_ref();
        let given =
            |new: Option<&str>, old: Option<&String>| new.map(str::to_owned).or(old.cloned());
        // An endpoint belongs to its API. An empty one is the default.
        let of_api = kept.filter(|kept| kept.api == api);
        let endpoint = given(
            changes.endpoint,
            of_api.and_then(|kept| kept.endpoint.as_ref()),
        )
        .filter(|endpoint| !endpoint.is_empty());
        let registration = Self {
            endpoint: checked_endpoint(api, endpoint)?,
            api_model: given(changes.api_model, kept.map(|kept| &kept.api_model))
                .unwrap_or_else(|| model.to_owned()),
            dimensions: changes.dimensions.or(kept.and_then(|kept| kept.dimensions)),
            key_name: given(
                changes.key_name,
                kept.and_then(|kept| kept.key_name.as_ref()),
            )
            .filter(|name| !name.is_empty()),
            model: model.to_owned(),
            task,
            api,
            settings,
        };
        registration.check()?;
        Ok(registration)
    }

    fn check(&self) -> Result<(), ModelError> {
        let invalid = |property, fault: &str, hint| {
            Err(ModelError::Property {
                property,
                fault: fault.to_owned(),
                hint,
            })
        };
        match (self.task, self.dimensions) {
            (Kind::Embed, None) => {
                return Err(missing(
                    "dimensions",
                    "Pass the number of dimensions of the model's embeddings, for example dimensions => 1536.",
                ));
            }
            (Kind::Embed, Some(count)) if !(1..=16_000).contains(&count) => {
                return invalid("dimensions", "it is not between 1 and 16000", "");
            }
            (Kind::Embed, _) | (_, None) => {}
            (_, Some(_)) => {
                return invalid(
                    "dimensions",
                    "only models with the task embed have dimensions",
                    "",
                );
            }
        }
        if self.api_model.trim().is_empty() {
            return invalid("api_model", "it is empty", "");
        }
        // The folder of a local model is below the worker's folder of models.
        let parts = || self.api_model.split(['/', '\\']);
        if self.api == Api::Local && parts().any(|part| part.is_empty() || part.starts_with('.')) {
            return invalid(
                "api_model",
                "it is not a folder below the worker's folder of models",
                "Write the name of the folder, for example all-MiniLM-L6-v2.",
            );
        }
        if let Some(name) = &self.key_name
            && !name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            return invalid(
                "key_name",
                "it has characters other than letters, digits and _",
                "Pass the name of the key, not the key. The worker reads the key from its environment: REGROUND_KEY_NAME.",
            );
        }
        Ok(())
    }

    /// Whether embeddings of this registration and of another can be compared.
    #[must_use]
    pub fn embeds_like(&self, other: &Self) -> bool {
        let settings = |model: &Self| {
            ["document_prefix", "normalize"].map(|name| model.settings.get(name).cloned())
        };
        (self.task, &self.api_model, self.dimensions, settings(self))
            == (
                other.task,
                &other.api_model,
                other.dimensions,
                settings(other),
            )
    }
}

fn missing(property: &'static str, hint: &'static str) -> ModelError {
    ModelError::Property {
        property,
        fault: "it is missing".to_owned(),
        hint,
    }
}

fn merge(settings: &mut Value, changes: Option<Value>) -> Result<(), ModelError> {
    let Some(changes) = changes else {
        return Ok(());
    };
    let (Value::Object(settings), Value::Object(changes)) = (settings, changes) else {
        return Err(ModelError::Property {
            property: "settings",
            fault: "it is not a JSON object".to_owned(),
            hint: "Write {\"max_batch\": 64}.",
        });
    };
    for (name, value) in changes {
        match value {
            Value::Null => settings.remove(&name),
            value => settings.insert(name, value),
        };
    }
    Ok(())
}

/// An address is scheme, host and path. Credentials in it would be stored and dumped.
fn checked_endpoint(api: Api, endpoint: Option<String>) -> Result<Option<String>, ModelError> {
    let invalid = |fault: &str, hint| ModelError::Property {
        property: "endpoint",
        fault: fault.to_owned(),
        hint,
    };
    if api == Api::Local {
        return match endpoint {
            Some(_) => Err(invalid("a local model has none", "The worker runs it.")),
            None => Ok(None),
        };
    }
    let endpoint = endpoint.or_else(|| api.default_endpoint().map(str::to_owned));
    let endpoint = endpoint.ok_or_else(|| {
        missing(
            "endpoint",
            "Pass the base address of the server, for example https://tei.internal:8080.",
        )
    })?;
    let rest = endpoint
        .strip_prefix("https://")
        .or_else(|| endpoint.strip_prefix("http://"))
        .ok_or_else(|| invalid("it does not begin with https:// or http://", ""))?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let rest_is_plain = endpoint.chars().all(|c| c.is_ascii_graphic());
    if host.is_empty() || !rest_is_plain {
        return Err(invalid("it is not an address", "Write https://host/path."));
    }
    if host.contains('@') || endpoint.contains(['?', '#']) {
        return Err(invalid(
            "it contains credentials, a query or a fragment",
            "Keys are not stored in the database: pass key_name, and give the key to the worker.",
        ));
    }
    Ok(Some(endpoint.trim_end_matches('/').to_owned()))
}
