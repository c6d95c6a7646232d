//! Counts the work of a thread and calls its hook.

use std::cell::Cell;

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
/// Costs a few instructions. A loop with steps as cheap as that uses [`Steps`](crate::Steps).
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
