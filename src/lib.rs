//! Glue.
