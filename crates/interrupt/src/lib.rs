#![forbid(unsafe_code)]
//! Checks for interrupts in long computations.
//!
//! A computation over megabytes must react to a cancel or a timeout. The pure crates know no server, so their loops report
//! the work done to [`check_interrupt`], which calls the hook of the thread once per [`CHECK_INTERVAL`]. The extension sets a hook
//! that asks PostgreSQL for interrupts. The hook may unwind, so a caller must not hold a guard across a check: no borrow of
//! a static or of a thread local, and no initialisation of either.
//!
//! Work is counted in characters or bytes that are read or written; any other step counts as one. There is no clock: the
//! same input gives the same number of checks on every machine, so tests count them.
//!
//! ```
//! use std::cell::Cell;
//! use reground_interrupt::{CHECK_INTERVAL, check_interrupt, set_hook};
//!
//! thread_local! { static CHECKS: Cell<usize> = const { Cell::new(0) } }
//! set_hook(|_work| CHECKS.set(CHECKS.get() + 1));
//! for _ in 0..3 * CHECK_INTERVAL {
//!     check_interrupt(1);
//! }
//! assert_eq!(CHECKS.get(), 3);
//! ```

mod checked;
mod find;
mod hook;
pub mod test_support;

pub use checked::{Checked, Steps, checked};
pub use find::{Block, between, find, one_of};
pub use hook::{CHECK_INTERVAL, Hook, check_interrupt, set_hook};
