//! Cycles of made-up sources.

use super::*;
use crate::imports::imports;
use crate::modules::Modules;
use crate::sources::Sources;

fn cycles_of(sources: &[(&str, &str)]) -> Vec<Cycle> {
    let sources: Sources = sources
        .iter()
        .map(|&(file, text)| (file.to_owned(), text.to_owned()))
        .collect();
    let modules = Modules::read(&sources, "src/lib.rs").expect("the sources are valid");
    cycles(&imports(&modules))
}

/// Checks that there is one cycle, of these files.
#[track_caller]
fn check_cycle(sources: &[(&str, &str)], files: &[&str]) {
    let cycles = cycles_of(sources);
    let found: Vec<Vec<&str>> = cycles
        .iter()
        .map(|cycle| cycle.files.iter().map(String::as_str).collect())
        .collect();
    assert_eq!(found, [files]);
}

#[track_caller]
fn check_no_cycle(sources: &[(&str, &str)]) {
    assert_eq!(cycles_of(sources), []);
}

#[test]
fn two_files_that_use_each_other_are_a_cycle() {
    let sources = [
        ("src/lib.rs", "mod a;\nmod b;\n"),
        ("src/a.rs", "use crate::b::B;\npub struct A(B);\n"),
        (
            "src/b.rs",
            "pub struct B;\nfn f() {\n    super::a::A::new();\n}\n",
        ),
    ];
    let report = cycles_of(&sources)
        .first()
        .map(ToString::to_string)
        .unwrap_or_default();
    let expected = "2 files import each other:\n  src/a.rs\n  src/b.rs\nfor example:\n  \
                    src/a.rs:1 uses crate::b::B of src/b.rs\n  \
                    src/b.rs:3 uses super::a::A::new of src/a.rs\n";
    assert_eq!(report, expected);
}

#[test]
fn files_that_use_each_other_through_others_are_a_cycle() {
    check_cycle(
        &[
            ("src/lib.rs", "mod a; mod b; mod c; mod d;"),
            ("src/a.rs", "use crate::b::B; pub struct A;"),
            ("src/b.rs", "use crate::c::C; pub struct B;"),
            (
                "src/c.rs",
                "use crate::a::A; use crate::d::D; pub struct C;",
            ),
            ("src/d.rs", "pub struct D;"),
        ],
        &["src/a.rs", "src/b.rs", "src/c.rs"],
    );
}

#[test]
fn a_use_of_a_re_export_is_a_use_of_the_defining_file() {
    let index = "mod page; mod scan; pub use page::Page; pub use scan::*;";
    check_no_cycle(&[
        ("src/lib.rs", "mod index; pub use index::{Page, Scan};"),
        ("src/index/mod.rs", index),
        ("src/index/page.rs", "pub struct Page;"),
        (
            "src/index/scan.rs",
            "use super::Page; pub struct Scan(crate::Page);",
        ),
    ]);
    check_cycle(
        &[
            ("src/lib.rs", "mod index; pub use index::{Page, Scan};"),
            ("src/index/mod.rs", index),
            ("src/index/page.rs", "use crate::Scan; pub struct Page;"),
            ("src/index/scan.rs", "use super::Page; pub struct Scan;"),
        ],
        &["src/index/page.rs", "src/index/scan.rs"],
    );
}

#[test]
fn a_child_that_uses_an_item_of_a_parent_that_uses_the_child_is_a_cycle() {
    let child = (
        "src/a/child.rs",
        "pub fn f() -> super::Error { super::Error }",
    );
    check_cycle(
        &[
            ("src/lib.rs", "mod a;"),
            (
                "src/a/mod.rs",
                "mod child; pub struct Error; pub fn g() { child::f(); }",
            ),
            child,
        ],
        &["src/a/child.rs", "src/a/mod.rs"],
    );
    check_no_cycle(&[
        ("src/lib.rs", "mod a;"),
        ("src/a/mod.rs", "mod child; pub struct Error;"),
        child,
    ]);
}

#[test]
fn a_module_and_a_function_of_the_same_name_are_told_apart() {
    check_cycle(
        &[
            (
                "src/lib.rs",
                "mod search; mod rank; pub use search::search;",
            ),
            (
                "src/search.rs",
                "use crate::rank; pub fn search() { rank::rank(); }",
            ),
            ("src/rank.rs", "pub fn rank() { crate::search(); }"),
        ],
        &["src/rank.rs", "src/search.rs"],
    );
}

#[test]
fn globs_and_macros_are_followed() {
    check_cycle(
        &[
            ("src/lib.rs", "mod a; mod b;"),
            ("src/a.rs", "use crate::b::*; pub struct A;"),
            (
                "src/b.rs",
                "pub fn b() { println!(\"{}\", [crate::a::A::new()]); }",
            ),
        ],
        &["src/a.rs", "src/b.rs"],
    );
}

#[test]
fn globs_of_each_other_are_a_cycle() {
    check_cycle(
        &[
            ("src/lib.rs", "mod a; mod b;"),
            ("src/a.rs", "pub use crate::b::*; pub struct A;"),
            ("src/b.rs", "pub use crate::a::*; pub struct B;"),
        ],
        &["src/a.rs", "src/b.rs"],
    );
}

#[test]
fn test_modules_and_visibilities_are_not_counted() {
    check_no_cycle(&[
        ("src/lib.rs", "mod a; mod b;"),
        ("src/a.rs", "use crate::b::B; pub struct A;"),
        (
            "src/b.rs",
            "pub struct B; pub(in crate::a) fn f() {} #[cfg(test)] use crate::a::A;
             #[cfg(test)] mod tests { use crate::a::A; } #[cfg(test)] #[path = \"b_tests.rs\"] mod more;",
        ),
        ("src/b_tests.rs", "use super::B; use crate::a::A;"),
    ]);
}
