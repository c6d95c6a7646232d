//! HTML reports of a conversation and of a corpus, and metrics.

use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_report::corpus::TimeUnit;
use reground_report::owner::{self, Owner};

use crate::api::given;
use crate::error::{Error, Result};
use crate::store::keys::Of;
use crate::store::metrics;
use crate::store::reports::{self, ReportScope};
use crate::tenant as tenants;
use crate::tenant::membership;

#[pg_extern(sql = false)]
fn conversation_report(
    conversation_ref: Option<&str>,
    tenant: Option<&str>,
) -> std::result::Result<String, ErrorReport> {
    Ok(of_conversation(
        given(conversation_ref, "conversation_ref")?,
        tenant,
    )?)
}

fn of_conversation(name: &str, tenant: Option<&str>) -> Result<String> {
    let unknown = || Error::Unknown("conversation", name.to_owned());
    let tenants = reports::tenants(name, tenant)?;
    let owner = single_owner(owner::conversation(tenants), "conversation_ref", unknown)?
        .ok_or_else(unknown)?;
    let conversation = reports::conversation(name, &owner)?.ok_or_else(unknown)?;
    Ok(conversation.page())
}

#[pg_extern(sql = false)]
fn corpus_report(
    corpus: Option<&str>,
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
    tenant: Option<&str>,
) -> std::result::Result<String, ErrorReport> {
    let of = match tenant {
        Some(tenant) => Of::Tenant(tenant),
        None if membership::is_auditor()? => Of::All,
        None => Of::Caller,
    };
    let scope = ReportScope {
        corpus: given(corpus, "corpus")?,
        tenant,
        of,
        since,
        until,
    };
    Ok(of_corpus(scope)?)
}

fn of_corpus(scope: ReportScope<'_>) -> Result<String> {
    let unknown = || Error::UnknownCorpus(scope.corpus.to_owned());
    let own = tenants::current();
    let owners = reports::owners(scope.corpus)?;
    let owner = owner::corpus(owners, scope.tenant, own.as_deref());
    let owner = single_owner(owner, "corpus", unknown)?;
    let scope = ReportScope {
        tenant: owner.as_deref(),
        ..scope
    };
    membership::notice_scope()?;
    let unit = TimeUnit::of(reports::span(scope)?.unwrap_or_default());
    let corpus = reports::corpus(scope, unit)?.ok_or_else(unknown)?;
    Ok(corpus.page())
}

#[pg_extern(sql = false)]
fn openmetrics() -> std::result::Result<String, ErrorReport> {
    Ok(metrics::read_metrics()?.text())
}

/// Returns the tenant that owns the object. Errors: 22023 if several tenants have one of that name.
fn single_owner(
    found: Owner,
    argument: &'static str,
    unknown: impl FnOnce() -> Error,
) -> Result<Option<String>> {
    match found {
        Owner::NotFound => Err(unknown()),
        Owner::Tenant(tenant) => Ok(tenant),
        Owner::Ambiguous(tenants) => Err(Error::Bad {
            argument,
            fault: format!(
                "several tenants have one of that name: {}",
                tenants.join(", ")
            ),
            hint: "Pass the tenant with tenant => '…'.".into(),
        }),
    }
}
