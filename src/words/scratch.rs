//! A memory context for temporary allocations of PostgreSQL.

use std::ptr::NonNull;

use pgrx::pg_sys;

/// A memory context that is freed when this is dropped.
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

    /// Runs `work` with this as the current memory context.
    pub(super) fn run_in<T>(&self, work: impl FnOnce() -> T) -> T {
        struct Back(pg_sys::MemoryContext);
        impl Drop for Back {
            fn drop(&mut self) {
                // SAFETY: the previous context outlives the code that runs in it. Errors unwind through here too.
                unsafe { pg_sys::CurrentMemoryContext = self.0 };
            }
        }
        // SAFETY: this context exists as long as `self`.
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
        // SAFETY: the context was created in `new` and is deleted only here. It is not current, because `run_in` has switched
        // back. After an error, the abort frees memory only after unwinding, so the context still exists here.
        unsafe { pg_sys::MemoryContextDelete(self.0.as_ptr()) };
    }
}
