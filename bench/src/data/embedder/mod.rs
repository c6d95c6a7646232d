//! Vectors of texts that the data set has none for, by the same model (all-MiniLM-L6-v2, up to 256 tokens).

mod cache;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use reground_encoders::SentenceEncoder;
use sha2::{Digest, Sha256};

use super::corpus::Corpus;
use super::vectors::DIMENSIONS;
use crate::progress::Progress;
use cache::{Cache, Key};

/// Texts per step: so many are lost if the run is interrupted.
const BATCH: usize = 128;

/// Largest accepted difference between a given value and ours. The given values are float16.
const TOLERANCE: f32 = 1e-3;

/// Passages of a corpus whose given vectors are compared with ours.
const COMPARED: usize = 10;

/// A model with a cache of its vectors.
pub struct Embedder {
    encoder: SentenceEncoder,
    cache: Cache,
}

impl Embedder {
    /// Loads the model of a folder. The vectors are kept in a file of `cache` that belongs to these weights.
    ///
    /// # Errors
    /// Missing or unreadable files, or a model of another size.
    pub fn open(model: &Path, cache: &Path) -> Result<Self> {
        let encoder = SentenceEncoder::load(model)
            .with_context(|| format!("model in {}", model.display()))?;
        ensure!(
            encoder.dimensions() == DIMENSIONS,
            "the model in {} has {} dimensions instead of {DIMENSIONS}",
            model.display(),
            encoder.dimensions()
        );
        let weights = digest_of(&model.join("model.safetensors"))?;
        let cache = Cache::open(&cache.join(format!("{weights}.f32")), DIMENSIONS)?;
        Ok(Self { encoder, cache })
    }

    /// The vector of each text, in the same order. `task` names the work on standard error.
    ///
    /// # Errors
    /// Texts that the model cannot read, a cache that cannot be written.
    pub fn embed(&mut self, task: &str, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let keys: Vec<Key> = texts.iter().map(|text| Cache::key(text)).collect();
        let missing: BTreeMap<Key, &str> = keys
            .iter()
            .copied()
            .zip(texts.iter().copied())
            .filter(|(key, _)| self.cache.get(key).is_none())
            .collect();
        if !missing.is_empty() {
            self.compute(task, missing)?;
        }
        keys.iter()
            .map(|key| self.cache.get(key).cloned().context("a vector is missing"))
            .collect()
    }

    fn compute(&mut self, task: &str, missing: BTreeMap<Key, &str>) -> Result<()> {
        let task = format!("{task}: embed");
        let progress = Progress::new(&task, missing.len());
        let mut missing: Vec<(Key, &str)> = missing.into_iter().collect();
        // Texts of similar length: the model pads the texts of a batch to the longest.
        missing.sort_by_key(|(_, text)| text.len());
        for batch in missing.chunks(BATCH) {
            let texts: Vec<&str> = batch.iter().map(|(_, text)| *text).collect();
            let vectors = self.encoder.encode(&texts)?;
            let keys = batch.iter().map(|(key, _)| *key);
            self.cache.put(keys.zip(vectors).collect())?;
            progress.step(batch.len());
        }
        progress.finish();
        Ok(())
    }

    /// The largest difference between the given vectors and ours, over ten passages spread over the corpus.
    ///
    /// # Errors
    /// Those of [`Embedder::embed`], and a difference that is more than rounding: another model or another way to read texts.
    pub fn compare(&mut self, corpus: &Corpus) -> Result<f32> {
        let step = (corpus.passages.len() / COMPARED).max(1);
        let places: Vec<usize> = (0..corpus.passages.len())
            .step_by(step)
            .take(COMPARED)
            .collect();
        let texts: Vec<&str> = places
            .iter()
            .map(|&place| corpus.passages[place].text.as_str())
            .collect();
        let ours = self.embed(corpus.domain.name(), &texts)?;
        let most = places
            .iter()
            .zip(&ours)
            .flat_map(|(&place, ours)| corpus.embeddings[place].iter().zip(ours))
            .map(|(given, ours)| (given - ours).abs())
            .fold(0.0, f32::max);
        ensure!(
            most <= TOLERANCE,
            "vectors of {} differ from the given ones by up to {most}",
            corpus.domain.name()
        );
        Ok(most)
    }
}

/// SHA-256 of a file, in hex.
fn digest_of(path: &Path) -> Result<String> {
    let named = || format!("{} cannot be read", path.display());
    let mut file = std::fs::File::open(path).with_context(named)?;
    let (mut digest, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        let count = file.read(&mut buffer).with_context(named)?;
        if count == 0 {
            break;
        }
        digest.update(&buffer[..count]);
    }
    let digest = digest.finalize();
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}
