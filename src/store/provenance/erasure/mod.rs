//! Erasure. Every table with data of a conversation, a tenant or a document must occur in one of these files.

mod deletion;
mod receipt;
mod redaction;
mod shared_rows;

pub use deletion::{
    Archived, conversations, hold, hold_all, hold_corpora, hold_of_user, is_archived,
    reports_of_user, tables_of, tenant,
};
pub use receipt::Receipt;
pub use redaction::{Document, addresses, exists};
pub use shared_rows::{corpora_with_tenants, shared_rows};
