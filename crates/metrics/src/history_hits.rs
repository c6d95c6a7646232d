//! Where the relevant passages of a turn stand: in the ranking of its own search, and in those of the turns before. What
//! carrying sources over can win is what stands too low now and stood high before.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Ranks that count as the top of a search.
pub const TOP: usize = 3;

/// What holds of a turn. Shares over turns are taken over those that have a relevant passage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryHits {
    /// Bottom hit: a relevant passage stands below the top of its own search, and none in it.
    pub bottom: bool,
    /// History hit: a relevant passage stood in the top of an earlier search.
    pub history: bool,
    /// Supplement: the turn finds again, below the top, what stood in the top of an earlier search, relevant or not.
    pub supplement: bool,
}

impl HistoryHits {
    /// Looks at the ranking of the turn and at those of the turns before it, each best first; of the earlier ones only the
    /// first [`TOP`] ranks count. How deep the bottom is, is how long `ranking` is. A rank holds any number of passages, several
    /// where some were merged.
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

    /// A letter a passage; those in brackets share a rank.
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
    fn ranks_three_and_four_are_on_either_side() {
        assert_eq!(hits("abcd", &[], "d"), [true, false, false]);
        assert_eq!(hits("abdc", &[], "d"), [false, false, false]);
        // One above is enough, wherever another stands.
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
    fn a_merged_passage_is_each_of_its_passages() {
        assert_eq!(hits("wx[yz][ab]", &["[bc]de"], "a"), [true, false, true]);
        assert_eq!(hits("wx[ya]z", &["nop[ay]"], "a"), [false, false, false]);
    }

    #[test]
    fn nothing_ranked_hits_nothing() {
        assert_eq!(hits("", &[], "a"), [false, false, false]);
        assert_eq!(hits("", &["a"], "a"), [false, true, false]);
    }
}
