#![forbid(unsafe_code)]
//! Models: their registration, the decisions of the queue, and the requests and results of each kind of task.
//!
//! Nothing here calls a model. The server queues tasks, and a worker makes the calls.

pub mod breaker;
pub mod decompose;
pub mod embedding;
pub mod entail;
pub mod error;
pub mod fence;
pub mod judge;
pub mod kind;
pub mod reading;
pub mod recheck;
pub mod registration;
pub mod request;
pub mod rerank;
pub mod settings;
