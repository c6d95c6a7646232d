//! Synchronised tables: documents, passages and pending embeddings match the table, which is compared in plain SQL.

mod concurrent;
mod corpora;
mod documents;
mod embeddings;
mod statements;
mod writers;
