//! What the catalogs of PostgreSQL say, without a statement.

mod cache;
mod scan;
pub(super) mod version;

pub(super) use cache::define;
pub use cache::{CatalogCache, kept, kept_by_statements};
pub use scan::{column, find_row};
