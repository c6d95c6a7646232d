//! Workers that read shares of the table. Each writes what it has gathered to files of a set that it shares with the leader,
//! who makes the segment of all of it.

use std::ffi::CString;

use pgrx::pg_sys;
use pgrx::prelude::*;
use reground_bm25::index::terms::{Key, Weights};
use reground_bm25::index::write::bulk_load::{BulkLoader, LoadedPart};

use super::table_reader::TableReader;
use super::temp_file::TempFile;
use crate::index::content::Tokenizer;
use crate::index::raise::or_raise;

/// The library that workers load, and what they call in it.
const LIBRARY: &std::ffi::CStr = c"reground";
const WORKER: &std::ffi::CStr = c"reground_bm25_build_worker";

/// Keys of what is in shared memory.
const TASK_KEY: u64 = 1;
const SCAN_KEY: u64 = 2;
const RESULTS_KEY: u64 = 3;

/// What workers are told.
#[repr(C)]
struct WorkerTask {
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
struct WorkerResult {
    part: LoadedPart,
    rows: f64,
    broken_hot_chain: bool,
}

/// Workers at work.
pub struct Workers {
    context: *mut pg_sys::ParallelContext,
    task: *mut WorkerTask,
    scan: pg_sys::ParallelTableScanDesc,
    results: *mut WorkerResult,
    snapshot: pg_sys::Snapshot,
    heap: pg_sys::Relation,
}

/// What all workers gathered.
#[derive(Default)]
pub struct WorkerParts {
    /// Each worker's documents and postings.
    pub parts: Vec<(LoadedPart, TempFile, TempFile)>,
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
        tokenizer: Tokenizer,
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
            let shares_size =
                size_of::<WorkerResult>() * usize::try_from(planned).unwrap_or_default();
            let sizes = [size_of::<WorkerTask>(), scan_size, shares_size];
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
                task: std::ptr::null_mut(),
                scan: std::ptr::null_mut(),
                results: std::ptr::null_mut(),
                snapshot,
                heap,
            };
            if (*context).seg.is_null() {
                workers.end();
                return None;
            }
            let toc = (*context).toc;
            let [task, scan, results] = sizes.map(|size| pg_sys::shm_toc_allocate(toc, size));
            workers.task = task.cast();
            workers.scan = scan.cast();
            workers.results = results.cast();
            let participants = usize::try_from(planned).unwrap_or_default() + 1;
            workers.task.write(WorkerTask {
                heap: (*heap).rd_id,
                index: (*index).rd_id,
                concurrent,
                key: tokenizer.key,
                config: tokenizer.config,
                weights: tokenizer.weights,
                memory: memory / participants,
                files: Default::default(),
            });
            pg_sys::SharedFileSetInit(&raw mut (*workers.task).files, (*context).seg);
            pg_sys::table_parallelscan_initialize(heap, workers.scan, snapshot);
            workers.results.write_bytes(0, participants - 1);
            pg_sys::shm_toc_insert(toc, TASK_KEY, task);
            pg_sys::shm_toc_insert(toc, SCAN_KEY, scan);
            pg_sys::shm_toc_insert(toc, RESULTS_KEY, results);
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
        unsafe { (*self.task).memory }
    }

    /// Waits for the workers. Their files are there until `end`.
    ///
    /// # Safety
    /// `info` is that of the build.
    pub unsafe fn wait(&self, info: *mut pg_sys::IndexInfo) -> WorkerParts {
        let mut others = WorkerParts::default();
        // SAFETY: when they have finished, each has written its share, and nobody writes any more.
        unsafe {
            pg_sys::WaitForParallelWorkersToFinish(self.context);
            for worker in 0..(*self.context).nworkers_launched {
                let result = *self
                    .results
                    .add(usize::try_from(worker).unwrap_or_default());
                let files = &raw mut (*self.task).files.fs;
                let [documents, postings] = file_names(worker);
                let documents = TempFile::open(files, &documents);
                let postings = TempFile::open(files, &postings);
                others.parts.push((result.part, documents, postings));
                others.rows += result.rows;
                (*info).ii_BrokenHotChain |= result.broken_hot_chain;
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
fn file_names(worker: i32) -> [CString; 2] {
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
        let task = pg_sys::shm_toc_lookup(toc, TASK_KEY, false).cast::<WorkerTask>();
        let scan = pg_sys::shm_toc_lookup(toc, SCAN_KEY, false).cast();
        let results = pg_sys::shm_toc_lookup(toc, RESULTS_KEY, false).cast::<WorkerResult>();
        let (heap_lock, index_lock) = if (*task).concurrent {
            (pg_sys::ShareUpdateExclusiveLock, pg_sys::RowExclusiveLock)
        } else {
            (pg_sys::ShareLock, pg_sys::AccessExclusiveLock)
        };
        let heap = pg_sys::table_open((*task).heap, heap_lock as pg_sys::LOCKMODE);
        let index = pg_sys::index_open((*task).index, index_lock as pg_sys::LOCKMODE);
        pg_sys::SharedFileSetAttach(&raw mut (*task).files, segment);

        let worker = pg_sys::ParallelWorkerNumber;
        let files = &raw mut (*task).files.fs;
        let [documents, postings] = file_names(worker);
        let loader = BulkLoader::new(
            TempFile::create(files, &documents),
            TempFile::create(files, &postings),
            (*task).memory,
        );
        let tokenizer = Tokenizer {
            key: (*task).key,
            config: (*task).config,
            weights: (*task).weights,
        };
        let mut reader = TableReader::new(tokenizer, loader);
        let info = pg_sys::BuildIndexInfo(index);
        (*info).ii_Concurrent = (*task).concurrent;
        let scan = pg_sys::table_beginscan_parallel(heap, scan);
        let rows = reader.read(heap, index, info, scan, false);
        let handed_over = reader.loader.into_part().map_err(Into::into);
        let (part, documents, postings) = or_raise(handed_over);
        documents.hand_over();
        postings.hand_over();
        results
            .add(usize::try_from(worker).unwrap_or_default())
            .write(WorkerResult {
                part,
                rows,
                broken_hot_chain: (*info).ii_BrokenHotChain,
            });
        pg_sys::index_close(index, index_lock as pg_sys::LOCKMODE);
        pg_sys::table_close(heap, heap_lock as pg_sys::LOCKMODE);
    }
}
