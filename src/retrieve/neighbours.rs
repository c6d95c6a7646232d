//! The knowledge graph's part of a turn's search: passages on neighbours of the entities that the conversation repeats.

use std::collections::BTreeSet;

use reground_grounding::passage::RankedList;
use reground_grounding::query::graph::{ConversationText, neighbour_list, nominate};
use reground_grounding::query::intent::Intent;
use reground_grounding::query::plan::TurnQuery;
use reground_grounding::settings::Settings;

use crate::error::Result;
use crate::profile::stage;
use crate::retrieve::filter::Filter;
use crate::retrieve::passages;
use crate::store::corpora::Corpus;
use crate::store::edges;

/// The contribution of the graph to a turn.
#[derive(Default)]
pub struct Nominated {
    /// Entities that the conversation repeats and that a visible passage names.
    pub nodes: Vec<String>,
    /// Passages on their neighbours that the caller may read and that pass the filter.
    pub list: Option<RankedList>,
}

/// Searches the graph of a corpus; returns nothing if the setting `graph` is off.
pub fn of(
    corpus: &Corpus,
    turn_query: &TurnQuery<'_>,
    intent: Intent,
    filter: &Filter,
    settings: &Settings,
) -> Result<Nominated> {
    if !settings.graph {
        return Ok(Nominated::default());
    }
    stage("graph", || {
        let now = [Some(turn_query.query), turn_query.rewrite];
        let earlier = turn_query.earlier.iter();
        let earlier = earlier.map(|turn| vec![turn.query.as_str(), turn.answer.as_str()]);
        let conversation = ConversationText::new(now.into_iter().flatten(), earlier);
        let names = conversation.keys();
        if names.is_empty() {
            return Ok(Nominated::default());
        }
        let known = edges::nodes(corpus, &names)?;
        let nodes = conversation.repeated(&known, intent != Intent::NewTopic);
        let neighbours = edges::of(corpus, &nodes)?;
        let hits = nominate(&neighbours);
        let visible = passages::documents_of(corpus, filter, hits.iter().map(|hit| &hit.chunk_id))?;
        let visible: BTreeSet<String> = visible.into_keys().collect();
        // An entity that only hidden passages name must not be stored with the turn.
        let named = neighbours
            .into_iter()
            .filter(|edge| visible.contains(&edge.chunk_id))
            .map(|edge| edge.entity)
            .collect::<BTreeSet<_>>();
        Ok(Nominated {
            nodes: nodes
                .into_iter()
                .filter(|node| named.contains(node))
                .collect(),
            list: neighbour_list(hits, &visible, settings),
        })
    })
}
