//! Layout rules of the Rust sources: length of functions, import cycles, size of folders. These tests need no server.

mod cycles;
mod folders;
mod functions;
mod imports;
mod modules;
mod sources;
mod used_paths;

use std::collections::BTreeSet;

use anyhow::{Context, Result};

use modules::Modules;
use sources::{Repository, target_roots};

/// Lines of the longest function.
const MAX_FUNCTION_LINES: usize = 80;

/// Rust files and subfolders of the largest folder at or below `src/` and `crates/*/src`.
const MAX_FOLDER_ENTRIES: usize = 16;

#[test]
fn functions_are_short() -> Result<()> {
    let mut long = Vec::new();
    for (file, text) in Repository::read()?.sources {
        for function in functions::functions(&text).with_context(|| file.clone())? {
            if function.length > MAX_FUNCTION_LINES {
                let (line, name, length) = (function.line, function.name, function.length);
                long.push(format!("{file}:{line} {name} has {length} lines"));
            }
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
    Ok(())
}

#[test]
fn imports_between_files_have_no_cycles() -> Result<()> {
    let repository = Repository::read()?;
    let mut found = BTreeSet::new();
    for package in &repository.packages {
        let files = repository.files_of(package);
        let mut unread: BTreeSet<&str> = files.iter().copied().collect();
        for root in target_roots(package, &files) {
            let modules = Modules::read(&repository.sources, root)?;
            for module in &modules.0 {
                unread.remove(module.file.as_str());
            }
            let cycles = cycles::cycles(&imports::imports(&modules));
            found.extend(cycles.iter().map(ToString::to_string));
        }
        let unread = unread.into_iter();
        found.extend(unread.map(|file| format!("{file} belongs to no target\n")));
    }
    let found: Vec<String> = found.into_iter().collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    Ok(())
}

#[test]
fn folders_are_small() -> Result<()> {
    let repository = Repository::read()?;
    let entries = folders::entries(repository.sources.keys().map(String::as_str));
    let large: Vec<String> = entries
        .into_iter()
        .filter(|(_, entries)| *entries > MAX_FOLDER_ENTRIES)
        .map(|(folder, entries)| format!("{folder} has {entries} entries"))
        .collect();
    assert!(large.is_empty(), "{}", large.join("\n"));
    Ok(())
}
