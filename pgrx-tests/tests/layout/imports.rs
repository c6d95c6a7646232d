//! The imports between the files of a target. A path is an import of the file that defines the item, not of the files
//! that re-export it.

use std::collections::BTreeMap;

use crate::modules::{Binding, ModuleId, Modules};

/// A use of an item of another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// Line of the path in the file that uses it, from 1.
    pub line: usize,
    pub path: String,
}

/// One import of each pair of files: the file that uses an item, the file that defines it, and the first such path.
pub type Imports = BTreeMap<String, BTreeMap<String, Import>>;

/// The meaning of a path.
#[derive(Clone, Copy)]
enum Target {
    Module(ModuleId),
    /// An item that this module defines, or re-exports from another crate.
    ItemOf(ModuleId),
}

/// The `use` declarations that are being followed: module, name, and the number of the binding. Some refer to themselves.
type Followed = Vec<(ModuleId, String, usize)>;

/// The imports of a target, without those of `#[cfg(test)]` modules.
pub fn imports(modules: &Modules) -> Imports {
    let mut imports = Imports::new();
    for (id, module) in modules.0.iter().enumerate() {
        if module.test_only {
            continue;
        }
        for used in &module.used {
            let mut definers = Vec::new();
            for target in modules.resolve(id, &used.segments, &mut Vec::new()) {
                match target {
                    Target::ItemOf(definer) => definers.push(definer),
                    Target::Module(module) if used.glob => {
                        definers.extend(modules.definers(module));
                    }
                    // The paths that begin with the name of the module are the imports.
                    Target::Module(_) => {}
                }
            }
            for definer in definers {
                let definer = &modules.0[definer].file;
                if *definer != module.file {
                    let of_file = imports.entry(module.file.clone()).or_default();
                    of_file.entry(definer.clone()).or_insert_with(|| Import {
                        line: used.line,
                        path: used.segments.join("::") + if used.glob { "::*" } else { "" },
                    });
                }
            }
        }
    }
    imports
}

impl Modules {
    /// The items and modules that a path in a module names. Empty for paths of other crates.
    fn resolve(&self, from: ModuleId, path: &[String], followed: &mut Followed) -> Vec<Target> {
        let Some((first, rest)) = path.split_first() else {
            return Vec::new();
        };
        let mut targets = match first.as_str() {
            "crate" => vec![Target::Module(0)],
            "self" | "super" => self.member(Target::Module(from), first, followed),
            name => self.lookup(from, name, followed),
        };
        for name in rest {
            // A name can be that of a module and of a function. Only the module has members.
            if targets
                .iter()
                .any(|target| matches!(target, Target::Module(_)))
            {
                targets.retain(|target| matches!(target, Target::Module(_)));
            }
            targets = targets
                .into_iter()
                .flat_map(|target| self.member(target, name, followed))
                .collect();
        }
        targets
    }

    fn member(&self, target: Target, name: &str, followed: &mut Followed) -> Vec<Target> {
        match (target, name) {
            (Target::Module(_), "self") => vec![target],
            (Target::Module(id), "super") => vec![Target::Module(self.0[id].parent)],
            (Target::Module(id), name) => {
                let found = self.lookup(id, name, followed);
                if found.is_empty() {
                    vec![Target::ItemOf(id)]
                } else {
                    found
                }
            }
            // A variant or an associated item is defined with its type.
            (Target::ItemOf(_), _) => vec![target],
        }
    }

    /// The meanings of a name in the scope of a module.
    fn lookup(&self, id: ModuleId, name: &str, followed: &mut Followed) -> Vec<Target> {
        let mut targets = Vec::new();
        for (number, binding) in self.0[id].names.get(name).into_iter().flatten().enumerate() {
            match binding {
                Binding::Module(module) => targets.push(Target::Module(*module)),
                Binding::Item => targets.push(Target::ItemOf(id)),
                Binding::Import(path) => {
                    let key = (id, name.to_owned(), number);
                    if !followed.contains(&key) {
                        followed.push(key);
                        targets.extend(self.resolve(id, path, followed));
                        followed.pop();
                    }
                }
            }
        }
        if targets.is_empty() {
            targets = self.lookup_in_globs(id, name, followed);
        }
        targets
    }

    fn lookup_in_globs(&self, id: ModuleId, name: &str, followed: &mut Followed) -> Vec<Target> {
        let mut targets = Vec::new();
        for (number, used) in self.0[id].used.iter().enumerate() {
            let key = (id, "*".to_owned(), number);
            if !used.glob || followed.contains(&key) {
                continue;
            }
            followed.push(key);
            for target in self.resolve(id, &used.segments, followed) {
                if let Target::Module(module) = target {
                    targets.extend(self.lookup(module, name, followed));
                }
            }
            followed.pop();
        }
        targets
    }

    /// The modules that define the names in the scope of a module, its imports included.
    fn definers(&self, id: ModuleId) -> Vec<ModuleId> {
        let mut definers = Vec::new();
        let mut scopes = vec![id];
        let mut next = 0;
        while let Some(&scope) = scopes.get(next) {
            next += 1;
            for name in self.0[scope].names.keys() {
                for target in self.lookup(scope, name, &mut Vec::new()) {
                    if let Target::ItemOf(definer) = target {
                        definers.push(definer);
                    }
                }
            }
            for used in self.0[scope].used.iter().filter(|used| used.glob) {
                for target in self.resolve(scope, &used.segments, &mut Vec::new()) {
                    match target {
                        Target::Module(module) if !scopes.contains(&module) => scopes.push(module),
                        _ => {}
                    }
                }
            }
        }
        definers
    }
}
