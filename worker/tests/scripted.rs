#![allow(clippy::expect_used)]
//! The adapters against a server that answers as a test tells it to.

#[path = "scripted/server.rs"]
mod server;

#[path = "scripted/addresses.rs"]
mod addresses;
#[path = "scripted/answers.rs"]
mod answers;
#[path = "scripted/batches.rs"]
mod batches;
#[path = "scripted/endpoint.rs"]
mod endpoint;
#[path = "scripted/failures.rs"]
mod failures;
