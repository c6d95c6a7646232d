//! Settings in force for the length of one piece of work.

use std::ffi::CStr;

use pgrx::pg_sys;

/// Settings under which values that are read as text, keys among them, mean one thing, whatever the client has set. In which order
/// a date is given stays the client's.
pub const PLAIN_TEXT: [(&CStr, &CStr); 5] = [
    (c"extra_float_digits", c"1"),
    (c"TimeZone", c"UTC"),
    (c"DateStyle", c"ISO"),
    (c"IntervalStyle", c"postgres"),
    (c"bytea_output", c"hex"),
];

/// A search_path that no caller can change.
pub const PINNED_PATH: &CStr = c"pg_catalog, pg_temp";

/// Runs `work` with settings in force that end with it: nothing leaks into the caller's transaction.
pub fn with_settings<T>(settings: &[(&CStr, &CStr)], work: impl FnOnce() -> T) -> T {
    // SAFETY: a plain call; the level is closed below on success, and by AtEOXact_GUC on abort.
    let level = unsafe { pg_sys::NewGUCNestLevel() };
    for (name, value) in settings {
        set_local(name, value);
    }
    let done = work();
    // SAFETY: closes the level opened above; false rolls back whatever was set within, by whomever.
    unsafe { pg_sys::AtEOXact_GUC(false, level) };
    done
}

/// Sets one setting at the present nest level.
pub fn set_local(name: &CStr, value: &CStr) {
    // SAFETY: both strings are NUL-terminated and are copied by set_config_option.
    unsafe {
        pg_sys::set_config_option(
            name.as_ptr(),
            value.as_ptr(),
            pg_sys::GucContext::PGC_USERSET,
            pg_sys::GucSource::PGC_S_SESSION,
            pg_sys::GucAction::GUC_ACTION_SAVE,
            true,
            0,
            false,
        );
    }
}
