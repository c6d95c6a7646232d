//! The parser of each form.
//!
//! A parser gets only the folded text between two brackets, at most [`MAX_INSIDE`] bytes. So its cost is bounded, and
//! the extraction is linear.

mod author_year;
mod cursor;
mod dagger;
mod digits;
mod enclosed;
mod file_names;
mod fold;
mod footnote;
mod labelled;
mod list;
mod named;
pub(crate) mod position;
mod results;
mod short_id;

pub(crate) use digits::{circled, raised, single};
pub(crate) use enclosed::{
    MAX_INSIDE, enclosed_names, in_braces, in_brackets, in_parentheses, trailing_list,
};
pub(crate) use fold::fold;
pub(crate) use footnote::{Notes, label as footnote_label};
pub(crate) use labelled::{refs, source_numbers};
pub(crate) use list::unclosed_marker;
pub(crate) use results::{private_use, results};
