//! Probes: questions whose source is known, sent through the pipeline.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_grounding::inspect::probe::{Expected, Outcome, Presence};
use reground_grounding::settings::Settings;
use reground_grounding::settings::hook::Hook;

use crate::api::turn::dry_run::dry_run;
use crate::api::turn::question::Question;
use crate::api::{given, not_empty, writable};
use crate::datum::{Json, Vector};
use crate::error::{Error, Result};
use crate::retrieve::filter::Filter;
use crate::retrieve::{passages, vector};
use crate::rows;
use crate::run_as::as_foreign_role;
use crate::sql::{self, Caught};
use crate::store::conversations::Conversation;
use crate::store::corpora;
use crate::store::probes::{self, Probe, ProbeOwner, Probed};
use crate::tenant;

#[pg_extern(sql = false)]
#[expect(clippy::too_many_arguments, reason = "the SQL signature")]
fn put_probe(
    probe: Option<&str>,
    corpus: Option<&str>,
    query: Option<&str>,
    doc_id: Option<&str>,
    chunk_id: Option<&str>,
    embedding: Option<Vector>,
    filter: Option<Json>,
    settings: Option<Json>,
) -> std::result::Result<(), ErrorReport> {
    writable("put_probe")?;
    let tenant = tenant::required()?;
    let probe = Probe {
        probe: not_empty(probe, "probe")?.to_owned(),
        corpus: not_empty(corpus, "corpus")?.to_owned(),
        query: not_empty(query, "query")?.to_owned(),
        embedding: embedding.map(|vector| vector.0),
        filter: Json::optional(filter, "filter")?,
        settings: Json::object(settings, "settings")?,
        doc_id: not_empty(doc_id, "doc_id")?.to_owned(),
        chunk_id: chunk_id.map(str::to_owned),
    };
    check(&tenant, &probe)?;
    probes::put(&tenant, &tenant::role(), &probe)?;
    Ok(())
}

/// Checks that a probe can run.
fn check(tenant: &str, probe: &Probe) -> Result<()> {
    let corpus = corpora::load(tenant, &probe.corpus)?;
    if let Some(embedding) = &probe.embedding {
        vector::check_dimensions(&corpus, embedding)?;
    }
    Filter::resolve(&corpus, probe.filter.as_ref())?;
    Settings::resolve(&[("settings", &probe.settings)])?;
    names_no_function(probe)
}

/// A function named by a probe would run with the rights of the role that runs the probes.
fn names_no_function(probe: &Probe) -> Result<()> {
    for hook in Hook::ALL {
        if probe.settings.get(hook.setting()).is_some() {
            return Err(Error::Bad {
                argument: "settings",
                fault: format!("a probe has no {} of its own", hook.setting()),
                hint: "Set it on the corpus: there it is called as the role that set it.".into(),
            });
        }
    }
    Ok(())
}

#[pg_extern(sql = false)]
fn drop_probe(probe: Option<&str>) -> std::result::Result<bool, ErrorReport> {
    writable("drop_probe")?;
    let tenant = tenant::required()?;
    Ok(probes::drop(&tenant, given(probe, "probe")?)?)
}

#[pg_extern(sql = false)]
fn run_probes(
    corpus: Option<&str>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("run_probes")?;
    let tenant = tenant::required()?;
    let mut probed = Vec::new();
    for probe in probes::all(&tenant, corpus, None)? {
        let outcome = match run(&tenant, &probe) {
            // The corpus has changed since put_probe. The other probes still run.
            Err(
                Error::EmbeddingRequired
                | Error::Dimensions { .. }
                | Error::NoColumn { .. }
                | Error::NoFilterColumn { .. }
                | Error::MappedColumn { .. }
                | Error::NoEmbeddingColumn(_)
                | Error::Hook(..)
                | Error::UntrustedRole(_)
                | Error::Grounding(_),
            ) => Outcome::not_run(),
            outcome => outcome?,
        };
        probed.push(Probed {
            probe: probe.probe,
            corpus: probe.corpus,
            outcome,
        });
    }
    probes::write(&tenant, &probed)?;
    rows::emit(fcinfo, &probed)?;
    Ok(())
}

/// Runs the probes of all tenants as a task of maintenance, each as the role that put it, and returns their number.
///
/// With more rights, a probe would reveal documents that are hidden from its tenant.
pub(super) fn run_all() -> Result<i64> {
    let mut count = 0;
    for owner in probes::owners()? {
        let probed: Vec<Probed> = probes::all(&owner.tenant, None, Some(&owner.role))?
            .into_iter()
            .map(|probe| Probed {
                outcome: run_as_owner(&owner, &probe).unwrap_or_else(|_| Outcome::not_run()),
                probe: probe.probe,
                corpus: probe.corpus,
            })
            .collect();
        probes::write(&owner.tenant, &probed)?;
        count += probed.len();
    }
    Ok(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Runs a probe as the role that put it, for its tenant.
fn run_as_owner(owner: &ProbeOwner, probe: &Probe) -> std::result::Result<Outcome, Caught> {
    sql::guarded(|| {
        let role = owner
            .role_id
            .ok_or_else(|| Error::Unknown("role", owner.role.clone()))?;
        as_foreign_role(pg_sys::Oid::from_u32(role), || {
            tenant::with_tenant(&owner.tenant, || run(&owner.tenant, probe))
        })
    })
}

/// Runs a probe as the first turn of a conversation.
fn run(tenant: &str, probe: &Probe) -> Result<Outcome> {
    // The row may have been written without put_probe.
    names_no_function(probe)?;
    let expected = Expected {
        doc_id: &probe.doc_id,
        chunk_id: probe.chunk_id.as_deref(),
    };
    if let Some(gone) = Outcome::missing(presence(tenant, expected, &probe.corpus)?) {
        return Ok(gone);
    }
    let question = Question {
        corpus: Some(&probe.corpus),
        embedding: probe.embedding.as_deref(),
        filter: probe.filter.as_ref(),
        ..Question::of(&probe.query, &probe.settings)
    };
    let (_, turn) = dry_run(tenant, &Conversation::imagined(), &question)?;
    Ok(Outcome::of(&turn, expected))
}

/// Whether the expected document and passage still exist, as the caller sees it.
fn presence(tenant: &str, expected: Expected<'_>, corpus: &str) -> Result<Presence> {
    let Some(corpus) = corpora::usable(tenant, corpus)? else {
        return Ok(Presence::default());
    };
    let chunk = expected.chunk_id.map(str::to_owned);
    let found = passages::documents_of(&corpus, &Filter::default(), chunk.iter())?;
    Ok(Presence {
        document: passages::any_of(&corpus, &expected.doc_id.to_owned())?,
        chunk: chunk.is_none_or(|chunk| found.get(&chunk).is_some_and(|of| of == expected.doc_id)),
    })
}
