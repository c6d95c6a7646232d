//! The paths that the items of a module use: those of `use` declarations, and those in expressions, types and macros.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItemFn, ItemUse, Macro, Meta, Path, UseTree, VisRestricted};

/// A path that a file contains.
#[derive(Debug, Clone)]
pub struct UsedPath {
    pub segments: Vec<String>,
    /// True if the path is followed by `::*`.
    pub glob: bool,
    /// From 1.
    pub line: usize,
}

/// Collects the paths of items.
#[derive(Default)]
pub struct PathReader {
    pub used: Vec<UsedPath>,
    /// The names that `use` declarations bring into scope, those within function bodies included.
    pub imports: Vec<(String, Vec<String>)>,
}

impl PathReader {
    fn add(&mut self, segments: Vec<String>, glob: bool, span: Span) {
        self.used.push(UsedPath {
            segments,
            glob,
            line: span.start().line,
        });
    }

    fn read_use(&mut self, tree: &UseTree, prefix: &[String]) {
        match tree {
            UseTree::Path(path) => {
                let prefix = [prefix, &[path.ident.to_string()]].concat();
                self.read_use(&path.tree, &prefix);
            }
            UseTree::Name(name) => self.import(prefix, &name.ident, None),
            UseTree::Rename(rename) => self.import(prefix, &rename.ident, Some(&rename.rename)),
            UseTree::Glob(glob) => self.add(prefix.to_vec(), true, glob.star_token.spans[0]),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.read_use(tree, prefix);
                }
            }
        }
    }

    fn import(&mut self, prefix: &[String], ident: &Ident, rename: Option<&Ident>) {
        let mut segments = prefix.to_vec();
        if ident != "self" || prefix.is_empty() {
            segments.push(ident.to_string());
        }
        let name = rename
            .map(ToString::to_string)
            .or_else(|| segments.last().cloned());
        self.add(segments.clone(), false, ident.span());
        self.imports.extend(name.map(|name| (name, segments)));
    }

    /// Adds the paths of tokens, at any depth.
    fn read_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<Ident> = Vec::new();
        let mut colons = 0;
        for tree in tokens {
            match tree {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.add_idents(&mut path);
                    }
                    path.push(ident);
                    colons = 0;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                other => {
                    self.add_idents(&mut path);
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.read_tokens(group.stream());
                    }
                }
            }
        }
        self.add_idents(&mut path);
    }

    fn add_idents(&mut self, path: &mut Vec<Ident>) {
        if let [first, _, ..] = &path[..] {
            let segments = path.iter().map(ToString::to_string).collect();
            self.add(segments, false, first.span());
        }
        path.clear();
    }
}

impl Visit<'_> for PathReader {
    fn visit_item_use(&mut self, item: &ItemUse) {
        if item.leading_colon.is_none() && !is_test_only(&item.attrs) {
            self.read_use(&item.tree, &[]);
        }
    }

    fn visit_path(&mut self, path: &Path) {
        // A single name is defined in the same file or imported by a `use` declaration.
        if path.leading_colon.is_none() && path.segments.len() > 1 {
            let segments: Vec<&Ident> = path.segments.iter().map(|part| &part.ident).collect();
            let names = segments.iter().map(ToString::to_string).collect();
            self.add(names, false, segments[0].span());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &Macro) {
        self.visit_path(&call.path);
        self.read_tokens(call.tokens.clone());
    }

    fn visit_impl_item_fn(&mut self, method: &ImplItemFn) {
        if !is_test_only(&method.attrs) {
            visit::visit_impl_item_fn(self, method);
        }
    }

    /// `pub(in crate::index)` does not use the module.
    fn visit_vis_restricted(&mut self, _: &VisRestricted) {}
}

/// True if an item is compiled for tests only.
pub fn is_test_only(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            matches!(list.tokens.clone().into_iter().next(), Some(TokenTree::Ident(word)) if word == "test")
        }
        _ => false,
    })
}
