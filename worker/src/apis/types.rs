//! What adapters take and return.

use reqwest::Url;
use serde_json::Value;

use crate::failure::Failure;
use crate::model::Model;

/// Whether a text is searched for, or searched in. Some models embed both differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputType {
    /// A query.
    Query,
    /// A passage.
    Document,
}

/// Embeddings in the order of the texts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Embeddings {
    /// One embedding per text.
    pub vectors: Vec<Vec<f32>>,
    /// Tokens that the API counted.
    pub input_tokens: Option<i64>,
}

/// The result of a task that is not an embedding, in the form that the queue stores.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The result.
    pub result: Value,
    /// Tokens of the input that the API counted.
    pub input_tokens: Option<i64>,
    /// Tokens of the answer that the API counted.
    pub output_tokens: Option<i64>,
}

/// A question to a chat model whose answer is JSON.
#[derive(Debug, Clone, serde::Deserialize)]
pub struct ChatRequest {
    /// The messages: objects with `role` and `content`.
    pub messages: Vec<Message>,
    /// Name of the schema.
    #[serde(default = "default_schema_name")]
    pub schema_name: String,
    /// The schema of the answer.
    pub schema: Value,
    /// 0 for the most probable answer.
    pub temperature: Option<f64>,
    /// Most tokens of the answer.
    pub max_tokens: Option<u32>,
}

/// One message.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize)]
pub struct Message {
    /// system or user.
    pub role: String,
    /// The text.
    pub content: String,
}

fn default_schema_name() -> String {
    "answer".to_owned()
}

impl ChatRequest {
    /// Reads the request of a task.
    ///
    /// # Errors
    /// A failure of the task if something is missing.
    pub fn read(request: &Value) -> Result<Self, Failure> {
        serde::Deserialize::deserialize(request)
            .map_err(|error| Failure::item(format!("the request is incomplete: {error}")))
    }
}

/// Returns the URL of an operation: of the endpoint, the API's own URL if the model has none, with `path` appended unless
/// the endpoint already ends with it. A bare host gets the `version` that the API has in its paths.
///
/// # Errors
/// A failure of the model if the endpoint is missing or no URL.
pub fn operation_url(
    model: &Model,
    default: Option<&str>,
    version: &str,
    path: &str,
) -> Result<Url, Failure> {
    let endpoint = model
        .endpoint
        .as_deref()
        .or(default)
        .ok_or_else(|| Failure::model("the model has no endpoint"))?;
    let mut url =
        Url::parse(endpoint).map_err(|_| Failure::model("the endpoint is not an http URL"))?;
    let base = url.path().trim_end_matches('/').to_owned();
    if !base.ends_with(path) {
        let version = if base.is_empty() { version } else { "" };
        url.set_path(&format!("{base}{version}{path}"));
    }
    Ok(url)
}

/// Reads a list of embeddings.
///
/// # Errors
/// An unusable answer if an element is not a list of finite numbers.
pub fn read_vector(value: &Value) -> Result<Vec<f32>, Failure> {
    let number = |value: &Value| {
        let number = value.as_f64()? as f32;
        number.is_finite().then_some(number)
    };
    value
        .as_array()
        .filter(|list| !list.is_empty())
        .and_then(|list| list.iter().map(number).collect())
        .ok_or_else(|| Failure::answer("an embedding is not a list of numbers"))
}

/// Puts results with an `index` into the order of the input.
///
/// # Errors
/// An unusable answer if an index is missing, out of range or there twice, or if there are fewer results than inputs.
pub fn in_order<T>(results: Vec<(usize, T)>, count: usize) -> Result<Vec<T>, Failure> {
    let found = results.len();
    let mut ordered: Vec<Option<T>> = std::iter::repeat_with(|| None).take(count).collect();
    for (index, result) in results {
        let place = ordered
            .get_mut(index)
            .filter(|place| place.is_none())
            .ok_or_else(|| Failure::answer("the answer has a wrong index"))?;
        *place = Some(result);
    }
    ordered
        .into_iter()
        .collect::<Option<Vec<T>>>()
        .ok_or_else(|| Failure::answer(format!("the answer has {found} results for {count}")))
}

