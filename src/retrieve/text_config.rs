//! Text search configurations by name: an oid does not outlive a dump.

use pgrx::pg_sys;

use crate::error::{Error, Result};
use crate::sql;

const QUALIFIED: &str = "SELECT pg_catalog.format('%I.%I', n.nspname, c.cfgname) FROM pg_catalog.pg_ts_config c \
     JOIN pg_catalog.pg_namespace n ON n.oid = c.cfgnamespace WHERE c.oid =";

/// What text is read by where no configuration is known: words as they are.
pub const PLAIN: &str = "pg_catalog.simple";

/// Qualified and quoted name of a configuration.
pub fn name(config: pg_sys::Oid) -> Result<String> {
    sql::read_one(&format!("{QUALIFIED} $1"), &[config.into()])?
        .ok_or_else(|| Error::Unknown("text search configuration", config.to_u32().to_string()))
}

/// The configuration of the session, `default_text_search_config`.
pub fn of_session() -> Result<String> {
    let found: Option<String> = sql::read_one(
        &format!("{QUALIFIED} pg_catalog.get_current_ts_config()"),
        &[],
    )?;
    Ok(found.unwrap_or_else(|| PLAIN.to_owned()))
}
