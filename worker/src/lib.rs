#![forbid(unsafe_code)]
//! The worker of reground's task queue.
//!
//! PostgreSQL never calls a model. It writes tasks (embed a passage, rerank, judge a citation) into a queue, and this program
//! takes them over the SQL functions of the queue, calls the model that the task names, and stores the result. It holds the keys
//! of the APIs, which are in no table.
//!
//! The data flow is [`database`] → [`queue`] (claim) → [`batch`] → [`apis`] → [`http`] → [`queue`] (complete or fail).

pub mod apis;
pub mod batch;
pub mod check;
pub mod config;
pub mod database;
pub mod failure;
pub mod http;
pub mod limits;
pub mod metrics;
pub mod model;
pub mod queue;
pub mod registry;
pub mod server;
