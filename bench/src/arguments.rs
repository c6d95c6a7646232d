//! Arguments of the commands.

use anyhow::{Context, Result};

/// The value of an option that has no default.
///
/// # Errors
/// A missing option.
pub fn required<T>(value: Option<T>, option: &str, usage: &str) -> Result<T> {
    value.with_context(|| format!("{option} is missing\n\n{usage}"))
}
