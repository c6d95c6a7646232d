//! Background maintenance, if the library is preloaded.
//!
//! A launcher without a connection starts one worker per configured database and interval. A worker calls `run_maintenance` once
//! and ends. No worker runs on a standby.

use std::collections::HashMap;
use std::time::Duration;

use pgrx::bgworkers::{
    BackgroundWorker, BackgroundWorkerBuilder, BackgroundWorkerStatus, BgWorkerStartTime,
    DynamicBackgroundWorker, SignalWakeFlags,
};
use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::guc;
use crate::session::{PINNED_PATH, set_local};

/// Registers the launcher while the postmaster preloads the library. Later calls do nothing.
pub fn register() {
    // SAFETY: a plain flag of the backend.
    if !unsafe { pg_sys::process_shared_preload_libraries_in_progress } {
        return;
    }
    BackgroundWorkerBuilder::new("reground maintenance launcher")
        .set_library("reground")
        .set_function("reground_launch_maintenance")
        .enable_shmem_access(None)
        .set_start_time(BgWorkerStartTime::RecoveryFinished)
        .set_restart_time(Some(Duration::from_secs(10)))
        .load();
}

/// The launcher. Until the server stops, it starts a worker for each database whose previous worker has ended.
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn reground_launch_maintenance(_argument: pg_sys::Datum) {
    BackgroundWorker::attach_signal_handlers(SignalWakeFlags::SIGHUP | SignalWakeFlags::SIGTERM);
    let mut running: HashMap<String, DynamicBackgroundWorker> = HashMap::new();
    while BackgroundWorker::wait_latch(Some(guc::worker_interval())) {
        if BackgroundWorker::sighup_received() {
            // SAFETY: outside a transaction, as in the main loop of other workers.
            unsafe { pg_sys::ProcessConfigFile(pg_sys::GucContext::PGC_SIGHUP) };
        }
        running.retain(|_, worker| !matches!(worker.pid(), Err(BackgroundWorkerStatus::Stopped)));
        for database in guc::worker_databases() {
            if running.contains_key(&database) {
                continue;
            }
            // Without a free slot (max_worker_processes), the next round tries again.
            if let Ok(worker) = maintenance(&database) {
                running.insert(database, worker);
            }
        }
    }
}

/// Starts a worker for one database.
fn maintenance(
    database: &str,
) -> Result<DynamicBackgroundWorker, pgrx::bgworkers::DynamicBackgroundWorkerLoadError> {
    BackgroundWorkerBuilder::new(&format!("reground maintenance of {database}"))
        .set_type("reground maintenance")
        .set_library("reground")
        .set_function("reground_maintain")
        .set_extra(database)
        .enable_spi_access()
        .set_start_time(BgWorkerStartTime::RecoveryFinished)
        .set_restart_time(None)
        .load_dynamic()
}

/// Handles SIGTERM as backends do, so that a shutdown does not wait for a long refresh.
unsafe extern "C-unwind" fn terminate(signal: std::ffi::c_int) {
    // SAFETY: die is PostgreSQL's handler of the signal. It sets flags and the latch.
    unsafe { pg_sys::die(signal) }
}

/// A worker. It runs the maintenance of its database once. An error is written to the server log and ends it.
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn reground_maintain(_argument: pg_sys::Datum) {
    // SAFETY: installs the handler of a backend before signals are unblocked.
    unsafe {
        #[cfg(feature = "pg18")]
        pg_sys::pqsignal_be(pg_sys::SIGTERM as i32, Some(terminate));
        #[cfg(not(feature = "pg18"))]
        pg_sys::pqsignal(pg_sys::SIGTERM as i32, Some(terminate));
        pg_sys::BackgroundWorkerUnblockSignals();
    }
    BackgroundWorker::connect_worker_to_spi(Some(BackgroundWorker::get_extra()), None);
    BackgroundWorker::transaction(|| {
        // The worker is a superuser, and the owner of the database can set a search_path for all roles in it.
        set_local(c"search_path", PINNED_PATH);
        let outcome = Spi::connect_mut(|client| {
            let installed = client.select(
                "SELECT FROM pg_catalog.pg_extension WHERE extname = 'reground'",
                Some(1),
                &[],
            )?;
            if !installed.is_empty() {
                client.update("SELECT reground.run_maintenance()", None, &[])?;
            }
            Ok::<(), pgrx::spi::Error>(())
        });
        if let Err(fault) = outcome {
            pgrx::warning!("reground maintenance: {fault}");
        }
    });
}
