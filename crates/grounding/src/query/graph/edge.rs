//! Parses the edges that the application provides.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::names::{LONGEST_NAME, normal_name};
use crate::error::GroundingError;

/// A valid edge.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Edge {
    /// Name of the source entity, as given.
    pub source: String,
    /// Normal form of that name, which identifies the entity.
    pub source_entity: String,
    /// The relation between the two; `related` if none was given.
    pub relation: String,
    /// Name of the target entity, as given.
    pub target: String,
    /// Normal form of that name.
    pub target_entity: String,
    /// The document of the passage, if given.
    pub doc_id: Option<String>,
    /// Key of the passage that states the relation.
    pub chunk_id: String,
    /// Weight above 0; 1 if none was given.
    pub weight: f64,
}

/// An element of the array.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    source: String,
    target: String,
    chunk_id: Key,
    relation: Option<String>,
    doc_id: Option<Key>,
    weight: Option<f64>,
}

/// Keys may be numbers in the application. They are stored as text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Key {
    Text(String),
    Number(i64),
}

impl Key {
    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number.to_string(),
        }
    }
}

/// Parses an array of `{source, target, chunk_id, relation, doc_id, weight}`; the first three are required. If an edge
/// (entities, relation, passage) is repeated, the later one counts, at the position of the first.
///
/// # Errors
/// [`GroundingError::InvalidEdges`] with the number of the first invalid edge.
pub fn edges(given: &Value) -> Result<Vec<Edge>, GroundingError> {
    let Value::Array(given) = given else {
        return Err(GroundingError::InvalidEdges {
            fault: "not a JSON array".to_owned(),
        });
    };
    let mut places: BTreeMap<(String, String, String, String), usize> = BTreeMap::new();
    let mut all: Vec<Edge> = Vec::with_capacity(given.len());
    for (one, number) in given.iter().zip(1..) {
        let edge = edge(one).map_err(|fault| invalid(number, &fault))?;
        let same = (
            edge.chunk_id.clone(),
            edge.source_entity.clone(),
            edge.relation.clone(),
            edge.target_entity.clone(),
        );
        let place = *places.entry(same).or_insert(all.len());
        match all.get_mut(place) {
            Some(before) => *before = edge,
            None => all.push(edge),
        }
    }
    Ok(all)
}

/// The error of an edge, with its number from 1.
#[must_use]
pub fn invalid(number: usize, fault: &str) -> GroundingError {
    GroundingError::InvalidEdges {
        fault: format!("edge {number}: {fault}"),
    }
}

fn edge(given: &Value) -> Result<Edge, String> {
    let given = Given::deserialize(given).map_err(|error| error.to_string())?;
    let (source, source_entity) = entity("source", &given.source)?;
    let (target, target_entity) = entity("target", &given.target)?;
    if source_entity == target_entity {
        return Err(format!(
            "source and target are the same entity, \"{source}\""
        ));
    }
    let relation = given.relation.as_deref().map_or("", str::trim);
    if relation.chars().count() > LONGEST_NAME {
        return Err(format!("relation is longer than {LONGEST_NAME} characters"));
    }
    let weight = given.weight.unwrap_or(1.0);
    if !(weight > 0.0 && weight.is_finite()) {
        return Err(format!("weight is {weight}"));
    }
    let chunk_id = given.chunk_id.into_text();
    let texts = [&source, &target, &chunk_id];
    if texts.iter().any(|text| text.contains('\0')) || relation.contains('\0') {
        return Err("the character U+0000 is not allowed".to_owned());
    }
    Ok(Edge {
        source,
        source_entity,
        relation: if relation.is_empty() {
            "related"
        } else {
            relation
        }
        .to_owned(),
        target,
        target_entity,
        doc_id: given.doc_id.map(Key::into_text),
        chunk_id,
        weight,
    })
}

/// A name and its normal form.
fn entity(which: &str, name: &str) -> Result<(String, String), String> {
    let key = normal_name(name);
    if key.is_empty() {
        return Err(format!("{which} is empty"));
    }
    if name.trim().chars().count().max(key.chars().count()) > LONGEST_NAME {
        return Err(format!("{which} is longer than {LONGEST_NAME} characters"));
    }
    Ok((name.trim().to_owned(), key))
}