/// Checks that the answer of a chat model is a JSON object with the required fields, and returns it in the form that the
/// queue stores. Some servers put a Markdown fence around the JSON, which is removed.
///
/// # Errors
/// An unusable answer.
pub fn chat_result(content: &str, schema: &Value) -> Result<Value, Failure> {
    let content = content.trim();
    let content = content
        .strip_prefix("```json")
        .or_else(|| content.strip_prefix("```"))
        .and_then(|inner| inner.trim_end().strip_suffix("```"))
        .unwrap_or(content)
        .trim();
    let parsed: Value = serde_json::from_str(content)
        .map_err(|_| Failure::answer("the answer of the model is not JSON"))?;
    let required = schema.get("required").and_then(Value::as_array);
    for field in required.into_iter().flatten().filter_map(Value::as_str) {
        if parsed.get(field).is_none() {
            return Err(Failure::answer(format!("the answer lacks \"{field}\"")));
        }
    }
    Ok(serde_json::json!({ "content": content }))
}

/// Returns the failure of an answer that ended early, if it did.
///
/// # Errors
/// A failure of the task.
pub fn check_finish(reason: Option<&str>) -> Result<(), Failure> {
    match reason.map(str::to_ascii_lowercase).as_deref() {
        Some("length" | "max_tokens" | "model_context_window_exceeded") => {
            Err(Failure::item("the answer was cut off at its length limit"))
        }
        Some("content_filter" | "error_toxic") => {
            Err(Failure::item("a content filter ended the answer"))
        }
        Some("refusal") => Err(Failure::item("the model refused to answer")),
        Some("error") => Err(Failure::passing("the model ended with an error")),
        _ => Ok(()),
    }
}

/// Returns a number of tokens of an answer.
pub fn tokens(answer: &Value, path: &str) -> Option<i64> {
    let number = answer.pointer(path)?;
    number
        .as_i64()
        .or_else(|| number.as_f64().map(|number| number as i64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Class;
    use crate::model::tests::model;
    use serde_json::json;

    #[test]
    fn urls_of_operations() {
        let url = |endpoint: Option<&str>| {
            let mut model = model("embed");
            model.endpoint = endpoint.map(str::to_owned);
            operation_url(
                &model,
                Some("https://api.openai.com/v1"),
                "/v1",
                "/embeddings",
            )
            .map(String::from)
        };
        for (endpoint, expected) in [
            (None, "https://api.openai.com/v1/embeddings"),
            (Some("http://h:8000"), "http://h:8000/v1/embeddings"),
            (Some("http://h/openai/v1/"), "http://h/openai/v1/embeddings"),
            (
                Some("http://h/x/embeddings?api-version=1"),
                "http://h/x/embeddings?api-version=1",
            ),
        ] {
            assert_eq!(url(endpoint).as_deref(), Ok(expected));
        }
        assert!(url(Some("no url")).is_err());
    }

    #[test]
    fn results_are_ordered_by_index() {
        assert_eq!(in_order(vec![(1, 'b'), (0, 'a')], 2), Ok(vec!['a', 'b']));
        for wrong in [
            vec![(0, 'a')],
            vec![(0, 'a'), (0, 'b')],
            vec![(0, 'a'), (2, 'b')],
        ] {
            assert_eq!(in_order(wrong, 2).map_err(|f| f.class), Err(Class::Answer));
        }
    }

    #[test]
    fn answers_of_chat_models_are_json() {
        let schema = json!({"required": ["verdict"]});
        let content = |text| chat_result(text, &schema).map_err(|failure| failure.class);
        let expected = Ok(json!({"content": "{\"verdict\": 1}"}));
        assert_eq!(content("{\"verdict\": 1}"), expected);
        assert_eq!(content("```json\n{\"verdict\": 1}\n```\n"), expected);
        for wrong in ["no", "{\"verdict\": 1", "{}", "3"] {
            assert_eq!(content(wrong), Err(Class::Answer), "{wrong}");
        }
    }

    #[test]
    fn embeddings_are_finite_numbers() {
        assert_eq!(read_vector(&json!([1, 0.5])), Ok(vec![1.0, 0.5]));
        for wrong in [json!([]), json!([1, null]), json!("AAAA"), json!([1e300])] {
            assert!(read_vector(&wrong).is_err(), "{wrong}");
        }
    }
}
