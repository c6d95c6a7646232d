//! The PostgreSQL extension, and the only crate that uses pgrx.
//!
//! This glue reads rows, passes them to the pure crates, and writes their results. It makes no decisions.
//! `api` contains the SQL functions, `store` the tables of schema `reground`, `retrieve` the relations of a corpus.

#![expect(
    clippy::result_large_err,
    reason = "pgrx requires ErrorReport by value as the error of each SQL function"
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
