//! Maintenance in the background, where the library is preloaded: every so often, a short connection to each database named.
//!
//! A launcher holds no connection and only starts others; each of those does once what `run_maintenance` does, which a person or a
//! scheduler can call as well, and ends. None runs on a standby.

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

/// Asks the postmaster for the launcher, while it preloads the library; later it is too late, and nothing happens.
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

/// The launcher: until the server stops, starts a worker for each database whose last one has ended.
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn reground_launch_maintenance(_argument: pg_sys::Datum) {
    BackgroundWorker::attach_signal_handlers(SignalWakeFlags::SIGHUP | SignalWakeFlags::SIGTERM);
    let mut running: HashMap<String, DynamicBackgroundWorker> = HashMap::new();
    while BackgroundWorker::wait_latch(Some(guc::worker_interval())) {
        if BackgroundWorker::sighup_received() {
            // SAFETY: outside a transaction, as the main loop of any worker does it.
            unsafe { pg_sys::ProcessConfigFile(pg_sys::GucContext::PGC_SIGHUP) };
        }
        running.retain(|_, worker| !matches!(worker.pid(), Err(BackgroundWorkerStatus::Stopped)));
        for database in guc::worker_databases() {
            if running.contains_key(&database) {
                continue;
            }
            // Where no slot is free (max_worker_processes), the next round tries again.
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

/// Ends the worker at its next look, as SIGTERM ends any backend: a stop of the server does not wait for a long count.
unsafe extern "C-unwind" fn terminate(signal: std::ffi::c_int) {
    // SAFETY: die is PostgreSQL's own handler of the signal; it sets flags and the latch.
    unsafe { pg_sys::die(signal) }
}

/// A worker: does what there is to do in its database, once. What goes wrong is in the server's log, and ends it.
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn reground_maintain(_argument: pg_sys::Datum) {
    // SAFETY: installs a handler as any backend has it, before signals are let in.
    unsafe {
        #[cfg(feature = "pg18")]
        pg_sys::pqsignal_be(pg_sys::SIGTERM as i32, Some(terminate));
        #[cfg(not(feature = "pg18"))]
        pg_sys::pqsignal(pg_sys::SIGTERM as i32, Some(terminate));
        pg_sys::BackgroundWorkerUnblockSignals();
    }
    BackgroundWorker::connect_worker_to_spi(Some(BackgroundWorker::get_extra()), None);
    BackgroundWorker::transaction(|| {
        // This is a superuser, and the owner of the database may have set a path of his own for everyone in it.
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
