//! Functions of the judge of citations.

mod agreement;
mod queue;
mod rules;

pub(in crate::api) use queue::queue_sample;
