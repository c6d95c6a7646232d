//! Server settings: of tenant, keys, worker and retention, and one for each setting of a turn.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString};
use std::time::Duration;

use pgrx::pg_guard;
use pgrx::pg_sys;
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting};
use reground_grounding::settings::SETTINGS;

static TENANT_FROM: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(None);

static TENANT: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(None);

static PRINCIPALS_FROM: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(None);

static MASTER_KEY_FILE: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(None);

static WORKER_DATABASES: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(None);
static WORKER_INTERVAL: GucSetting<i32> = GucSetting::<i32>::new(60);
static TRACE_RETENTION_DAYS: GucSetting<i32> = GucSetting::<i32>::new(90);
static ARCHIVE_RETENTION_DAYS: GucSetting<i32> = GucSetting::<i32>::new(730);
static CONVERSATION_RETENTION_DAYS: GucSetting<i32> = GucSetting::<i32>::new(0);

/// Defines all settings and reserves the prefix, so that a misspelt setting is an error.
pub fn define() {
    define_access();
    define_maintenance();
    let _ = define_text(
        "tracking_parameters",
        "Query parameters that put_document drops from a URI, separated by commas; a trailing * matches any rest. Empty: the built-in list.",
    );
    let defined = SETTINGS.iter();
    let defined = defined.map(|setting| define_text(setting.name, setting.meaning));
    TURN_SETTINGS.set(defined.collect());
    // SAFETY: the prefix is a static NUL-terminated string.
    unsafe { pg_sys::MarkGUCPrefixReserved(c"reground".as_ptr()) };
}

/// The tenant, the principals and the master key.
fn define_access() {
    // Superuser only: another role could choose a setting that it can fill.
    GucRegistry::define_string_guc(
        c"reground.tenant_from",
        c"Name of the setting that holds the tenant, for example app.tenant_id.",
        c"Empty: the current role is the tenant.",
        &TENANT_FROM,
        GucContext::Suset,
        GucFlags::default(),
    );
    // Superuser only, so that a role cannot choose its tenant.
    GucRegistry::define_string_guc(
        c"reground.tenant",
        c"The tenant of a role, used if reground.tenant_from is reground.tenant.",
        c"Set it with ALTER ROLE ... SET: the role can then be renamed.",
        &TENANT,
        GucContext::Suset,
        GucFlags::default(),
    );
    // Superuser only, as tenant_from.
    GucRegistry::define_string_guc(
        c"reground.principals_from",
        c"Name of the setting that holds the principals of the caller as a text array, for example app.principals.",
        c"Empty: rows of a corpus with principals_column are visible to nobody.",
        &PRINCIPALS_FROM,
        GucContext::Suset,
        GucFlags::default(),
    );
    // Superuser only: it names a file of the server.
    GucRegistry::define_string_guc(
        c"reground.master_key_file",
        c"File of the server with the master key, 64 hexadecimal digits, which opens the keys of the tenants.",
        c"Empty: none; a session that has the master key sets reground.master_key.",
        &MASTER_KEY_FILE,
        GucContext::Suset,
        GucFlags::default(),
    );
    MASTER_KEY.set(Some(define_secret(
        c"reground.master_key",
        c"The master key of this session, 64 hexadecimal digits.",
        c"Empty: that of reground.master_key_file.",
    )));
}

/// The worker of maintenance, and retention.
fn define_maintenance() {
    GucRegistry::define_string_guc(
        c"reground.worker_databases",
        c"Databases that the preloaded library maintains in the background, separated by commas.",
        c"Empty: none; call reground.run_maintenance() there from a scheduler.",
        &WORKER_DATABASES,
        GucContext::Sighup,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"reground.worker_interval",
        c"Time between two rounds of maintenance in the background.",
        c"A round runs the tasks that are due; see reground.maintenance_status.",
        &WORKER_INTERVAL,
        1,
        86_400,
        GucContext::Sighup,
        GucFlags::UNIT_S,
    );
    // Superuser only, because the evidence can be about the other roles. The traces have sixteen weekly partitions. The limit leaves
    // one for the current week and one for the partial week at the limit.
    GucRegistry::define_int_guc(
        c"reground.trace_retention_days",
        c"Days that run_retention keeps traces and the links of chains.",
        c"At most 98: the ring of traces has sixteen weeks.",
        &TRACE_RETENTION_DAYS,
        1,
        98,
        GucContext::Suset,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"reground.conversation_retention_days",
        c"Days that run_retention keeps a conversation after its last turn, answer or pin.",
        c"0: for ever. The archived rows of its turns stay for reground.archive_retention_days.",
        &CONVERSATION_RETENTION_DAYS,
        0,
        36_500,
        GucContext::Suset,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"reground.archive_retention_days",
        c"Days that run_retention keeps the archived rows of turns.",
        c"Counted from when the turn began.",
        &ARCHIVE_RETENTION_DAYS,
        1,
        36_500,
        GucContext::Suset,
        GucFlags::default(),
    );
}

thread_local! {
    /// The variable of the master key.
    static MASTER_KEY: Cell<Option<Variable>> = const { Cell::new(None) };

    /// The variables of the turn settings, in the order of the table.
    static TURN_SETTINGS: RefCell<Vec<Variable>> = const { RefCell::new(Vec::new()) };
}

/// The variable of a text setting. PostgreSQL writes it, and it lives until the backend ends.
#[derive(Clone, Copy)]
struct Variable(*mut *mut std::ffi::c_char);

