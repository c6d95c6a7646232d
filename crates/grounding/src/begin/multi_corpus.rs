//! Merges the results of several corpora into one set of lists, before fusion.
//!
//! Corpora that are searched together use the same embeddings, so their vector lists are merged by distance. Their BM25
//! scores come from separate collections and are merged unchanged, as for shards of one index that exchange no
//! statistics: a word that is rare in one corpus weighs more there.
//!
//! Keys are unique only within a corpus. The lists of the first corpus name a passage by its key, the lists of the
//! others by a *handle* made of corpus and key. All look-ups use these names.

use std::collections::BTreeMap;

use crate::begin::carry::CarriedInput;
use crate::begin::fuse::SearchResults;
use crate::passage::{Branch, Hit, RankedList};

/// Separates corpus and key. No name that a person chooses contains it.
const SEPARATOR: char = '\u{1f}';

/// The handle of a passage of a corpus other than the first.
#[must_use]
pub fn handle(corpus: &str, key: &str) -> String {
    format!("{corpus}{SEPARATOR}{key}")
}

/// Adds the results of another corpus to those of the first. Lists of the same branch and position become one, best
/// first, with at most `limit` hits. At equal values the hits of the first corpus come first, then the smaller handle.
pub fn merge_results(first: &mut SearchResults, corpus: &str, other: SearchResults, limit: usize) {
    let named = |key: String| handle(corpus, &key);
    let mut places: BTreeMap<&'static str, usize> = BTreeMap::new();
    for list in other.lists {
        let place = places.entry(list.branch.name()).or_default();
        let same = |own: &&mut RankedList| own.branch == list.branch;
        let own = first.lists.iter_mut().filter(same).nth(*place);
        *place += 1;
        let hits = list.hits.into_iter().map(|hit| Hit {
            chunk_id: named(hit.chunk_id),
            ..hit
        });
        match own {
            Some(own) => {
                own.hits.extend(hits);
                sort_hits(&mut own.hits, own.branch);
                own.hits.truncate(limit);
            }
            None => first.lists.push(RankedList {
                hits: hits.collect(),
                ..list
            }),
        }
    }
    let renamed = |scores: BTreeMap<String, f64>| {
        let scores = scores.into_iter();
        scores.map(|(key, score)| (named(key), score))
    };
    first.scores.lexical.extend(renamed(other.scores.lexical));
    first
        .scores
        .distances
        .extend(renamed(other.scores.distances));
    let without_vector = other.without_vector.into_iter();
    first.without_vector.extend(without_vector.map(named));
    let passages = other.passages.into_iter();
    first
        .passages
        .extend(passages.map(|(key, passage)| (named(key), passage)));
    first.dates.extend(renamed(other.dates));
    first.lacks_index |= other.lacks_index;
    first.passages_read += other.passages_read;
    first.lacks_embeddings &= other.lacks_embeddings;
}

/// Gives the remembered sources of another corpus of this turn the handles that its lists use.
pub fn use_handles(carried: &mut [CarriedInput], corpus: &str) {
    let options = carried.iter_mut().flat_map(|input| &mut input.options);
    for option in options.filter(|option| option.passage.corpus == corpus) {
        option.handle = Some(handle(corpus, &option.passage.chunk_id));
    }
}

/// Sorts hits, best first. The sort is stable.
fn sort_hits(hits: &mut [Hit], branch: Branch) {
    hits.sort_by(|a, b| match branch {
        Branch::Vector => a.value.total_cmp(&b.value),
        Branch::Lexical | Branch::Graph | Branch::History => b.value.total_cmp(&a.value),
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::passage;

    fn list(branch: Branch, hits: &[(&str, f64)]) -> RankedList {
        RankedList {
            branch,
            weight: 1.0,
            entity: None,
            hits: hits
                .iter()
                .map(|(key, value)| Hit {
                    chunk_id: (*key).to_owned(),
                    value: *value,
                })
                .collect(),
        }
    }

    fn found(lists: Vec<RankedList>) -> SearchResults {
        let keys = lists.iter().flat_map(|list| &list.hits);
        SearchResults {
            passages: keys
                .map(|hit| {
                    (
                        hit.chunk_id.clone(),
                        passage("doc", &hit.chunk_id, 0, 0, &hit.chunk_id),
                    )
                })
                .collect(),
            lists,
            ..SearchResults::default()
        }
    }

    fn keys(list: &RankedList) -> Vec<&str> {
        list.hits.iter().map(|hit| hit.chunk_id.as_str()).collect()
    }

    #[test]
    fn lists_of_a_branch_are_merged_best_first() {
        let mut first = found(vec![
            list(Branch::Lexical, &[("1", 9.0), ("2", 3.0)]),
            list(Branch::Lexical, &[("2", 5.0)]),
            list(Branch::Vector, &[("1", 0.2), ("3", 0.4)]),
        ]);
        let other = found(vec![
            list(Branch::Lexical, &[("1", 4.0)]),
            list(Branch::Lexical, &[("1", 6.0)]),
            list(Branch::Vector, &[("2", 0.1), ("1", 0.3)]),
        ]);
        merge_results(&mut first, "b", other, 3);
        let b = |key: &str| handle("b", key);
        assert_eq!(keys(&first.lists[0]), ["1", &b("1"), "2"]);
        assert_eq!(keys(&first.lists[1]), [&b("1"), "2"]);
        assert_eq!(keys(&first.lists[2]), [&b("2"), "1", &b("1")]);
        assert_eq!(first.lists.len(), 3);
    }

    #[test]
    fn a_key_in_two_corpora_names_two_passages() {
        let mut first = found(vec![list(Branch::Lexical, &[("1", 9.0)])]);
        let mut other = found(vec![list(Branch::Lexical, &[("1", 4.0)])]);
        other.scores.lexical.insert("1".into(), 4.0);
        other.without_vector.insert("1".into());
        merge_results(&mut first, "b", other, 10);
        assert_eq!(first.passages.len(), 2);
        assert_eq!(first.scores.lexical.get(&handle("b", "1")), Some(&4.0));
        assert!(!first.scores.lexical.contains_key("1"));
        assert_eq!(first.without_vector, [handle("b", "1")].into());
    }

    /// A corpus without embeddings has no vector list.
    #[test]
    fn a_branch_of_only_one_corpus_is_kept() {
        let mut first = found(vec![list(Branch::Lexical, &[("1", 9.0)])]);
        let other = found(vec![
            list(Branch::Lexical, &[]),
            list(Branch::Vector, &[("7", 0.5)]),
        ]);
        merge_results(&mut first, "b", other, 10);
        assert_eq!(first.lists.len(), 2);
        assert_eq!(keys(&first.lists[1]), [handle("b", "7")]);
    }
}
