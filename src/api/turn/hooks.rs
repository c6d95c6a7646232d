//! Functions of the application that a turn calls.
//!
//! A function named in the settings of a corpus or a conversation runs as the role that set it. Otherwise a role could write a
//! function name into a conversation and have it run with the rights of another role. A function named in a call runs as the
//! caller. So does one named on the server; it is refused if the caller has rights that the owner of the database does not have, because
//! the owner can set it. A turn stores the role of the call that began it, for later calls on the turn.

use pgrx::pg_sys;
use reground_grounding::passage::Candidate;
use reground_grounding::query::intent::{PastTurn, Verdict};
use reground_grounding::settings::hook::Hook;
use reground_grounding::settings::is_set;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::run_as::{as_foreign_role, caller_may_be_named, may_be_named};
use crate::sql;
use crate::store::conversations::Conversation;
use crate::store::corpora::Corpus;
use crate::store::roles::Roles;
use crate::tenant;

/// Stands for a role that was dropped or is not stored. No function is called as it.
const NO_ROLE: u32 = 0;

/// Returns the settings to store, with qualified function names, and the roles that call these functions: the current role for
/// each function in `changes`, the previous role for the others.
pub(in crate::api) fn registered(
    mut settings: Value,
    changes: &Value,
    before: Roles,
) -> Result<(Value, Roles)> {
    let mut roles = before;
    for hook in Hook::ALL {
        let Some(value) = changes.get(hook.setting()) else {
            continue;
        };
        let name = value.as_str().and_then(|value| hook.named(value));
        let role = match name {
            Some(name) => {
                settings[hook.setting()] = Value::String(function(hook, name)?);
                // SAFETY: the current user id is always valid.
                let role = unsafe { pg_sys::GetUserId() };
                if !may_be_named(role)? {
                    return Err(Error::UntrustedRole(tenant::role()));
                }
                Some(role.to_u32())
            }
            None => None,
        };
        roles.set(hook, role);
    }
    Ok((settings, roles))
}

/// Returns the settings of a call as stored with its turn, with qualified function names, and the current role, as which later
/// calls on the turn call these functions; `None` if no function is named.
pub(in crate::api) fn kept_with_turn(call: &Value) -> Result<(Value, Option<String>)> {
    let mut call = call.clone();
    let mut names = false;
    for hook in Hook::ALL {
        let value = call.get(hook.setting()).and_then(Value::as_str);
        if let Some(name) = value.and_then(|value| hook.named(value)) {
            // A function that cannot be called is an error of the call that needs it.
            if let Ok(qualified) = function(hook, name) {
                call[hook.setting()] = Value::String(qualified);
            }
            names = true;
        }
    }
    let role = match names {
        true => sql::read_one::<String>("SELECT current_user::text", &[])?,
        false => None,
    };
    Ok((call, role))
}

/// Returns the roles that call the functions named when a turn began; none if that is the current role and the writers of our tables have
/// its rights.
pub(in crate::api) fn of_turn(role: Option<&str>) -> Result<Roles> {
    let role = sql::read_one::<pg_sys::Oid>(
        "SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname = $1",
        &[role.into()],
    )?;
    // SAFETY: the current user id is always valid.
    let current = unsafe { pg_sys::GetUserId() };
    let mut roles = Roles::default();
    if role == Some(current) && caller_may_be_named()? {
        return Ok(roles);
    }
    for hook in Hook::ALL {
        roles.set(hook, Some(role.map_or(NO_ROLE, |role| role.to_u32())));
    }
    Ok(roles)
}

/// Returns the role that calls each function: the role of the innermost layer of settings that names it, none for the caller.
/// `call_roles` call the functions that the call itself names.
pub(in crate::api) fn roles(
    call_settings: &Value,
    call_roles: Roles,
    conversation: &Conversation,
    corpus: &Corpus,
    server: &Value,
) -> Result<Roles> {
    let mut roles = Roles::default();
    for hook in Hook::ALL {
        // The layers are in the order of Settings::resolve, so the layer that names the function decides its role.
        let sets = |settings: &Value| settings.get(hook.setting()).is_some_and(is_set);
        let stored = |roles: &Roles| Some(roles.of(hook).unwrap_or(NO_ROLE));
        let role = if sets(call_settings) {
            call_roles.of(hook)
        } else if sets(&conversation.settings) {
            stored(&conversation.roles)
        } else if sets(&corpus.settings) {
            stored(&corpus.roles)
        } else if sets(server) && !caller_may_be_named()? {
            // The owner of the database can set it for all roles.
            Some(NO_ROLE)
        } else {
            None
        };
        roles.set(hook, role);
    }
    Ok(roles)
}

