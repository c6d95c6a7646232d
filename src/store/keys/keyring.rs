//! Seals what is about to be stored, and unseals what was read.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use pgrx::pg_sys;
use reground_sealing::{Kind, Mode, Opened, Sealer, key_ids, unseal_json, unseal_text};
use serde::de::DeserializeOwned;

use super::master::{Master, master};
use super::table::{self, Row};
use crate::error::{Error, Result};
use crate::guc;
use crate::run_as::as_owner;
use crate::sql::{self, Args};
use crate::tenant;

/// Whether the objects of this database include keys. The previous release had none.
pub fn exists() -> bool {
    // SAFETY: look-ups in the catalog caches by NUL-terminated names. missing_ok is true.
    unsafe {
        let schema = pg_sys::get_namespace_oid(c"reground".as_ptr(), true);
        pg_sys::get_relname_relid(c"tenant_keys".as_ptr(), schema) != pg_sys::InvalidOid
    }
}

/// Whether sources are sealed in this database.
pub fn in_use() -> Result<bool> {
    Ok(exists() && (guc::master_key_file().is_some() || table::has_any()?))
}

/// Seals the values of a tenant with its newest key. A key is made if the tenant has none, or its keys were destroyed. A database without
/// keys stores values as they are.
///
/// # Errors
/// 42501 in a database with keys without the master key, and in one without keys if the session has set a master key: an administrator makes
/// the first key. 40001 if this transaction does not see the present keys.
pub fn sealer(tenant: &str) -> Result<Sealer> {
    if !exists() {
        return Ok(Sealer::Plain);
    }
    // Until this transaction has ended, seal_rows does not take the tenant's rows for complete.
    // SAFETY: a plain call within a transaction that is about to write.
    unsafe { pg_sys::GetTopTransactionId() };
    let Some(master) = master()? else {
        return match table::has_any()? {
            true => Err(Error::Sealed),
            false => Ok(Sealer::Plain),
        };
    };
    if let Some(sealer) = master.held.sealer(tenant) {
        return Ok(sealer);
    }
    table::hold(tenant)?;
    let sealer = sealer_of(&master, tenant)?;
    master.held.begin(&sealer);
    Ok(sealer)
}

/// Looks up the newest key of a tenant, if it has one, for all that this transaction is going to read and store. Until the transaction ends,
/// others do not destroy the key.
///
/// # Errors
/// As [`sealer`].
pub fn hold(tenant: &str) -> Result<()> {
    if exists()
        && let Some(master) = master()?
        && master.held.sealer(tenant).is_none()
    {
        table::hold(tenant)?;
        if let Some(sealer) = newest(&master, tenant)? {
            master.held.begin(&sealer);
        }
    }
    Ok(())
}

/// As [`sealer`], for a tenant with a key; `None` instead of waiting for a transaction that destroys keys.
pub fn sealer_now(master: &Master, tenant: &str) -> Result<Option<Sealer>> {
    match table::try_hold(tenant)? {
        true => sealer_of(master, tenant).map(Some),
        false => Ok(None),
    }
}

fn sealer_of(master: &Master, tenant: &str) -> Result<Sealer> {
    if let Some(sealer) = newest(master, tenant)? {
        return Ok(sealer);
    }
    match master.is_of_file() || table::has_live()? {
        true => opened(master, table::create(master, tenant)?),
        false => Err(Error::NoFirstKey),
    }
}

/// The newest key of a tenant; `None` if it has none, or its keys were destroyed.
fn newest(master: &Master, tenant: &str) -> Result<Option<Sealer>> {
    let row = table::newest(tenant)?.filter(|row| row.wrapped.is_some());
    row.map(|row| opened(master, row)).transpose()
}

/// A key that is not destroyed, opened.
fn opened(master: &Master, row: Row) -> Result<Sealer> {
    let wrapped = row.wrapped.unwrap_or_default();
    let key = master.open(&row.tenant, row.key_id, &wrapped);
    Ok(Sealer::Key {
        tenant: row.tenant.into(),
        key_id: row.key_id,
        key: key.ok_or(Error::Sealed)?,
    })
}

/// Whose values are opened. A value of another tenant stays sealed, wherever it was copied from.
#[derive(Clone, Copy)]
pub enum Of<'a> {
    Tenant(&'a str),
    /// The tenant of the caller. Not within `as_owner`.
    Caller,
    /// For auditors, and for work on all tenants.
    All,
}

/// What is known about keys.
#[derive(Default)]
struct Keyring(HashMap<i64, Opened>);

