//! Checks of SQL arguments that several functions share.

use pgrx::pg_sys;

use crate::error::{Error, Result};

/// Returns a required argument. Errors: 22004 if it is NULL.
pub(crate) fn given<T>(argument: Option<T>, name: &'static str) -> Result<T> {
    argument.ok_or(Error::Null(name))
}

/// Returns a required argument that the objects of the previous release do not declare. `position` counts from 0. Errors: 22004 if it is NULL.
pub(crate) fn given_since_update(
    fcinfo: pg_sys::FunctionCallInfo,
    position: u16,
    default: bool,
    name: &'static str,
) -> Result<bool> {
    // SAFETY: PostgreSQL passes a valid call, with `nargs` arguments, and the argument is declared as boolean.
    let argument = unsafe {
        match u16::try_from((*fcinfo).nargs) {
            Ok(count) if count > position => pgrx::pg_getarg::<bool>(fcinfo, position.into()),
            _ => Some(default),
        }
    };
    given(argument, name)
}

/// Returns a required text that is not blank. Errors: 22004 if it is NULL, 22023 if it is blank.
pub(crate) fn not_empty<'a>(argument: Option<&'a str>, name: &'static str) -> Result<&'a str> {
    let text = given(argument, name)?;
    if text.trim().is_empty() {
        return Err(Error::Bad {
            argument: name,
            fault: "it is empty".into(),
            hint: format!("Give a {name} that is not blank."),
        });
    }
    Ok(text)
}

/// Returns the elements of an array of names. Errors: 22004 if one of them is NULL.
pub(crate) fn names(
    argument: Option<Vec<Option<String>>>,
    name: &'static str,
) -> Result<Option<Vec<String>>> {
    let names = argument.map(|names| names.into_iter().map(|one| given(one, name)).collect());
    names.transpose()
}

/// Checks that the transaction can write, before anything is computed. Errors: 25006 on a standby or in a read-only transaction.
pub(crate) fn writable(function: &'static str) -> Result<()> {
    // SAFETY: plain calls into the backend.
    if unsafe { pgrx::pg_sys::RecoveryInProgress() || pgrx::pg_sys::XactReadOnly } {
        return Err(Error::ReadOnly(function));
    }
    Ok(())
}
