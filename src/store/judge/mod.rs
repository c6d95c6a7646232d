//! The judge of citations: which tenants it is enabled for, the queue of citations, and the votes.

pub mod citations;
pub mod rules;
pub mod votes;
