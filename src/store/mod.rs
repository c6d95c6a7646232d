//! The tables of schema `reground`. Every query names the tenant, in addition to row-level security: policies do not apply to
//! superusers, and they must not see rows of other tenants either.

pub mod alerts;
pub mod chain;
pub mod conversations;
pub mod corpora;
pub mod cues;
pub mod documents;
pub mod edges;
pub mod erasure;
pub mod facts;
pub mod history;
pub mod imports;
pub mod markers;
pub mod messages;
pub mod probes;
pub mod register;
pub mod reports;
pub mod retention;
pub mod retrievals;
pub mod reviews;
pub mod roles;
pub mod rollups;
pub mod shadows;
pub mod sources;
pub mod traces;
pub mod turn_writes;
pub mod turns;
