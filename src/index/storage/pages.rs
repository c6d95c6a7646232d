//! Pages of an index relation, in PostgreSQL's buffers and its write-ahead log.

use std::cell::Cell;

use pgrx::pg_sys;
use reground_bm25::index::pages::page::{BODY_BYTES, PageHeader};
use reground_bm25::index::pages::store::{Extent, Pages, Store};
use reground_bm25::index::{IndexError, Result};

use super::buffers::{LockedPage, PAGE, StablePage, body_of, is_new, lower, set_lower};

/// Maximum number of pages in one record of the generic write-ahead log.
const MAX_PAGES_PER_RECORD: usize = 4;
/// Maximum number of blocks that are appended at a time.
const MAX_EXTEND_BLOCKS: u32 = 64;

/// Block number of the maintenance lock, which covers the whole index. Reads and writes do not use this lock.
const MAINTENANCE_BLOCK: pg_sys::BlockNumber = 0;
/// `InvalidSubTransactionId`, which is a macro.
const NO_SUBTRANSACTION: pg_sys::SubTransactionId = 0;

/// How changes are logged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Logged {
    /// With each change, if the relation needs it.
    Each,
    /// All at the end, by [`IndexPages::log_all`].
    AtTheEnd,
    /// With each change, even though the relation is unlogged: its main fork is recreated from this fork after a crash.
    Always,
}

/// The pages of an open index.
pub struct IndexPages {
    index: pg_sys::Relation,
    fork: pg_sys::ForkNumber::Type,
    logged: Logged,
    /// Last known number of blocks. The fork never shrinks while the index is open.
    known_blocks: Cell<u32>,
}

impl IndexPages {
    /// The pages of an index.
    ///
    /// # Safety
    /// The index is open and stays open, and the lock on it prevents that it is dropped or truncated.
    pub unsafe fn new(index: pg_sys::Relation) -> Self {
        Self {
            index,
            fork: pg_sys::ForkNumber::MAIN_FORKNUM,
            logged: Logged::Each,
            known_blocks: Cell::new(0),
        }
    }

    /// As [`IndexPages::new`], for an index under construction that nobody else sees. Nothing is logged before
    /// [`IndexPages::log_all`].
    ///
    /// # Safety
    /// As for [`IndexPages::new`].
    pub unsafe fn during_build(index: pg_sys::Relation) -> Self {
        // SAFETY: as the caller promises.
        let pages = unsafe { Self::new(index) };
        Self {
            logged: Logged::AtTheEnd,
            ..pages
        }
    }

    /// The pages of the init fork of an unlogged index.
    ///
    /// # Safety
    /// As for [`IndexPages::new`].
    pub unsafe fn of_init_fork(index: pg_sys::Relation) -> Self {
        // SAFETY: as the caller promises.
        let pages = unsafe { Self::new(index) };
        Self {
            fork: pg_sys::ForkNumber::INIT_FORKNUM,
            logged: Logged::Always,
            ..pages
        }
    }

    /// Returns the current number of blocks.
    pub fn blocks(&self) -> u32 {
        // SAFETY: the index is open.
        let blocks = unsafe { pg_sys::RelationGetNumberOfBlocksInFork(self.index, self.fork) };
        self.known_blocks.set(blocks);
        blocks
    }

    /// Logs all pages after a build.
    pub fn log_all(&self) {
        if self.needs_log() {
            self.mark_last();
            // SAFETY: the index is open, and its pages have the standard layout: `pd_lower` and `pd_upper` enclose the hole.
            unsafe {
                pg_sys::log_newpage_range(self.index, self.fork, 0, self.blocks(), true);
            }
        }
    }

