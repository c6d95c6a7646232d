//! Background maintenance, if the library is preloaded.
//!
//! A launcher starts one worker per configured database and interval. A worker runs the tasks that are due, each in a transaction of its
//! own, and ends. So a database can be dropped: the launcher reads only the shared catalogs. No worker runs on a standby.

use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString};
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use pgrx::bgworkers::{
    BackgroundWorker, BackgroundWorkerBuilder, BackgroundWorkerStatus, BgWorkerStartTime,
    DynamicBackgroundWorker, DynamicBackgroundWorkerLoadError, SignalWakeFlags,
};
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

use crate::api::maintenance;
use crate::error::{Result, warn};
use crate::guc;
use crate::run_as::owner_of_database;
use crate::session::{PINNED_PATH, set_local};
use crate::sql::{self, find_row};

/// Registers the launcher while the postmaster preloads the library. Later calls do nothing.
pub fn register() {
    // SAFETY: a plain flag of the backend.
    if !unsafe { pg_sys::process_shared_preload_libraries_in_progress } {
        return;
    }
    BackgroundWorkerBuilder::new("reground maintenance launcher")
        .set_type("reground maintenance launcher")
        .set_library("reground")
        .set_function("reground_launch_maintenance")
        .enable_spi_access()
        .set_start_time(BgWorkerStartTime::RecoveryFinished)
        .set_restart_time(Some(Duration::from_secs(10)))
        .load();
}

/// The launcher. Until the server stops, it starts a worker for each database whose previous worker has ended.
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn reground_launch_maintenance(_argument: pg_sys::Datum) {
    BackgroundWorker::attach_signal_handlers(SignalWakeFlags::SIGHUP | SignalWakeFlags::SIGTERM);
    // Without a database, only the shared catalogs can be read.
    BackgroundWorker::connect_worker_to_spi(None, None);
    let mut running: HashMap<String, DynamicBackgroundWorker> = HashMap::new();
    let mut missing: HashSet<String> = HashSet::new();
    let mut round = Instant::now();
    // Signals of other sessions wake the launcher too.
    while BackgroundWorker::wait_latch(Some(guc::worker_interval().saturating_sub(round.elapsed())))
    {
        if BackgroundWorker::sighup_received() {
            // SAFETY: outside a transaction, as in the main loop of other workers.
            unsafe { pg_sys::ProcessConfigFile(pg_sys::GucContext::PGC_SIGHUP) };
        } else if round.elapsed() < guc::worker_interval() {
            continue;
        }
        round = Instant::now();
        running.retain(|_, worker| !matches!(worker.pid(), Err(BackgroundWorkerStatus::Stopped)));
        let configured = guc::worker_databases();
        let existing = match configured.is_empty() {
            true => HashMap::new(),
            false => databases(),
        };
        missing
            .retain(|database| configured.contains(database) && !existing.contains_key(database));
        for database in configured {
            let Some(place) = existing.get(&database) else {
                if missing.insert(database.clone()) {
                    warn(
                        format!(
                            "database \"{database}\" of reground.worker_databases does not exist or accepts no connections"
                        ),
                        "Its maintenance starts when it exists. This message is not repeated.",
                    );
                }
                continue;
            };
            if running.contains_key(&database) {
                continue;
            }
            // Without a free slot (max_worker_processes), the next round tries again.
            if let Ok(worker) = start(&database, *place) {
                running.insert(database, worker);
            }
        }
    }
    // The postmaster starts it again unless the server stops. With exit code 0, pg_terminate_backend would end maintenance for good.
    // SAFETY: ends the process, outside a transaction.
    unsafe { pg_sys::proc_exit(1) }
}

/// The database and the role of a worker's connection. The role is the owner of the database, so that code of the owner does not run as a
/// superuser. 0 is the bootstrap superuser, for databases of superusers.
#[derive(Clone, Copy)]
struct Place {
    database: pg_sys::Oid,
    role: pg_sys::Oid,
}

impl Place {
    /// The argument of a worker.
    fn to_argument(self) -> pg_sys::Datum {
        let (database, role) = (self.database.to_u32(), self.role.to_u32());
        pg_sys::Datum::from((u64::from(database) << 32) | u64::from(role))
    }

    fn of_argument(argument: pg_sys::Datum) -> Self {
        let argument = argument.value() as u64;
        Self {
            database: pg_sys::Oid::from_u32((argument >> 32) as u32),
            role: pg_sys::Oid::from_u32(argument as u32),
        }
    }

    /// Connects this process.
    fn connect(self) {
        // The owner of a database is often a role that may not log in. PostgreSQL 15 and 16 refuse it.
        #[cfg(any(feature = "pg15", feature = "pg16"))]
        let flags = 0;
        #[cfg(not(any(feature = "pg15", feature = "pg16")))]
        let flags = pg_sys::BGWORKER_BYPASS_ROLELOGINCHECK;
        // SAFETY: the first connection of a background worker that has asked for one.
        unsafe {
            pg_sys::BackgroundWorkerInitializeConnectionByOid(self.database, self.role, flags);
        }
    }
}

