//! The grammar of each form: what the inside of a bracket says.
//!
//! A form sees only the folded text between two brackets, never longer than [`MAX_INSIDE`], so its own cost is bounded
//! and the whole extraction stays linear.

mod author_year;
mod cursor;
mod dagger;
mod digits;
mod enclosed;
mod fold;
mod footnote;
mod labelled;
mod list;
mod named;
pub(crate) mod pages;
mod results;
mod short_id;

pub(crate) use digits::{circled, raised, single};
pub(crate) use enclosed::{
    MAX_INSIDE, in_braces, in_brackets, in_parentheses, named_by, trailing_list,
};
pub(crate) use footnote::{Notes, label as footnote_label};
pub(crate) use labelled::{numbers_after as source_numbers, refs};
pub(crate) use list::unclosed_marker;
pub(crate) use results::{private_use, results};
