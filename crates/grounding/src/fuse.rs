//! Reciprocal rank fusion (C6, metric 1), over identities instead of rows (C5).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::identity::{Known, PassageId, twin_classes};
use crate::passage::{Branch, Candidate, Dropped, Origin, Passage, RankedList, Reason, Stage};
use crate::relevance::Scale;
use crate::settings::Settings;

/// A row of a plain fusion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FusedRow {
    /// Key of the passage.
    pub key: String,
    /// Σ weight / (k + rank) over the lists that hold it.
    pub score: f64,
    /// Best rank over the lexical lists, from 1.
    pub lexical_rank: Option<u32>,
    /// Score at that rank.
    pub lexical_score: Option<f64>,
    /// Best rank over the vector lists, from 1.
    pub vector_rank: Option<u32>,
    /// Distance at that rank.
    pub vector_distance: Option<f64>,
    /// Compared entities whose lists hold it, sorted.
    pub entities: Vec<String>,
}

/// Plain fusion for `search`: every key stands for itself.
///
/// Rank is the position in the list from 1, gaps and repetitions included, as the branch returned it: the rank that a
/// trace shows is the rank that a person can recompute. Within a list the best rank of a key counts. Order: score
/// descending, then key ascending, which is total; the order of the lists does not matter.
#[must_use]
pub fn rrf(lists: &[RankedList], k: f64) -> Vec<FusedRow> {
    rrf_by(lists, k, Some)
}

/// Fusion where `name` says which passage a hit counts for; hits that it does not know are skipped, keeping the ranks
/// of the others.
fn rrf_by<'a>(
    lists: &'a [RankedList],
    k: f64,
    name: impl Fn(&'a str) -> Option<&'a str>,
) -> Vec<FusedRow> {
    let mut standing: BTreeMap<&str, Standing> = BTreeMap::new();
    for (index, list) in lists.iter().enumerate() {
        for (position, hit) in list.hits.iter().enumerate() {
            if let Some(key) = name(&hit.key) {
                let rank = u32::try_from(position + 1).unwrap_or(u32::MAX);
                standing
                    .entry(key)
                    .or_default()
                    .enter(index, list, rank, hit.value, k);
            }
        }
    }
    let mut rows: Vec<_> = standing
        .into_iter()
        .map(|(key, s)| s.into_row(key))
        .collect();
    rows.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.key.cmp(&b.key)));
    rows
}

/// How one passage stands in the lists read so far.
#[derive(Default)]
struct Standing {
    last_list: Option<usize>,
    shares: Vec<f64>,
    lexical: Option<(u32, f64)>,
    vector: Option<(u32, f64)>,
    entities: Vec<String>,
}

impl Standing {
    fn enter(&mut self, index: usize, list: &RankedList, rank: u32, value: f64, k: f64) {
        if self.last_list == Some(index) {
            return;
        }
        self.last_list = Some(index);
        self.shares.push(list.weight / (k + f64::from(rank)));
        self.entities.extend(list.entity.clone());
        let best = match list.branch {
            Branch::Lexical => &mut self.lexical,
            Branch::Vector => &mut self.vector,
        };
        if best.is_none_or(|(before, _)| rank < before) {
            *best = Some((rank, value));
        }
    }

    fn into_row(mut self, key: &str) -> FusedRow {
        // Summed from the smallest, so that the order of the lists cannot show in the last digit.
        self.shares.sort_by(f64::total_cmp);
        self.entities.sort();
        self.entities.dedup();
        FusedRow {
            key: key.to_owned(),
            score: self.shares.iter().sum(),
            lexical_rank: self.lexical.map(|best| best.0),
            lexical_score: self.lexical.map(|best| best.1),
            vector_rank: self.vector.map(|best| best.0),
            vector_distance: self.vector.map(|best| best.1),
            entities: self.entities,
        }
    }
}

/// The fused candidates, and the twins that gave way to them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fused {
    /// One candidate for each identity, best first.
    pub candidates: Vec<Candidate>,
    /// Twins, with the key that stands for them.
    pub dropped: Vec<Dropped>,
}

