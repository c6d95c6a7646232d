//! The pages of an index in PostgreSQL's buffers and its write-ahead log.

mod buffers;
mod pages;

pub use buffers::PAGE;
pub use pages::IndexPages;
