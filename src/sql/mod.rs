//! Every statement of the extension is run through this module.
//!
//! Rows travel as JSON text (json rather than jsonb, which would sort the keys): the result of a statement is deserialised into
//! the types of the pure crates, and their values are written with `json_to_recordset`. [`Record`] holds the columns of a row type,
//! so that no column list exists twice. Passages and candidates, of which a turn reads many, are read by columns. Each statement
//! is prepared once a session, and its names are resolved in `pg_catalog` (see [`names`]).

mod caller;
mod catalog;
mod distributed;
mod explain;
mod locks;
mod names;
mod plans;
mod record;
mod run;
mod statement;
mod subtransaction;
mod superuser;
mod transition;

pub use caller::{PLAN_EACH_TIME, PLAN_ONCE, PRINCIPALS, TENANT};
pub use catalog::{CatalogCache, column, find_row, kept, kept_by_statements};
pub use distributed::{can_distribute, is_distributed};
pub use explain::explained;
pub use locks::{lock, lock_key, lock_relation, share_key, try_lock, try_lock_key, try_share_key};
pub use record::Record;
pub use run::{
    ident, json, literal, read_batches, read_each, read_each_as_text, read_json, read_one,
    read_rows, run, run_ddl, with_pinned_path, write_each, write_json, write_one,
};
pub use statement::{Args, Row};
pub use subtransaction::{Caught, guarded, guarded_from_cancel};
pub use superuser::is_session_of_superuser;
pub use transition::{Changes, Event};

/// Called once, when the library is loaded.
pub fn define() {
    names::define();
    catalog::define();
}
