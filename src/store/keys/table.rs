//! The table `tenant_keys`.

use pgrx::pg_sys;
use reground_provenance::decode_hex;
use reground_sealing::key::KEY_BYTES;
use reground_sealing::{MasterKey, TenantKey};
use serde::Deserialize;

use super::master::{Master, forget_held, master};
use crate::error::{Error, Result};
use crate::run_as::{as_owner, as_owner_scanning};
use crate::session::sees_everything;
use crate::sql;
use crate::store::erasure::Receipt;

/// A key of a tenant.
#[derive(Deserialize)]
pub struct Row {
    pub key_id: i64,
    pub tenant: String,
    /// In hexadecimal; `None` if the key was destroyed.
    pub wrapped: Option<String>,
    pub sealed_until: Option<String>,
}

/// The table, whose keys are locked.
const TABLE: &str = "reground.tenant_keys";

/// Space of the locks of tenants: shared by transactions that store something, exclusive to destroy keys.
const OF_TENANT: i64 = 1;

/// Lock of the master key: shared to make a key, exclusive to change the master key, and to make the first key with that of a session.
const MASTER: (i64, &str) = (0, "master key");

/// Columns of [`Row`].
const COLUMNS: &str = "k.key_id, k.tenant, encode(k.wrapped, 'hex') AS wrapped, k.sealed_until";

/// Until the transaction ends, keys of the tenant are not destroyed.
pub fn hold(tenant: &str) -> Result<()> {
    as_owner(|| sql::share_key(TABLE, OF_TENANT, tenant))
}

/// As [`hold`], but returns false instead of waiting.
pub fn try_hold(tenant: &str) -> Result<bool> {
    as_owner(|| sql::try_share_key(TABLE, OF_TENANT, tenant))
}

/// The newest key of a tenant, destroyed or not.
///
/// # Errors
/// 40001 if this transaction has an older snapshot: it could store rows with a destroyed key, or without a key.
pub fn newest(tenant: &str) -> Result<Option<Row>> {
    let newest: Option<Row> = as_owner(|| {
        sql::write_json(
            &format!(
                "SELECT row_to_json(r)::text FROM (SELECT {COLUMNS} FROM reground.tenant_keys AS k WHERE k.tenant = $1 ORDER BY k.key_id DESC LIMIT 1) AS r"
            ),
            &[tenant.into()],
        )
    })?;
    let is_present = match &newest {
        Some(newest) => is_unchanged(newest)?,
        None => !is_any(|present| present.tenant == tenant)?,
    };
    match is_present {
        true => Ok(newest),
        false => Err(Error::OtherKeys),
    }
}

/// A key, as the table has it at present.
struct Present {
    key_id: i64,
    tenant: String,
    wrapped: Option<Vec<u8>>,
}

/// Whether a key that this transaction sees is the present one.
fn is_unchanged(row: &Row) -> Result<bool> {
    if sees_everything() {
        return Ok(true);
    }
    let wrapped = row.wrapped.as_deref().map(decode_hex);
    is_any(|present| present.key_id == row.key_id && present.wrapped == wrapped)
}

/// Whether the table has such a key at present, also one that this transaction does not see. Always false in a transaction that sees all.
fn is_any(fits: impl Fn(&Present) -> bool) -> Result<bool> {
    if sees_everything() {
        return Ok(false);
    }
    let table = as_owner(|| {
        sql::read_one::<pg_sys::Oid>("SELECT 'reground.tenant_keys'::regclass::oid", &[])
    })?;
    let found = sql::find_row(table.unwrap_or_default(), |tuple, columns| {
        // SAFETY: a row of tenant_keys, whose first columns are these.
        let present = unsafe {
            Present {
                key_id: sql::column(tuple, columns, 1)?,
                tenant: sql::column(tuple, columns, 2)?,
                wrapped: sql::column(tuple, columns, 3),
            }
        };
        fits(&present).then_some(())
    });
    Ok(found.is_some())
}

/// Whether any tenant has a key.
pub fn has_live() -> Result<bool> {
    let has = as_owner(|| {
        sql::write_one::<bool>(
            "SELECT EXISTS (SELECT FROM reground.tenant_keys WHERE wrapped IS NOT NULL)",
            &[],
        )
    })?;
    Ok(has == Some(true))
}

/// Whether any tenant has or had a key.
pub fn has_any() -> Result<bool> {
    let has = as_owner(|| {
        sql::write_one::<bool>("SELECT EXISTS (SELECT FROM reground.tenant_keys)", &[])
    })?;
    Ok(has == Some(true) || is_any(|_| true)?)
}

