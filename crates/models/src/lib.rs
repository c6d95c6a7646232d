#![forbid(unsafe_code)]
//! Requests to language models, and the strict reading of their answers. Pure: a worker makes the calls.

pub mod decompose;
pub mod entail;
pub mod fence;
pub mod reading;
pub mod request;
