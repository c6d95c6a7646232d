//! The keys of a tenant that a transaction has looked up.
//!
//! While a transaction holds the lock of a tenant, no other transaction destroys its keys, and a transaction that makes a newer one does
//! not wait for it: `seal_rows` seals what was stored meanwhile. So the keys are looked up once for many statements.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use pgrx::pg_sys;
use reground_sealing::{Opened, Sealer, TenantKey};

/// The part of a transaction that has looked up keys. The keys may have been made in it, and the lock be taken in it, so both can be gone
/// when it is rolled back. Its numbers do not come again in a session.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Part {
    transaction: u64,
    subtransaction: u32,
}

impl Part {
    /// That of the present statement; `None` if its transaction has written nothing.
    fn present() -> Option<Self> {
        // SAFETY: plain reads of the state of the transaction.
        let (transaction, subtransaction) = unsafe {
            (
                pg_sys::GetTopFullTransactionIdIfAny().value,
                pg_sys::GetCurrentSubTransactionId(),
            )
        };
        (transaction != 0).then_some(Self {
            transaction,
            subtransaction,
        })
    }
}

/// Keys that are neither destroyed nor of another tenant.
struct Found {
    part: Part,
    tenant: Rc<str>,
    newest: i64,
    keys: HashMap<i64, Rc<TenantKey>>,
}

/// The keys that the present transaction has looked up for the tenant that it stores something for.
#[derive(Default)]
pub struct Held(RefCell<Option<Found>>);

impl Held {
    /// Begins with the newest key of a tenant, whose lock the transaction holds.
    pub fn begin(&self, sealer: &Sealer) {
        if let Sealer::Key {
            tenant,
            key_id,
            key,
        } = sealer
        {
            self.0.replace(Part::present().map(|part| Found {
                part,
                tenant: Rc::clone(tenant),
                newest: *key_id,
                keys: HashMap::from([(*key_id, Rc::clone(key))]),
            }));
        }
    }

    /// Adds another key of the same tenant.
    pub fn add(&self, tenant: &str, key_id: i64, key: &Rc<TenantKey>) {
        if let Some(found) = self.0.borrow_mut().as_mut()
            && found.is_of(tenant)
        {
            found.keys.insert(key_id, Rc::clone(key));
        }
    }

    /// Seals with the newest key of the tenant.
    pub fn sealer(&self, tenant: &str) -> Option<Sealer> {
        let found = self.0.borrow();
        let found = found.as_ref().filter(|found| found.is_of(tenant))?;
        Some(Sealer::Key {
            tenant: Rc::clone(&found.tenant),
            key_id: found.newest,
            key: Rc::clone(found.keys.get(&found.newest)?),
        })
    }

    /// A key of the tenant.
    pub fn key(&self, tenant: &str, key_id: i64) -> Option<Opened> {
        let found = self.0.borrow();
        let found = found.as_ref().filter(|found| found.is_of(tenant))?;
        Some(Opened::Key {
            tenant: Rc::clone(&found.tenant),
            key: Rc::clone(found.keys.get(&key_id)?),
        })
    }

    /// Forgets all, because this transaction has changed keys.
    pub fn forget(&self) {
        self.0.take();
    }
}

impl Found {
    /// Whether the keys are of this tenant, and of the present part of a transaction.
    fn is_of(&self, tenant: &str) -> bool {
        *self.tenant == *tenant && Part::present() == Some(self.part)
    }
}
