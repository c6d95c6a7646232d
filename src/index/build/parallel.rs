//! Workers that read shares of the table. Each writes what it has gathered to files of a set that it shares with the leader,
//! who makes the segment of all of it.

use std::ffi::CString;

use pgrx::pg_sys;
use pgrx::prelude::*;
use reground_bm25::index::build::{Gatherer, Part};
use reground_bm25::index::terms::{Key, Weights};

use super::files::File;
use super::gather::Gathering;
use crate::index::document::Words;
use crate::index::or_raise;

/// The library that workers load, and what they call in it.
const LIBRARY: &std::ffi::CStr = c"reground";
const WORKER: &std::ffi::CStr = c"reground_bm25_build_worker";

/// Keys of what is in shared memory.
const ORDER: u64 = 1;
const SCAN: u64 = 2;
const SHARES: u64 = 3;

/// What workers are told.
#[repr(C)]
struct Order {
    heap: pg_sys::Oid,
    index: pg_sys::Oid,
    concurrent: bool,
    key: Key,
    config: pg_sys::Oid,
    weights: Weights,
    /// Bytes of postings that each may hold.
    memory: usize,
    files: pg_sys::SharedFileSet,
}

/// What a worker says when it is done. Each writes its own.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Share {
    part: Part,
    rows: f64,
    broken_hot_chain: bool,
}

/// Workers at work.
pub struct Workers {
    context: *mut pg_sys::ParallelContext,
    order: *mut Order,
    scan: pg_sys::ParallelTableScanDesc,
    shares: *mut Share,
    snapshot: pg_sys::Snapshot,
    heap: pg_sys::Relation,
}

/// What all workers gathered.
#[derive(Default)]
pub struct Others {
    /// Each worker's documents and postings.
    pub parts: Vec<(Part, File, File)>,
    /// Rows that they read.
    pub rows: f64,
}

impl Workers {
    /// Starts as many as PostgreSQL plans for; none where that is none, or where none can be had. `memory` is what all
    /// processes of the build may hold together.
    ///
    /// # Safety
    /// Both relations are open under the locks of a build, which `info` is of.
    pub unsafe fn start(
        heap: pg_sys::Relation,
        index: pg_sys::Relation,
        info: *mut pg_sys::IndexInfo,
        words: Words,
        memory: usize,
    ) -> Option<Self> {
        // SAFETY: as the caller promises. What is estimated is what is allocated below. An error ends parallel mode and the
        // workers with the transaction.
        unsafe {
            let planned = planned(heap, index, info);
            if planned < 1 {
                return None;
            }
            pg_sys::EnterParallelMode();
            let context = pg_sys::CreateParallelContext(LIBRARY.as_ptr(), WORKER.as_ptr(), planned);
            let concurrent = (*info).ii_Concurrent;
            let snapshot = if concurrent {
                pg_sys::RegisterSnapshot(pg_sys::GetTransactionSnapshot())
            } else {
                &raw mut pg_sys::SnapshotAnyData
            };
            let scan_size = pg_sys::table_parallelscan_estimate(heap, snapshot);
            let shares_size = size_of::<Share>() * usize::try_from(planned).unwrap_or_default();
            let sizes = [size_of::<Order>(), scan_size, shares_size];
            let estimator = &mut (*context).estimator;
            for size in sizes {
                // `shm_toc_estimate_chunk`, a macro, which rounds up to buffers' alignment.
                estimator.space_for_chunks +=
                    size.next_multiple_of(pg_sys::ALIGNOF_BUFFER as usize);
            }
            estimator.number_of_keys += sizes.len();
            pg_sys::InitializeParallelDSM(context);
            let mut workers = Self {
                context,
                order: std::ptr::null_mut(),
                scan: std::ptr::null_mut(),
                shares: std::ptr::null_mut(),
                snapshot,
                heap,
            };
            if (*context).seg.is_null() {
                workers.end();
                return None;
            }
            let toc = (*context).toc;
            let [order, scan, shares] = sizes.map(|size| pg_sys::shm_toc_allocate(toc, size));
            workers.order = order.cast();
            workers.scan = scan.cast();
            workers.shares = shares.cast();
            let participants = usize::try_from(planned).unwrap_or_default() + 1;
            workers.order.write(Order {
                heap: (*heap).rd_id,
                index: (*index).rd_id,
                concurrent,
                key: words.key,
                config: words.config,
                weights: words.weights,
                memory: memory / participants,
                files: Default::default(),
            });
            pg_sys::SharedFileSetInit(&raw mut (*workers.order).files, (*context).seg);
            pg_sys::table_parallelscan_initialize(heap, workers.scan, snapshot);
            workers.shares.write_bytes(0, participants - 1);
            pg_sys::shm_toc_insert(toc, ORDER, order);
            pg_sys::shm_toc_insert(toc, SCAN, scan);
            pg_sys::shm_toc_insert(toc, SHARES, shares);
            pg_sys::LaunchParallelWorkers(context);
            if (*context).nworkers_launched == 0 {
                workers.end();
                return None;
            }
            pgrx::debug1!(
                "{} parallel workers read the table with the leader",
                (*context).nworkers_launched
            );
            // Whoever cannot start is found out now, not when all wait for its share.
            pg_sys::WaitForParallelWorkersToAttach(context);
            Some(workers)
        }
    }

