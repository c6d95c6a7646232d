//! The rows of citations without the texts of sources that the caller may no longer read.

use std::collections::BTreeSet;

use pgrx::pg_sys;
use reground_grounding::memory::{ContextSource, SourceKey};
use serde_json::{Map, Value, json};

use crate::error::Result;
use crate::retrieve::visibility;
use crate::rows;
use crate::run_as::as_owner;
use crate::sql;
use crate::store::corpora;
use crate::store::messages::{self, NewCitation};
use crate::store::{markers, turns::Turn};

/// Columns of a row that describe the source or repeat its text. A claim may repeat it, too.
const OF_SOURCE: [&str; 8] = [
    "claim",
    "title",
    "uri",
    "locator",
    "quote",
    "quote_start",
    "quote_end",
    "fact_summary",
];

/// Returns the rows of a stored answer. `words` are its citations with texts that are not stored.
pub(in crate::api) fn emit_stored(
    fcinfo: pg_sys::FunctionCallInfo,
    tenant: &str,
    message_id: Option<i64>,
    words: Option<&[NewCitation]>,
) -> Result<()> {
    let hidden = match message_id {
        Some(message_id) => hidden_citations(tenant, message_id)?,
        None => BTreeSet::new(),
    };
    let (message_id, tenant) = (message_id.into(), tenant.into());
    if words.is_none() && hidden.is_empty() {
        return as_owner(|| rows::emit_from(fcinfo, &messages::rows(), &[message_id, tenant]));
    }
    let changes = match words {
        Some(words) => {
            let shown = words.iter().cloned().map(|citation| {
                match hidden.contains(&citation.citation_no) {
                    true => citation.without_source(),
                    false => citation,
                }
            });
            sql::json(&shown.collect::<Vec<_>>())?
        }
        None => sql::json(
            &hidden
                .into_iter()
                .map(nothing_of_source)
                .collect::<Vec<_>>(),
        )?,
    };
    let args = [message_id, tenant, changes.into()];
    as_owner(|| rows::emit_from(fcinfo, &messages::changed_rows(), &args))
}

/// The change of a row that removes the texts of its source.
fn nothing_of_source(citation_no: usize) -> Value {
    let mut changes: Map<String, Value> = OF_SOURCE
        .iter()
        .map(|column| ((*column).to_owned(), Value::Null))
        .collect();
    changes.insert("citation_no".into(), json!(citation_no));
    changes.into()
}

/// The numbers of the citations of an answer that show a hidden source.
fn hidden_citations(tenant: &str, message_id: i64) -> Result<BTreeSet<usize>> {
    if corpora::hiding(tenant)?.is_empty() {
        return Ok(BTreeSet::new());
    }
    let cited = messages::cited_sources(tenant, message_id)?;
    let sources = cited.iter().map(|cited| cited.source.clone());
    let hidden = visibility::hidden(tenant, sources)?;
    let of_hidden = cited
        .into_iter()
        .filter(|cited| hidden.contains(&cited.source));
    Ok(of_hidden.map(|cited| cited.citation_no).collect())
}

/// Removes the texts of hidden sources from citations of a turn that are not stored.
pub(in crate::api) fn without_hidden(
    tenant: &str,
    turn: &Turn,
    citations: Vec<NewCitation>,
) -> Result<Vec<NewCitation>> {
    if corpora::hiding(tenant)?.is_empty() {
        return Ok(citations);
    }
    let named = citations
        .iter()
        .filter_map(|citation| citation.marker.clone());
    let bound = markers::named(turn.conversation_id, named.collect())?;
    let shown = |citation: &NewCitation| -> Vec<SourceKey> {
        let marker = citation.marker.as_deref();
        let is_named = |source: &&ContextSource| marker == Some(&source.marker);
        let of_context = turn.context.iter().filter(is_named);
        let of_register = bound.iter().filter(|row| marker == Some(&row.marker));
        of_context
            .flat_map(|source| SourceKey::members(&source.candidate))
            .chain(of_register.map(markers::Row::key))
            .chain(citation.source())
            .collect()
    };
    let hidden = visibility::hidden(tenant, citations.iter().flat_map(&shown))?;
    let without = citations.iter().cloned().map(|citation| {
        match shown(&citation)
            .iter()
            .any(|source| hidden.contains(source))
        {
            true => citation.without_source(),
            false => citation,
        }
    });
    Ok(without.collect())
}
