//! Tests over a real server live in `tests/`; here is what they share: the server's databases, and texts to ask about.

pub mod chance;
pub mod contents;
pub mod corpus;
pub mod pooled;
pub mod server;
pub mod surface;
