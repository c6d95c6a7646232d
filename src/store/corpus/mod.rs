//! Corpora, the versions of their documents, and their knowledge graphs.

pub mod corpora;
pub mod documents;
pub mod edges;
mod missing_columns;
pub mod positions;
mod privileges;
mod relations;
pub mod sync;
mod vectors;
pub mod versions;
mod visible_rows;
