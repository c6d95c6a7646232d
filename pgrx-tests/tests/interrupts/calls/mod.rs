//! One call of each function, with the tables at which another session can make it wait.

mod alerts;
mod bm25;
mod call;
mod citations;
mod corpora;
mod factuality;
mod judge;
mod models;
mod provenance;
mod quality;
mod turns;

pub use call::{Call, TableLock};

/// Returns one call per function.
pub fn calls() -> impl Iterator<Item = &'static Call> {
    [
        alerts::CALLS,
        bm25::CALLS,
        citations::CALLS,
        corpora::CALLS,
        factuality::CALLS,
        models::CALLS,
        judge::CALLS,
        provenance::CALLS,
        quality::CALLS,
        turns::CALLS,
    ]
    .into_iter()
    .flatten()
}
