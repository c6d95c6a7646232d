//! Temporary files of a build: PostgreSQL's, which it counts against temp_file_limit and removes whatever happens.

use std::ffi::CStr;

use pgrx::pg_sys;
use reground_bm25::index::write::sorted_runs::RunStorage;
use reground_bm25::index::{IndexError, Result};

/// Bytes of a segment of PostgreSQL's temporary files: positions are given as segment and offset.
const SEGMENT: u64 = 1 << 30;

/// A temporary file, made when it is first written to.
pub struct TempFile {
    /// What it is kept in: it outlives the memory of a row.
    memory: pg_sys::MemoryContext,
    file: Option<*mut pg_sys::BufFile>,
}

impl TempFile {
    /// One of this session alone. It lives in the memory that is current now.
    pub fn new() -> Self {
        Self {
            // SAFETY: reads a variable of the session.
            memory: unsafe { pg_sys::CurrentMemoryContext },
            file: None,
        }
    }

    /// One that another session can [`open`](Self::open) once it is [`handed over`](Self::hand_over).
    ///
    /// # Safety
    /// This session is attached to the set for as long as the file is in use.
    pub unsafe fn create(set: *mut pg_sys::FileSet, name: &CStr) -> Self {
        // SAFETY: as the caller promises; the name is NUL-terminated and copied.
        let file = unsafe { pg_sys::BufFileCreateFileSet(set, name.as_ptr()) };
        Self {
            file: Some(file),
            ..Self::new()
        }
    }

    /// One that another session has written and handed over.
    ///
    /// # Safety
    /// As for [`create`](Self::create).
    pub unsafe fn open(set: *mut pg_sys::FileSet, name: &CStr) -> Self {
        // SAFETY: as the caller promises; 0 is O_RDONLY, and false has a missing file be an error.
        let file = unsafe { pg_sys::BufFileOpenFileSet(set, name.as_ptr(), 0, false) };
        Self {
            file: Some(file),
            ..Self::new()
        }
    }

    /// Ends writing, so that another session may read.
    pub fn hand_over(self) {
        if let Some(file) = self.file {
            // SAFETY: the file is open. Dropping this closes it.
            unsafe { pg_sys::BufFileExportFileSet(file) };
        }
    }

    fn file(&mut self) -> *mut pg_sys::BufFile {
        *self.file.get_or_insert_with(|| {
            // SAFETY: the memory outlives this; a temporary file of this transaction, and an error is PostgreSQL's own.
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
            // PostgreSQL 15 declares what it only reads as mutable.
            let start = bytes.as_ptr().cast_mut().cast();
            // SAFETY: the bytes are as many as are said. All is written before any is read.
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
        // SAFETY: the file is open, 0 is SEEK_SET, and the buffer is as long as is said.
        unsafe {
            match pg_sys::BufFileSeek(file, segment, offset, 0) {
                0 => Ok(pg_sys::BufFileRead(
                    file,
                    into.as_mut_ptr().cast(),
                    into.len(),
                )),
                _ => Err(IndexError::Full {
                    problem: "a temporary file cannot be read where it was written",
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
            // SAFETY: open, and not used again. After an error the abort has it closed.
            unsafe { pg_sys::BufFileClose(file) };
        }
    }
}
