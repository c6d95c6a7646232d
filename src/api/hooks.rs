//! Functions of the application that a turn calls.
//!
//! One runs as the role that set it, where that was done on a corpus or a conversation: otherwise writing a function's name
//! into a conversation would run it with another's rights. On the call or the server it is the caller's own.

use pgrx::pg_sys;
use reground_grounding::hook::Hook;
use reground_grounding::intent::{PastTurn, Verdict};
use reground_grounding::settings::is_set;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::owner::as_foreign_role;
use crate::sql;
use crate::store::conversations::Conversation;
use crate::store::corpora::Corpus;
use crate::store::roles::Roles;

/// The settings to be stored, with the names of functions made plain, and the roles that these are called as: whoever sets
/// one. A function that stays keeps its role.
pub(super) fn registered(
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
                Some(unsafe { pg_sys::GetUserId() }.to_u32())
            }
            None => None,
        };
        roles.set(hook, role);
    }
    Ok((settings, roles))
}

/// The roles that a turn calls functions as: of each that of the innermost layer that sets it, none for the caller.
pub(super) fn roles(call: &Value, conversation: &Conversation, corpus: &Corpus) -> Roles {
    let mut roles = Roles::default();
    for hook in Hook::ALL {
        // As the settings themselves are resolved: what names the function decides as whom it runs.
        let sets = |settings: &Value| settings.get(hook.setting()).is_some_and(is_set);
        let role = if sets(call) {
            None
        } else if sets(&conversation.settings) {
            conversation.roles.of(hook)
        } else if sets(&corpus.settings) {
            corpus.roles.of(hook)
        } else {
            None
        };
        roles.set(hook, role);
    }
    roles
}

/// Scores of passages by a reranker, in their order; `None` where it gave none.
pub(super) fn rerank(
    name: &str,
    roles: &Roles,
    query: &str,
    passages: Vec<String>,
) -> Result<Vec<Option<f64>>> {
    let count = passages.len();
    let scores: Option<Vec<Option<f32>>> = call(Hook::Reranker, name, roles, |function| {
        let args = [query.into(), passages.into()];
        sql::write_one(&format!("SELECT {function}($1, $2)"), &args)
    })?;
    // NULL as a whole: it scored none of them.
    let scores = scores.unwrap_or_else(|| vec![None; count]);
    Ok(scores
        .into_iter()
        .map(|score| score.map(f64::from))
        .collect())
}

/// What an intent function says of a query after earlier turns, newest last; `None` where it leaves it to the cues.
pub(super) fn judge_intent(
    name: &str,
    roles: &Roles,
    query: &str,
    earlier: &[PastTurn],
) -> Result<Option<Verdict>> {
    let earlier = sql::json(&earlier)?;
    let said: Option<String> = call(Hook::Intent, name, roles, |function| {
        let args = [query.into(), earlier.into()];
        sql::write_one(&format!("SELECT {function}($1, $2::jsonb)::text"), &args)
    })?;
    let verdict = said.map(|said| Verdict::read(&said)).transpose();
    let verdict = verdict.map_err(|fault| {
        Error::Hook(
            Hook::Intent,
            format!("intent_function \"{name}\" returned what is no verdict: {fault}"),
        )
    })?;
    Ok(verdict.flatten())
}

/// Calls a function of the application as its role, or as the caller.
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
        "SELECT EXISTS (SELECT FROM pg_catalog.pg_roles AS r WHERE r.oid OPERATOR(pg_catalog.=) $1)",
        &[role.into()],
    )?;
    if known != Some(true) {
        let setting = hook.setting();
        return Err(Error::Hook(
            hook,
            format!("the role that set the {setting} \"{name}\" no longer exists"),
        ));
    }
    as_foreign_role(role, work)
}

/// Qualified name of a function that this role may call.
fn function(hook: Hook, name: &str) -> Result<String> {
    let bare = name.split('(').next().unwrap_or_default().trim();
    sql::read_one(
        "SELECT pg_catalog.format('%I.%I', n.nspname, p.proname) FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace \
         WHERE p.oid = pg_catalog.to_regprocedure($1 || $2) AND p.prorettype = $3::pg_catalog.regtype AND NOT p.proretset \
             AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')",
        &[bare.into(), hook.arguments().into(), hook.result().into()],
    )?
    .ok_or_else(|| {
        let setting = hook.setting();
        Error::Hook(hook, format!("no {setting} \"{name}\" that this role may call"))
    })
}
