//! Functions of the application that a turn calls.
//!
//! One runs as the role that set it, where that was done on a corpus or a conversation: otherwise writing a function's name
//! into a conversation would run it with another's rights. On the call or the server it is the caller's own; a turn keeps who named
//! one in the call that began it, for the calls that come later.

use pgrx::pg_sys;
use reground_grounding::query::intent::{PastTurn, Verdict};
use reground_grounding::settings::hook::Hook;
use reground_grounding::settings::is_set;
use serde_json::Value;

use crate::api::retrieval::Question;
use crate::error::{Error, Result};
use crate::run_as::as_foreign_role;
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

/// The settings of a call as its turn keeps them, with the names of functions made plain, and the name of the role that later calls on
/// the turn call these as: the one that begins it. `None` where none is named.
pub(super) fn kept_with_turn(call: &Value) -> Result<(Value, Option<String>)> {
    let mut call = call.clone();
    let mut names = false;
    for hook in Hook::ALL {
        let value = call.get(hook.setting()).and_then(Value::as_str);
        if let Some(name) = value.and_then(|value| hook.named(value)) {
            // One that cannot be called is for the call that needs it to refuse.
            if let Ok(plain) = function(hook, name) {
                call[hook.setting()] = Value::String(plain);
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

/// The roles that functions named by the call that began a turn are called as by another call: none where that is the same role's.
pub(super) fn of_turn(role: Option<&str>) -> Result<Roles> {
    let Some(role) = role else {
        return Ok(Roles::default());
    };
    // A role that is gone is nobody, which a function is not called as.
    let other = sql::read_one::<i64>(
        "SELECT coalesce((SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname = $1), 0)::bigint \
         WHERE current_user <> $1",
        &[role.into()],
    )?;
    let mut roles = Roles::default();
    for hook in Hook::ALL {
        roles.set(hook, other.and_then(|oid| u32::try_from(oid).ok()));
    }
    Ok(roles)
}

/// The roles that a turn calls functions as: of each that of the innermost layer that sets it, none for the caller.
pub(super) fn roles(
    question: &Question<'_>,
    conversation: &Conversation,
    corpus: &Corpus,
) -> Roles {
    let mut roles = Roles::default();
    for hook in Hook::ALL {
        // As the settings themselves are resolved: what names the function decides as whom it runs.
        let sets = |settings: &Value| settings.get(hook.setting()).is_some_and(is_set);
        let role = if sets(question.settings) {
            question.call_roles.of(hook)
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
        "SELECT EXISTS (SELECT FROM pg_catalog.pg_roles AS r WHERE r.oid = $1)",
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
         WHERE p.oid = pg_catalog.to_regprocedure($1 || $2) AND p.prorettype = $3::pg_catalog.regtype::pg_catalog.oid AND NOT p.proretset \
             AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')",
        &[bare.into(), hook.arguments().into(), hook.result().into()],
    )?
    .ok_or_else(|| {
        let setting = hook.setting();
        Error::Hook(hook, format!("no {setting} \"{name}\" that this role may call"))
    })
}
