//! The functions of corpora, their documents and edges, and the erasure of data.

pub(in crate::api) mod corpora;
mod documents;
mod edges;
mod embedding_model;
mod erasure;
mod passages;
mod search;
