//! What a composed turn leaves behind, besides its own row.

use std::collections::BTreeMap;

use reground_grounding::begin::Composed;
use reground_grounding::passage::Passage;
use reground_grounding::settings::Settings;

use crate::error::Result;
use crate::profile::stage;
use crate::store::chain::About;
use crate::store::markers::{self, Row};
use crate::store::{chain, facts, traces};

/// Writes markers, trace, facts and link of a composed turn, whose row has its context.
pub fn write(
    tenant: &str,
    conversation_id: i64,
    turn_id: i64,
    number: i32,
    composed: &Composed,
    settings: &Settings,
) -> Result<()> {
    let described: BTreeMap<&str, &Passage> = composed
        .context
        .iter()
        .map(|source| (source.marker.as_str(), &source.candidate.passage))
        .collect();
    let rows: Vec<Row> = composed
        .new_markers
        .iter()
        .map(|bound| {
            let passage = described.get(bound.marker.as_str());
            Row::new(
                bound,
                passage.and_then(|passage| passage.title.clone()),
                passage.and_then(|passage| passage.uri.clone()),
            )
        })
        .collect();
    stage("write markers", || {
        markers::add(tenant, conversation_id, number, &rows)
    })?;
    stage("write facts", || {
        facts::write(tenant, turn_id, &composed.context)
    })?;
    stage("write trace", || {
        traces::write(
            tenant,
            turn_id,
            &composed.context,
            &composed.dropped,
            settings,
        )
    })?;
    if settings.chains() {
        let link = About::Turn(turn_id);
        stage("write chain", || {
            chain::append(tenant, conversation_id, link)
        })?;
    }
    Ok(())
}
