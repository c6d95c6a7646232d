//! Finds the model directory in an unpacked package.

use std::fs;
use std::path::{Path, PathBuf};

use crate::EncoderError;

pub(crate) const CONFIGURATION: &str = "config.json";
pub(crate) const TOKENIZER: &str = "tokenizer.json";
pub(crate) const WEIGHTS: &str = "model.safetensors";

/// Number of levels below the given directory that are searched.
const DEPTH: usize = 4;

/// Returns the directory closest to `root` (itself, or up to 4 levels below; the first by name within a level) that contains
/// `config.json`, `tokenizer.json` and `model.safetensors`.
///
/// All three are required, because packages contain other `config.json` files, for example of the pooling layer. Symbolic links
/// are followed, because model caches consist of them. The depth limit ends cycles.
///
/// # Errors
/// [`EncoderError::NotFound`] if there is none, [`EncoderError::Read`] if a directory cannot be listed.
pub fn find(root: &Path) -> Result<PathBuf, EncoderError> {
    let mut level = vec![root.to_path_buf()];
    for depth in 0..=DEPTH {
        let is_model = |dir: &&PathBuf| {
            [CONFIGURATION, TOKENIZER, WEIGHTS]
                .iter()
                .all(|name| dir.join(name).is_file())
        };
        if let Some(found) = level.iter().find(is_model) {
            return Ok(found.clone());
        }
        if depth == DEPTH {
            break;
        }
        let mut next = Vec::new();
        for dir in &level {
            next.extend(subdirectories(dir)?);
        }
        next.sort_unstable();
        level = next;
    }
    Err(EncoderError::NotFound(root.to_path_buf()))
}

fn subdirectories(dir: &Path) -> Result<Vec<PathBuf>, EncoderError> {
    let list = || -> std::io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(dir)? {
            let path = entry?.path();
            if path.is_dir() {
                found.push(path);
            }
        }
        Ok(found)
    };
    list().map_err(|source| EncoderError::Read {
        path: dir.to_path_buf(),
        source,
    })
}
