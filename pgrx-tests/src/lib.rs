//! Helpers of the tests in `tests/`, which need a server: databases, sessions and generated texts.

pub mod chance;
pub mod contents;
pub mod corpus;
pub mod pages;
pub mod pooled;
pub mod server;
pub mod surface;