    /// The leader's own share of the scan.
    pub fn scan(&self) -> pg_sys::TableScanDesc {
        // SAFETY: the table is open, and the shared part of the scan is in memory until `end`.
        unsafe { pg_sys::table_beginscan_parallel(self.heap, self.scan) }
    }

    /// Bytes of postings that the leader may hold, as each worker.
    pub fn memory(&self) -> usize {
        // SAFETY: in memory until `end`, and not changed.
        unsafe { (*self.order).memory }
    }

    /// Waits for the workers. Their files are there until `end`.
    ///
    /// # Safety
    /// `info` is that of the build.
    pub unsafe fn wait(&self, info: *mut pg_sys::IndexInfo) -> Others {
        let mut others = Others::default();
        // SAFETY: when they have finished, each has written its share, and nobody writes any more.
        unsafe {
            pg_sys::WaitForParallelWorkersToFinish(self.context);
            for worker in 0..(*self.context).nworkers_launched {
                let share = *self.shares.add(usize::try_from(worker).unwrap_or_default());
                let files = &raw mut (*self.order).files.fs;
                let [documents, postings] = names(worker);
                let documents = File::open(files, &documents);
                let postings = File::open(files, &postings);
                others.parts.push((share.part, documents, postings));
                others.rows += share.rows;
                (*info).ii_BrokenHotChain |= share.broken_hot_chain;
            }
        }
        others
    }

    /// Lets go of what was shared.
    pub fn end(self) {
        // SAFETY: no worker is at work any more, or none has begun.
        unsafe {
            pg_sys::WaitForParallelWorkersToFinish(self.context);
            if (*self.snapshot).snapshot_type == pg_sys::SnapshotType::SNAPSHOT_MVCC {
                pg_sys::UnregisterSnapshot(self.snapshot);
            }
            pg_sys::DestroyParallelContext(self.context);
            pg_sys::ExitParallelMode();
        }
    }
}

/// How many workers PostgreSQL plans for.
///
/// # Safety
/// As for [`Workers::start`].
unsafe fn planned(
    heap: pg_sys::Relation,
    index: pg_sys::Relation,
    info: *mut pg_sys::IndexInfo,
) -> i32 {
    // SAFETY: as the caller promises. Before 17 the server plans for B-trees alone, so it is asked here.
    unsafe {
        #[cfg(any(feature = "pg17", feature = "pg18"))]
        {
            let _ = (heap, index);
            (*info).ii_ParallelWorkers
        }
        #[cfg(not(any(feature = "pg17", feature = "pg18")))]
        {
            let _ = info;
            pg_sys::plan_create_index_workers((*heap).rd_id, (*index).rd_id)
        }
    }
}

/// The names of a worker's files: its documents, its postings.
fn names(worker: i32) -> [CString; 2] {
    ["documents", "postings"]
        .map(|kind| CString::new(format!("{kind}.{worker}")).unwrap_or_default())
}

/// What a worker does. PostgreSQL calls it by name, with the leader's transaction, snapshot and settings in force.
#[pg_guard]
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn reground_bm25_build_worker(
    segment: *mut pg_sys::dsm_segment,
    toc: *mut pg_sys::shm_toc,
) {
    // SAFETY: the leader has put these there, and keeps them until the workers have finished. Locks are those that it holds
    // itself, which the worker is granted as a member of its group.
    unsafe {
        let order = pg_sys::shm_toc_lookup(toc, ORDER, false).cast::<Order>();
        let scan = pg_sys::shm_toc_lookup(toc, SCAN, false).cast();
        let shares = pg_sys::shm_toc_lookup(toc, SHARES, false).cast::<Share>();
        let (heap_lock, index_lock) = if (*order).concurrent {
            (pg_sys::ShareUpdateExclusiveLock, pg_sys::RowExclusiveLock)
        } else {
            (pg_sys::ShareLock, pg_sys::AccessExclusiveLock)
        };
        let heap = pg_sys::table_open((*order).heap, heap_lock as pg_sys::LOCKMODE);
        let index = pg_sys::index_open((*order).index, index_lock as pg_sys::LOCKMODE);
        pg_sys::SharedFileSetAttach(&raw mut (*order).files, segment);

        let worker = pg_sys::ParallelWorkerNumber;
        let files = &raw mut (*order).files.fs;
        let [documents, postings] = names(worker);
        let gatherer = Gatherer::new(
            File::create(files, &documents),
            File::create(files, &postings),
            (*order).memory,
        );
        let words = Words {
            key: (*order).key,
            config: (*order).config,
            weights: (*order).weights,
        };
        let mut gathering = Gathering::new(words, gatherer);
        let info = pg_sys::BuildIndexInfo(index);
        (*info).ii_Concurrent = (*order).concurrent;
        let scan = pg_sys::table_beginscan_parallel(heap, scan);
        let rows = gathering.read(heap, index, info, scan, false);
        let handed_over = gathering.gatherer.hand_over().map_err(Into::into);
        let (part, documents, postings) = or_raise(handed_over);
        documents.hand_over();
        postings.hand_over();
        shares
            .add(usize::try_from(worker).unwrap_or_default())
            .write(Share {
                part,
                rows,
                broken_hot_chain: (*info).ii_BrokenHotChain,
            });
        pg_sys::index_close(index, index_lock as pg_sys::LOCKMODE);
        pg_sys::table_close(heap, heap_lock as pg_sys::LOCKMODE);
    }
}
