//! How far a search has come, so that it can go on, also in a later snapshot, where documents have other numbers.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::index::search::top_k::RankKey;

/// The documents that a search has returned.
#[derive(Default)]
pub(super) struct Reached {
    /// The key after which the search goes on.
    after: Option<RankKey>,
    /// Score of the last document.
    score: u64,
    /// Rows of the documents with that score.
    tied: Vec<u64>,
    /// Those of them that have other numbers now, so that they are found again.
    repeated: BTreeSet<u64>,
}

impl Reached {
    /// The key after which the search goes on.
    pub fn after(&self) -> Option<RankKey> {
        self.after
    }

    /// Goes on to a document. Returns whether it is a new one.
    pub fn advance(&mut self, key: RankKey, row: u64) -> bool {
        self.after = Some(key);
        if key.0 != self.score {
            self.score = key.0;
            self.tied.clear();
            self.repeated.clear();
        }
        let is_new = !self.repeated.contains(&row);
        if is_new {
            self.tied.push(row);
        }
        is_new
    }

    /// The documents have other numbers from now on. Those with the score of the last one are found again.
    pub fn renumber(&mut self) {
        self.repeated = self.tied.iter().copied().collect();
        if self.after.is_some() {
            self.after = Some((self.score.saturating_add(1), Reverse(u64::MAX)));
        }
    }
}
