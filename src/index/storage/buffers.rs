//! A page in PostgreSQL's buffers: how it is laid out, and what keeps it there.
//!
//! A page is PostgreSQL's header of 24 bytes and a body, which is `reground_bm25::index`'s. `pd_lower` always says how much
//! of the body means something, since PostgreSQL neither logs nor keeps what lies between it and `pd_upper`.
//!
//! An error while a page is pinned or locked needs no care: unwinding passes over the guards below, and the abort releases
//! what they hold, as for C code. See [`unwinding`].

use std::ops::Deref;
use std::ptr::NonNull;

use pgrx::pg_sys;
use reground_bm25::index::pages::page::{self, BODY_BYTES};

/// Bytes of PostgreSQL's page header.
const HEADER: usize = std::mem::offset_of!(pg_sys::PageHeaderData, pd_linp);
/// Bytes of a page.
pub const PAGE: usize = pg_sys::BLCKSZ as usize;
// A body of the crate is all of a page but its header, and begins aligned.
const _: () = assert!(PAGE == 8192 && HEADER == 24 && HEADER + BODY_BYTES == PAGE);

/// A page that stays in memory while this lives, and may be read without a lock since nobody changes it.
///
/// It must be dropped by the statement that read it, not kept in memory that PostgreSQL frees at an abort: by then the
/// abort has released the pin.
pub struct PinnedPage {
    buffer: pg_sys::Buffer,
    body: NonNull<u8>,
}

impl PinnedPage {
    /// The page of a buffer, which is released when this is dropped.
    ///
    /// # Safety
    /// The buffer is pinned by the caller, who leaves the pin to this.
    pub unsafe fn new(buffer: pg_sys::Buffer) -> Self {
        // SAFETY: the buffer is pinned, so it keeps holding this page; pages are never null.
        let body = unsafe { NonNull::new_unchecked(body_of(pg_sys::BufferGetPage(buffer))) };
        Self { buffer, body }
    }
}

impl Deref for PinnedPage {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the page is in memory while it is pinned, and has BODY bytes from there.
        unsafe { std::slice::from_raw_parts(self.body.as_ptr(), BODY_BYTES) }
    }
}

impl Drop for PinnedPage {
    fn drop(&mut self) {
        if !unwinding() {
            // SAFETY: pinned when this was made, and released only here.
            unsafe {
                pg_sys::ReleaseBuffer(self.buffer);
            }
        }
    }
}

/// A page that is pinned and locked. Whether others may look too is whoever made it to know.
pub struct LockedPage {
    /// The buffer.
    pub buffer: pg_sys::Buffer,
}

impl LockedPage {
    /// The body.
    pub fn body(&self) -> &[u8] {
        // SAFETY: the buffer is pinned and locked for as long as the slice lives; a page has BODY bytes after its header.
        unsafe {
            let page = pg_sys::BufferGetPage(self.buffer);
            std::slice::from_raw_parts(body_of(page), BODY_BYTES)
        }
    }

    /// The body, copied.
    pub fn copy(&self) -> Box<[u8; BODY_BYTES]> {
        let mut copy = Box::new([0; BODY_BYTES]);
        copy.copy_from_slice(self.body());
        copy
    }
}

impl Drop for LockedPage {
    fn drop(&mut self) {
        if !unwinding() {
            // SAFETY: pinned and locked when this was made, and released only here.
            unsafe {
                pg_sys::UnlockReleaseBuffer(self.buffer);
            }
        }
    }
}

/// Whether an error is on its way through our frames to become PostgreSQL's.
///
/// Then pins and locks are left to the abort, which releases what is still held, and only that. Releasing here could go
/// wrong: the error has already let interrupts in again, so that unlocking would count them down below zero; and the
/// current resource owner may be another than the one that the pin was entered with.
fn unwinding() -> bool {
    std::thread::panicking()
}

/// What PostgreSQL may take for the end of what means something on a page with this body.
pub fn lower(body: &[u8]) -> u16 {
    let lower = HEADER + page::extent(body).min(BODY_BYTES);
    u16::try_from(lower).unwrap_or(PAGE as u16)
}

/// The first byte of a page's body.
///
/// # Safety
/// `page` points to a page.
pub unsafe fn body_of(page: pg_sys::Page) -> *mut u8 {
    // SAFETY: a page is longer than its header.
    unsafe { page.cast::<u8>().add(HEADER) }
}

/// Whether a page was never written: the file was extended, and then nothing or a crash happened.
///
/// # Safety
/// `page` points to a page that nobody changes.
pub unsafe fn is_new(page: pg_sys::Page) -> bool {
    // SAFETY: a page begins with its header.
    unsafe { (*page.cast::<pg_sys::PageHeaderData>()).pd_upper == 0 }
}

/// Says how much of a page means something; the rest up to the end is its hole.
///
/// # Safety
/// `page` points to an initialised page without special space, which is ours to write.
pub unsafe fn set_lower(page: pg_sys::Page, lower: u16) {
    // SAFETY: a page begins with its header.
    unsafe {
        let header = page.cast::<pg_sys::PageHeaderData>();
        (*header).pd_lower = lower;
        (*header).pd_upper = PAGE as u16;
        (*header).pd_special = PAGE as u16;
    }
}
