#![forbid(unsafe_code)]
//! Encryption of the coordinates of sources, as pure functions.
//!
//! | topic | module |
//! |---|---|
//! | master key, tenant keys | [`key`] |
//! | kinds of values, and the JSON members that contain them | [`kind`] |
//! | a sealed value as text | [`token`] |
//! | JSON with sealed members | [`json`] |
//!
//! The crate uses no randomness. The caller passes the bytes of new keys.

mod error;
pub mod json;
pub mod key;
pub mod kind;
mod opened;
pub mod token;

pub use error::SealingError;
pub use json::{Sealer, key_ids, unseal_json};
pub use key::{MasterKey, TenantKey};
pub use kind::Kind;
pub use opened::{Mode, Opened};
pub use token::unseal_text;
