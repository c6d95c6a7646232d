//! Temporary files of a build. They are files of PostgreSQL, which counts them against temp_file_limit and removes them in any
//! case.

use std::ffi::CStr;

use pgrx::pg_sys;
use reground_bm25::index::write::sorted_runs::RunStorage;
use reground_bm25::index::{IndexError, Result};

/// Segment size of PostgreSQL's temporary files in bytes. A position is a segment number and an offset.
const SEGMENT: u64 = 1 << 30;

/// A temporary file, created by the first write.
pub struct TempFile {
    /// Memory context of the file; it outlives the memory of a row.
    memory: pg_sys::MemoryContext,
    file: Option<*mut pg_sys::BufFile>,
}

impl TempFile {
    /// A file of this session. It is allocated in the current memory context.
    pub fn new() -> Self {
        Self {
            // SAFETY: reads a variable of this session.
            memory: unsafe { pg_sys::CurrentMemoryContext },
            file: None,
        }
    }

    /// A file that another session can [`open`](Self::open) after [`hand_over`](Self::hand_over).
    ///
    /// # Safety
    /// This session is attached to the set as long as the file is in use.
    pub unsafe fn create(set: *mut pg_sys::FileSet, name: &CStr) -> Self {
        // SAFETY: as the caller promises; the name is NUL-terminated and copied.
        let file = unsafe { pg_sys::BufFileCreateFileSet(set, name.as_ptr()) };
        Self {
            file: Some(file),
            ..Self::new()
        }
    }

    /// Opens a file that another session has written and handed over.
    ///
    /// # Safety
    /// As for [`create`](Self::create).
    pub unsafe fn open(set: *mut pg_sys::FileSet, name: &CStr) -> Self {
        // SAFETY: as the caller promises. 0 is O_RDONLY, and false raises an error if the file is missing.
        let file = unsafe { pg_sys::BufFileOpenFileSet(set, name.as_ptr(), 0, false) };
        Self {
            file: Some(file),
            ..Self::new()
        }
    }

    /// Completes writing, so that another session can read the file.
    pub fn hand_over(self) {
        if let Some(file) = self.file {
            // SAFETY: the file is open. Dropping `self` closes it.
            unsafe { pg_sys::BufFileExportFileSet(file) };
        }
    }

    fn file(&mut self) -> *mut pg_sys::BufFile {
        *self.file.get_or_insert_with(|| {
            // SAFETY: the memory context outlives `self`. The file belongs to this transaction, and failures are PostgreSQL
            // errors.
            unsafe {
                let before = pg_sys::MemoryContextSwitchTo(self.memory);
                let file = pg_sys::BufFileCreateTemp(false);
                pg_sys::MemoryContextSwitchTo(before);
                file
            }
        })
    }
}

impl RunStorage for TempFile {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if !bytes.is_empty() {
            let file = self.file();
            // PostgreSQL 15 declares the read-only argument as mutable.
            let start = bytes.as_ptr().cast_mut().cast();
            // SAFETY: the length is that of the slice. All writes come before the first read.
            unsafe { pg_sys::BufFileWrite(file, start, bytes.len()) };
        }
        Ok(())
    }

    fn read(&mut self, from: u64, into: &mut [u8]) -> Result<usize> {
        let Some(file) = self.file else {
            return Ok(0);
        };
        let segment = i32::try_from(from / SEGMENT).unwrap_or(i32::MAX);
        let offset = (from % SEGMENT) as pg_sys::off_t;
        // SAFETY: the file is open, 0 is SEEK_SET, and the length is that of the buffer.
        unsafe {
            match pg_sys::BufFileSeek(file, segment, offset, 0) {
                0 => Ok(pg_sys::BufFileRead(
                    file,
                    into.as_mut_ptr().cast(),
                    into.len(),
                )),
                _ => Err(IndexError::Full {
                    problem: "a temporary file cannot be read",
                }),
            }
        }
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        if let Some(file) = self.file.take()
            && !std::thread::panicking()
        {
            // SAFETY: the file is open and not used again. After an error the abort closes it instead.
            unsafe { pg_sys::BufFileClose(file) };
        }
    }
}
