//! The scores of contents that a scan has returned, for the operator. PostgreSQL mostly evaluates it for the last row of the scan, so only
//! a look-up of another row builds a table.

use std::collections::HashMap;

/// Maximum number of scores. The operator needs a score soon after the scan has returned its row.
const MAX_SCORES: usize = 4096;

/// The score of a content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoundScore {
    /// BM25 score.
    pub score: f64,
    /// Whether the content meets the conditions of the query for certain.
    pub fulfils: bool,
}

/// The scores that a statement has found for a query.
#[derive(Debug, Default)]
pub struct FoundScores {
    /// Those that are not in the table yet, by fingerprint of the content.
    newest: Vec<(u64, FoundScore)>,
    older: HashMap<u64, FoundScore>,
}

impl FoundScores {
    /// Keeps the score of a content with this fingerprint.
    pub fn add(&mut self, fingerprint: u64, found: FoundScore) {
        if self.newest.len() + self.older.len() >= MAX_SCORES {
            // A scan that is repeated returns the same contents again.
            self.older.extend(self.newest.drain(..));
            if self.older.len() >= MAX_SCORES {
                self.older.clear();
            }
        }
        self.newest.push((fingerprint, found));
    }

    /// Returns the last score that was kept for a fingerprint.
    pub fn get(&mut self, fingerprint: u64) -> Option<FoundScore> {
        match self.newest.last() {
            Some(&(last, found)) if last == fingerprint => Some(found),
            _ => {
                self.older.extend(self.newest.drain(..));
                self.older.get(&fingerprint).copied()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(score: u32) -> FoundScore {
        FoundScore {
            score: f64::from(score),
            fulfils: score.is_multiple_of(2),
        }
    }

    proptest! {
        #[test]
        fn the_last_score_of_a_content_is_found(steps in proptest::collection::vec((0..8_u64, any::<bool>()), 0..60)) {
            let (mut scores, mut expected) = (FoundScores::default(), HashMap::new());
            for (at, &(fingerprint, adds)) in (0..).zip(&steps) {
                if adds {
                    scores.add(fingerprint, found(at));
                    expected.insert(fingerprint, found(at));
                } else {
                    prop_assert_eq!(scores.get(fingerprint), expected.get(&fingerprint).copied());
                }
            }
        }
    }

    #[test]
    fn repeated_contents_displace_no_others() {
        let mut scores = FoundScores::default();
        for _ in 0..MAX_SCORES {
            for fingerprint in 0..10 {
                scores.add(fingerprint, found(3));
            }
        }
        assert!((0..10).all(|fingerprint| scores.get(fingerprint) == Some(found(3))));
    }

    #[test]
    fn the_number_of_scores_is_limited() {
        for looks_up in [false, true] {
            let mut scores = FoundScores::default();
            for fingerprint in 0..10 * MAX_SCORES as u64 {
                scores.add(fingerprint, found(1));
                assert_eq!(scores.get(fingerprint), Some(found(1)));
                if looks_up {
                    scores.get(u64::MAX);
                }
                assert!(scores.newest.len() + scores.older.len() <= MAX_SCORES);
            }
        }
    }
}
