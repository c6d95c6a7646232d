//! Similarity of the sources of a context to the query and to each other, by their embeddings.
//!
//! A source that is similar to a cited one could have been cited as well. A source without an embedding has no
//! similarity.

use serde::Serialize;

use crate::passage::vectors::cosine;

/// Cosines in [−1, 1], as stored with a turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SourceSimilarities {
    /// Similarity of each source to the query, by position; `None` if no source has one.
    pub query_similarities: Option<Vec<Option<f32>>>,
    /// Similarity of each pair of sources: the first to each after it, then the second to each after it, and so on.
    /// `None` if no pair has one.
    pub source_similarities: Option<Vec<Option<f32>>>,
}

/// The similarities of a context. `sources` has the embeddings of the passages of each source, in order. A merged
/// source has the similarity of its most similar passage.
#[must_use]
pub fn source_similarities(query: Option<&[f32]>, sources: &[Vec<&[f32]>]) -> SourceSimilarities {
    let query: Vec<&[f32]> = query.into_iter().collect();
    let to_query = sources.iter().map(|source| most_alike(&query, source));
    let pairs = sources.iter().enumerate().flat_map(|(place, one)| {
        let after = sources.iter().skip(place + 1);
        after.map(move |other| most_alike(one, other))
    });
    SourceSimilarities {
        query_similarities: non_empty(to_query.collect()),
        source_similarities: non_empty(pairs.collect()),
    }
}

fn most_alike(some: &[&[f32]], others: &[&[f32]]) -> Option<f32> {
    let pairs = some
        .iter()
        .flat_map(|one| others.iter().map(move |other| cosine(one, other)));
    let most = pairs.flatten().reduce(f64::max);
    most.map(|cosine| cosine as f32)
}

fn non_empty(cosines: Vec<Option<f32>>) -> Option<Vec<Option<f32>>> {
    cosines.iter().any(Option::is_some).then_some(cosines)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EAST: &[f32] = &[2.0, 0.0];
    const NORTH: &[f32] = &[0.0, 1.0];
    const NORTH_EAST: &[f32] = &[3.0, 4.0];

    #[test]
    fn similarities_of_every_pair_in_order() {
        let sources = [vec![EAST], vec![NORTH], vec![NORTH_EAST]];
        let found = source_similarities(Some(EAST), &sources);
        assert_eq!(
            found.query_similarities,
            Some(vec![Some(1.0), Some(0.0), Some(0.6)])
        );
        assert_eq!(
            found.source_similarities,
            Some(vec![Some(0.0), Some(0.6), Some(0.8)])
        );
    }

    #[test]
    fn similarities_of_merged_sources_and_sources_without_embeddings() {
        let sources = [vec![EAST, NORTH], vec![], vec![NORTH_EAST]];
        let found = source_similarities(Some(NORTH), &sources);
        assert_eq!(
            found.query_similarities,
            Some(vec![Some(1.0), None, Some(0.8)])
        );
        assert_eq!(found.source_similarities, Some(vec![None, Some(0.8), None]));
        assert_eq!(
            source_similarities(None, &[vec![], vec![EAST]]),
            SourceSimilarities::default()
        );
        let other: &[f32] = &[1.0];
        let found = source_similarities(Some(other), &sources);
        assert_eq!(found.query_similarities, None, "other dimensions");
    }
}