impl Variable {
    /// Its present value.
    fn value(self) -> Option<String> {
        // SAFETY: the variable is leaked by `define_text`. It is NULL or a NUL-terminated string, which is copied.
        unsafe {
            let value = *self.0;
            (!value.is_null()).then(|| CStr::from_ptr(value).to_string_lossy().into_owned())
        }
    }
}

/// Defines a text that nobody can read: SHOW and set_config return what it stands for.
fn define_secret(name: &'static CStr, meaning: &'static CStr, empty: &'static CStr) -> Variable {
    // Leaked on purpose, as in `define_text`.
    let value: *mut *mut std::ffi::c_char = Box::leak(Box::new(std::ptr::null_mut()));
    let flags = pg_sys::GUC_NO_SHOW_ALL | pg_sys::GUC_NOT_IN_SAMPLE | pg_sys::GUC_DISALLOW_IN_FILE;
    // SAFETY: the pointers are static or leaked above. The hook returns a static text.
    unsafe {
        pg_sys::DefineCustomStringVariable(
            name.as_ptr(),
            meaning.as_ptr(),
            empty.as_ptr(),
            value,
            c"".as_ptr(),
            pg_sys::GucContext::PGC_USERSET,
            flags as std::ffi::c_int,
            None,
            None,
            Some(hidden),
        );
    }
    Variable(value)
}

#[pg_guard]
unsafe extern "C-unwind" fn hidden() -> *const std::ffi::c_char {
    match master_key() {
        Some(_) => c"set".as_ptr(),
        None => c"".as_ptr(),
    }
}

/// Defines `reground.NAME` as text. Its users parse and check it; a turn does so together with the other layers of settings.
fn define_text(name: &str, meaning: &str) -> Variable {
    // Leaked on purpose: the backend keeps these pointers until it ends, and each setting is defined once.
    let value: *mut *mut std::ffi::c_char = Box::leak(Box::new(std::ptr::null_mut()));
    let (Ok(name), Ok(meaning)) = (
        CString::new(format!("reground.{name}")),
        CString::new(meaning),
    ) else {
        return Variable(value);
    };
    let name: &'static CStr = Box::leak(name.into_boxed_c_str());
    let meaning: &'static CStr = Box::leak(meaning.into_boxed_c_str());
    // SAFETY: all pointers are leaked above, so they are valid until the backend ends. There are no hooks.
    unsafe {
        pg_sys::DefineCustomStringVariable(
            name.as_ptr(),
            meaning.as_ptr(),
            c"Empty: not set.".as_ptr(),
            value,
            c"".as_ptr(),
            pg_sys::GucContext::PGC_USERSET,
            0,
            None,
            None,
            None,
        );
    }
    Variable(value)
}

/// The file with the master key, if configured.
pub fn master_key_file() -> Option<String> {
    text_of(&MASTER_KEY_FILE)
}

/// The master key that the session has set.
pub fn master_key() -> Option<String> {
    let value = MASTER_KEY.get().and_then(Variable::value);
    value.filter(|value| !value.is_empty())
}

/// Databases with background maintenance.
pub fn worker_databases() -> Vec<String> {
    let list = WORKER_DATABASES.get();
    let list = list.map(|list| list.to_string_lossy().into_owned());
    let list = list.unwrap_or_default();
    let names = list.split(',').map(str::trim);
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Time between two rounds of maintenance.
pub fn worker_interval() -> Duration {
    Duration::from_secs(WORKER_INTERVAL.get().unsigned_abs().into())
}

/// Name of the setting that contains the tenant, if configured.
pub fn tenant_from() -> Option<String> {
    text_of(&TENANT_FROM)
}

/// Name of the setting that contains the principals of the caller, if configured.
pub fn principals_from() -> Option<String> {
    text_of(&PRINCIPALS_FROM)
}

fn text_of(setting: &GucSetting<Option<CString>>) -> Option<String> {
    let name = setting.get()?.to_string_lossy().into_owned();
    (!name.is_empty()).then_some(name)
}

/// The value of a setting as text; `None` if the setting does not exist.
pub fn value(name: &str) -> Option<String> {
    let name = CString::new(name).ok()?;
    // SAFETY: the name is NUL-terminated. missing_ok is true, so the result for an unknown name is NULL. The result is copied.
    unsafe {
        let value = pg_sys::GetConfigOption(name.as_ptr(), true, false);
        (!value.is_null()).then(|| CStr::from_ptr(value).to_string_lossy().into_owned())
    }
}

/// Days that traces and links are kept.
pub fn trace_retention_days() -> i32 {
    TRACE_RETENTION_DAYS.get()
}

/// Days that conversations are kept after their last turn, answer or pin; `None`: for ever.
pub fn conversation_retention_days() -> Option<i32> {
    Some(CONVERSATION_RETENTION_DAYS.get()).filter(|days| *days > 0)
}

/// Days that archived turns are kept.
pub fn archive_retention_days() -> i32 {
    ARCHIVE_RETENTION_DAYS.get()
}

/// Query parameters that are removed from addresses; `None`: the built-in list.
pub fn tracking_parameters() -> Option<String> {
    value("reground.tracking_parameters").filter(|list| !list.is_empty())
}

/// The current server values of turn settings, as a JSON object.
pub fn turn_settings() -> serde_json::Value {
    let set = TURN_SETTINGS.with_borrow(|variables| {
        let each = SETTINGS.iter().zip(variables);
        let set = each.filter_map(|(setting, variable)| {
            let text = variable.value().filter(|text| !text.is_empty())?;
            Some((setting.name.to_owned(), text.into()))
        });
        set.collect::<serde_json::Map<_, _>>()
    });
    set.into()
}
