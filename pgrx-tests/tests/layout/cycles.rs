//! The import cycles between files.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use crate::imports::{Import, Imports};

/// Files that import each other, directly or through others.
#[derive(Debug, PartialEq, Eq)]
pub struct Cycle {
    /// All files of the strongly connected component.
    pub files: BTreeSet<String>,
    /// The imports of a shortest cycle of the component, in order: the file that imports, the import, the file imported.
    pub example: Vec<(String, Import, String)>,
}

impl fmt::Display for Cycle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{} files import each other:", self.files.len())?;
        for file in &self.files {
            writeln!(formatter, "  {file}")?;
        }
        writeln!(formatter, "for example:")?;
        for (from, import, to) in &self.example {
            writeln!(
                formatter,
                "  {from}:{} uses {} of {to}",
                import.line, import.path
            )?;
        }
        Ok(())
    }
}

/// The strongly connected components of more than one file.
pub fn cycles(imports: &Imports) -> Vec<Cycle> {
    let paths: BTreeMap<&str, Paths<'_>> = imports
        .keys()
        .map(|file| (file.as_str(), shortest_paths(imports, file)))
        .collect();
    let reaches =
        |from: &str, to: &str| paths.get(from).is_some_and(|to_of| to_of.contains_key(to));
    let mut cycles: Vec<Cycle> = Vec::new();
    for file in imports.keys() {
        if !reaches(file, file) || cycles.iter().any(|cycle| cycle.files.contains(file)) {
            continue;
        }
        let files: BTreeSet<String> = imports
            .keys()
            .filter(|other| reaches(file, other) && reaches(other, file))
            .cloned()
            .collect();
        let example = files
            .iter()
            .map(|file| way_back(imports, &paths[file.as_str()], file))
            .min_by_key(Vec::len)
            .unwrap_or_default();
        cycles.push(Cycle { files, example });
    }
    cycles
}

/// The files that a file reaches through imports, each with the file before it on a shortest path.
type Paths<'a> = BTreeMap<&'a str, &'a str>;

fn shortest_paths<'a>(imports: &'a Imports, start: &'a str) -> Paths<'a> {
    let mut before = Paths::new();
    let mut queue = VecDeque::from([start]);
    while let Some(file) = queue.pop_front() {
        for next in imports.get(file).into_iter().flat_map(BTreeMap::keys) {
            if !before.contains_key(next.as_str()) {
                before.insert(next, file);
                queue.push_back(next);
            }
        }
    }
    before
}

/// The imports of a shortest path from a file back to the file.
fn way_back(imports: &Imports, paths: &Paths<'_>, file: &str) -> Vec<(String, Import, String)> {
    let mut way = Vec::new();
    let mut to = file;
    loop {
        let from = paths[to];
        way.push((from.to_owned(), imports[from][to].clone(), to.to_owned()));
        if from == file {
            break;
        }
        to = from;
    }
    way.reverse();
    way
}

#[cfg(test)]
#[path = "cycles_tests.rs"]
mod tests;
