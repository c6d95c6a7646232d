//! The sources of the conversation that a question names.

use reground_grounding::query::asked_sources::{
    NamedSource, asked_sources, marker_names, needs_context, resolve,
};

use crate::api::turn::question::Question;
use crate::error::Result;
use crate::store::sources::StoredSource;
use crate::store::{history, markers};

/// Returns the sources that a question names, by marker or by place in the previous context.
pub(in crate::api) fn of(
    conversation_id: i64,
    question: &Question<'_>,
) -> Result<Vec<NamedSource>> {
    let asked = asked_sources(question.query);
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let rows = markers::named(conversation_id, marker_names(&asked))?;
    let bound: Vec<_> = rows.iter().map(markers::Row::bound).collect();
    let shown = if needs_context(&asked) {
        history::previous_context(conversation_id, question.repeated_turn_no)?
    } else {
        Vec::new()
    };
    Ok(resolve(&asked, &bound, &shown))
}

/// Adds named sources to the remembered ones. A passage with two named windows is there twice.
pub(in crate::api) fn add(mut live: Vec<StoredSource>, named: &[NamedSource]) -> Vec<StoredSource> {
    for NamedSource { bound, source, .. } in named {
        let is_it = |live: &&mut StoredSource| {
            (&live.source.corpus, &live.source.chunk_id) == (&source.corpus, &source.chunk_id)
                && live.asked.is_none()
        };
        match live.iter_mut().find(is_it) {
            Some(live) => live.asked = Some(bound.clone()),
            None => live.push(StoredSource {
                source: source.clone(),
                idle_seconds: 0.0,
                asked: Some(bound.clone()),
            }),
        }
    }
    live
}
