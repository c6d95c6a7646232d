#![forbid(unsafe_code)]
//! Work that can be given up.
//!
//! A computation over megabytes must hear a cancel before it is through, and the crates that compute know no server that
//! could send one. So they say as they go how much they have done ([`beat`]), and after each [`STRETCH`] of it the hook
//! is called that the glue set ([`on_beat`]). The hook gives the work up by unwinding, so nothing beats that holds what
//! outlives the call: no borrow of a static or a thread's own, no initialisation of either.
//!
//! Work is counted in the characters or bytes that are read or written, a step over anything else as one. There is no clock
//! in it: the same input beats as often on every machine, and tests count.
//!
//! ```
//! use std::cell::Cell;
//! use reground_pulse::{STRETCH, beat, on_beat};
//!
//! thread_local! { static BEATS: Cell<usize> = const { Cell::new(0) } }
//! on_beat(|_work| BEATS.set(BEATS.get() + 1));
//! for _ in 0..3 * STRETCH {
//!     beat(1);
//! }
//! assert_eq!(BEATS.get(), 3);
//! ```

pub mod felt;
mod leap;
mod steps;

use std::cell::Cell;

pub use leap::{Block, between, leap, one_of};
pub use steps::{Along, Steps, along};

/// Work from one call of the hook to the next: some milliseconds of it at most.
pub const STRETCH: usize = 1 << 16;

/// What is called after each [`STRETCH`], with the work done since the last call.
pub type Hook = fn(usize);

struct Pulse {
    hook: Cell<Option<Hook>>,
    done: Cell<usize>,
}

thread_local! {
    // Of the thread and not of the process: PostgreSQL may be asked for interrupts in the backend's own thread only.
    static PULSE: Pulse = const { Pulse { hook: Cell::new(None), done: Cell::new(0) } };
}

/// Sets the hook of this thread, for the work from here on. Without one, work goes on to its end.
pub fn on_beat(hook: Hook) {
    PULSE.with(|pulse| {
        pulse.hook.set(Some(hook));
        pulse.done.set(0);
    });
}

/// Says that so much more is done. A few instructions; loops whose step is no more than that use [`Steps`].
#[inline]
pub fn beat(work: usize) {
    PULSE.with(|pulse| {
        let done = pulse.done.get().saturating_add(work);
        if done < STRETCH {
            pulse.done.set(done);
        } else {
            pulse.call(done);
        }
    });
}

impl Pulse {
    #[cold]
    fn call(&self, done: usize) {
        // First of all: the hook may unwind.
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
    fn what_is_given_up_can_be_begun_again() {
        on_beat(|work| panic!("given up after {work}"));
        let given_up = |work: usize| std::panic::catch_unwind(|| beat(work)).is_err();
        assert!(!given_up(STRETCH - 1));
        assert!(given_up(3));
        // What was done before counts no more.
        assert!(!given_up(STRETCH - 1));
        assert!(given_up(1));
        assert!(given_up(usize::MAX));
    }

    #[test]
    fn another_thread_is_left_alone() {
        on_beat(|_| panic!("not in this thread"));
        let other = std::thread::spawn(|| beat(10 * STRETCH)).join();
        assert!(other.is_ok());
    }
}
