//! A memory context for temporary allocations of PostgreSQL.

use std::ptr::NonNull;

use pgrx::pg_sys;

/// Memory of PostgreSQL's that is given back when this is dropped.
pub(super) struct Scratch(NonNull<pg_sys::MemoryContextData>);

impl Scratch {
    pub(super) fn new() -> Self {
        // SAFETY: the name is static; creation never returns null.
        unsafe {
            Self(NonNull::new_unchecked(
                pg_sys::AllocSetContextCreateInternal(
                    pg_sys::CurrentMemoryContext,
                    c"reground words".as_ptr(),
                    pg_sys::ALLOCSET_DEFAULT_MINSIZE as usize,
                    pg_sys::ALLOCSET_DEFAULT_INITSIZE as usize,
                    pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
                ),
            ))
        }
    }

    /// Runs `work` with this as the current memory.
    pub(super) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        struct Back(pg_sys::MemoryContext);
        impl Drop for Back {
            fn drop(&mut self) {
                // SAFETY: the context that was current, which outlives what runs in it; errors unwind through here too.
                unsafe { pg_sys::CurrentMemoryContext = self.0 };
            }
        }
        // SAFETY: the context is alive while self is.
        let _back = unsafe {
            let back = Back(pg_sys::CurrentMemoryContext);
            pg_sys::CurrentMemoryContext = self.0.as_ptr();
            back
        };
        work()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // SAFETY: made in new, deleted only here, and not current: `within` has switched back. An abort frees memory after
        // an error has unwound through here, so it is still alive then.
        unsafe { pg_sys::MemoryContextDelete(self.0.as_ptr()) };
    }
}
