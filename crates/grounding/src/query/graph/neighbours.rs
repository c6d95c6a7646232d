//! Nominates passages of the repeated entities' neighbours.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::passage::{Branch, Hit, RankedList};
use crate::settings::Settings;

/// Maximum number of passages in the list of neighbours.
const MAX_NEIGHBOURS: usize = 5;

/// An edge, seen from one of its entities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Neighbour {
    /// Normal form of the entity's name.
    pub entity: String,
    /// Weight of the edge, above 0.
    pub weight: f64,
    /// Key of the passage that states it.
    pub chunk_id: String,
}

/// The passages of the edges, each once, with the weight of its strongest edge. Sorted by descending weight, then by
/// descending number of entities, then by key.
#[must_use]
pub fn nominate(edges: &[Neighbour]) -> Vec<Hit> {
    let mut passages: BTreeMap<&str, (f64, BTreeSet<&str>)> = BTreeMap::new();
    for edge in edges {
        let (weight, entities) = passages.entry(&edge.chunk_id).or_default();
        *weight = weight.max(edge.weight);
        entities.insert(&edge.entity);
    }
    let mut order: Vec<(&str, f64, usize)> = passages
        .into_iter()
        .map(|(key, (weight, entities))| (key, weight, entities.len()))
        .collect();
    order.sort_by(|a, b| {
        let stronger = b.1.total_cmp(&a.1);
        stronger.then(b.2.cmp(&a.2)).then(a.0.cmp(b.0))
    });
    let hits = order.into_iter().map(|(chunk_id, value, _)| Hit {
        chunk_id: chunk_id.to_owned(),
        value,
    });
    hits.collect()
}

/// The first `MAX_NEIGHBOURS` of the nominated passages that the caller may see, as a list for fusion; `None` if none
/// is left. Invisible passages do not use up places.
#[must_use]
pub fn neighbour_list(
    nominated: Vec<Hit>,
    visible: &BTreeSet<String>,
    settings: &Settings,
) -> Option<RankedList> {
    let mut hits = nominated;
    hits.retain(|hit| visible.contains(&hit.chunk_id));
    hits.truncate(MAX_NEIGHBOURS);
    (!hits.is_empty()).then_some(RankedList {
        branch: Branch::Graph,
        weight: settings.graph_weight,
        entity: None,
        hits,
    })
}
