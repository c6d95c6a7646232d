//! The states of cited sources since they were cited.

use std::collections::{BTreeMap, BTreeSet};

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_grounding::inspect::source_state::{
    CitedPassage, CitedVersion, SourceState, state_since,
};
use reground_grounding::memory::SourceKey;
use reground_grounding::passage::Passage;
use reground_grounding::passage::date::epoch_seconds;

use crate::api::audit::sources::visibility::{kept, reader};
use crate::error::{Error, Result};
use crate::retrieve::passages;
use crate::retrieve::visibility::Reader;
use crate::run_as::as_relation_owner;
use crate::store::traces::{self, CitedSource};
use crate::store::{corpora, documents};
use crate::tenant;
use crate::tenant::membership;

/// Returns the state of a cited document. NULL for documents of other tenants and hidden ones, unless the role is an auditor.
#[pg_extern(sql = false)]
fn source_state(
    tenant: Option<&str>,
    corpus: Option<&str>,
    doc_id: Option<&str>,
    version: Option<i32>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<Option<String>, ErrorReport> {
    let (Some(tenant), Some(corpus), Some(doc_id)) = (tenant, corpus, doc_id) else {
        return Ok(None);
    };
    if !membership::is_auditor()? {
        let Some(reader) = reader(fcinfo)?.filter(|reader| reader.tenant() == tenant) else {
            return Ok(None);
        };
        if is_hidden(reader, corpus, doc_id)? {
            return Ok(None);
        }
    }
    Ok(documents::state(tenant, corpus, doc_id, version)?)
}

/// State, present version and time of change of a cited row; `None` if the caller may not know them.
type CitedRow = Option<Vec<Option<String>>>;

/// What a statement has found about the citations of the last turn. Citations of a turn are mostly read together.
struct CitedRows {
    tenant: Option<String>,
    /// `None` for an auditor, who reads the records of all tenants.
    reader: Option<Reader>,
    states: BTreeMap<i64, CitedRow>,
}

/// Returns the state of the row of a registered table since a citation, with its present version and time of change. NULL as for
/// [`source_state`], and for other sources.
#[pg_extern(sql = false)]
fn cited_row(
    citation_id: Option<i64>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<CitedRow, ErrorReport> {
    let Some(citation_id) = citation_id else {
        return Ok(None);
    };
    let tenant = tenant::current();
    let fits = |rows: &CitedRows| rows.tenant == tenant;
    let rows = kept(fcinfo, fits, || CitedRows::of(tenant.clone()))?;
    if !rows.states.contains_key(&citation_id) {
        rows.states = rows.of_turn(citation_id)?;
    }
    Ok(rows.states.get(&citation_id).cloned().flatten())
}

impl CitedRows {
    fn of(tenant: Option<String>) -> Result<Self> {
        let reader = match (&tenant, membership::is_auditor()?) {
            (Some(tenant), false) => Some(Reader::of(tenant)?),
            _ => None,
        };
        Ok(Self {
            tenant,
            reader,
            states: BTreeMap::new(),
        })
    }

    /// The states of all citations of the turn of a citation.
    fn of_turn(&mut self, citation_id: i64) -> Result<BTreeMap<i64, CitedRow>> {
        let mut by_corpus: BTreeMap<(String, String), Vec<CitedSource>> = BTreeMap::new();
        for cited in traces::cited_sources(citation_id)? {
            if self.may_know(&cited)? {
                let corpus = (cited.tenant.clone(), cited.corpus.clone());
                by_corpus.entry(corpus).or_default().push(cited);
            }
        }
        let mut states = BTreeMap::from([(citation_id, None)]);
        for ((tenant, corpus), cited) in by_corpus {
            if let Some(rows) = rows(&tenant, &corpus, &cited)? {
                states.extend(
                    cited
                        .iter()
                        .map(|cited| (cited.citation_id, Some(row(cited, &rows)))),
                );
            }
        }
        Ok(states)
    }

    /// Whether the caller may know the state of a source: an auditor of all, a tenant of its own sources that are not hidden.
    fn may_know(&mut self, cited: &CitedSource) -> Result<bool> {
        match &mut self.reader {
            Some(reader) => Ok(reader.tenant() == cited.tenant
                && !is_hidden(reader, &cited.corpus, &cited.doc_id)?),
            None => membership::is_auditor(),
        }
    }
}

/// The state of a source with the present rows of its corpus.
fn row(cited: &CitedSource, rows: &BTreeMap<String, Passage>) -> Vec<Option<String>> {
    let seen = CitedPassage {
        doc_id: &cited.doc_id,
        member_chunk_ids: &cited.member_chunk_ids,
        content_hash: &cited.hash,
        window: cited.window_of.as_ref().zip(cited.characters),
    };
    let version = CitedVersion {
        version: cited.version,
        modified: cited.modified.as_deref(),
    };
    let state = match state_since(seen, version, rows) {
        SourceState::Unchanged => "current",
        SourceState::Changed => "changed",
        SourceState::Gone => "deleted",
    };
    let first = (cited.member_chunk_ids.first()).and_then(|chunk_id| rows.get(chunk_id));
    vec![
        Some(state.to_owned()),
        first
            .and_then(|row| row.version)
            .map(|version| version.to_string()),
        first
            .and_then(|row| epoch_seconds(row.modified.as_deref()?))
            .map(|seconds| seconds.to_string()),
    ]
}

/// The present rows of cited sources of a registered table, of all tenants; `None` if the corpus was dropped, cannot be read, or was made by
/// create_corpus. A row of another tenant is hidden before.
fn rows(
    tenant: &str,
    corpus: &str,
    cited: &[CitedSource],
) -> Result<Option<BTreeMap<String, Passage>>> {
    let corpus = corpora::find(tenant, corpus)?;
    let Some(corpus) = corpus.filter(|corpus| !corpus.managed && !corpus.is_gone()) else {
        return Ok(None);
    };
    let chunk_ids: BTreeSet<&String> = cited
        .iter()
        .flat_map(|cited| &cited.member_chunk_ids)
        .collect();
    let read = as_relation_owner(corpus, |corpus| {
        passages::of_all_tenants(&corpus.clone().hashed_by_us(), chunk_ids)
    });
    match read {
        Ok(rows) => Ok(Some(rows)),
        Err(Error::RelationGone(_) | Error::NoColumn { .. } | Error::MappedColumn { .. }) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Whether a document is hidden from the caller.
fn is_hidden(reader: &mut Reader, corpus: &str, doc_id: &str) -> Result<bool> {
    let document = SourceKey {
        corpus: corpus.to_owned(),
        doc_id: doc_id.to_owned(),
        chunk_id: String::new(),
    };
    Ok(!reader.hidden([document])?.is_empty())
}
