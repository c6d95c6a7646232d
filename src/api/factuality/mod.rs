//! The functions of factuality: must-have facts, evaluations, reports and labels.

mod evaluate;
mod gold;
mod labels;
mod measures;
mod report;
