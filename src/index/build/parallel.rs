//! Parallel workers that read parts of the table. Each writes its documents and postings to shared temporary files; the leader
//! writes the segment.

use std::ffi::CString;

use pgrx::pg_sys;
use pgrx::prelude::*;
use reground_bm25::index::terms::{Key, Weights};
use reground_bm25::index::write::bulk_load::BulkLoader;
use reground_bm25::index::write::loaded_part::LoadedPart;

use super::table_reader::TableReader;
use super::temp_file::TempFile;
use crate::index::content::Tokenizer;
use crate::index::raise::or_raise;

/// The library that workers load, and the function that they call.
const LIBRARY: &std::ffi::CStr = c"reground";
const WORKER: &std::ffi::CStr = c"reground_bm25_build_worker";

/// Keys of the entries in shared memory.
const TASK_KEY: u64 = 1;
const SCAN_KEY: u64 = 2;
const RESULTS_KEY: u64 = 3;

/// Instructions of the leader for the workers.
#[repr(C)]
struct WorkerTask {
    heap: pg_sys::Oid,
    index: pg_sys::Oid,
    concurrent: bool,
    key: Key,
    config: pg_sys::Oid,
    weights: Weights,
    /// Bytes of postings that each process may keep in memory.
    memory: usize,
    files: pg_sys::SharedFileSet,
}

/// Result of a worker. Each worker writes its own.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct WorkerResult {
    part: LoadedPart,
    rows: f64,
    broken_hot_chain: bool,
}

/// The running workers.
pub struct Workers {
    context: *mut pg_sys::ParallelContext,
    task: *mut WorkerTask,
    scan: pg_sys::ParallelTableScanDesc,
    results: *mut WorkerResult,
    snapshot: pg_sys::Snapshot,
    heap: pg_sys::Relation,
}

/// The results of all workers.
#[derive(Default)]
pub struct WorkerParts {
    /// Each worker's documents and postings.
    pub parts: Vec<(LoadedPart, TempFile, TempFile)>,
    /// Number of rows that they read.
    pub rows: f64,
}

impl Workers {
    /// Starts the planned number of workers; `None` if PostgreSQL plans none or cannot start any. `memory` is the limit for
    /// all processes of the build together.
    ///
    /// # Safety
    /// Both relations are open under the locks of a build, and `info` belongs to this build.
    pub unsafe fn start(
        heap: pg_sys::Relation,
        index: pg_sys::Relation,
        info: *mut pg_sys::IndexInfo,
        tokenizer: Tokenizer,
        memory: usize,
    ) -> Option<Self> {
        // SAFETY: as the caller promises. The same sizes are estimated and written. After an error, the abort ends parallel
        // mode and the workers.
        unsafe {
            let planned = planned_workers(heap, index, info);
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
            let results_size =
                size_of::<WorkerResult>() * usize::try_from(planned).unwrap_or_default();
            let sizes = [size_of::<WorkerTask>(), scan_size, results_size];
            allocate_shared_memory(context, sizes);
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
            let participants = usize::try_from(planned).unwrap_or_default() + 1;
            let task = WorkerTask {
                heap: (*heap).rd_id,
                index: (*index).rd_id,
                concurrent,
                key: tokenizer.key,
                config: tokenizer.config,
                weights: tokenizer.weights,
                memory: memory / participants,
                files: Default::default(),
            };
            workers.write_shared_memory(task, sizes, participants - 1);
            pg_sys::LaunchParallelWorkers(context);
            if (*context).nworkers_launched == 0 {
                workers.end();
                return None;
            }
            pgrx::debug1!(
                "{} parallel workers read the table with the leader",
                (*context).nworkers_launched
            );
            // A worker that cannot start must raise its error now, not when the leader waits for its result.
            pg_sys::WaitForParallelWorkersToAttach(context);
            Some(workers)
        }
    }

