//! The functions that analyse turns and answers, and maintain the records.

pub(in crate::api) mod alerts;
pub(in crate::api) mod evaluation;
pub(in crate::api) mod probes;
pub(in crate::api) mod profile;
pub(in crate::api) mod provenance;
pub(in crate::api) mod quality;
pub(in crate::api) mod report;
pub(in crate::api) mod retention;
pub(in crate::api) mod reviews;
pub(in crate::api) mod rollups;
