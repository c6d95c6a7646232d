//! Settings that apply while a closure runs, and the isolation and snapshots of the transaction.

use std::ffi::CStr;

use pgrx::pg_sys;

/// Settings that fix the text form of values, for example of ids, independently of the client. The client's order of date fields
/// stays.
pub const PLAIN_TEXT: [(&CStr, &CStr); 5] = [
    (c"extra_float_digits", c"1"),
    (c"TimeZone", c"UTC"),
    (c"DateStyle", c"ISO"),
    (c"IntervalStyle", c"postgres"),
    (c"bytea_output", c"hex"),
];

/// A search_path without objects of callers.
pub const PINNED_PATH: &CStr = c"pg_catalog, pg_temp";

/// Runs `work` with settings, and restores the previous ones afterwards.
pub fn with_settings<T>(settings: &[(&CStr, &CStr)], work: impl FnOnce() -> T) -> T {
    // SAFETY: a plain call; the level is closed below on success, and by AtEOXact_GUC on abort.
    let level = unsafe { pg_sys::NewGUCNestLevel() };
    for (name, value) in settings {
        set_local(name, value);
    }
    let done = work();
    // SAFETY: closes the level opened above. false rolls back all settings made within it.
    unsafe { pg_sys::AtEOXact_GUC(false, level) };
    done
}

/// Runs `work` with `quote_all_identifiers` off, so that equal names have equal texts.
pub fn with_plain_names<T>(work: impl FnOnce() -> T) -> T {
    // SAFETY: a plain read of a backend variable.
    match unsafe { pg_sys::quote_all_identifiers } {
        true => with_settings(&[(c"quote_all_identifiers", c"off")], work),
        false => work(),
    }
}

/// As [`with_settings`], for a setting that may be reserved for superusers.
pub fn with_server_setting<T>(name: &CStr, value: &CStr, work: impl FnOnce() -> T) -> T {
    with_settings(&[], || {
        set_local_as(pg_sys::GucContext::PGC_SUSET, name, value);
        work()
    })
}

/// Changes a setting at the current nest level.
pub fn set_local(name: &CStr, value: &CStr) {
    set_local_as(pg_sys::GucContext::PGC_USERSET, name, value);
}

fn set_local_as(context: pg_sys::GucContext::Type, name: &CStr, value: &CStr) {
    // SAFETY: both strings are NUL-terminated, and set_config_option copies them.
    unsafe {
        pg_sys::set_config_option(
            name.as_ptr(),
            value.as_ptr(),
            context,
            pg_sys::GucSource::PGC_S_SESSION,
            pg_sys::GucAction::GUC_ACTION_SAVE,
            true,
            0,
            false,
        );
    }
}

/// Whether each statement of this transaction sees all rows that were committed before it.
pub fn sees_everything() -> bool {
    // SAFETY: a plain read of a backend variable.
    unsafe { pg_sys::XactIsoLevel <= pg_sys::XACT_READ_COMMITTED as i32 }
}

/// Whether the transaction ends with this statement. False also in a subtransaction.
pub fn is_alone() -> bool {
    // SAFETY: a plain read of a backend variable.
    unsafe { !pg_sys::IsTransactionBlock() }
}

/// Runs `work` with a snapshot that contains all committed changes, also under REPEATABLE READ.
pub fn with_latest_snapshot<T>(work: impl FnOnce() -> T) -> T {
    // SAFETY: plain calls; the snapshot is popped below, and by the abort of the transaction on an error.
    unsafe { pg_sys::PushActiveSnapshot(pg_sys::GetLatestSnapshot()) };
    let done = work();
    // SAFETY: pops the snapshot pushed above.
    unsafe { pg_sys::PopActiveSnapshot() };
    done
}