    /// Appends `most` blocks, at most [`MAX_EXTEND_BLOCKS`]. They stay zero until they are written.
    #[cfg(feature = "pg15")]
    fn append(&self, most: u32) -> Extent {
        let length = most;
        let lock = pg_sys::ExclusiveLock as i32;
        // SAFETY: the index is open. Blocks that are appended under the extension lock are adjacent. After an error the abort
        // releases the lock and the pins. Each buffer is released as soon as its block number is known.
        let start = unsafe {
            pg_sys::LockRelationForExtension(self.index, lock);
            let mut start = pg_sys::InvalidBlockNumber;
            for _ in 0..length {
                let buffer = pg_sys::ReadBufferExtended(
                    self.index,
                    self.fork,
                    pg_sys::InvalidBlockNumber,
                    pg_sys::ReadBufferMode::RBM_NORMAL,
                    std::ptr::null_mut(),
                );
                start = start.min(pg_sys::BufferGetBlockNumber(buffer));
                pg_sys::ReleaseBuffer(buffer);
            }
            pg_sys::UnlockRelationForExtension(self.index, lock);
            start
        };
        self.known_blocks
            .set(self.known_blocks.get().max(start + length));
        Extent { start, length }
    }

    /// Appends up to `most` blocks, at most [`MAX_EXTEND_BLOCKS`]. They stay zero until they are written.
    #[cfg(not(feature = "pg15"))]
    fn append(&self, most: u32) -> Extent {
        let mut buffers = [0; MAX_EXTEND_BLOCKS as usize];
        let mut length = 0;
        let relation = pg_sys::BufferManagerRelation {
            rel: self.index,
            ..Default::default()
        };
        // The function returns at least one pinned buffer, and fewer than requested if few buffers are free.
        // SAFETY: the index is open, and the array has space for the requested number of buffers.
        let start = unsafe {
            let start = pg_sys::ExtendBufferedRelBy(
                relation,
                self.fork,
                std::ptr::null_mut(),
                0,
                most,
                buffers.as_mut_ptr(),
                &mut length,
            );
            for &buffer in buffers.iter().take(length as usize) {
                pg_sys::ReleaseBuffer(buffer);
            }
            start
        };
        self.known_blocks
            .set(self.known_blocks.get().max(start + length));
        Extent { start, length }
    }

    /// Initialises the last page if it is empty, so that it is logged. Empty pages are not logged; the replayed file would be
    /// shorter than the free list assumes.
    fn mark_last(&self) {
        let Some(block) = self.blocks().checked_sub(1) else {
            return;
        };
        let is_new = self.look(block, |body| Ok(body.iter().all(|&byte| byte == 0)));
        if is_new == Ok(true) {
            let mut last = [0; BODY_BYTES];
            PageHeader::unused(block).write(&mut last, 0);
            // The write cannot fail, because the block exists.
            let _ = self.write(block, &last);
        }
    }

    /// `RelationNeedsWAL`, which is a macro.
    fn needs_log(&self) -> bool {
        // SAFETY: the index is open; wal_level only changes with a restart.
        unsafe {
            let relation = &*self.index;
            #[cfg(feature = "pg15")]
            let new_file = relation.rd_firstRelfilenodeSubid;
            #[cfg(not(feature = "pg15"))]
            let new_file = relation.rd_firstRelfilelocatorSubid;
            let older =
                relation.rd_createSubid == NO_SUBTRANSACTION && new_file == NO_SUBTRANSACTION;
            (*relation.rd_rel).relpersistence as u8 == pg_sys::RELPERSISTENCE_PERMANENT
                && (pg_sys::wal_level >= pg_sys::WalLevel::WAL_LEVEL_REPLICA as i32 || older)
        }
    }

    /// Pins a block of the file.
    fn pin(&self, block: u32, mode: pg_sys::ReadBufferMode::Type) -> Result<pg_sys::Buffer> {
        if block >= self.known_blocks.get() && block >= self.blocks() {
            return Err(IndexError::Corrupt {
                block,
                problem: "it lies beyond the end",
            });
        }
        // SAFETY: the index is open, and the block exists.
        Ok(unsafe {
            pg_sys::ReadBufferExtended(self.index, self.fork, block, mode, std::ptr::null_mut())
        })
    }

