//! Erasure. Every table with data of a conversation, a tenant or a document must occur in one of these files.

mod deletion;
mod receipt;
mod redaction;

pub use deletion::{conversations, hold, hold_all, hold_corpora, tables_of, tenant};
pub use receipt::Receipt;
pub use redaction::{Document, addresses, exists};
