#![forbid(unsafe_code)]
//! Hashes that prove which questions, sources and answers a conversation contained, as pure functions.
//!
//! | topic | module |
//! |---|---|
//! | unambiguous encoding of records as bytes | [`encoding`] |
//! | salted leaf hashes and Merkle roots | [`tree`] |
//! | links of a conversation's hash chain | [`link`] |
//! | verification of a chain and its contents | [`verification`] |
//!
//! The crate uses no randomness and no clock. The caller passes salts and times.

mod digest;
pub mod encoding;
pub mod link;
pub mod tree;
pub mod verification;

pub use digest::{Digest, Salt, decode_hex, short_hash, to_array};
