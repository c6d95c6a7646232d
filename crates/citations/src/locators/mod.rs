//! Structured locators: places of a work by book, chapter and verse, by section, or by line.

mod bounds;
mod read;
mod roman;
mod schema;

pub use bounds::{Bounds, Extent};
pub use read::Locators;
pub use schema::{Level, LocatorSchema, SchemaError, Values, Work};
