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
pub mod test_support;

use std::cell::Cell;

pub use checked::{Checked, Steps, checked};
pub use find::{Block, between, find, one_of};

/// Work between two calls of the hook. It takes a few milliseconds at most.
pub const CHECK_INTERVAL: usize = 1 << 16;

/// Called after each [`CHECK_INTERVAL`] with the work done since the last call.
pub type Hook = fn(usize);

struct Progress {
    hook: Cell<Option<Hook>>,
    done: Cell<usize>,
}

thread_local! {
    // Per thread: PostgreSQL may be asked for interrupts only in the backend's own thread.
    static PROGRESS: Progress = const { Progress { hook: Cell::new(None), done: Cell::new(0) } };
}

/// Sets the hook of this thread. Without a hook, work is never interrupted.
pub fn set_hook(hook: Hook) {
    PROGRESS.with(|progress| {
        progress.hook.set(Some(hook));
        progress.done.set(0);
    });
}

/// Reports `work` more units as done, and calls the hook when [`CHECK_INTERVAL`] is reached.
///
/// Costs a few instructions. A loop with steps as cheap as that uses [`Steps`].
#[inline]
pub fn check_interrupt(work: usize) {
    PROGRESS.with(|progress| {
        let done = progress.done.get().saturating_add(work);
        if done < CHECK_INTERVAL {
            progress.done.set(done);
        } else {
            progress.call_hook(done);
        }
    });
}

impl Progress {
    #[cold]
    fn call_hook(&self, done: usize) {
        // Reset before the call, because the hook may unwind.
        self.done.set(0);
        if let Some(hook) = self.hook.get() {
            hook(done);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupted_work_can_be_repeated() {
        set_hook(|work| panic!("interrupted after {work}"));
        let is_interrupted =
            |work: usize| std::panic::catch_unwind(|| check_interrupt(work)).is_err();
        assert!(!is_interrupted(CHECK_INTERVAL - 1));
        assert!(is_interrupted(3));
        // The interrupted work no longer counts.
        assert!(!is_interrupted(CHECK_INTERVAL - 1));
        assert!(is_interrupted(1));
        assert!(is_interrupted(usize::MAX));
    }

    #[test]
    fn a_hook_belongs_to_one_thread() {
        set_hook(|_| panic!("called in the wrong thread"));
        let other = std::thread::spawn(|| check_interrupt(10 * CHECK_INTERVAL)).join();
        assert!(other.is_ok());
    }
}
