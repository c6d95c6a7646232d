//! The address under which an index knows a row. An update that changes no indexed column leaves it: the index points to the first
//! version of the row on its page, which leads to the later ones (a HOT chain).

use std::collections::{BTreeMap, BTreeSet};

use pgrx::pg_sys;

use crate::index::storage::PAGE;

/// Bytes of the header of a heap page.
const PAGE_HEADER: usize = std::mem::offset_of!(pg_sys::PageHeaderData, pd_linp);
/// Minimum bytes of a tuple with its line pointer: the header of a tuple, aligned.
const LEAST_TUPLE: usize = 24 + size_of::<pg_sys::ItemIdData>();
/// `MaxHeapTuplesPerPage`, which is a macro.
const MOST_TUPLES: usize = (PAGE - PAGE_HEADER) / LEAST_TUPLE;

/// Returns the address in indexes of each row version.
///
/// # Safety
/// The table is open and a heap. A statement has returned the row versions, under a snapshot that is at least as new as one that is
/// still active, so that they are not removed.
pub unsafe fn root_rows(heap: pg_sys::Relation, rows: &BTreeSet<u64>) -> BTreeMap<u64, u64> {
    let all: Vec<u64> = rows.iter().copied().collect();
    let mut roots = BTreeMap::new();
    for of_block in all.chunk_by(|one, other| one >> 16 == other >> 16) {
        pgrx::check_for_interrupts!();
        let block = (of_block[0] >> 16) as pg_sys::BlockNumber;
        // SAFETY: as the caller promises, the block exists. It is locked while its line pointers are read; an error aborts the
        // transaction, which releases the lock and the pin.
        unsafe {
            let buffer = pg_sys::ReadBuffer(heap, block);
            pg_sys::LockBuffer(buffer, pg_sys::BUFFER_LOCK_SHARE as i32);
            let page = pg_sys::BufferGetPage(buffer);
            let mut of_page = None;
            for &row in of_block {
                let offset = row as pg_sys::OffsetNumber;
                let root = match is_heap_only(page, offset) {
                    false => offset,
                    true => *of_page
                        .get_or_insert_with(|| root_offsets(page))
                        .get(usize::from(offset) - 1)
                        .unwrap_or(&offset),
                };
                roots.insert(row, row >> 16 << 16 | u64::from(root));
            }
            pg_sys::UnlockReleaseBuffer(buffer);
        }
    }
    roots
}

/// Whether a tuple is one that no index points to.
///
/// # Safety
/// The page is a heap page under a lock.
unsafe fn is_heap_only(page: pg_sys::Page, offset: pg_sys::OffsetNumber) -> bool {
    /// The line pointer leads to a tuple.
    const NORMAL: u32 = pg_sys::LP_NORMAL;
    // SAFETY: as the caller promises; a normal line pointer of a heap page leads to a tuple.
    unsafe {
        if offset == 0 || offset > pg_sys::PageGetMaxOffsetNumber(page) {
            return false;
        }
        let item = pg_sys::PageGetItemId(page, offset);
        if (*item).lp_flags() != NORMAL {
            return false;
        }
        let tuple = pg_sys::PageGetItem(page, item).cast::<pg_sys::HeapTupleHeaderData>();
        u32::from((*tuple).t_infomask2) & pg_sys::HEAP_ONLY_TUPLE != 0
    }
}

/// Returns the line pointers that indexes point to, for each line pointer of a page from the first on.
///
/// # Safety
/// The page is a heap page under a lock.
unsafe fn root_offsets(page: pg_sys::Page) -> [pg_sys::OffsetNumber; MOST_TUPLES] {
    let mut offsets = [0; MOST_TUPLES];
    // SAFETY: as the caller promises; the function writes MOST_TUPLES numbers.
    unsafe { pg_sys::heap_get_root_tuples(page, offsets.as_mut_ptr()) };
    offsets
}