/// Fuses the lists over identities: twins count as one *before* their ranks are added up, so a twin first in one list
/// and its twin first in another make one strong candidate instead of two weak ones.
///
/// Of a class the passage stands that the conversation knows already (its marker exists), else the one with the higher
/// fused score of its own, else the smaller key; `also_in` lists the others. Hits without a passage (gone since the
/// search) are skipped. Order as in [`rrf`].
#[must_use]
pub fn fuse(
    lists: &[RankedList],
    passages: &BTreeMap<String, Passage>,
    known: &Known,
    scale: &Scale,
    settings: &Settings,
) -> Fused {
    let own = rrf_by(lists, settings.rrf_k, |key| {
        passages.get_key_value(key).map(|(k, _)| k.as_str())
    });
    let mut members: Vec<(&FusedRow, &Passage)> = own
        .iter()
        .filter_map(|row| Some((row, passages.get(&row.key)?)))
        .collect();
    members.sort_by_key(|(_, passage)| !known.contains(&PassageId::of(passage)));

    let ordered: Vec<&Passage> = members.iter().map(|(_, passage)| *passage).collect();
    let classes = if settings.collapse_twins {
        twin_classes(&ordered, settings.twin_overlap)
    } else {
        (0..ordered.len()).collect()
    };
    let leaders: BTreeMap<&str, &Passage> = ordered
        .iter()
        .zip(&classes)
        .filter_map(|(passage, &leader)| Some((passage.key.as_str(), *ordered.get(leader)?)))
        .collect();
    let fused = rrf_by(lists, settings.rrf_k, |key| {
        leaders.get(key).map(|leader| leader.key.as_str())
    });

    let mut also_in: BTreeMap<&str, Vec<(String, String)>> = BTreeMap::new();
    let mut relevance: BTreeMap<&str, f64> = BTreeMap::new();
    let mut dropped = Vec::new();
    for (row, passage) in &members {
        let Some(leader) = leaders.get(row.key.as_str()) else {
            continue;
        };
        let own_relevance = scale.fresh(&row.key);
        let best = relevance.entry(&leader.key).or_default();
        *best = best.max(own_relevance);
        if leader.key != row.key {
            also_in
                .entry(&leader.key)
                .or_default()
                .push((passage.doc_id.clone(), passage.key.clone()));
            dropped.push(Dropped {
                candidate: fresh((*row).clone(), (*passage).clone(), own_relevance),
                stage: Stage::Collapse,
                reason: Reason::Twin,
                into: Some(leader.key.clone()),
            });
        }
    }
    let candidates = fused
        .into_iter()
        .filter_map(|row| {
            let passage = passages.get(&row.key)?.clone();
            let twins = also_in.remove(row.key.as_str()).unwrap_or_default();
            let relevance = relevance.get(row.key.as_str()).copied().unwrap_or_default();
            Some(Candidate {
                also_in: twins,
                ..fresh(row, passage, relevance)
            })
        })
        .collect();
    Fused {
        candidates,
        dropped,
    }
}

