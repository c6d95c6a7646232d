//! Alert rules, and how each kind of rule is read.

pub mod rise;
#[cfg(test)]
mod rise_tests;
pub mod rule;
pub mod traffic;
#[cfg(test)]
mod traffic_tests;
pub mod window_rule;
