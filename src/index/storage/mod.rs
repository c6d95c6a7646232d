//! The pages of an index in PostgreSQL's buffers and its write-ahead log, and the settings on its first page.

mod buffers;
mod built_settings;
mod pages;

pub use buffers::PAGE;
pub use built_settings::built_settings;
pub use pages::IndexPages;
