//! The states of cited sources since they were cited.

use std::collections::{BTreeMap, BTreeSet};

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_grounding::inspect::source_state::{
    CitedPassage, CitedVersion, RowState, state_since,
};
use reground_grounding::memory::SourceKey;
use reground_grounding::passage::Passage;
use reground_grounding::passage::date::epoch_seconds;

use crate::api::audit::sources::visibility::{kept, reader};
use crate::error::{Error, Result};
use crate::retrieve::filter::Filter;
use crate::retrieve::passages;
use crate::retrieve::visibility::{Reader, none_if_lasting, sees_every_row_of};
use crate::rows;
use crate::session::{with_latest_snapshot, with_settings};
use crate::sql;
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

/// The row of `_cited_row`. All is `None` if the caller may not know it, or if the source never was a row.
#[derive(Clone, Copy, Default)]
struct CitedRow {
    state: Option<RowState>,
    version: Option<i32>,
    /// Seconds since 1970.
    modified: Option<f64>,
}

/// As many states as a statement keeps.
const MOST_STATES: usize = 100_000;

/// What a statement has found about citations. Those of a turn are mostly read together.
struct CitedRows {
    tenant: Option<String>,
    sight: Sight,
    states: BTreeMap<i64, CitedRow>,
    /// Corpora whose rows were locked too long, by tenant and name. A statement waits once for each.
    locked: BTreeSet<(String, String)>,
}

/// Whose citations the caller may know.
enum Sight {
    /// An auditor knows those of all tenants.
    Auditor,
    /// A tenant knows its own, unless they are hidden.
    Tenant(Reader),
    Nothing,
}

/// Returns the state of the row of a registered table since a citation, with its present version and time of change. NULLs as for
/// [`source_state`], and for other sources.
#[pg_extern(sql = false)]
fn cited_row(
    citation_id: Option<i64>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let found = match citation_id {
        Some(citation_id) => found(citation_id, fcinfo)?,
        None => CitedRow::default(),
    };
    let row = [
        found.state.map(RowState::name).into_datum(),
        found.version.into_datum(),
        found.modified.into_datum(),
    ];
    rows::emit_values(fcinfo, &row);
    Ok(())
}

fn found(citation_id: i64, fcinfo: pg_sys::FunctionCallInfo) -> Result<CitedRow> {
    let tenant = tenant::current();
    let fits = |rows: &CitedRows| rows.tenant == tenant;
    let rows = kept(fcinfo, fits, || CitedRows::of(tenant.clone()))?;
    if !rows.states.contains_key(&citation_id) {
        let states = rows.of_turn(citation_id)?;
        if rows.states.len() >= MOST_STATES {
            rows.states.clear();
        }
        rows.states.extend(states);
    }
    Ok(rows.states.get(&citation_id).copied().unwrap_or_default())
}

impl CitedRows {
    fn of(tenant: Option<String>) -> Result<Self> {
        let sight = match &tenant {
            _ if membership::is_auditor()? => Sight::Auditor,
            Some(tenant) => Sight::Tenant(Reader::of(tenant)),
            None => Sight::Nothing,
        };
        Ok(Self {
            tenant,
            sight,
            states: BTreeMap::new(),
            locked: BTreeSet::new(),
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
        let mut states = BTreeMap::from([(citation_id, CitedRow::default())]);
        for (corpus, cited) in by_corpus {
            if let Some(rows) = self.rows(corpus, &cited)? {
                states.extend(
                    cited
                        .iter()
                        .map(|cited| (cited.citation_id, row(cited, &rows))),
                );
            }
        }
        Ok(states)
    }

    /// Whether the caller may know the state of a source. A merged source is hidden if one of its passages is.
    fn may_know(&mut self, cited: &CitedSource) -> Result<bool> {
        match &mut self.sight {
            Sight::Auditor => Ok(true),
            Sight::Tenant(reader) if reader.tenant() == cited.tenant => {
                let passages = cited.member_chunk_ids.iter().map(|chunk_id| SourceKey {
                    corpus: cited.corpus.clone(),
                    doc_id: cited.doc_id.clone(),
                    chunk_id: chunk_id.clone(),
                });
                Ok(reader.hidden(passages)?.is_empty())
            }
            Sight::Tenant(_) | Sight::Nothing => Ok(false),
        }
    }

    /// The present rows of cited sources of a corpus of a tenant; `None` if they are not known, or cannot be read.
    fn rows(&mut self, of: (String, String), cited: &[CitedSource]) -> Result<Option<Rows>> {
        if self.locked.contains(&of) {
            return Ok(None);
        }
        let (tenant, name) = &of;
        let chunk_ids: BTreeSet<&String> = cited
            .iter()
            .flat_map(|cited| &cited.member_chunk_ids)
            .collect();
        let sees_all = matches!(self.sight, Sight::Auditor);
        let read = sql::guarded(|| {
            // A table that is being rebuilt must not stop a report about all others.
            with_settings(&[(c"lock_timeout", c"5s")], || match sees_all {
                true => rows_of_all(tenant, name, chunk_ids),
                false => visible_rows(tenant, name, chunk_ids),
            })
        });
        match read {
            Ok(rows) => Ok(rows),
            Err(caught) if caught.is_lock_timeout() => {
                self.locked.insert(of);
                Ok(None)
            }
            Err(caught) => none_if_lasting(caught),
        }
    }
}

/// Passages by id.
type Rows = BTreeMap<String, Passage>;

/// The state of a source with the present rows of its corpus.
fn row(cited: &CitedSource, rows: &Rows) -> CitedRow {
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
    let Some(state) = state_since(seen, version, rows) else {
        return CitedRow::default();
    };
    let first = (cited.member_chunk_ids.first()).and_then(|chunk_id| rows.get(chunk_id));
    CitedRow {
        state: Some(state),
        version: first.and_then(|row| row.version),
        modified: first.and_then(|row| epoch_seconds(row.modified.as_deref()?)),
    }
}

/// The rows of a registered table that a tenant may read, with its own rights, because the role that registered the table may have no right to read it.
fn visible_rows(tenant: &str, name: &str, chunk_ids: BTreeSet<&String>) -> Result<Option<Rows>> {
    match corpora::usable(tenant, name)? {
        Some(corpus) if !corpus.managed => {
            passages::by_key(&corpus.hashed_by_us(), &Filter::default(), chunk_ids).map(Some)
        }
        _ => Ok(None),
    }
}

/// The rows of a registered table, of all tenants, with the rights of the caller. `None` if the caller does not see every row, because hidden
/// and deleted rows look the same, or would run code of another role, which would get the rights of an auditor.
fn rows_of_all(tenant: &str, name: &str, chunk_ids: BTreeSet<&String>) -> Result<Option<Rows>> {
    let Some(corpus) = corpora::usable(tenant, name)?.filter(|corpus| !corpus.managed) else {
        return Ok(None);
    };
    let relations = || [&corpus.relation, &corpus.documents].into_iter().flatten();
    // Without the locks and the snapshot, the owner could replace a table by a view unseen.
    for relation in relations() {
        sql::lock_relation(relation)?;
    }
    let is_safe = with_latest_snapshot(|| {
        for relation in relations() {
            if !sees_every_row_of(relation)? {
                return Ok(false);
            }
        }
        Ok::<_, Error>(corpus.other_owners()?.is_empty())
    });
    match is_safe? {
        true => passages::of_all_tenants(&corpus.clone().hashed_by_us(), chunk_ids).map(Some),
        false => Ok(None),
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
