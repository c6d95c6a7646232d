//! Models of the local folder, run in this process.

#[cfg(feature = "local")]
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
#[cfg(feature = "local")]
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(feature = "local")]
use reground_encoders::Encoder;
#[cfg(feature = "local")]
use tokio::sync::Semaphore;

use super::types::{Answer, Embeddings};
use crate::failure::Failure;
use crate::model::{Model, Task};

/// Forward passes at the same time. One uses several cores already; the second keeps them busy between two batches, and lets a
/// query pass a long batch.
#[cfg(feature = "local")]
const FORWARD_PASSES: usize = 2;

/// The loaded models.
pub struct Local {
    folder: Option<PathBuf>,
    #[cfg(feature = "local")]
    encoders: Arc<Mutex<BTreeMap<PathBuf, Arc<Encoder>>>>,
    #[cfg(feature = "local")]
    passes: Arc<Semaphore>,
}

impl Local {
    /// Uses the models below a folder. Each is loaded at its first use.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self {
            folder,
            #[cfg(feature = "local")]
            encoders: Arc::default(),
            #[cfg(feature = "local")]
            passes: Arc::new(Semaphore::new(FORWARD_PASSES)),
        }
    }

    /// Computes embeddings.
    ///
    /// # Errors
    /// A failure of the model if it cannot be loaded or run.
    #[cfg(feature = "local")]
    pub async fn embed(&self, model: &Model, texts: &[String]) -> Result<Embeddings, Failure> {
        let path = self.find(model)?;
        let pass = Arc::clone(&self.passes).acquire_owned().await;
        let (encoders, texts) = (Arc::clone(&self.encoders), texts.to_vec());
        let vectors = tokio::task::spawn_blocking(move || {
            // The permit is released when the pass ends, also if the caller no longer waits.
            let _pass = pass;
            let encoder = load(&encoders, path)?;
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            encoder
                .encode(&texts)
                .map_err(|error| Failure::model(error.to_string()))
        })
        .await
        .map_err(|_| Failure::model("the local model failed"))??;
        Ok(Embeddings {
            vectors,
            input_tokens: None,
        })
    }

    /// Reports that this program was built without local models.
    ///
    /// # Errors
    /// Always a failure of the model.
    #[cfg(not(feature = "local"))]
    pub async fn embed(&self, model: &Model, _texts: &[String]) -> Result<Embeddings, Failure> {
        self.find(model)?;
        Err(Failure::model("this worker was built without local models"))
    }

    /// Runs a task of another kind: so far, local models only embed.
    ///
    /// # Errors
    /// Always a failure of the model.
    pub async fn run(&self, model: &Model, task: &Task) -> Result<Answer, Failure> {
        self.find(model)?;
        let kind = &task.kind;
        Err(Failure::model(format!(
            "local models do not support tasks of kind \"{kind}\""
        )))
    }

    /// Returns the folder of a model.
    ///
    /// # Errors
    /// A failure of the model if there is no such folder.
    pub fn find(&self, model: &Model) -> Result<PathBuf, Failure> {
        let path = self.path(model)?;
        if !cfg!(feature = "local") {
            return Err(Failure::model("this worker was built without local models"));
        }
        if path.is_dir() {
            Ok(path)
        } else {
            Err(Failure::model("the model is not in the models folder"))
        }
    }

    /// Returns the path of a model. The name comes from the database, so it must not lead out of the models folder.
    fn path(&self, model: &Model) -> Result<PathBuf, Failure> {
        let folder = self.folder.as_deref();
        let folder = folder.ok_or_else(|| Failure::model("REGROUND_MODELS is not set"))?;
        let name = Path::new(&model.api_model);
        let inside = name
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if model.api_model.is_empty() || !inside {
            return Err(Failure::model(
                "the name of a local model is a path below the models folder",
            ));
        }
        Ok(folder.join(name))
    }
}

/// Returns a loaded model. The lock is held while it loads, so that it is loaded once.
#[cfg(feature = "local")]
fn load(
    encoders: &Mutex<BTreeMap<PathBuf, Arc<Encoder>>>,
    path: PathBuf,
) -> Result<Arc<Encoder>, Failure> {
    let mut encoders = encoders.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(encoder) = encoders.get(&path) {
        return Ok(Arc::clone(encoder));
    }
    let encoder = Encoder::load(&path).map_err(|error| Failure::model(error.to_string()))?;
    let encoder = Arc::new(encoder);
    encoders.insert(path, Arc::clone(&encoder));
    Ok(encoder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::model;

    #[test]
    fn names_stay_below_the_folder() {
        let local = Local::new(Some("/models".into()));
        let path = |name: &str| {
            let mut model = model("embed");
            model.api_model = name.to_owned();
            local.path(&model)
        };
        assert_eq!(path("a/b"), Ok("/models/a/b".into()));
        for outside in ["", "..", "a/../../b", "/etc", "./a"] {
            assert!(path(outside).is_err(), "{outside}");
        }
        assert!(Local::new(None).path(&model("embed")).is_err());
    }

    #[cfg(feature = "local")]
    #[tokio::test]
    async fn a_missing_model_is_a_failure_of_the_model() {
        let folder = tempfile::tempdir().expect("a folder");
        let local = Local::new(Some(folder.path().to_owned()));
        let texts = ["text".to_owned()];
        for expected in ["not in the models folder", "model.safetensors"] {
            let failure = local.embed(&model("embed"), &texts).await;
            let failure = failure.expect_err("no model");
            assert_eq!(failure.class, crate::failure::Class::Model);
            assert!(failure.message.contains(expected), "{failure}");
            let _ = std::fs::create_dir(folder.path().join("api-m"));
        }
    }
}
