//! The master key of the session, and the keys that it has opened.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::SystemTime;

use reground_sealing::{MasterKey, TenantKey};

use super::held::Held;
use crate::error::{Error, Result};
use crate::guc;
use crate::sql;

/// Where the master key comes from. A change makes the opened keys inaccessible.
#[derive(Clone, PartialEq, Eq)]
enum Source {
    /// The text that the session has set.
    Session(String),
    /// A file, and when it was changed last.
    File(String, Option<SystemTime>),
}

/// A master key with the keys of tenants that it has opened.
pub struct Master {
    source: Source,
    key: MasterKey,
    /// By number, with the stored form that was opened.
    opened: RefCell<HashMap<i64, (String, Rc<TenantKey>)>>,
    /// Those that the transaction need not look up again.
    pub held: Held,
}

thread_local! {
    static MASTER: RefCell<Option<Rc<Master>>> = const { RefCell::new(None) };
}

/// The master key: that of the file, which only a superuser can name, otherwise that of the session; `None` if there is none.
///
/// # Errors
/// 22023 if it is not a key, or stored in the database; 58P01 if its file cannot be read.
pub fn master() -> Result<Option<Rc<Master>>> {
    let source = match (guc::master_key_file(), guc::master_key()) {
        (Some(path), _) => {
            let changed = std::fs::metadata(&path).and_then(|file| file.modified());
            Source::File(path, changed.ok())
        }
        (None, Some(text)) => Source::Session(text),
        (None, None) => {
            MASTER.set(None);
            return Ok(None);
        }
    };
    let held = MASTER.with_borrow(Clone::clone);
    if let Some(held) = held.filter(|held| held.source == source) {
        return Ok(Some(held));
    }
    let key = match &source {
        Source::Session(text) => {
            not_in_catalog()?;
            MasterKey::parse(text)
        }
        Source::File(path, _) => {
            let text = std::fs::read_to_string(path);
            let text = text.map_err(|error| Error::MasterKeyFile {
                path: path.clone(),
                problem: error.to_string(),
            })?;
            MasterKey::parse(&text)
        }
    };
    let master = Rc::new(Master {
        source,
        key: key.map_err(|_| Error::NoMasterKey)?,
        opened: RefCell::default(),
        held: Held::default(),
    });
    MASTER.set(Some(Rc::clone(&master)));
    Ok(Some(master))
}

/// Lets this transaction look up all keys again, because it has changed them.
pub fn forget_held() {
    MASTER.with_borrow(|master| {
        if let Some(master) = master {
            master.held.forget();
        }
    });
}

/// ALTER ROLE and ALTER DATABASE would store the master key of this session where everyone can read it.
fn not_in_catalog() -> Result<()> {
    let stored = sql::read_one::<bool>(
        "SELECT EXISTS (SELECT FROM pg_db_role_setting AS s, unnest(s.setconfig) AS c(setting) WHERE c.setting LIKE 'reground.master\\_key=%' \
             AND (s.setrole = 0 OR s.setrole = (SELECT r.oid FROM pg_roles AS r WHERE r.rolname = session_user)) \
             AND (s.setdatabase = 0 OR s.setdatabase = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())))",
        &[],
    )?;
    match stored {
        Some(true) => Err(Error::StoredMasterKey),
        _ => Ok(()),
    }
}

impl Master {
    /// Whether a superuser has named its file. A role can set any key for its session.
    pub fn is_of_file(&self) -> bool {
        matches!(self.source, Source::File(..))
    }

    /// The key of a tenant from its stored form, in hexadecimal; `None` if another master key wrapped it.
    pub fn open(&self, tenant: &str, key_id: i64, wrapped: &str) -> Option<Rc<TenantKey>> {
        let mut opened = self.opened.borrow_mut();
        match opened.get(&key_id) {
            Some((known, key)) if known == wrapped => return Some(Rc::clone(key)),
            _ => {}
        }
        let bytes = reground_provenance::decode_hex(wrapped);
        let key = Rc::new(self.key.unwrap(tenant, key_id, &bytes)?);
        opened.insert(key_id, (wrapped.to_owned(), Rc::clone(&key)));
        Some(key)
    }

    /// The stored form of a key.
    pub fn wrap(&self, tenant: &str, key_id: i64, key: &TenantKey) -> Vec<u8> {
        self.key.wrap(tenant, key_id, key)
    }
}
