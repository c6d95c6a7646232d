//! The tables of schema `reground`. Every query names the tenant, in addition to row-level security: policies do not apply to
//! superusers, and they must not see rows of other tenants either.

mod answer;
mod audit;
mod conversation;
mod corpus;
pub mod factuality;
pub mod judge;
pub mod keys;
pub mod models;
mod provenance;
pub mod roles;
mod turn;

pub use answer::{cues, imports, messages, repairs, reviews};
pub use audit::{alerts, maintenance, metrics, probes, reports, rollups};
pub use conversation::{conversations, history, markers, register, sources};
pub use corpus::{corpora, documents, edges, positions, sync, versions};
pub use provenance::{chain, erasure, retention};
pub use turn::{
    contexts, earlier_turns, retrievals, reusable_answers, shadows, traces, turn_writes, turns,
};