/// Keys by number.
pub fn by_id(key_ids: Vec<i64>) -> Result<Vec<Row>> {
    Ok(as_owner(|| {
        sql::write_json(
            &format!(
                "SELECT coalesce(json_agg(r), '[]')::text FROM (SELECT {COLUMNS} FROM reground.tenant_keys AS k WHERE k.key_id = ANY ($1)) AS r"
            ),
            &[key_ids.into()],
        )
    })?
    .unwrap_or_default())
}

/// The newest keys with which the stored rows of their tenants are still to be sealed.
pub fn unfinished() -> Result<Vec<Row>> {
    Ok(as_owner_scanning(|| {
        sql::write_json(
            &format!(
                "SELECT coalesce(json_agg(r ORDER BY r.key_id), '[]')::text FROM (SELECT {COLUMNS} FROM reground.tenant_keys AS k \
                 WHERE k.wrapped IS NOT NULL AND k.sealed_at IS NULL \
                     AND NOT EXISTS (SELECT FROM reground.tenant_keys AS n WHERE n.tenant = k.tenant AND n.key_id > k.key_id AND n.wrapped IS NOT NULL)) AS r"
            ),
            &[],
        )
    })?
    .unwrap_or_default())
}

/// Notes the rows that are sealed with a key; `None`: all.
pub fn sealed(key_id: i64, until: Option<&str>) -> Result<()> {
    as_owner(|| {
        sql::run(
            "UPDATE reground.tenant_keys SET sealed_until = $2, sealed_at = CASE WHEN $2 IS NULL THEN clock_timestamp() END WHERE key_id = $1",
            &[key_id.into(), until.into()],
        )
    })?;
    Ok(())
}

/// Makes a key for a tenant.
///
/// # Errors
/// 42501 if another master key than this wrapped the other keys: all have the same. 40001 if this transaction does not see the other keys.
pub fn create(master: &Master, tenant: &str) -> Result<Row> {
    let (space, name) = MASTER;
    // Sessions with the same file do not disagree.
    match master.is_of_file() || other()?.is_some() {
        true => as_owner(|| sql::share_key(TABLE, space, name))?,
        false => as_owner(|| sql::lock_key(TABLE, space, name))?,
    }
    match other()? {
        Some(other) => {
            let wrapped = other.wrapped.as_deref().unwrap_or_default();
            let opened = master.open(&other.tenant, other.key_id, wrapped);
            opened.ok_or(Error::Sealed)?;
            if !is_unchanged(&other)? {
                return Err(Error::OtherKeys);
            }
        }
        None if is_any(|present| present.wrapped.is_some())? => return Err(Error::OtherKeys),
        None => {}
    }
    let key_id = as_owner(|| {
        sql::write_one::<i64>("SELECT nextval('reground.tenant_keys_key_id_seq')", &[])
    })?;
    let key_id = key_id.ok_or_else(|| Error::Stored("a new key has no id".into()))?;
    let wrapped = master.wrap(tenant, key_id, &random()?);
    forget_held();
    let row = as_owner(|| {
        sql::write_json(
            &format!(
                "INSERT INTO reground.tenant_keys AS k (key_id, tenant, wrapped) OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3) \
                 RETURNING (SELECT row_to_json(r)::text FROM (SELECT {COLUMNS}) AS r)"
            ),
            &[key_id.into(), tenant.into(), wrapped.into()],
        )
    })?;
    row.ok_or_else(|| Error::Stored("a new key has no row".into()))
}

/// The newest key of any tenant. All have the same master key.
fn other() -> Result<Option<Row>> {
    as_owner(|| {
        sql::write_json(
            &format!(
                "SELECT row_to_json(r)::text FROM (SELECT {COLUMNS} FROM reground.tenant_keys AS k WHERE k.wrapped IS NOT NULL ORDER BY k.key_id DESC LIMIT 1) AS r"
            ),
            &[],
        )
    })
}

/// A new key.
fn random() -> Result<TenantKey> {
    let mut bytes = [0; KEY_BYTES];
    // SAFETY: the buffer has as many bytes as are asked for.
    let is_filled = unsafe { pg_sys::pg_strong_random(bytes.as_mut_ptr().cast(), bytes.len()) };
    match is_filled {
        true => Ok(TenantKey::new(bytes)),
        false => Err(Error::NoRandomness),
    }
}

