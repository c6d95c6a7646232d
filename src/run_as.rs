//! Switches the user id: to the owner of our tables, as referential-integrity triggers do, or to the role of a function.
//!
//! SQL functions with SECURITY DEFINER do not work: an invoker cannot call revoked functions, and inside a definer the relations of
//! the caller would be read with the wrong rights.

use pgrx::pg_sys;

use crate::error::{Error, Result};
use crate::session::{PINNED_PATH, PLAIN_TEXT, set_local};
use crate::sql;
use crate::store::corpora::Corpus;
use crate::tenant;

/// Runs `work` as the owner of our tables, with a pinned search_path.
///
/// The statements find rows by key, so a generic plan is good for all values. A plan made while the tables were empty would read
/// whole tables, which grow faster than they are analysed, so sequential scans are off. This also applies to the checks of foreign
/// keys, whose plans PostgreSQL keeps.
pub fn as_owner<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    as_owner_scanning(|| {
        set_local(c"enable_seqscan", c"off");
        // Up to PostgreSQL 17, the cost of a disabled scan would start JIT compilation, even for a small table without an index.
        set_local(c"jit", c"off");
        work()
    })
}

/// As [`as_owner`], for work on many rows, with sequential scans.
pub fn as_owner_scanning<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    as_role(owner()?, || {
        set_local(c"plan_cache_mode", c"force_generic_plan");
        work()
    })
}

/// Whether the current user is the owner of our tables.
pub fn is_owner() -> Result<bool> {
    // SAFETY: the current user id is always valid.
    Ok(unsafe { pg_sys::GetUserId() } == owner()?)
}

/// The owner of our tables: `pg_database_owner`, unless it was changed. It is looked up each time in the catalog caches.
fn owner() -> Result<pg_sys::Oid> {
    // SAFETY: look-ups by NUL-terminated names. missing_ok is true, and a missing table has no row in the cache. The tuple is a row of
    // pg_class until it is released below.
    unsafe {
        let schema = pg_sys::get_namespace_oid(c"reground".as_ptr(), true);
        let table = pg_sys::get_relname_relid(c"turns".as_ptr(), schema);
        let row = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::RELOID as i32, table.into());
        if row.is_null() {
            return Err(Error::Unknown("table", "reground.turns".into()));
        }
        let owner = (*pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_class>()).relowner;
        pg_sys::ReleaseSysCache(row);
        Ok(owner)
    }
}

/// Runs `work` as a role that a row of our tables names or leads to. Error: if a writer of our tables does not have the rights of the role.
pub fn as_foreign_role<T>(role: pg_sys::Oid, work: impl FnOnce() -> Result<T>) -> Result<T> {
    if !may_be_named(role)? {
        return Err(Error::UntrustedRole(tenant::role_name(role)));
    }
    as_role(role, work)
}

/// Whether the writers of our tables have the rights of a role.
pub fn may_be_named(role: pg_sys::Oid) -> Result<bool> {
    let writers = writers()?;
    Ok(writers
        .into_iter()
        .all(|writer| has_rights_of(writer, role)))
}

/// Whether the writers of our tables have all rights of the caller, including its session user.
pub fn caller_may_be_named() -> Result<bool> {
    // SAFETY: the roles of a session are set before its first statement.
    let roles = unsafe {
        [
            pg_sys::GetUserId(),
            pg_sys::GetSessionUserId(),
            pg_sys::GetAuthenticatedUserId(),
        ]
    };
    let writers = writers()?;
    Ok(writers
        .into_iter()
        .all(|writer| roles.iter().all(|role| has_rights_of(writer, *role))))
}

/// The roles that can write our tables, or could when the extension was created: their owner, and for `pg_database_owner` the owner of the
/// database then and now.
fn writers() -> Result<Vec<pg_sys::Oid>> {
    let owner = owner()?;
    if owner != pg_sys::Oid::from(pg_sys::ROLE_PG_DATABASE_OWNER) {
        return Ok(vec![owner]);
    }
    let first = as_owner(|| sql::read_one::<pg_sys::Oid>("SELECT reground._trusted_owner()", &[]))?;
    let first = first.unwrap_or(pg_sys::InvalidOid);
    Ok(vec![first, owner_of_database()])
}