/// Returns the scores of a reranker for candidates, in their order; `None` for candidates without a score.
pub(in crate::api) fn rerank(
    name: &str,
    roles: &Roles,
    query: &str,
    candidates: &[Candidate],
) -> Result<Vec<Option<f64>>> {
    let passages = candidates.iter();
    let passages = passages.map(|candidate| candidate.passage.content.clone());
    let passages: Vec<String> = passages.collect();
    let scores: Option<Vec<Option<f32>>> = call(Hook::Reranker, name, roles, |function| {
        let args = [query.into(), passages.into()];
        sql::write_one(&format!("SELECT {function}($1, $2)"), &args)
    })?;
    // NULL instead of an array: no candidate has a score.
    let scores = scores.unwrap_or_else(|| vec![None; candidates.len()]);
    Ok(scores
        .into_iter()
        .map(|score| score.map(f64::from))
        .collect())
}

/// Returns the verdict of an intent function on a query after earlier turns, newest last; `None` if it returned none.
pub(in crate::api) fn judge_intent(
    name: &str,
    roles: &Roles,
    query: &str,
    earlier: &[PastTurn],
) -> Result<Option<Verdict>> {
    let earlier = sql::json(&earlier)?;
    let returned: Option<String> = call(Hook::Intent, name, roles, |function| {
        let args = [query.into(), earlier.into()];
        sql::write_one(&format!("SELECT {function}($1, $2::jsonb)::text"), &args)
    })?;
    let verdict = returned.map(|text| Verdict::read(&text)).transpose();
    let verdict = verdict.map_err(|fault| {
        Error::Hook(
            Hook::Intent,
            format!("intent_function \"{name}\" did not return a verdict: {fault}"),
        )
    })?;
    Ok(verdict.flatten())
}

/// Calls a function of the application as its role, or as the caller. Errors: if the role or the function does not exist.
fn call<T>(
    hook: Hook,
    name: &str,
    roles: &Roles,
    work: impl FnOnce(&str) -> Result<T>,
) -> Result<T> {
    let work = || work(&function(hook, name)?);
    let Some(role) = roles.of(hook).map(pg_sys::Oid::from_u32) else {
        return work();
    };
    let known = sql::read_one::<bool>(
        "SELECT EXISTS (SELECT FROM pg_catalog.pg_roles AS r WHERE r.oid = $1)",
        &[role.into()],
    )?;
    if known != Some(true) {
        let setting = hook.setting();
        return Err(Error::Hook(
            hook,
            format!(
                "no role may call the {setting} \"{name}\": the role that set it no longer exists, or the owner of the database could have set it"
            ),
        ));
    }
    as_foreign_role(role, work)
}

/// Returns the qualified name of a function that the current role may call.
fn function(hook: Hook, name: &str) -> Result<String> {
    let missing = || {
        let setting = hook.setting();
        Error::Hook(
            hook,
            format!("{setting} \"{name}\" does not exist, or this role may not call it"),
        )
    };
    let bare = name.split('(').next().unwrap_or_default().trim();
    // PostgreSQL 15 raises an error that does not name the setting.
    if !bare.contains('"') && bare.split('.').any(|part| part.trim().is_empty()) {
        return Err(missing());
    }
    sql::read_one(
        "SELECT pg_catalog.format('%I.%I', n.nspname, p.proname) FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace \
         WHERE p.oid = pg_catalog.to_regprocedure($1 || $2) AND p.prorettype = $3::pg_catalog.regtype::pg_catalog.oid AND NOT p.proretset \
             AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')",
        &[bare.into(), hook.arguments().into(), hook.result().into()],
    )?
    .ok_or_else(missing)
}
