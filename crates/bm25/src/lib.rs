#![forbid(unsafe_code)]
//! Placeholder until this crate's first module lands.
