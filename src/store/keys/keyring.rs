//! Seals what is about to be stored, and unseals what was read.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use pgrx::pg_sys;
use reground_sealing::{Kind, Mode, Opened, Sealer, key_ids, unseal_json, unseal_text};
use serde::de::DeserializeOwned;

use super::master::master;
use super::table;
use crate::error::{Error, Result};
use crate::run_as::as_owner;
use crate::sql::{self, Args};

/// Whether the objects of this database include keys. The previous release had none.
pub fn exists() -> bool {
    // SAFETY: look-ups in the catalog caches by NUL-terminated names. missing_ok is true.
    unsafe {
        let schema = pg_sys::get_namespace_oid(c"reground".as_ptr(), true);
        pg_sys::get_relname_relid(c"tenant_keys".as_ptr(), schema) != pg_sys::InvalidOid
    }
}

/// Whether this database has keys, or this session a master key.
pub fn in_use() -> Result<bool> {
    Ok(exists() && (master()?.is_some() || table::has_keys()?))
}

/// Seals the values of a tenant: with its newest key, which is made if there is a master key. Without a master key the values of a tenant
/// that has no key are stored as they are.
///
/// # Errors
/// 42501 if the tenant has a key that cannot be opened.
pub fn sealer(tenant: &str) -> Result<Sealer> {
    if !exists() {
        return Ok(Sealer::Plain);
    }
    let master = master()?;
    let row = match (table::newest(tenant)?, &master) {
        (Some(row), _) => row,
        (None, Some(master)) => table::create(master, tenant)?,
        (None, None) => return Ok(Sealer::Plain),
    };
    let wrapped = row.wrapped.unwrap_or_default();
    let key = master.and_then(|master| master.open(tenant, row.key_id, &wrapped));
    Ok(Sealer::Key {
        tenant: tenant.into(),
        key_id: row.key_id,
        key: key.ok_or(Error::Sealed)?,
    })
}

/// What is known about keys.
#[derive(Default)]
struct Keyring(HashMap<i64, Opened>);

impl Keyring {
    /// The keys of these numbers. Those that are gone were erased with their tenants.
    fn with(key_ids: BTreeSet<i64>) -> Result<Self> {
        if key_ids.is_empty() || !exists() {
            return Ok(Self(HashMap::new()));
        }
        let master = master()?;
        let gone: Vec<_> = key_ids
            .iter()
            .map(|key_id| (*key_id, Opened::Erased))
            .collect();
        let rows = table::by_id(key_ids.into_iter().collect())?;
        let opened = rows.into_iter().map(|row| {
            let opened = match (row.wrapped, &master) {
                (None, _) => Opened::Erased,
                (Some(wrapped), Some(master)) => {
                    match master.open(&row.tenant, row.key_id, &wrapped) {
                        Some(key) => Opened::Key {
                            tenant: Rc::from(row.tenant),
                            key,
                        },
                        None => Opened::Locked,
                    }
                }
                (Some(_), None) => Opened::Locked,
            };
            (row.key_id, opened)
        });
        Ok(Self(gone.into_iter().chain(opened).collect()))
    }

    fn of(&self, key_id: i64) -> Opened {
        self.0.get(&key_id).cloned().unwrap_or(Opened::Unknown)
    }
}

/// A JSON text that was read, with its sealed members opened.
///
/// # Errors
/// 42501 if one cannot be opened.
pub fn unsealed(json: &str) -> Result<Cow<'_, str>> {
    unsealed_in(json, Mode::Strict)
}

/// The same for readers: without its key, a member says so.
pub fn shown(json: &str) -> Result<Cow<'_, str>> {
    unsealed_in(json, Mode::Shown)
}

fn unsealed_in(json: &str, mode: Mode) -> Result<Cow<'_, str>> {
    let keys = Keyring::with(key_ids(json))?;
    unseal_json(json, |key_id| keys.of(key_id), mode).map_err(|_| Error::Sealed)
}

/// A stored text of a kind, opened.
///
/// # Errors
/// 42501 if it cannot be opened.
pub fn unsealed_as(kind: Kind, text: &str) -> Result<String> {
    let keys = Keyring::with(key_ids(text))?;
    let opened = unseal_text(text, kind, |key_id| keys.of(key_id), Mode::Strict);
    opened.map_err(|_| Error::Sealed)
}

/// Opens texts for the readers of many rows. The keys are looked up once.
#[derive(Default)]
pub struct Reader(Keyring);

impl Reader {
    /// A stored text of a tenant as its readers see it. A value of another tenant stays sealed, wherever it was copied from.
    pub fn text(&mut self, tenant: &str, kind: Kind, text: &str) -> Result<String> {
        let mut ids = key_ids(text);
        ids.retain(|key_id| !self.0.0.contains_key(key_id));
        if !ids.is_empty() {
            self.0.0.extend(Keyring::with(ids)?.0);
        }
        let key = |key_id| match self.0.of(key_id) {
            Opened::Key { tenant: owner, .. } if *owner != *tenant => Opened::Unknown,
            opened => opened,
        };
        unseal_text(text, kind, key, Mode::Shown).map_err(|_| Error::Sealed)
    }
}

/// Runs a statement as the owner of our tables and reads one JSON value with sealed members; `None` if there is no row or NULL.
///
/// # Errors
/// 42501 if a member cannot be opened.
pub fn read_json<T: DeserializeOwned>(statement: &str, args: &Args<'_>) -> Result<Option<T>> {
    let text = as_owner(|| sql::write_one::<String>(statement, args))?;
    text.map(|text| Ok(serde_json::from_str(&unsealed(&text)?)?))
        .transpose()
}
