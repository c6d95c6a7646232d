//! Vectors on disk, by the hash of their text. A file has records of a fixed size: SHA-256 of the text, then little-endian float32.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

/// SHA-256 of a text.
pub type Key = [u8; 32];

/// The vectors of one model.
pub struct Cache {
    file: File,
    dimensions: usize,
    vectors: HashMap<Key, Vec<f32>>,
}

impl Cache {
    /// Opens or creates the file. A record that an interrupted run left incomplete is removed.
    ///
    /// # Errors
    /// A file that cannot be read or written.
    pub fn open(path: &Path, dimensions: usize) -> Result<Self> {
        let named = || format!("cache of vectors {}", path.display());
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(named)?;
        }
        let mut options = OpenOptions::new();
        let mut file = options
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .with_context(named)?;
        let mut bytes = Vec::new();
        file.lock().with_context(named)?;
        file.read_to_end(&mut bytes).with_context(named)?;
        let size = size_of::<Key>() + dimensions * size_of::<f32>();
        let whole = bytes.len() - bytes.len() % size;
        if whole < bytes.len() {
            file.set_len(whole as u64).with_context(named)?;
            file.seek(SeekFrom::End(0)).with_context(named)?;
        }
        file.unlock().with_context(named)?;
        let vectors = bytes[..whole].chunks_exact(size).filter_map(record);
        Ok(Self {
            vectors: vectors.collect(),
            file,
            dimensions,
        })
    }

    /// The key of a text.
    pub fn key(text: &str) -> Key {
        Sha256::digest(text).into()
    }

    /// The vector of a key.
    pub fn get(&self, key: &Key) -> Option<&Vec<f32>> {
        self.vectors.get(key)
    }

    /// Adds vectors, and writes them at once. Other processes can write to the file at the same time.
    ///
    /// # Errors
    /// Vectors of another length, a file that cannot be written.
    pub fn put(&mut self, computed: Vec<(Key, Vec<f32>)>) -> Result<()> {
        let mut bytes = Vec::new();
        for (key, vector) in &computed {
            anyhow::ensure!(
                vector.len() == self.dimensions,
                "a vector has {} dimensions instead of {}",
                vector.len(),
                self.dimensions
            );
            bytes.extend(key);
            bytes.extend(vector.iter().flat_map(|value| value.to_le_bytes()));
        }
        self.file.lock()?;
        let written = self.file.write_all(&bytes);
        self.file.unlock()?;
        written?;
        self.vectors.extend(computed);
        Ok(())
    }
}

fn record(bytes: &[u8]) -> Option<(Key, Vec<f32>)> {
    let (key, values) = bytes.split_first_chunk::<32>()?;
    let (values, _) = values.as_chunks::<4>();
    let values = values.iter().map(|value| f32::from_le_bytes(*value));
    Some((*key, values.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_read_again_and_an_incomplete_record_is_removed() {
        let folder = std::env::temp_dir().join(format!("reground-cache-{}", std::process::id()));
        let path = folder.join("new").join("vectors");
        let (one, two) = (Cache::key("one"), Cache::key("two"));
        let mut cache = Cache::open(&path, 2).unwrap();
        let mut second = Cache::open(&path, 2).unwrap();
        cache.put(vec![(one, vec![1.5, -0.25])]).unwrap();
        second.put(vec![(two, vec![f32::MIN, 0.0])]).unwrap();
        assert!(cache.put(vec![(two, vec![1.0])]).is_err());
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(&[7; 39]).unwrap();
        for _ in 0..2 {
            let read = Cache::open(&path, 2).unwrap();
            assert_eq!(read.get(&one), Some(&vec![1.5, -0.25]));
            assert_eq!(read.get(&two), Some(&vec![f32::MIN, 0.0]));
            assert_eq!(read.get(&Cache::key("")), None);
            assert_eq!(std::fs::metadata(&path).unwrap().len(), 80);
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
