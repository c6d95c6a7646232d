//! Labels of reviewers and reports of users on citations.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_audit::label::Label;

use crate::api::answer::hidden_citations::load_shown;
use crate::api::{given, not_empty, writable};
use crate::error::{Error, Result};
use crate::store::reviews::{self, ReviewAuthor};
use crate::tenant;

#[pg_extern(sql = false)]
fn label_citation(
    citation_id: Option<i64>,
    label: Option<&str>,
    note: Option<&str>,
    labelled_by: Option<&str>,
) -> std::result::Result<(), ErrorReport> {
    writable("label_citation")?;
    let citation_id = given(citation_id, "citation_id")?;
    let label: Label = given(label, "label")?.parse().map_err(Error::from)?;
    let who = who(labelled_by, "labelled_by")?;
    let unknown = || Error::Unknown("citation", citation_id.to_string());
    let tenant = reviews::tenant_of(citation_id)?.ok_or_else(unknown)?;
    if !reviews::label(citation_id, &tenant, label.name(), note, &who)? {
        return Err(unknown().into());
    }
    Ok(())
}

#[pg_extern(sql = false)]
fn report_citation(
    citation_id: Option<i64>,
    reason: Option<&str>,
    reported_by: Option<&str>,
) -> std::result::Result<(), ErrorReport> {
    writable("report_citation")?;
    let tenant = tenant::required()?;
    let citation_id = given(citation_id, "citation_id")?;
    let reason = not_empty(reason, "reason")?;
    let who = who(reported_by, "reported_by")?;
    // A citation of another tenant gets the same error as one that does not exist.
    let unknown = || Error::Unknown("citation", citation_id.to_string());
    reviews::tenant_of(citation_id)?
        .filter(|of| *of == tenant)
        .ok_or_else(unknown)?;
    if !reviews::report(citation_id, &tenant, reason, &who)? {
        return Err(unknown().into());
    }
    Ok(())
}

#[pg_extern(sql = false)]
fn report_answer(
    message_id: Option<i64>,
    reason: Option<&str>,
    reported_by: Option<&str>,
) -> std::result::Result<(), ErrorReport> {
    writable("report_answer")?;
    let tenant = tenant::required()?;
    let message_id = given(message_id, "message_id")?;
    let reason = not_empty(reason, "reason")?;
    let who = who(reported_by, "reported_by")?;
    // A hidden answer raises the same error as a missing one.
    load_shown(&tenant, message_id)?;
    if !reviews::report_answer(message_id, &tenant, reason, &who)? {
        return Err(Error::Unknown("message", message_id.to_string()).into());
    }
    Ok(())
}

#[pg_extern(sql = false)]
fn review_report(
    report_id: Option<i64>,
    justified: Option<bool>,
    note: Option<&str>,
    reviewed_by: Option<&str>,
) -> std::result::Result<(), ErrorReport> {
    writable("review_report")?;
    let report_id = given(report_id, "report_id")?;
    let justified = given(justified, "justified")?;
    let who = who(reviewed_by, "reviewed_by")?;
    if !reviews::review(report_id, justified, note, &who)? {
        return Err(Error::Unknown("report", report_id.to_string()).into());
    }
    Ok(())
}

/// Returns the named person, otherwise the current role.
pub(in crate::api) fn who(named: Option<&str>, argument: &'static str) -> Result<ReviewAuthor> {
    let role = tenant::role();
    let by = match named {
        Some(_) => not_empty(named, argument)?.to_owned(),
        None => role.clone(),
    };
    Ok(ReviewAuthor { by, role })
}
