//! The services that the demo calls: the worker, which embeds questions, and a language model, if one is given.

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::prompt::{Message, Prompt};

/// Name of the embedding model in the database, and of its folder below the worker's folder of models.
pub const MODEL: &str = "all-MiniLM-L6-v2";
/// Dimensions of its embeddings.
pub const DIMENSIONS: i32 = 384;

/// Embeds questions by the worker.
pub struct Embedder {
    address: String,
}

impl Embedder {
    /// The worker that listens at this base address.
    pub fn at(address: &str) -> Self {
        Self {
            address: format!("{}/v1/embeddings", address.trim_end_matches('/')),
        }
    }

    /// Returns the embeddings of two texts.
    ///
    /// # Errors
    /// The worker does not answer, or not with two embeddings.
    pub fn embed(&self, texts: [&str; 2]) -> Result<[Vec<f32>; 2]> {
        #[derive(Deserialize)]
        struct Embeddings {
            data: Vec<Embedding>,
        }
        #[derive(Deserialize)]
        struct Embedding {
            embedding: Vec<f32>,
        }
        let mut response = ureq::post(&self.address)
            .send_json(json!({"model": MODEL, "input": texts}))
            .context("the worker does not embed the question")?;
        let embeddings: Embeddings = response.body_mut().read_json()?;
        let vectors = embeddings.data.into_iter().map(|one| one.embedding);
        let vectors: Vec<Vec<f32>> = vectors.collect();
        let vectors = vectors.try_into().ok();
        vectors.context("the worker did not return two embeddings")
    }
}

/// A language model behind an OpenAI-compatible API.
pub struct Llm {
    address: String,
    model: String,
    key: Option<String>,
}

impl Llm {
    /// The model of `REGROUND_LLM_URL`, `REGROUND_LLM_MODEL` and `REGROUND_LLM_KEY`; `None` without a URL.
    ///
    /// # Errors
    /// A URL without a model.
    pub fn from_environment() -> Result<Option<Self>> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let Some(url) = variable("REGROUND_LLM_URL") else {
            return Ok(None);
        };
        Ok(Some(Self {
            address: format!("{}/chat/completions", url.trim_end_matches('/')),
            model: variable("REGROUND_LLM_MODEL").context("REGROUND_LLM_MODEL is not set")?,
            key: variable("REGROUND_LLM_KEY"),
        }))
    }

    /// The name of the model.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Returns the answer to a question.
    ///
    /// # Errors
    /// The API does not answer, or not with a text.
    pub fn answer(&self, prompt: &Prompt, question: &str) -> Result<String> {
        let mut system = format!("{}\n\n{}", prompt.instructions, prompt.sources);
        let mut messages = Vec::new();
        for Message { role, content } in &prompt.history {
            match role.as_str() {
                "sources" => system.push_str(&format!("\n{content}")),
                _ => messages.push(json!({"role": role, "content": content})),
            }
        }
        messages.insert(0, json!({"role": "system", "content": system}));
        messages.push(json!({"role": "user", "content": question}));
        let request = json!({ "model": self.model, "messages": messages });
        let mut call = ureq::post(&self.address);
        if let Some(key) = &self.key {
            call = call.header("Authorization", format!("Bearer {key}"));
        }
        let mut response = call
            .send_json(request)
            .context("the language model does not answer")?;
        let reply: Value = response.body_mut().read_json()?;
        let text = reply.pointer("/choices/0/message/content");
        let text = text.and_then(Value::as_str);
        Ok(text
            .context("the language model returned no text")?
            .to_owned())
    }
}
