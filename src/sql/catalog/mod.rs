//! Reads the catalogs of PostgreSQL, and keeps what was computed from them until they change.

mod cache;
mod scan;
pub(super) mod version;

pub(super) use cache::define;
pub use cache::{CatalogCache, kept, kept_by_statements};
pub use scan::{column, find_row};
