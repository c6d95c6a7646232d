//! Pages in PostgreSQL's buffers: their layout, and guards for pins and locks.
//!
//! A page consists of PostgreSQL's header of 24 bytes and the body defined by `reground_bm25::index`. `pd_lower` always marks
//! the end of the used part of the body, because PostgreSQL neither logs nor keeps the bytes between `pd_lower` and
//! `pd_upper`.
//!
//! An error while a page is pinned or locked needs no special care: the guards below do nothing during unwinding, and the
//! abort releases what they hold, as for C code. See [`unwinding`].

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::NonNull;

use pgrx::pg_sys;
use reground_bm25::index::pages::page::{self, BODY_BYTES};

/// Bytes of PostgreSQL's page header.
const HEADER: usize = std::mem::offset_of!(pg_sys::PageHeaderData, pd_linp);
/// Bytes of a page.
pub const PAGE: usize = pg_sys::BLCKSZ as usize;
// A body is the whole page without its header, and begins aligned.
const _: () = assert!(PAGE == 8192 && HEADER == 24 && HEADER + BODY_BYTES == PAGE);

/// A page of a segment that nobody changes as long as this exists. A page that was reused before names another owner.
pub enum StablePage {
    /// Of a server that accepts writes.
    Pinned(PinnedPage),
    /// Of a standby.
    Copied(Box<[u8; BODY_BYTES]>),
}

impl Deref for StablePage {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Pinned(page) => page,
            Self::Copied(body) => &body[..],
        }
    }
}

/// A pinned page. It stays in memory until this is dropped, and is readable without a lock: a writer waits for the pin before it reuses the
/// page.
///
/// The statement that read it must drop it. It must not be kept in memory that PostgreSQL frees at an abort, because the abort
/// has released the pin by then.
pub struct PinnedPage {
    buffer: pg_sys::Buffer,
    body: NonNull<u8>,
}

impl Deref for PinnedPage {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the page stays in memory while it is pinned, and has BODY_BYTES bytes from this address.
        unsafe { std::slice::from_raw_parts(self.body.as_ptr(), BODY_BYTES) }
    }
}

impl Drop for PinnedPage {
    fn drop(&mut self) {
        if !unwinding() {
            // SAFETY: the buffer was pinned when this was made, and is released only here.
            unsafe {
                pg_sys::ReleaseBuffer(self.buffer);
            }
        }
    }
}

/// A pinned and locked page. The creator determines whether the lock is shared.
pub struct LockedPage {
    /// The buffer.
    pub buffer: pg_sys::Buffer,
}

impl LockedPage {
    /// Returns the body.
    pub fn body(&self) -> &[u8] {
        // SAFETY: the buffer is pinned and locked as long as the slice lives; a page has BODY_BYTES bytes after its header.
        unsafe {
            let page = pg_sys::BufferGetPage(self.buffer);
            std::slice::from_raw_parts(body_of(page), BODY_BYTES)
        }
    }

    /// Releases the lock. The lock was needed, because a writer that had it before may have been changing the page.
    pub fn unlock(self) -> PinnedPage {
        let buffer = ManuallyDrop::new(self).buffer;
        // SAFETY: the buffer is locked, and pinned until the result is dropped, so it keeps this page. The address of a page is never null.
        unsafe {
            pg_sys::LockBuffer(buffer, pg_sys::BUFFER_LOCK_UNLOCK as i32);
            let body = NonNull::new_unchecked(body_of(pg_sys::BufferGetPage(buffer)));
            PinnedPage { buffer, body }
        }
    }

    /// Returns a copy of the body.
    pub fn copy(&self) -> Box<[u8; BODY_BYTES]> {
        let mut copy = Box::new([0; BODY_BYTES]);
        copy.copy_from_slice(self.body());
        copy
    }
}

impl Drop for LockedPage {
    fn drop(&mut self) {
        if !unwinding() {
            // SAFETY: the buffer was pinned and locked when this was made, and is released only here.
            unsafe {
                pg_sys::UnlockReleaseBuffer(self.buffer);
            }
        }
    }
}

/// Returns whether an error is unwinding our frames on its way to PostgreSQL.
///
/// In this case the abort releases pins and locks; it releases only what is still held. Releasing them here could fail: the
/// error has already re-enabled interrupts, so an unlock would decrement their counter below zero, and the current resource
/// owner may not be the one that registered the pin.
fn unwinding() -> bool {
    std::thread::panicking()
}

/// Returns the value of `pd_lower` for a page with this body.
pub fn lower(body: &[u8]) -> u16 {
    let lower = HEADER + page::extent(body).min(BODY_BYTES);
    u16::try_from(lower).unwrap_or(PAGE as u16)
}

/// Returns the address of a page's body.
///
/// # Safety
/// `page` points to a page.
pub unsafe fn body_of(page: pg_sys::Page) -> *mut u8 {
    // SAFETY: a page is longer than its header.
    unsafe { page.cast::<u8>().add(HEADER) }
}

/// Returns whether a page was never written: the file was extended, but the page was not initialised, perhaps because of a
/// crash.
///
/// # Safety
/// `page` points to a page that nobody changes.
pub unsafe fn is_new(page: pg_sys::Page) -> bool {
    // SAFETY: a page begins with its header.
    unsafe { (*page.cast::<pg_sys::PageHeaderData>()).pd_upper == 0 }
}

/// Sets the end of the used part of a page. The rest of the page is its hole.
///
/// # Safety
/// `page` points to an initialised page without special space, under an exclusive lock or private to this session.
pub unsafe fn set_lower(page: pg_sys::Page, lower: u16) {
    // SAFETY: as the caller promises; a page begins with its header.
    unsafe {
        let header = page.cast::<pg_sys::PageHeaderData>();
        (*header).pd_lower = lower;
        (*header).pd_upper = PAGE as u16;
        (*header).pd_special = PAGE as u16;
    }
}
