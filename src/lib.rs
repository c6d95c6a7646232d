//! The PostgreSQL extension: the only place that knows pgrx.
//!
//! Glue reads rows, hands them to the pure crates, and writes what they decided; it decides nothing itself.
//! `api` holds the SQL functions, `store` the tables of schema `reground`, `retrieve` the relations of a corpus.

#![expect(
    clippy::result_large_err,
    reason = "pgrx wants ErrorReport by value at each function's edge, where it becomes the ERROR at once"
)]

mod api;
mod datum;
mod error;
mod guc;
mod index;
mod profile;
mod retrieve;
mod rows;
mod run_as;
mod session;
mod sql;
mod store;
mod tenant;
mod words;
mod worker;

use pgrx::pg_guard;

pgrx::pg_module_magic!();

/// Called once when the library is loaded into a backend, or preloaded into the server.
#[pg_guard]
pub extern "C-unwind" fn _PG_init() {
    guc::define();
    index::define();
    worker::register();
    sql::define();
    // Long computations check for a cancel, a timeout and a shutdown. PostgreSQL's ERROR unwinds them.
    reground_interrupt::set_hook(|_work| {
        pgrx::check_for_interrupts!();
    });
}