impl Keyring {
    /// The keys of these numbers. Those that are gone were erased with their tenants.
    fn with(of: Of<'_>, mut key_ids: BTreeSet<i64>, mode: Mode) -> Result<Self> {
        if key_ids.is_empty() || !exists() {
            return Ok(Self(HashMap::new()));
        }
        let caller;
        let only = match of {
            Of::Tenant(tenant) => Some(tenant),
            Of::Caller => {
                caller = tenant::if_any();
                Some(caller.as_str())
            }
            Of::All => None,
        };
        let master = match (master(), mode) {
            (Err(Error::MasterKeyFile { .. }), Mode::Shown) => None,
            (master, _) => master?,
        };
        let mut keys = HashMap::new();
        if let (Some(master), Some(only)) = (&master, only) {
            let held = |key_id: &i64| Some((*key_id, master.held.key(only, *key_id)?));
            keys.extend(key_ids.iter().filter_map(held));
            key_ids.retain(|key_id| !keys.contains_key(key_id));
            if key_ids.is_empty() {
                return Ok(Self(keys));
            }
        }
        keys.extend(key_ids.iter().map(|key_id| (*key_id, Opened::Erased)));
        let rows = table::by_id(key_ids.into_iter().collect())?;
        keys.extend(rows.into_iter().map(|row| {
            let is_foreign = only.is_some_and(|only| only != row.tenant);
            let opened = match (row.wrapped, &master) {
                _ if is_foreign => Opened::Unknown,
                (None, _) => Opened::Erased,
                (Some(wrapped), Some(master)) => {
                    match master.open(&row.tenant, row.key_id, &wrapped) {
                        Some(key) => {
                            master.held.add(&row.tenant, row.key_id, &key);
                            Opened::Key {
                                tenant: Rc::from(row.tenant),
                                key,
                            }
                        }
                        None => Opened::Locked,
                    }
                }
                (Some(_), None) => Opened::Locked,
            };
            (row.key_id, opened)
        }));
        Ok(Self(keys))
    }

    fn of(&self, key_id: i64) -> Opened {
        self.0.get(&key_id).cloned().unwrap_or(Opened::Unknown)
    }
}

/// A JSON text that was read, with its sealed members opened.
///
/// # Errors
/// 42501 if one cannot be opened.
pub fn unsealed<'a>(of: Of<'_>, json: &'a str) -> Result<Cow<'a, str>> {
    unsealed_in(of, json, Mode::Strict)
}

/// The same for readers: without its key, a member says so.
pub fn shown<'a>(of: Of<'_>, json: &'a str) -> Result<Cow<'a, str>> {
    unsealed_in(of, json, Mode::Shown)
}

fn unsealed_in<'a>(of: Of<'_>, json: &'a str, mode: Mode) -> Result<Cow<'a, str>> {
    let keys = Keyring::with(of, key_ids(json), mode)?;
    unseal_json(json, |key_id| keys.of(key_id), mode).map_err(|_| Error::Sealed)
}

/// A stored text of a kind, opened.
///
/// # Errors
/// 42501 if it cannot be opened.
pub fn unsealed_as(of: Of<'_>, kind: Kind, text: &str) -> Result<String> {
    let keys = Keyring::with(of, key_ids(text), Mode::Strict)?;
    let opened = unseal_text(text, kind, |key_id| keys.of(key_id), Mode::Strict);
    opened.map_err(|_| Error::Sealed)
}

/// Stored JSON of a tenant, sealed again.
pub fn sealed_again<'a>(tenant: &str, json: &'a str, sealer: &Sealer) -> Result<Cow<'a, str>> {
    let keys = Keyring::with(Of::Tenant(tenant), key_ids(json), Mode::Strict)?;
    Ok(sealer.json_again(json, |key_id| keys.of(key_id)))
}

/// Opens texts for the readers of many rows. The keys are looked up once.
pub struct Reader {
    keys: Keyring,
    master: Option<Rc<Master>>,
}

impl Reader {
    pub fn new() -> Self {
        Self {
            keys: Keyring::default(),
            master: master().unwrap_or_default(),
        }
    }

    /// Whether the session still has the same master key.
    pub fn is_current(&self) -> bool {
        match (&self.master, master().unwrap_or_default()) {
            (Some(held), Some(present)) => Rc::ptr_eq(held, &present),
            (held, present) => held.is_none() && present.is_none(),
        }
    }

    /// A stored text of a tenant as its readers see it. A value of another tenant stays sealed, wherever it was copied from.
    pub fn text(&mut self, tenant: &str, kind: Kind, text: &str) -> Result<String> {
        let mut ids = key_ids(text);
        ids.retain(|key_id| !self.keys.0.contains_key(key_id));
        if !ids.is_empty() {
            let keys = Keyring::with(Of::All, ids, Mode::Shown)?;
            self.keys.0.extend(keys.0);
        }
        let key = |key_id| match self.keys.of(key_id) {
            Opened::Key { tenant: owner, .. } if *owner != *tenant => Opened::Unknown,
            opened => opened,
        };
        unseal_text(text, kind, key, Mode::Shown).map_err(|_| Error::Sealed)
    }
}

/// Runs a statement as the owner of our tables and reads one JSON value with sealed members; `None` if there is no row or NULL. Statements
/// of a call see one snapshot, unless the transaction has written.
///
/// # Errors
/// 42501 if a member cannot be opened.
pub fn read_json<T: DeserializeOwned>(
    of: Of<'_>,
    statement: &str,
    args: &Args<'_>,
) -> Result<Option<T>> {
    let text = as_owner(|| sql::read_one::<String>(statement, args))?;
    text.map(|text| Ok(serde_json::from_str(&unsealed(of, &text)?)?))
        .transpose()
}
