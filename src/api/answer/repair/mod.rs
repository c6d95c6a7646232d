//! Corrected answers.

mod repair_answer;
mod repair_text;
mod repaired;

pub(in crate::api) use repaired::{Original, Repaired, corrected};

use pgrx::spi::quote_literal;
use reground_citations::{RepairMode, UnknownRepairMode};

use crate::error::{Error, Result};

/// Reads the argument `mode`.
fn mode(name: &str) -> Result<RepairMode> {
    name.parse().map_err(|fault: UnknownRepairMode| Error::Bad {
        argument: "mode",
        fault: format!("{} is {fault}", quote_literal(name)),
        hint: "One of mark, repoint, strict.".into(),
    })
}
