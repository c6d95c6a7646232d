//! The Rust sources of the repository, read into memory, so that the rules also run on made-up sources.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// Folders of the repository that contain Rust packages.
const FOLDERS: [&str; 6] = ["src", "crates", "demo", "worker", "pgrx-tests", "bench"];

/// Text of each Rust file, by its path from the root of the repository.
pub type Sources = BTreeMap<String, String>;

/// The packages of a repository and their sources.
pub struct Repository {
    /// Folders with a Cargo.toml; the folder of the extension is the empty string.
    pub packages: Vec<String>,
    pub sources: Sources,
}

impl Repository {
    /// Reads the repository of this test.
    pub fn read() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut repository = Self {
            packages: vec![String::new()],
            sources: Sources::new(),
        };
        for folder in FOLDERS {
            repository.read_folder(&root, folder)?;
        }
        Ok(repository)
    }

    fn read_folder(&mut self, root: &Path, folder: &str) -> Result<()> {
        let entries = fs::read_dir(root.join(folder)).with_context(|| folder.to_owned())?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = join(folder, &name);
            if entry.file_type()?.is_dir() {
                if name != "target" {
                    self.read_folder(root, &path)?;
                }
            } else if name == "Cargo.toml" {
                self.packages.push(folder.to_owned());
            } else if name.ends_with(".rs") {
                let text = fs::read_to_string(entry.path()).with_context(|| path.clone())?;
                self.sources.insert(path, text);
            }
        }
        Ok(())
    }

    /// The files of a package.
    pub fn files_of(&self, package: &str) -> Vec<&str> {
        let owner = |file: &str| {
            self.packages
                .iter()
                .filter(|folder| folder.is_empty() || file.starts_with(&format!("{folder}/")))
                .max_by_key(|folder| folder.len())
        };
        self.sources
            .keys()
            .map(String::as_str)
            .filter(|file| owner(file).is_some_and(|owner| owner == package))
            .collect()
    }
}

/// The root files of the targets (libraries, programs, tests, ...) among the files of a package.
pub fn target_roots<'a>(package: &str, files: &[&'a str]) -> Vec<&'a str> {
    let is_root = |file: &&&str| {
        let path: Vec<&str> = file[package.len()..]
            .trim_start_matches('/')
            .split('/')
            .collect();
        matches!(
            path[..],
            ["build.rs"]
                | ["src", "lib.rs" | "main.rs"]
                | ["src", "bin", _]
                | ["src", "bin", _, "main.rs"]
                | ["tests" | "examples" | "benches", _]
                | ["tests" | "examples" | "benches", _, "main.rs"]
        )
    };
    files.iter().filter(is_root).copied().collect()
}

/// The path of an entry of a folder.
pub fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}
