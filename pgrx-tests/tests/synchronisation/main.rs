//! Synchronised tables: documents, passages and pending embeddings match the table, which is compared in plain SQL,
//! and no answer is returned again after its sources have changed.

mod answers;
mod concurrent;
mod corpora;
mod documents;
mod embeddings;
mod statements;
mod writers;
