//! Values of PostgreSQL as Rust values.

mod from_datum;
mod json;
mod tsvector;
mod vector;

pub(crate) use from_datum::{argument, from_datum, payload};
pub use json::Json;
pub use tsvector::TsVectorBytes;
pub use vector::Vector;