fn fresh(row: FusedRow, passage: Passage, relevance: f64) -> Candidate {
    Candidate {
        lexical_rank: row.lexical_rank,
        lexical_score: row.lexical_score,
        vector_rank: row.vector_rank,
        vector_distance: row.vector_distance,
        fused: row.score,
        relevance,
        entities: row.entities,
        ..Candidate::bare(passage, Origin::Fresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::twins;
    use crate::passage::Metric;
    use crate::synthetic::{arbitrary_passages, list, passage};
    use proptest::prelude::*;

    fn table(passages: Vec<Passage>) -> BTreeMap<String, Passage> {
        passages.into_iter().map(|p| (p.key.clone(), p)).collect()
    }

    fn run(lists: &[RankedList], passages: &BTreeMap<String, Passage>) -> Fused {
        let scale = Scale::of(lists, Metric::Cosine);
        fuse(lists, passages, &Known::new(), &scale, &Settings::default())
    }

    #[test]
    fn ranks_follow_the_formula() {
        let rows = rrf(
            &[
                list(Branch::Lexical, &["a", "b"]),
                list(Branch::Vector, &["b", "c"]),
            ],
            60.0,
        );
        let keys: Vec<_> = rows.iter().map(|r| r.key.as_str()).collect();
        assert_eq!(keys, ["b", "a", "c"]);
        assert!((rows[0].score - (1.0 / 62.0 + 1.0 / 61.0)).abs() < 1e-15);
        assert_eq!(
            (rows[0].lexical_rank, rows[0].vector_rank),
            (Some(2), Some(1))
        );
        assert_eq!(rows[1].vector_rank, None);
    }

    #[test]
    fn twins_add_up_across_lists() {
        let passages = table(vec![
            passage("d", "a", 0, 0, "same words"),
            passage("e", "b", 0, 0, "same words"),
            passage("d", "c", 5, 500, "something else"),
        ]);
        // Apart, c at 2 and 2 would win against a at 1 and b at 1.
        let lists = [
            list(Branch::Lexical, &["a", "c"]),
            list(Branch::Vector, &["b", "c"]),
        ];
        let fused = run(&lists, &passages);
        assert_eq!(fused.candidates[0].passage.key, "a");
        assert!((fused.candidates[0].fused - 2.0 / 61.0).abs() < 1e-15);
        assert_eq!(
            fused.candidates[0].also_in,
            [("e".to_owned(), "b".to_owned())]
        );
        assert_eq!(fused.dropped[0].into.as_deref(), Some("a"));
        assert_eq!(fused.candidates[1].lexical_rank, Some(2));
    }

    #[test]
    fn the_twin_that_the_conversation_knows_stands() {
        let passages = table(vec![
            passage("d", "a", 0, 0, "same words"),
            passage("e", "b", 0, 0, "same words"),
        ]);
        let lists = [list(Branch::Lexical, &["a", "b"])];
        let known = Known::from([PassageId {
            corpus: "manual".into(),
            key: "b".into(),
        }]);
        let scale = Scale::of(&lists, Metric::Cosine);
        let fused = fuse(&lists, &passages, &known, &scale, &Settings::default());
        assert_eq!(fused.candidates[0].passage.key, "b");
        assert_eq!(fused.candidates[0].lexical_rank, Some(1));
    }

    fn arbitrary_lists() -> impl Strategy<Value = (Vec<Passage>, Vec<Vec<usize>>)> {
        arbitrary_passages(16).prop_flat_map(|passages| {
            let n = passages.len();
            (
                Just(passages),
                proptest::collection::vec(proptest::collection::vec(0..n + 2, 0..20), 1..4),
            )
        })
    }

    proptest! {
        #[test]
        fn fusion_equals_brute_force((passages, orders) in arbitrary_lists()) {
            let lists: Vec<RankedList> = orders.iter().enumerate().map(|(i, order)| {
                let keys: Vec<String> = order.iter().map(|&p| passages.get(p).map_or("gone".into(), |p| p.key.clone())).collect();
                let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
                RankedList { weight: 1.0 + i as f64, ..list(if i % 2 == 0 { Branch::Lexical } else { Branch::Vector }, &keys) }
            }).collect();
            let passages = table(passages);
            let fused = run(&lists, &passages);

            // Conservation: every passage that a list names is a candidate or dropped, once.
            let mut seen: Vec<_> = fused.candidates.iter().map(|c| c.passage.key.clone())
                .chain(fused.dropped.iter().map(|d| d.candidate.passage.key.clone())).collect();
            seen.sort();
            let mut named: Vec<_> = lists.iter().flat_map(|l| l.hits.iter().map(|h| h.key.clone()))
                .filter(|key| passages.contains_key(key)).collect();
            named.sort();
            named.dedup();
            prop_assert_eq!(seen, named);

            // The score of a class is the sum over lists of the best rank of any member.
            for candidate in &fused.candidates {
                let mut class = vec![candidate.passage.key.clone()];
                class.extend(candidate.also_in.iter().map(|(_, key)| key.clone()));
                for key in &class {
                    prop_assert!(key == &class[0] || twins(&passages[key], &candidate.passage, 0.9));
                }
                let expected: f64 = lists.iter().filter_map(|l| {
                    let rank = l.hits.iter().position(|h| class.contains(&h.key))? + 1;
                    Some(l.weight / (60.0 + rank as f64))
                }).sum();
                prop_assert!((candidate.fused - expected).abs() < 1e-12);
            }
            for pair in fused.candidates.windows(2) {
                prop_assert!(pair[0].fused > pair[1].fused
                    || (pair[0].fused == pair[1].fused && pair[0].passage.key < pair[1].passage.key));
            }

            // The order of the lists does not matter.
            let reversed: Vec<_> = lists.iter().rev().cloned().collect();
            let again = run(&reversed, &passages);
            let keys = |f: &Fused| f.candidates.iter().map(|c| (c.passage.key.clone(), c.fused)).collect::<Vec<_>>();
            prop_assert_eq!(keys(&fused), keys(&again));
        }
    }
}
