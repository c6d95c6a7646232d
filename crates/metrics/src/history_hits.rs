//! Positions of a turn's relevant passages in its own ranking and in the rankings of earlier turns. Carrying sources over can
//! help when a relevant passage ranks too low now and ranked high before.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Number of ranks that count as the top of a search.
pub const TOP: usize = 3;

/// Hits of one turn. Shares over turns are computed over the turns with a relevant passage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryHits {
    /// Bottom hit: a relevant passage ranks below the top of the turn's own search, and none in the top.
    pub bottom: bool,
    /// History hit: a relevant passage was in the top of an earlier search.
    pub history: bool,
    /// Supplement: a passage below the top was in the top of an earlier search. It need not be relevant.
    pub supplement: bool,
}

impl HistoryHits {
    /// Compares the ranking of the turn with the rankings of earlier turns, each best first. Only the first [`TOP`] ranks of
    /// the earlier rankings count. The bottom extends to the end of `ranking`. A rank holds one or more passages (several when
    /// passages were merged).
    pub fn of<'a, P, R>(
        ranking: &'a [R],
        earlier: impl IntoIterator<Item = &'a [R]>,
        relevant: &BTreeSet<P>,
    ) -> Self
    where
        P: Ord + 'a,
        &'a R: IntoIterator<Item = &'a P>,
    {
        let (top, bottom) = ranking.split_at(ranking.len().min(TOP));
        let shown: BTreeSet<&P> = earlier
            .into_iter()
            .flat_map(|ranking| ranking.iter().take(TOP))
            .flatten()
            .collect();
        let holds_relevant = |ranks: &'a [R]| ranks.iter().flatten().any(|p| relevant.contains(p));
        Self {
            bottom: holds_relevant(bottom) && !holds_relevant(top),
            history: relevant.iter().any(|passage| shown.contains(passage)),
            supplement: bottom.iter().flatten().any(|p| shown.contains(p)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a ranking: one letter per passage. Letters in brackets share a rank.
    fn ranking(letters: &str) -> Vec<Vec<char>> {
        let mut ranks: Vec<Vec<char>> = Vec::new();
        let mut open = false;
        for c in letters.chars() {
            match (c, ranks.last_mut()) {
                ('[', _) => {
                    open = true;
                    ranks.push(Vec::new());
                }
                (']', _) => open = false,
                (c, Some(rank)) if open => rank.push(c),
                (c, _) => ranks.push(vec![c]),
            }
        }
        ranks
    }

    fn hits(now: &str, earlier: &[&str], relevant: &str) -> [bool; 3] {
        let earlier: Vec<_> = earlier.iter().map(|letters| ranking(letters)).collect();
        let HistoryHits {
            bottom,
            history,
            supplement,
        } = HistoryHits::of(
            &ranking(now),
            earlier.iter().map(Vec::as_slice),
            &relevant.chars().collect(),
        );
        [bottom, history, supplement]
    }

    #[test]
    fn the_top_ends_after_rank_three() {
        assert_eq!(hits("abcd", &[], "d"), [true, false, false]);
        assert_eq!(hits("abdc", &[], "d"), [false, false, false]);
        // One relevant passage in the top is enough, wherever the others rank.
        assert_eq!(hits("abcd", &[], "ad"), [false, false, false]);
        assert_eq!(hits("wxyz", &["abc"], "c"), [false, true, false]);
        assert_eq!(hits("wxyz", &["abdc"], "c"), [false, false, false]);
    }

    #[test]
    fn a_supplement_need_not_be_relevant() {
        assert_eq!(hits("wxya", &["abc", "def"], ""), [false, false, true]);
        assert_eq!(hits("awxy", &["abc"], ""), [false, false, false]);
        assert_eq!(hits("wxya", &["nop", "bca"], "a"), [true, true, true]);
    }

    #[test]
    fn merged_passages_count_individually() {
        assert_eq!(hits("wx[yz][ab]", &["[bc]de"], "a"), [true, false, true]);
        assert_eq!(hits("wx[ya]z", &["nop[ay]"], "a"), [false, false, false]);
    }

    #[test]
    fn an_empty_ranking_has_no_hits() {
        assert_eq!(hits("", &[], "a"), [false, false, false]);
        assert_eq!(hits("", &["a"], "a"), [false, true, false]);
    }
}