    /// Writes the task, the shared part of the scan, and an empty result for each worker.
    ///
    /// # Safety
    /// `allocate_shared_memory` has allocated `sizes` in the context of `self`, and no worker is running.
    unsafe fn write_shared_memory(&mut self, task: WorkerTask, sizes: [usize; 3], workers: usize) {
        // SAFETY: as the caller promises; each entry is written within its size before it is published under its key.
        unsafe {
            let toc = (*self.context).toc;
            let chunks = sizes.map(|size| pg_sys::shm_toc_allocate(toc, size));
            let [task_chunk, scan_chunk, results_chunk] = chunks;
            self.task = task_chunk.cast();
            self.scan = scan_chunk.cast();
            self.results = results_chunk.cast();
            self.task.write(task);
            pg_sys::SharedFileSetInit(&raw mut (*self.task).files, (*self.context).seg);
            pg_sys::table_parallelscan_initialize(self.heap, self.scan, self.snapshot);
            self.results.write_bytes(0, workers);
            for (key, chunk) in [TASK_KEY, SCAN_KEY, RESULTS_KEY].into_iter().zip(chunks) {
                pg_sys::shm_toc_insert(toc, key, chunk);
            }
        }
    }

    /// Begins the leader's part of the parallel scan.
    pub fn scan(&self) -> pg_sys::TableScanDesc {
        // SAFETY: the table is open, and the shared part of the scan stays in memory until `end`.
        unsafe { pg_sys::table_beginscan_parallel(self.heap, self.scan) }
    }

    /// Bytes of postings that the leader may keep in memory; the same as for each worker.
    pub fn memory(&self) -> usize {
        // SAFETY: the task stays in memory until `end`, and nobody changes it.
        unsafe { (*self.task).memory }
    }

    /// Waits for the workers and returns their results. Their files exist until `end`.
    ///
    /// # Safety
    /// `info` belongs to the build.
    pub unsafe fn wait(&self, info: *mut pg_sys::IndexInfo) -> WorkerParts {
        let mut others = WorkerParts::default();
        // SAFETY: a finished worker has written its result, and nobody writes to the results any more.
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

    /// Frees the shared memory and leaves parallel mode.
    pub fn end(self) {
        // SAFETY: no worker is running: they have finished, or none was started.
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

/// Estimates and allocates the shared memory of a parallel context. Its `seg` is null if none is available.
///
/// # Safety
/// The context is new, and its shared memory is not allocated yet.
unsafe fn allocate_shared_memory(context: *mut pg_sys::ParallelContext, sizes: [usize; 3]) {
    // SAFETY: as the caller promises.
    unsafe {
        let estimator = &mut (*context).estimator;
        for size in sizes {
            // `shm_toc_estimate_chunk` is a macro. It rounds up to the alignment of buffers.
            estimator.space_for_chunks += size.next_multiple_of(pg_sys::ALIGNOF_BUFFER as usize);
        }
        estimator.number_of_keys += sizes.len();
        pg_sys::InitializeParallelDSM(context);
    }
}

/// Returns the number of workers that PostgreSQL plans.
///
/// # Safety
/// As for [`Workers::start`].
unsafe fn planned_workers(
    heap: pg_sys::Relation,
    index: pg_sys::Relation,
    info: *mut pg_sys::IndexInfo,
) -> i32 {
    // SAFETY: as the caller promises. Before 17 the server plans workers only for B-trees, so the planner is called here.
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

/// Returns the names of a worker's files: documents and postings.
fn file_names(worker: i32) -> [CString; 2] {
    ["documents", "postings"]
        .map(|kind| CString::new(format!("{kind}.{worker}")).unwrap_or_default())
}

/// The main function of a worker. PostgreSQL calls it by name, with the leader's transaction, snapshot and settings.
#[pg_guard]
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn reground_bm25_build_worker(
    segment: *mut pg_sys::dsm_segment,
    toc: *mut pg_sys::shm_toc,
) {
    // SAFETY: the leader has put these entries into shared memory, and keeps them until the workers have finished. The leader
    // holds the same locks, so the worker gets them as a member of its lock group.
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
