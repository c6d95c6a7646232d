//! The functions of corpora, their documents and edges, and the erasure of data.

pub(in crate::api) mod corpora;
pub(in crate::api) mod documents;
pub(in crate::api) mod edges;
pub(in crate::api) mod erasure;
pub(in crate::api) mod search;
