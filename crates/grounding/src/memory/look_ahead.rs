//! Ids that are looked up together, so that a pass over a table does not look up each of its rows alone.

use std::ops::Range;

/// Largest number of ids that are looked up together.
const LARGEST: i64 = 1024;

/// A gap of this many windows between two ids still belongs to one pass. Other tenants have the ids in it.
const NEAR: i64 = 16;

/// The ids of the last look-up.
#[derive(Clone, Debug, Default)]
pub struct LookAhead {
    last: Range<i64>,
}

impl LookAhead {
    /// The ids to look up when `id` is read and not known yet: twice as many as before if the ids are read in their order or in the
    /// opposite one, otherwise `id` alone.
    pub fn from(&mut self, id: i64) -> Range<i64> {
        let Range { start, end } = self.last;
        let size = end - start;
        let far = NEAR * size;
        let rises = (end..end.saturating_add(far)).contains(&id);
        let falls = (start.saturating_sub(far)..start).contains(&id);
        let more = (2 * size).min(LARGEST);
        let after = id.saturating_add(1);
        self.last = match (rises, falls) {
            (true, _) => id..id.saturating_add(more),
            (_, true) => after.saturating_sub(more)..after,
            (false, false) => id..after,
        };
        self.last.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The number of look-ups, and of ids that they look up, of a pass.
    fn cost(ids: impl IntoIterator<Item = i64>) -> (usize, usize) {
        let mut ahead = LookAhead::default();
        let mut known = BTreeSet::new();
        let mut lookups = 0;
        for id in ids {
            if !known.contains(&id) {
                let ids = ahead.from(id);
                assert!(ids.contains(&id), "{id} is not in {ids:?}");
                known.extend(ids);
                lookups += 1;
            }
        }
        (lookups, known.len())
    }

    #[test]
    fn a_pass_needs_few_lookups() {
        assert!(cost(1..=10_000).0 < 25);
        assert!(cost((1..=10_000).rev()).0 < 25);
        assert!(cost((1..=10_000).step_by(7)).0 < 25);
    }

    #[test]
    fn single_rows_look_up_nothing_else() {
        assert_eq!(cost([5]), (1, 1));
        assert_eq!(cost((1..=10_000).step_by(1000)), (10, 10));
        assert_eq!(cost([7, 7_000_000, 9, 3_000]), (4, 4));
        assert_eq!(cost([i64::MIN, i64::MAX - 1]), (2, 2));
    }
}
