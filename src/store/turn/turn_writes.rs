//! Writes the markers, trace and chain link of a turn. Its row is written by `turns`.

use std::collections::BTreeMap;

use reground_grounding::begin::Composed;
use reground_grounding::caller::additional_sources::AdditionalSources;
use reground_grounding::memory::{BoundMarker, ContextSource};
use reground_grounding::passage::{Dropped, Passage};
use reground_grounding::settings::Settings;

use crate::error::Result;
use crate::profile::stage;
use crate::store::chain::About;
use crate::store::markers::{self, Bound, Row};
use crate::store::{chain, traces};

/// Writes these for a composed turn. The row of the turn must contain its context.
pub fn write(
    tenant: &str,
    conversation_id: i64,
    turn_id: i64,
    turn_no: i32,
    composed: &Composed,
    settings: &Settings,
) -> Result<()> {
    let (bound, sources) = (&composed.new_markers, &composed.context);
    let bound = described(conversation_id, turn_no, bound, sources);
    stage("write markers", || markers::add(tenant, &bound))?;
    stage("write trace", || {
        traces::write(
            tenant,
            turn_id,
            &composed.context,
            &composed.dropped,
            settings,
        )
    })?;
    if let Some(losses) = &composed.rerank {
        stage("write rerank", || {
            traces::write_losses(tenant, turn_id, losses)
        })?;
    }
    if settings.chains() {
        let link = About::Turn(turn_id);
        stage("write chain", || {
            chain::append(tenant, conversation_id, link)
        })?;
    }
    Ok(())
}

/// An additional retrieval of a turn. The row of the turn must contain the added sources.
pub struct Retrieved<'a> {
    pub turn_id: i64,
    /// Number of the turn within its conversation.
    pub turn_no: i32,
    /// Number of the retrieval within the turn.
    pub retrieval_no: u32,
    pub further: &'a AdditionalSources,
    pub dropped: &'a [Dropped],
}

/// Writes markers, trace and chain link of an additional retrieval.
pub fn add(
    tenant: &str,
    conversation_id: i64,
    retrieved: &Retrieved<'_>,
    settings: &Settings,
) -> Result<()> {
    let Retrieved {
        turn_id,
        turn_no,
        retrieval_no,
        further,
        dropped,
    } = *retrieved;
    let (bound, sources) = (&further.new_markers, &further.shown);
    let bound = described(conversation_id, turn_no, bound, sources);
    stage("write markers", || markers::add(tenant, &bound))?;
    stage("write trace", || {
        traces::add(turn_id, retrieval_no, &further.added, dropped, settings)
    })?;
    if settings.chains() {
        let link = About::Retrieval(turn_id, retrieval_no.into());
        stage("write chain", || {
            chain::append(tenant, conversation_id, link)
        })?;
    }
    Ok(())
}

/// The new markers of a turn, with titles and addresses of their documents.
fn described(
    conversation_id: i64,
    first_turn_no: i32,
    bound: &[BoundMarker],
    sources: &[ContextSource],
) -> Vec<Bound> {
    let described: BTreeMap<&str, &Passage> = sources
        .iter()
        .map(|source| (source.marker.as_str(), &source.candidate.passage))
        .collect();
    bound
        .iter()
        .map(|bound| Bound {
            conversation_id,
            first_turn_no,
            row: Row::new(bound, described.get(bound.marker.as_str()).copied()),
        })
        .collect()
}