/// The databases that accept connections, by name.
fn databases() -> HashMap<String, Place> {
    let mut places = HashMap::new();
    BackgroundWorker::transaction(AssertUnwindSafe(|| {
        let mut superusers = HashSet::new();
        find_row(pg_sys::AuthIdRelationId, |tuple, _| {
            // SAFETY: the tuple is a row of pg_authid.
            let row = unsafe { &*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_authid>() };
            if row.rolsuper {
                superusers.insert(row.oid);
            }
            None::<()>
        });
        find_row(pg_sys::DatabaseRelationId, |tuple, _| {
            // SAFETY: the tuple is a row of pg_database.
            let row = unsafe { &*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_database>() };
            // A DROP DATABASE that was interrupted leaves a limit of -2.
            if row.datallowconn && row.datconnlimit > -2 {
                // SAFETY: a name of a catalog ends with a NUL.
                let name = unsafe { CStr::from_ptr(row.datname.data.as_ptr()) };
                let role = match superusers.contains(&row.datdba) {
                    true => pg_sys::InvalidOid,
                    false => row.datdba,
                };
                let place = Place {
                    database: row.oid,
                    role,
                };
                places.insert(name.to_string_lossy().into_owned(), place);
            }
            None::<()>
        });
    }));
    places
}

/// Starts a worker for one database.
fn start(
    database: &str,
    place: Place,
) -> std::result::Result<DynamicBackgroundWorker, DynamicBackgroundWorkerLoadError> {
    BackgroundWorkerBuilder::new(&format!("reground maintenance of {database}"))
        .set_type("reground maintenance")
        .set_library("reground")
        .set_function("reground_maintain")
        .set_argument(Some(place.to_argument()))
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

/// A worker. It runs the tasks of its database that are due. An error outside a task is written to the server log and ends it.
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn reground_maintain(argument: pg_sys::Datum) {
    // SAFETY: installs the handler of a backend before signals are unblocked.
    unsafe {
        #[cfg(feature = "pg18")]
        pg_sys::pqsignal_be(pg_sys::SIGTERM as i32, Some(terminate));
        #[cfg(not(feature = "pg18"))]
        pg_sys::pqsignal(pg_sys::SIGTERM as i32, Some(terminate));
        pg_sys::BackgroundWorkerUnblockSignals();
    }
    Place::of_argument(argument).connect();
    let due = in_transaction(|| match is_installed()? && may_run() {
        true => maintenance::due(),
        false => Ok(Vec::new()),
    });
    for task in &due {
        if !in_transaction(|| Ok(may_run())) {
            break;
        }
        show_activity(task.name);
        // Committed before the task begins, so that other sessions see the run.
        let run_id = in_transaction(|| maintenance::begin(*task));
        let row = in_transaction(|| maintenance::run(*task, Some(run_id), false));
        if let Some(error) = row.and_then(|row| row.error) {
            warn(
                format!("maintenance task {} failed: {error}", task.name),
                "",
            );
        }
    }
    if !due.is_empty() {
        in_transaction(maintenance::trim);
    }
}

/// Runs `work` in a transaction. An error ends the worker.
fn in_transaction<T>(work: impl FnOnce() -> Result<T>) -> T {
    BackgroundWorker::transaction(AssertUnwindSafe(|| {
        // The worker can be a superuser, and the owner of the database can set a search_path for all roles in it.
        set_local(c"search_path", PINNED_PATH);
        work().unwrap_or_else(|error| {
            let report = ErrorReport::from(error);
            pgrx::error!("reground maintenance: {}", report.message())
        })
    }))
}

/// Returns false if this worker is a superuser and the owner of the database is not. The owner can change after the launcher has read it.
fn may_run() -> bool {
    // SAFETY: look-ups in the catalog caches.
    unsafe { !pg_sys::superuser() || pg_sys::superuser_arg(owner_of_database()) }
}

/// Whether the database has the extension.
fn is_installed() -> Result<bool> {
    let found = "SELECT EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = 'reground')";
    Ok(sql::read_one::<bool>(found, &[])? == Some(true))
}

/// Shows a task in pg_stat_activity, as the call that would run it by hand.
fn show_activity(task: &str) {
    if let Ok(call) = CString::new(format!("SELECT * FROM reground.run_maintenance('{task}')")) {
        // SAFETY: the text is NUL-terminated and copied.
        unsafe {
            pg_sys::pgstat_report_activity(pg_sys::BackendState::STATE_RUNNING, call.as_ptr());
        }
    }
}
