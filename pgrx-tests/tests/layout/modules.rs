//! The modules of a target, with the names that each defines, imports and uses.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use proc_macro2::Ident;
use syn::visit::Visit;
use syn::{Attribute, Expr, Item, ItemMod, Lit, Meta};

use crate::sources::{Sources, join};
use crate::used_paths::{PathReader, UsedPath, is_test_only};

/// Index of a module in `Modules`.
pub type ModuleId = usize;

/// The meaning of a name in the scope of a module.
pub enum Binding {
    Module(ModuleId),
    /// Any other item that the module defines.
    Item,
    Import(Vec<String>),
}

/// A module, in a file of its own or inline.
pub struct Module {
    pub file: String,
    /// The root module is its own parent.
    pub parent: ModuleId,
    /// True for `#[cfg(test)]` modules and the modules in them.
    pub test_only: bool,
    /// A name has several bindings if it names a module and a function, for example.
    pub names: BTreeMap<String, Vec<Binding>>,
    pub used: Vec<UsedPath>,
}

/// The modules of a target. The first is the root.
pub struct Modules(pub Vec<Module>);

impl Modules {
    /// Reads the modules of a target from its root file. Fails if a file is missing or is not Rust.
    pub fn read(sources: &Sources, root: &str) -> Result<Self> {
        let folder = parent_folder(root).to_owned();
        let mut reader = Reader {
            sources,
            modules: Vec::new(),
        };
        reader.read_file(root, &folder, 0, false)?;
        Ok(Self(reader.modules))
    }
}

struct Reader<'a> {
    sources: &'a Sources,
    modules: Vec<Module>,
}

impl Reader<'_> {
    /// Reads a file. `folder` contains the files of its modules.
    fn read_file(
        &mut self,
        file: &str,
        folder: &str,
        parent: ModuleId,
        test_only: bool,
    ) -> Result<ModuleId> {
        let text = self
            .sources
            .get(file)
            .with_context(|| format!("{file} is missing"))?;
        let parsed = syn::parse_file(text).with_context(|| file.to_owned())?;
        let id = self.add(file, parent, test_only);
        self.read_items(id, folder, &parsed.items)?;
        Ok(id)
    }

    fn add(&mut self, file: &str, parent: ModuleId, test_only: bool) -> ModuleId {
        self.modules.push(Module {
            file: file.to_owned(),
            parent,
            test_only,
            names: BTreeMap::new(),
            used: Vec::new(),
        });
        self.modules.len() - 1
    }

    fn read_items(&mut self, id: ModuleId, folder: &str, items: &[Item]) -> Result<()> {
        let mut paths = PathReader::default();
        for item in items {
            if let Item::Mod(module) = item {
                self.read_module(id, folder, module)?;
                continue;
            }
            let (attributes, name) = declaration(item);
            if is_test_only(attributes) {
                continue;
            }
            if let Some(name) = name {
                self.bind(id, name.to_string(), Binding::Item);
            }
            paths.visit_item(item);
        }
        for (name, path) in paths.imports {
            self.bind(id, name, Binding::Import(path));
        }
        self.modules[id].used = paths.used;
        Ok(())
    }

    fn bind(&mut self, id: ModuleId, name: String, binding: Binding) {
        let names = &mut self.modules[id].names;
        names.entry(name).or_default().push(binding);
    }

    fn read_module(&mut self, parent: ModuleId, folder: &str, module: &ItemMod) -> Result<()> {
        let name = module.ident.to_string();
        let test_only = self.modules[parent].test_only || is_test_only(&module.attrs);
        let file = self.modules[parent].file.clone();
        let below = join(folder, &name);
        let id = if let Some((_, items)) = &module.content {
            let id = self.add(&file, parent, test_only);
            self.read_items(id, &below, items)?;
            id
        } else if let Some(path) = path_attribute(&module.attrs) {
            let path = join(parent_folder(&file), &path);
            self.read_file(&path, parent_folder(&path), parent, test_only)?
        } else {
            let mut path = format!("{below}.rs");
            if !self.sources.contains_key(&path) {
                path = format!("{below}/mod.rs");
            }
            self.read_file(&path, &below, parent, test_only)?
        };
        self.bind(parent, name, Binding::Module(id));
        Ok(())
    }
}

/// The attributes of an item, and the name that it defines.
fn declaration(item: &Item) -> (&[Attribute], Option<&Ident>) {
    match item {
        Item::Const(item) => (&item.attrs, Some(&item.ident)),
        Item::Enum(item) => (&item.attrs, Some(&item.ident)),
        Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
        Item::Impl(item) => (&item.attrs, None),
        Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
        Item::Static(item) => (&item.attrs, Some(&item.ident)),
        Item::Struct(item) => (&item.attrs, Some(&item.ident)),
        Item::Trait(item) => (&item.attrs, Some(&item.ident)),
        Item::Type(item) => (&item.attrs, Some(&item.ident)),
        Item::Union(item) => (&item.attrs, Some(&item.ident)),
        Item::Use(item) => (&item.attrs, None),
        _ => (&[], None),
    }
}

/// The value of `#[path = "..."]`.
fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| {
        let Meta::NameValue(pair) = &attribute.meta else {
            return None;
        };
        match &pair.value {
            Expr::Lit(literal) if pair.path.is_ident("path") => match &literal.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        }
    })
}

fn parent_folder(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}
