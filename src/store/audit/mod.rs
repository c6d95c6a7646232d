//! Statistics, alerts, probes and reports.

pub mod alerts;
pub mod maintenance;
pub mod metrics;
pub mod probes;
pub mod reports;
pub mod rollups;
