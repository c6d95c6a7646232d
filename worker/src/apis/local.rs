//! Models of the local folder, run in this process.

use std::path::{Component, Path, PathBuf};

use super::types::{Answer, Embeddings};
use crate::failure::Failure;
use crate::model::{Model, Task};

/// The models below a folder. Each is loaded at its first use.
pub struct Local {
    folder: Option<PathBuf>,
    #[cfg(feature = "local")]
    models: super::local_models::LocalModels,
}

impl Local {
    /// Uses the models below a folder.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self {
            folder,
            #[cfg(feature = "local")]
            models: super::local_models::LocalModels::default(),
        }
    }

    /// Computes embeddings.
    ///
    /// # Errors
    /// A failure of the model if it cannot be loaded or run.
    #[cfg(feature = "local")]
    pub async fn embed(&self, model: &Model, texts: &[String]) -> Result<Embeddings, Failure> {
        self.models.embed(self.find(model)?, texts.to_vec()).await
    }

    /// Runs a task of another kind.
    ///
    /// # Errors
    /// A failure of the model if it cannot be loaded or is for another task, and of the task if its text is too long.
    #[cfg(feature = "local")]
    pub async fn run(&self, model: &Model, task: &Task) -> Result<Answer, Failure> {
        self.models.run(self.find(model)?, task).await
    }

    /// Reports that this program was built without local models.
    ///
    /// # Errors
    /// Always a failure of the model.
    #[cfg(not(feature = "local"))]
    pub async fn embed(&self, model: &Model, _texts: &[String]) -> Result<Embeddings, Failure> {
        self.find(model).and(Err(without_local_models()))
    }

    /// As [`embed`](Self::embed).
    ///
    /// # Errors
    /// Always a failure of the model.
    #[cfg(not(feature = "local"))]
    pub async fn run(&self, model: &Model, _task: &Task) -> Result<Answer, Failure> {
        self.find(model).and(Err(without_local_models()))
    }

    /// Returns the folder of a model.
    ///
    /// # Errors
    /// A failure of the model if there is no such folder.
    pub fn find(&self, model: &Model) -> Result<PathBuf, Failure> {
        let path = self.path(model)?;
        if !cfg!(feature = "local") {
            return Err(without_local_models());
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

fn without_local_models() -> Failure {
    Failure::model("this worker was built without local models")
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
