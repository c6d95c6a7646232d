//! Corpora, the versions of their documents, and their knowledge graphs.

pub mod corpora;
pub mod documents;
pub mod edges;
mod privileges;
mod relations;
