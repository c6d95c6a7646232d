//! The functions of corpora, their documents and edges, and the erasure of data.

pub(in crate::api) mod corpora;
mod corpus_arguments;
mod documents;
mod edges;
mod embedding_model;
mod embeddings;
mod erasure;
mod passages;
mod row_owners;
mod search;
mod search_rows;
pub(in crate::api) mod sync;
mod table_names;
