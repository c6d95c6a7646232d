//! The length of functions. Reads tokens, not syntax trees, because macros such as `proptest!` also contain functions.

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    /// Line of the keyword `fn`, from 1.
    pub line: usize,
    /// Lines from the keyword `fn` to the closing brace.
    pub length: usize,
}

/// The functions of a Rust file, methods and nested functions included.
pub fn functions(text: &str) -> Result<Vec<Function>> {
    let tokens: TokenStream = text.parse().map_err(|error| anyhow!("{error}"))?;
    let mut found = Vec::new();
    collect(tokens, &mut found);
    Ok(found)
}

fn collect(tokens: TokenStream, found: &mut Vec<Function>) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Group(group) => collect(group.stream(), found),
            TokenTree::Ident(word) if word == "fn" => found.extend(first_function(&trees[index..])),
            _ => {}
        }
    }
}

/// The function that begins with the first token. Returns None for the type of a function and for a declaration without body.
fn first_function(trees: &[TokenTree]) -> Option<Function> {
    let [TokenTree::Ident(keyword), TokenTree::Ident(name), rest @ ..] = trees else {
        return None;
    };
    let end = rest.iter().find(|tree| match tree {
        TokenTree::Punct(mark) => mark.as_char() == ';',
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        _ => false,
    })?;
    let TokenTree::Group(body) = end else {
        return None;
    };
    let line = keyword.span().start().line;
    Some(Function {
        name: name.to_string(),
        line,
        length: body.span_close().end().line - line + 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, usize, usize)]) {
        let found: Vec<(String, usize, usize)> = functions(text)
            .expect("the source is valid")
            .into_iter()
            .map(|function| (function.name, function.line, function.length))
            .collect();
        let expected: Vec<(String, usize, usize)> = expected
            .iter()
            .map(|&(name, line, length)| (name.to_owned(), line, length))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_function_is_counted_from_its_signature_to_its_closing_brace() {
        let body = "    call();\n".repeat(79);
        check(
            &format!("/// Comment.\n#[inline]\npub fn long() {{\n{body}}}\n"),
            &[("long", 3, 81)],
        );
    }

    #[test]
    fn the_lines_of_a_signature_are_counted() {
        check(
            "fn f<T>(\n    a: T,\n) -> [u8; 2]\nwhere\n    T: Fn(),\n{\n    [0; 2]\n}\n",
            &[("f", 1, 8)],
        );
    }

    #[test]
    fn methods_nested_functions_and_functions_in_macros_are_found() {
        check(
            "impl A {\n    fn method(&self) {\n        fn inner() {}\n    }\n}\nproptest! {\n    #[test]\n    fn property(a in 0..9) {\n    }\n}\n",
            &[("method", 2, 3), ("inner", 3, 1), ("property", 8, 2)],
        );
    }

    #[test]
    fn declarations_and_types_of_functions_are_not_counted() {
        check(
            "trait A {\n    fn f(&self);\n}\ntype B = fn(u8) -> u8;\n",
            &[],
        );
    }
}