/// Makes a new key for a tenant; returns its number.
///
/// # Errors
/// 42501 without the master key.
pub fn rotate(tenant: &str) -> Result<i64> {
    let master = master()?.ok_or(Error::Sealed)?;
    Ok(create(&master, tenant)?.key_id)
}

/// Wraps the keys of all tenants with another master key; returns their number.
///
/// # Errors
/// 25001 under REPEATABLE READ, which does not see new keys; 22023 if the text is no key; 42501 if the present master key does not open all keys.
pub fn change_master_key(new: &str) -> Result<i64> {
    if !sees_everything() {
        return Err(Error::NeedsReadCommitted("change_master_key"));
    }
    let new = MasterKey::parse(new).map_err(|_| Error::NoMasterKey)?;
    let master = master()?.ok_or(Error::Sealed)?;
    forget_held();
    let rows: Vec<Row> = as_owner_scanning(|| {
        let (space, name) = MASTER;
        sql::lock_key(TABLE, space, name)?;
        sql::write_json(
            &format!(
                "SELECT coalesce(json_agg(r), '[]')::text FROM (SELECT {COLUMNS} FROM reground.tenant_keys AS k WHERE k.wrapped IS NOT NULL) AS r"
            ),
            &[],
        )
    })?
    .unwrap_or_default();
    for row in &rows {
        let key = row.wrapped.as_deref();
        let key = key.and_then(|wrapped| master.open(&row.tenant, row.key_id, wrapped));
        let key = key.ok_or(Error::Sealed)?;
        let wrapped = new.wrap(&row.tenant, row.key_id, &key);
        as_owner(|| {
            sql::run(
                "UPDATE reground.tenant_keys SET wrapped = $2 WHERE key_id = $1",
                &[row.key_id.into(), wrapped.into()],
            )
        })?;
    }
    Ok(i64::try_from(rows.len()).unwrap_or(i64::MAX))
}

/// If a tenant has keys, waits for the transactions that have stored something for it, and lets others wait.
pub fn hold_off(tenant: &str) -> Result<()> {
    forget_held();
    as_owner(|| {
        let has_keys = sql::write_one::<bool>(
            "SELECT EXISTS (SELECT FROM reground.tenant_keys WHERE tenant = $1)",
            &[tenant.into()],
        )?;
        match has_keys {
            Some(true) => sql::lock_key(TABLE, OF_TENANT, tenant),
            _ => Ok(()),
        }
    })
}

/// Destroys the keys of a tenant. The salts of what they seal are erased from its chains, so that verify_chain reports it as erased.
///
/// # Errors
/// P0002 if the tenant has no key. 25001 under REPEATABLE READ, which does not see all rows.
pub fn destroy(tenant: &str) -> Result<Receipt> {
    if !sees_everything() {
        return Err(Error::NeedsReadCommitted("forget_tenant_keys"));
    }
    hold_off(tenant)?;
    let mut receipt = Receipt::default();
    as_owner_scanning(|| {
        let destroyed = sql::run(
            "UPDATE reground.tenant_keys SET wrapped = NULL, destroyed_at = clock_timestamp() WHERE tenant = $1 AND wrapped IS NOT NULL",
            &[tenant.into()],
        )?;
        if destroyed == 0 {
            return Err(Error::NoTenantKey(tenant.to_owned()));
        }
        receipt.erased("reground.tenant_keys", destroyed);
        // Sources and citations follow the first two contents. The citations of a model's API belong to the first content of an answer.
        let redacted = sql::run(
            "UPDATE reground.provenance_chain AS x SET salts = (SELECT array_agg(CASE WHEN s.place > 2 OR s.place = 1 AND a.has_citations THEN NULL ELSE s.salt END ORDER BY s.place) \
                 FROM unnest(x.salts) WITH ORDINALITY AS s(salt, place)) \
             FROM (SELECT y.conversation_id, y.link_no, EXISTS (SELECT FROM reground.messages AS m WHERE m.message_id = y.message_id AND m.citations IS NOT NULL) AS has_citations \
                   FROM reground.provenance_chain AS y WHERE y.tenant = $1) AS a \
             WHERE x.conversation_id = a.conversation_id AND x.link_no = a.link_no AND (cardinality(x.salts) > 2 OR a.has_citations)",
            &[tenant.into()],
        )?;
        receipt.redacted("reground.provenance_chain", redacted);
        Ok(())
    })?;
    Ok(receipt)
}
