//! The number of entries of the folders that contain Rust files.

use std::collections::{BTreeMap, BTreeSet};

/// The number of Rust files and subfolders of each folder at or below `src/` and `crates/*/src`.
pub fn entries<'a>(files: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut entries: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in files {
        let mut path = file;
        while let Some((folder, name)) = path.rsplit_once('/') {
            if is_limited(folder) {
                entries.entry(folder).or_default().insert(name);
            }
            path = folder;
        }
    }
    entries
        .into_iter()
        .map(|(folder, names)| (folder, names.len()))
        .collect()
}

fn is_limited(folder: &str) -> bool {
    let names: Vec<&str> = folder.split('/').collect();
    matches!(names[..], ["src", ..] | ["crates", _, "src", ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_subfolders_are_counted_together() {
        let files = [
            "src/lib.rs",
            "src/api/mod.rs",
            "src/api/turn.rs",
            "crates/a/src/lib.rs",
            "crates/a/src/b/c/d.rs",
            "crates/a/tests/e.rs",
            "bench/src/main.rs",
        ];
        let expected = [
            ("crates/a/src", 2),
            ("crates/a/src/b", 1),
            ("crates/a/src/b/c", 1),
            ("src", 2),
            ("src/api", 2),
        ];
        assert_eq!(entries(files.into_iter()), BTreeMap::from(expected));
    }
}
