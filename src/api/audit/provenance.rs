//! Verification of the passages of a turn against their relations, and of a conversation against its chain.

use std::collections::{BTreeMap, BTreeSet};

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_documents::content_hash_hex;
use reground_grounding::inspect::source_state::{CitedPassage, source_state};
use reground_grounding::passage::Passage;
use reground_provenance::link::LinkKind;
use reground_provenance::verification::{self, Finding, Verifier};
use serde::Serialize;

use crate::api::{given, not_empty};
use crate::error::{Error, Result};
use crate::retrieve::filter::Filter;
use crate::retrieve::passages;
use crate::rows;
use crate::store::chain::{self, Chained};
use crate::store::corpora::{self, Corpus};
use crate::store::{traces, turns};

/// A row of `verify_turn`.
#[derive(Serialize)]
struct PassageStateRow<'a> {
    corpus: &'a str,
    doc_id: &'a str,
    chunk_id: &'a str,
    marker: Option<&'a str>,
    stored_hash: &'a str,
    current_hash: Option<String>,
    content_state: &'static str,
}

#[pg_extern(sql = false)]
fn verify_turn(
    turn_id: Option<i64>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let turn_id = given(turn_id, "turn_id")?;
    let tenant =
        turns::tenant_of(turn_id)?.ok_or_else(|| Error::Unknown("turn", turn_id.to_string()))?;
    let mut seen = traces::traced_candidates(&tenant, turn_id)?;
    for one in &mut seen {
        // Below the provenance level `hash`, the stored hash came from the relation. The hash of the stored text replaces it.
        let computed = || one.content.as_deref().map(content_hash_hex);
        one.hash = one.hash.take().or_else(computed);
    }
    let current = current_passages(&tenant, &seen)?;
    let rows: Vec<PassageStateRow<'_>> = seen
        .iter()
        .filter_map(|one| {
            let stored_hash = one.hash.as_deref()?;
            let cited = CitedPassage {
                doc_id: &one.doc_id,
                member_chunk_ids: &one.member_chunk_ids,
                content_hash: stored_hash,
                window: one.window_of.as_ref().zip(one.characters),
            };
            let (current_hash, state) = match current.get(one.corpus.as_str()) {
                Some(found) => {
                    let (hash, state) = source_state(cited, found);
                    (hash, state.name())
                }
                None => (None, "unknown"),
            };
            Some(PassageStateRow {
                corpus: &one.corpus,
                doc_id: &one.doc_id,
                chunk_id: &one.chunk_id,
                marker: one.marker.as_deref(),
                stored_hash,
                current_hash,
                content_state: state,
            })
        })
        .collect();
    rows::emit(fcinfo, &rows)?;
    Ok(())
}

/// Reads the current passages by corpus and id, as the caller. A corpus that the caller cannot read is left out.
fn current_passages<'a>(
    tenant: &str,
    seen: &'a [traces::TracedCandidate],
) -> Result<BTreeMap<&'a str, BTreeMap<String, Passage>>> {
    let mut chunk_ids: BTreeMap<&str, BTreeSet<&String>> = BTreeMap::new();
    for one in seen {
        chunk_ids
            .entry(&one.corpus)
            .or_default()
            .extend(&one.member_chunk_ids);
    }
    let everything = Filter::default();
    let mut found = BTreeMap::new();
    for (name, chunk_ids) in chunk_ids {
        if let Some(corpus) = corpora::usable(tenant, name)?.map(Corpus::hashed_by_us) {
            found.insert(name, passages::by_key(&corpus, &everything, chunk_ids)?);
        }
    }
    Ok(found)
}

/// A row of `verify_chain`.
#[derive(Serialize)]
struct LinkRow {
    tenant: String,
    link_no: Option<i64>,
    kind: Option<&'static str>,
    turn_no: Option<i32>,
    turn_id: Option<i64>,
    message_id: Option<i64>,
    status: &'static str,
    detail: Option<String>,
    linked_at: Option<String>,
}

#[pg_extern(sql = false)]
fn verify_chain(
    conversation_ref: Option<&str>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let name = not_empty(conversation_ref, "conversation_ref")?;
    let conversations = chain::conversations(name)?;
    if conversations.is_empty() {
        return Err(Error::Unknown("conversation", name.to_owned()).into());
    }
    let mut rows = Vec::new();
    for conversation in &conversations {
        rows.extend(verify(conversation)?);
    }
    rows::emit(fcinfo, &rows)?;
    Ok(())
}

/// Verifies the chain of a conversation.
fn verify(conversation: &Chained) -> Result<Vec<LinkRow>> {
    let checkpoints = conversation.checkpoints();
    let links = conversation.links()?;
    let first = links.first().map(|stored| stored.link.header.link_no);
    let (after, digest) = verification::start(&checkpoints, first);
    let mut verifier = Verifier::after(&conversation.tenant, after, digest);
    let mut rows = Vec::new();
    let row = |finding: Finding| LinkRow {
        tenant: conversation.tenant.clone(),
        link_no: finding.link_no,
        kind: None,
        turn_no: None,
        turn_id: None,
        message_id: None,
        status: finding.status.name(),
        detail: Some(finding.detail).filter(|detail| !detail.is_empty()),
        linked_at: None,
    };
    for stored in &links {
        let content = chain::content_of(&stored.link)?;
        let header = &stored.link.header;
        for finding in verifier.check(&stored.link, &content) {
            let own = finding.link_no == Some(header.link_no);
            let mut row = row(finding);
            if own {
                row.kind = Some(header.kind.name());
                row.turn_no = stored.turn_no;
                row.turn_id = Some(header.turn_id);
                row.message_id = header.message_id;
                row.linked_at = Some(stored.linked_at.clone());
            }
            rows.push(row);
        }
    }
    let end = verifier.finish(conversation.length, conversation.head());
    rows.extend(end.into_iter().map(row));
    for unlinked in chain::unlinked(conversation.conversation_id)? {
        let kind = match (unlinked.message_id, unlinked.retrieval_no) {
            (Some(_), _) => LinkKind::Answer,
            (None, Some(_)) => LinkKind::Retrieval,
            (None, None) => LinkKind::Turn,
        };
        let mut row = row(verification::unlinked(kind));
        row.kind = Some(kind.name());
        row.turn_no = Some(unlinked.turn_no);
        row.turn_id = Some(unlinked.turn_id);
        row.message_id = unlinked.message_id;
        rows.push(row);
    }
    Ok(rows)
}
