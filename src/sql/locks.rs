//! Locks that are held until the transaction ends: those that only the extension can take, and those on relations of corpora.
//!
//! Advisory locks are not used, because any role could compute their keys and hold them.

use pgrx::pg_sys;

use super::run::read_one;
use crate::error::{Error, Result};

/// Locks a sequence; waits while another session holds the lock. nextval is not blocked. LOCK TABLE refuses sequences, so no user can
/// take this lock.
pub fn lock(sequence: &str) -> Result<()> {
    let oid = oid_of(sequence)?;
    // SAFETY: waits as LOCK TABLE does, and can be cancelled.
    unsafe { pg_sys::LockRelationOid(oid, pg_sys::ShareUpdateExclusiveLock as i32) };
    see_commits_of_others();
    Ok(())
}

/// As [`lock`], but returns false instead of waiting.
pub fn try_lock(sequence: &str) -> Result<bool> {
    let (oid, mode) = (oid_of(sequence)?, pg_sys::ShareUpdateExclusiveLock);
    // SAFETY: a plain call; the transaction keeps the lock until it ends.
    let held = unsafe { pg_sys::ConditionalLockRelationOid(oid, mode as i32) };
    if held {
        see_commits_of_others();
    }
    Ok(held)
}

/// Locks a key of a table of the extension; waits while another session holds the lock. `space` separates keys that are equal as text.
///
/// The lock is on a database object whose class is the table. SQL commands lock objects of system catalogs only. Two keys share a
/// lock with a probability of 2⁻⁴⁸; one of them then waits for the other.
pub fn lock_key(table: &str, space: i64, key: &str) -> Result<()> {
    lock_key_in(pg_sys::ExclusiveLock, table, space, key)
}

/// As [`lock_key`], for a lock that several sessions can hold together: it conflicts only with that of [`lock_key`].
pub fn share_key(table: &str, space: i64, key: &str) -> Result<()> {
    lock_key_in(pg_sys::ShareLock, table, space, key)
}

fn lock_key_in(mode: u32, table: &str, space: i64, key: &str) -> Result<()> {
    let (class, object, part) = object_of(table, space, key)?;
    // SAFETY: waits as other locks do, and can be cancelled.
    unsafe { pg_sys::LockDatabaseObject(class, object, part, mode as i32) };
    see_commits_of_others();
    Ok(())
}

/// As [`lock_key`], but returns false instead of waiting, and takes no transaction id, so that a long transaction that holds the lock does
/// not keep VACUUM from removing rows.
pub fn try_lock_key(table: &str, space: i64, key: &str) -> Result<bool> {
    try_lock_key_in(pg_sys::ExclusiveLock, table, space, key)
}

/// As [`share_key`], but returns false instead of waiting.
pub fn try_share_key(table: &str, space: i64, key: &str) -> Result<bool> {
    try_lock_key_in(pg_sys::ShareLock, table, space, key)
}

fn try_lock_key_in(mode: u32, table: &str, space: i64, key: &str) -> Result<bool> {
    let (class, object, part) = object_of(table, space, key)?;
    // SAFETY: the tag is that of LockDatabaseObject, which has no conditional form before PostgreSQL 17. The transaction keeps the lock
    // until it ends.
    let outcome = unsafe {
        let tag = pg_sys::LOCKTAG {
            locktag_field1: pg_sys::MyDatabaseId.to_u32(),
            locktag_field2: class.to_u32(),
            locktag_field3: object.to_u32(),
            locktag_field4: part,
            locktag_type: pg_sys::LockTagType::LOCKTAG_OBJECT as u8,
            locktag_lockmethodid: pg_sys::DEFAULT_LOCKMETHOD as u8,
        };
        pg_sys::LockAcquire(&tag, mode as i32, false, true)
    };
    Ok(outcome != pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL)
}

/// Class, object and part of the database object that is locked for a key.
fn object_of(table: &str, space: i64, key: &str) -> Result<(pg_sys::Oid, pg_sys::Oid, u16)> {
    let class = oid_of(table)?;
    let args = [key.into(), space.into()];
    let hash = read_one::<i64>("SELECT hashtextextended($1, $2)", &args)?;
    let hash = hash.unwrap_or_default().cast_unsigned();
    Ok((class, pg_sys::Oid::from((hash >> 32) as u32), hash as u16))
}

/// Locks the relation that a name means now until the transaction ends, so that its owner can neither change it nor give the name to
/// another relation of the schema.
pub fn lock_relation(name: &str) -> Result<()> {
    let mut locked = None;
    // While the lock waits, the name may get another meaning.
    loop {
        let oid = read_one::<pg_sys::Oid>("SELECT to_regclass($1)::oid", &[name.into()])?;
        if oid == locked {
            return Ok(());
        }
        if let Some(oid) = oid {
            // SAFETY: waits as any statement that reads the relation, and can be cancelled.
            unsafe { pg_sys::LockRelationOid(oid, pg_sys::AccessShareLock as i32) };
        }
        locked = oid;
    }
}

/// Makes later reads of this transaction take a new snapshot, as in any transaction that writes (see [`Access`](super::statement::Access)).
fn see_commits_of_others() {
    // SAFETY: assigns a transaction id. A session that locks is going to write, so it needs one anyway.
    unsafe { pg_sys::GetCurrentTransactionId() };
}

fn oid_of(relation: &str) -> Result<pg_sys::Oid> {
    let oid = read_one("SELECT to_regclass($1)::oid", &[relation.into()])?;
    oid.ok_or_else(|| Error::Unknown("relation", relation.to_owned()))
}