/// The owner of this database.
pub fn owner_of_database() -> pg_sys::Oid {
    // SAFETY: the row of this database exists. It is a row of pg_database until it is released.
    unsafe {
        let database = pg_sys::SysCacheIdentifier::DATABASEOID as i32;
        let row = pg_sys::SearchSysCache1(database, pg_sys::MyDatabaseId.into());
        let owner = (*pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_database>()).datdba;
        pg_sys::ReleaseSysCache(row);
        owner
    }
}

/// Whether a role can become another, or grant it to itself.
fn has_rights_of(role: pg_sys::Oid, other: pg_sys::Oid) -> bool {
    // SAFETY: look-ups in the catalog caches.
    unsafe {
        // In PostgreSQL 15, each member can, and CREATEROLE includes all roles except superusers.
        #[cfg(feature = "pg15")]
        return pg_sys::is_member_of_role(role, other)
            || pg_sys::has_createrole_privilege(role) && !pg_sys::superuser_arg(other);
        #[cfg(not(feature = "pg15"))]
        return pg_sys::member_can_set_role(role, other) || pg_sys::is_admin_of_role(role, other);
    }
}

/// Runs `work` on a corpus as the owner of the relation of its passages, as a security-restricted operation. So triggers, views and
/// casts run with the rights of the role that made the table, as they do under ANALYZE.
pub fn as_relation_owner<T>(corpus: Corpus, work: impl FnOnce(&Corpus) -> Result<T>) -> Result<T> {
    let owner = relation_owner(&corpus)?;
    as_foreign_role(owner, || {
        // A table that is being rebuilt must not stop the work on all others.
        set_local(c"lock_timeout", c"5s");
        work(&corpus.in_place()?)
    })
}

/// The owner of the relation of the passages.
pub fn relation_owner(corpus: &Corpus) -> Result<pg_sys::Oid> {
    // Read as our owner, because a worker may not have the privilege to use the schema of the relation.
    let owner = as_owner(|| {
        sql::write_one::<pg_sys::Oid>(
            "SELECT c.relowner FROM reground.corpora AS k JOIN pg_class AS c ON c.oid = k.relation::oid WHERE k.corpus_id = $1",
            &[corpus.corpus_id.into()],
        )
    })?;
    owner.ok_or_else(|| Error::RelationGone(corpus.name.clone()))
}

/// Runs `work` as a role with pinned settings, as a security-restricted operation: as index functions under ANALYZE, code of the role
/// cannot create objects in the caller's session or leave anything that runs later as the caller, and its changes of settings are rolled back.
///
/// If `work` raises an error, the abort of the (sub)transaction restores user and settings.
pub fn as_role<T>(role: pg_sys::Oid, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let mut user = pg_sys::InvalidOid;
    let mut context = 0;
    let restricted = pg_sys::SECURITY_LOCAL_USERID_CHANGE | pg_sys::SECURITY_RESTRICTED_OPERATION;
    // SAFETY: plain calls into the backend. GetUserIdAndSecContext fills both out parameters. The nest level is closed
    // below on success and by AtEOXact_GUC on abort.
    let level = unsafe {
        pg_sys::GetUserIdAndSecContext(&mut user, &mut context);
        pg_sys::SetUserIdAndSecContext(role, context | restricted as i32);
        pg_sys::NewGUCNestLevel()
    };
    set_local(c"search_path", PINNED_PATH);
    for (name, value) in PLAIN_TEXT {
        set_local(name, value);
    }
    let result = work();
    // SAFETY: user and context were captured above, and level was opened above. Both are restored for an Err too, which becomes an
    // ERROR later.
    unsafe {
        pg_sys::AtEOXact_GUC(false, level);
        pg_sys::SetUserIdAndSecContext(user, context);
    }
    result
}
