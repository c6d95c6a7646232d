//! Where relevant passages were ranked, in the search of a turn and in those of earlier turns.

use reground_metrics::history_hits::HistoryHits;

use super::ReplayedConversation;
use super::scope::Scope;

/// Counts of [`HistoryHits`] over the judged later turns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hits {
    /// Judged later turns.
    pub turns: usize,
    /// Of these, turns with a bottom hit.
    pub bottom: usize,
    /// Turns with a history hit.
    pub history: usize,
    /// Turns with a supplement.
    pub supplement: usize,
    /// Candidates of the largest ranking: the lowest rank of a bottom hit.
    pub deepest: usize,
}

impl Hits {
    /// Counts over conversations.
    pub fn of(replayed: &[ReplayedConversation]) -> Self {
        let mut hits = Self::default();
        for (conversation, later) in replayed.iter().zip(Scope::LATER.of(replayed)) {
            for turn in later.filter(|turn| turn.judged()) {
                let earlier = conversation.turns.iter();
                let earlier = earlier.take_while(|one| one.number < turn.number);
                let found = HistoryHits::of(
                    &turn.ranked,
                    earlier.map(|one| one.ranked.as_slice()),
                    &turn.gold,
                );
                hits.turns += 1;
                hits.bottom += usize::from(found.bottom);
                hits.history += usize::from(found.history);
                hits.supplement += usize::from(found.supplement);
                hits.deepest = hits.deepest.max(turn.ranked.len());
            }
        }
        hits
    }
}

#[cfg(test)]
mod tests {
    use super::super::turn::ReplayedTurn;
    use super::*;
    use crate::data::Domain;

    #[test]
    fn hits_are_counted_by_kind() {
        let turn = |number, gold: &str, ranked: &str| ReplayedTurn {
            number,
            gold: gold.chars().map(String::from).collect(),
            ranked: ranked.chars().map(|c| [c.to_string()].into()).collect(),
            ..ReplayedTurn::default()
        };
        let replayed = [ReplayedConversation {
            domain: Domain::Cloud,
            turns: vec![
                turn(1, "a", "abcd"),
                turn(2, "e", "fghe"),
                turn(3, "c", "xyzb"),
                turn(4, "d", "defb"),
                turn(5, "", "q"),
            ],
        }];
        let expected = Hits {
            turns: 3,
            bottom: 1,
            history: 1,
            supplement: 2,
            deepest: 4,
        };
        assert_eq!(Hits::of(&replayed), expected);
    }
}
