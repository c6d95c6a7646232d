//! Several corpora under one question: what each found becomes one set of lists, before anything is fused.
//!
//! Corpora that are asked together compare the same embeddings, so their vector lists are one list by distance. Their BM25
//! scores come from collections of their own, and are merged as they are, as shards of one index are where no statistics are
//! exchanged: a word that is rare in one corpus counts for more there.
//!
//! Keys are unique within a corpus only. So the lists of the first corpus name a passage by its key, those of the others by
//! a *handle* made of corpus and key; everything that is looked up by what a list says goes by these.

use std::collections::BTreeMap;

use crate::begin::carry::CarriedInput;
use crate::begin::fuse::BranchScores;
use crate::passage::{Branch, Hit, Passage, RankedList};

/// Between corpus and key: no name that a person gives contains it.
const SEPARATOR: char = '\u{1f}';

/// What lists name a passage by that is not of the first corpus.
#[must_use]
pub fn handle(corpus: &str, key: &str) -> String {
    format!("{corpus}{SEPARATOR}{key}")
}

/// What the search of one corpus found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CorpusResults {
    /// The answers of the branches: of each branch the turn's own query first, in the same order for every corpus.
    pub lists: Vec<RankedList>,
    /// What both branches say of the candidates.
    pub scores: BranchScores,
    /// The passages that the lists name, by key.
    pub passages: BTreeMap<String, Passage>,
}

/// Joins what another corpus found to what the first has: lists of the same branch and place become one, best first, of at
/// most `limit` hits; at equal values what was there comes first, then the smaller handle.
pub fn join(first: &mut CorpusResults, corpus: &str, other: CorpusResults, limit: usize) {
    let named = |key: String| handle(corpus, &key);
    let mut places: BTreeMap<&'static str, usize> = BTreeMap::new();
    for list in other.lists {
        let place = places.entry(list.branch.name()).or_default();
        let same = |own: &&mut RankedList| own.branch == list.branch;
        let own = first.lists.iter_mut().filter(same).nth(*place);
        *place += 1;
        let hits = list.hits.into_iter().map(|hit| Hit {
            key: named(hit.key),
            ..hit
        });
        match own {
            Some(own) => {
                own.hits.extend(hits);
                rank(&mut own.hits, own.branch);
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
    let passages = other.passages.into_iter();
    first
        .passages
        .extend(passages.map(|(key, passage)| (named(key), passage)));
}

/// Lets remembered sources of another corpus of the turn go by what its lists name them by.
pub fn rename(carried: &mut [CarriedInput], corpus: &str) {
    let options = carried.iter_mut().flat_map(|input| &mut input.options);
    for option in options.filter(|option| option.passage.corpus == corpus) {
        option.handle = Some(handle(corpus, &option.passage.key));
    }
}

/// Orders hits, best first; equal ones stay in their order.
fn rank(hits: &mut [Hit], branch: Branch) {
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
                    key: (*key).to_owned(),
                    value: *value,
                })
                .collect(),
        }
    }

    fn found(lists: Vec<RankedList>) -> CorpusResults {
        let keys = lists.iter().flat_map(|list| &list.hits);
        CorpusResults {
            passages: keys
                .map(|hit| (hit.key.clone(), passage("doc", &hit.key, 0, 0, &hit.key)))
                .collect(),
            scores: BranchScores::default(),
            lists,
        }
    }

    fn keys(list: &RankedList) -> Vec<&str> {
        list.hits.iter().map(|hit| hit.key.as_str()).collect()
    }

    #[test]
    fn lists_of_a_branch_become_one_best_first() {
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
        join(&mut first, "b", other, 3);
        let b = |key: &str| handle("b", key);
        assert_eq!(keys(&first.lists[0]), ["1", &b("1"), "2"]);
        assert_eq!(keys(&first.lists[1]), [&b("1"), "2"]);
        assert_eq!(keys(&first.lists[2]), [&b("2"), "1", &b("1")]);
        assert_eq!(first.lists.len(), 3);
    }

    #[test]
    fn a_key_that_both_have_stays_two_passages() {
        let mut first = found(vec![list(Branch::Lexical, &[("1", 9.0)])]);
        let mut other = found(vec![list(Branch::Lexical, &[("1", 4.0)])]);
        other.scores.lexical.insert("1".into(), 4.0);
        join(&mut first, "b", other, 10);
        assert_eq!(first.passages.len(), 2);
        assert_eq!(first.scores.lexical.get(&handle("b", "1")), Some(&4.0));
        assert!(!first.scores.lexical.contains_key("1"));
    }

    /// One that has no embeddings lacks the list; what the other has of it stands.
    #[test]
    fn a_branch_that_only_one_has_is_kept() {
        let mut first = found(vec![list(Branch::Lexical, &[("1", 9.0)])]);
        let other = found(vec![
            list(Branch::Lexical, &[]),
            list(Branch::Vector, &[("7", 0.5)]),
        ]);
        join(&mut first, "b", other, 10);
        assert_eq!(first.lists.len(), 2);
        assert_eq!(keys(&first.lists[1]), [handle("b", "7")]);
    }
}
