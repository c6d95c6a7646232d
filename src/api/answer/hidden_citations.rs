//! The rows of citations without the texts of sources that the caller may no longer read.

use std::collections::BTreeSet;

use pgrx::pg_sys;
use reground_grounding::memory::{ContextSource, SourceKey};
use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::retrieve::visibility;
use crate::rows;
use crate::run_as::as_owner;
use crate::sql;
use crate::store::corpora;
use crate::store::messages::{self, CitedSource, Message, NewCitation};
use crate::store::{markers, turns::Turn};

/// Columns of a row that describe the source or repeat its text. A claim may repeat it, too.
const OF_SOURCE: [&str; 11] = [
    "claim",
    "title",
    "uri",
    "locator",
    "quote",
    "quote_start",
    "quote_end",
    "fact_summary",
    "support_parts",
    "source_version",
    "source_hash",
];

/// Returns the rows of a stored answer. `words` are its citations with texts that are not stored.
pub(in crate::api) fn emit_stored(
    fcinfo: pg_sys::FunctionCallInfo,
    tenant: &str,
    message_id: Option<i64>,
    words: Option<&[NewCitation]>,
) -> Result<()> {
    let hidden = match message_id {
        Some(message_id) => Hidden::of(tenant, message_id)?,
        None => Hidden::default(),
    };
    let (message_id, tenant) = (message_id.into(), tenant.into());
    if words.is_none() && hidden.is_empty() {
        return as_owner(|| rows::emit_from(fcinfo, &messages::rows(), &[message_id, tenant]));
    }
    let changes = match words {
        Some(words) => {
            let shown = words.iter().cloned().map(|citation| hidden.omit(citation));
            sql::json(&shown.collect::<Vec<_>>())?
        }
        None => sql::json(&hidden.changes())?,
    };
    let args = [message_id, tenant, changes.into()];
    as_owner(|| rows::emit_from(fcinfo, &messages::changed_rows(), &args))
}

/// Reads an answer. Errors: P0002 if the tenant has no such answer, or a source of its turn is hidden from the caller: the text of the
/// answer may come from it.
pub(in crate::api) fn load_shown(tenant: &str, message_id: i64) -> Result<Message> {
    let unknown = || Error::Unknown("message", message_id.to_string());
    let message = messages::load(tenant, message_id)?.ok_or_else(unknown)?;
    match visibility::hidden_turns(tenant, &[message.turn_id])?.is_empty() {
        true => Ok(message),
        false => Err(unknown()),
    }
}

/// The numbers of the citations that show a hidden source.
#[derive(Default)]
struct Hidden {
    /// They cite it.
    cited: BTreeSet<usize>,
    /// `best_other_marker` names it.
    other: BTreeSet<usize>,
}

impl Hidden {
    /// Of the citations of a stored answer.
    fn of(tenant: &str, message_id: i64) -> Result<Self> {
        if corpora::hiding(tenant)?.is_empty() {
            return Ok(Self::default());
        }
        let shown = messages::cited_sources(tenant, message_id)?;
        let sources = shown.iter().map(|shown| shown.source.clone());
        let hidden = visibility::hidden(tenant, sources)?;
        let of_hidden = shown.iter().filter(|shown| hidden.contains(&shown.source));
        let (other, cited): (Vec<_>, Vec<_>) = of_hidden.partition(|shown| shown.is_other);
        let numbers = |shown: Vec<&CitedSource>| shown.iter().map(|c| c.citation_no).collect();
        Ok(Self {
            cited: numbers(cited),
            other: numbers(other),
        })
    }

    fn is_empty(&self) -> bool {
        self.cited.is_empty() && self.other.is_empty()
    }

    /// The citation without anything of a hidden source.
    fn omit(&self, citation: NewCitation) -> NewCitation {
        let citation = match self.other.contains(&citation.citation_no) {
            true => NewCitation {
                best_other_marker: None,
                ..citation
            },
            false => citation,
        };
        match self.cited.contains(&citation.citation_no) {
            true => citation.without_source(),
            false => citation,
        }
    }

    /// The same as changes of stored rows.
    fn changes(&self) -> Vec<Value> {
        let changes = self.cited.union(&self.other).map(|citation_no| {
            let of_cited = OF_SOURCE
                .iter()
                .filter(|_| self.cited.contains(citation_no));
            let of_other = ["best_other_marker"];
            let of_other = of_other.iter().filter(|_| self.other.contains(citation_no));
            let mut changes: Map<String, Value> = of_cited
                .chain(of_other)
                .map(|column| ((*column).to_owned(), Value::Null))
                .collect();
            changes.insert("citation_no".into(), json!(citation_no));
            changes.into()
        });
        changes.collect()
    }
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