    /// Pins and locks a block of the file.
    fn lock(&self, block: u32, mode: u32) -> Result<LockedPage> {
        let buffer = self.pin(block, pg_sys::ReadBufferMode::RBM_NORMAL)?;
        // SAFETY: the buffer was pinned just now, and this backend holds no lock on it.
        unsafe {
            pg_sys::LockBuffer(buffer, mode as i32);
        }
        Ok(LockedPage { buffer })
    }

    /// Replaces the body of a page that is locked exclusively, and logs a full image if necessary.
    fn put(&self, page: &LockedPage, body: &[u8; BODY_BYTES]) {
        let logged = match self.logged {
            Logged::Each => self.needs_log(),
            Logged::AtTheEnd => false,
            Logged::Always => true,
        };
        let lower = lower(body);
        // The page and the log are changed in a critical section, so that no interrupt occurs in between. Only PostgreSQL's
        // own calls can fail in it; then the server stops, as required.
        // SAFETY: the buffer is pinned and locked exclusively, so this session may write the page. Source and target have
        // BODY_BYTES bytes and do not overlap.
        unsafe {
            let to = pg_sys::BufferGetPage(page.buffer);
            pg_sys::CritSectionCount += 1;
            pg_sys::PageInit(to, PAGE, 0);
            body.as_ptr()
                .copy_to_nonoverlapping(body_of(to), BODY_BYTES);
            set_lower(to, lower);
            pg_sys::MarkBufferDirty(page.buffer);
            if logged {
                pg_sys::log_newpage_buffer(page.buffer, true);
            }
            pg_sys::CritSectionCount -= 1;
        }
    }

    /// Changes pages with the generic log. It writes no record if the relation needs none.
    fn change_logged(
        &self,
        pages: &[LockedPage],
        change: impl FnOnce(&mut [&mut [u8]]) -> Result<bool>,
    ) -> Result<bool> {
        // SAFETY: the index is open. The state is freed by Finish or Abort below, or with its memory context after an error.
        let state = unsafe { pg_sys::GenericXLogStart(self.index) };
        let images: Vec<pg_sys::Page> = pages
            .iter()
            .map(|page| {
                // SAFETY: the buffer is pinned and locked exclusively, and at most four are registered. The image is a copy of
                // the page. A new page is logged as a full image, because replay finds no page to change.
                unsafe {
                    let new = is_new(pg_sys::BufferGetPage(page.buffer));
                    let how = if new {
                        pg_sys::GENERIC_XLOG_FULL_IMAGE
                    } else {
                        0
                    };
                    let image = pg_sys::GenericXLogRegisterBuffer(state, page.buffer, how as i32);
                    if new {
                        pg_sys::PageInit(image, PAGE, 0);
                    }
                    image
                }
            })
            .collect();
        let mut bodies: Vec<&mut [u8]> = images
            .iter()
            // SAFETY: each image has PAGE bytes. The images are distinct because the blocks are distinct.
            .map(|&image| unsafe { std::slice::from_raw_parts_mut(body_of(image), BODY_BYTES) })
            .collect();
        let changed = change(&mut bodies);
        let lowers: Vec<u16> = bodies.iter().map(|body| lower(body)).collect();
        // SAFETY: the state and the images are those from above; the slices are not used any more.
        unsafe {
            if changed == Ok(true) {
                for (&image, lower) in images.iter().zip(lowers) {
                    set_lower(image, lower);
                }
                pg_sys::GenericXLogFinish(state);
            } else {
                pg_sys::GenericXLogAbort(state);
            }
        }
        changed
    }

