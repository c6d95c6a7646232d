//! A segment: its format on pages, its writer and its readers.

pub mod dictionary;
pub mod layout;
pub mod norms;
pub mod posting_block;
pub mod postings;
pub mod reader;
pub mod writer;
