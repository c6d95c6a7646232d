//! The functions that analyse turns and answers, and maintain the records.

mod alerts;
mod coordinates;
mod evaluation;
pub(crate) mod maintenance;
mod probes;
mod profile;
mod provenance;
mod quality;
mod report;
mod retention;
pub(in crate::api) mod reviews;
mod rollups;
mod sources;
pub(in crate::api) mod task_result;

pub(in crate::api) use sources::kept;