    /// Changes pages that the generic log would not log as required. Nobody else sees them before everything is done, so the
    /// changes need not be atomic.
    fn change_unseen(
        &self,
        pages: &[LockedPage],
        change: impl FnOnce(&mut [&mut [u8]]) -> Result<bool>,
    ) -> Result<bool> {
        let mut copies: Vec<Box<[u8; BODY_BYTES]>> = pages.iter().map(LockedPage::copy).collect();
        let mut bodies: Vec<&mut [u8]> = copies.iter_mut().map(|copy| &mut copy[..]).collect();
        let changed = change(&mut bodies)?;
        if changed {
            for (page, copy) in pages.iter().zip(&copies) {
                self.put(page, copy);
            }
        }
        Ok(changed)
    }
}

impl Pages for IndexPages {
    type Page = StablePage;

    fn read(&self, block: u32) -> Result<StablePage> {
        let page = self.lock(block, pg_sys::BUFFER_LOCK_SHARE)?;
        // Replay does not wait for pins.
        // SAFETY: reads the state of the server.
        if unsafe { pg_sys::RecoveryInProgress() } {
            return Ok(StablePage::Copied(page.copy()));
        }
        Ok(StablePage::Pinned(page.unlock()))
    }

    fn look<T>(&self, block: u32, look: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        let page = self.lock(block, pg_sys::BUFFER_LOCK_SHARE)?;
        look(page.body())
    }
}

impl Store for IndexPages {
    fn change(
        &self,
        blocks: &[u32],
        change: impl FnOnce(&mut [&mut [u8]]) -> Result<bool>,
    ) -> Result<bool> {
        // A different lock order could cause a deadlock.
        if blocks.len() > MAX_PAGES_PER_RECORD || !blocks.is_sorted_by(|a, b| a < b) {
            return Err(IndexError::Corrupt {
                block: blocks.first().copied().unwrap_or_default(),
                problem: "blocks to change are out of order",
            });
        }
        let pages: Vec<LockedPage> = blocks
            .iter()
            .map(|&block| self.lock(block, pg_sys::BUFFER_LOCK_EXCLUSIVE))
            .collect::<Result<_>>()?;
        match self.logged {
            Logged::Each => self.change_logged(&pages, change),
            Logged::AtTheEnd | Logged::Always => self.change_unseen(&pages, change),
        }
    }

    fn write(&self, block: u32, body: &[u8]) -> Result<()> {
        let body = body.try_into().map_err(|_| IndexError::Corrupt {
            block,
            problem: "the content to write is not a page",
        })?;
        // Waits until nobody pins the page: a reader of its former owner may still be reading it.
        let buffer = self.pin(block, pg_sys::ReadBufferMode::RBM_ZERO_AND_CLEANUP_LOCK)?;
        self.put(&LockedPage { buffer }, body);
        Ok(())
    }

    fn extend(&self, most: u32) -> Result<Extent> {
        let extent = self.append(most.clamp(1, MAX_EXTEND_BLOCKS));
        // Appending is not logged. A standby, or a server restored from the log, must have these blocks before the free list
        // names them; otherwise it would append them a second time. Replaying the last page extends the file to that length.
        if self.logged != Logged::AtTheEnd {
            let block = extent.start + extent.length - 1;
            let mut last = [0; BODY_BYTES];
            PageHeader::unused(block).write(&mut last, 0);
            self.write(block, &last)?;
        }
        Ok(extent)
    }

    fn blocks(&self) -> u32 {
        IndexPages::blocks(self)
    }

    fn maintain<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let lock = pg_sys::ExclusiveLock as i32;
        // A heavyweight lock, so waiting for it can be cancelled. After an error the abort releases it.
        // SAFETY: the index is open.
        unsafe {
            pg_sys::LockPage(self.index, MAINTENANCE_BLOCK, lock);
        }
        let done = work().map_err(IndexError::without_reuse);
        // SAFETY: the page was locked above.
        unsafe {
            pg_sys::UnlockPage(self.index, MAINTENANCE_BLOCK, lock);
        }
        done
    }
}
