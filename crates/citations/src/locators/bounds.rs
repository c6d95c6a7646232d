//! The bounds of a document, derived from the places of its passages.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::LocatorRange;

/// The largest known number below each place of a document.
///
/// If a passage continues into the next chapter, the last verse of its first chapter is unknown. Then larger numbers
/// in that chapter are not treated as missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds(Vec<Extent>);

/// The bound of one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// The work.
    pub work: Option<String>,
    /// The place; empty for the whole work.
    pub under: Vec<u32>,
    /// The largest number below it.
    pub last: u32,
    /// Whether there may be larger numbers.
    pub open: bool,
}

impl Bounds {
    /// Returns the bounds of a document whose passages have these ranges.
    pub fn of<'a>(ranges: impl IntoIterator<Item = &'a LocatorRange>) -> Self {
        /// A work and a place in it.
        type Under<'a> = (Option<&'a str>, &'a [u32]);
        let mut extents: BTreeMap<Under<'_>, (u32, bool)> = BTreeMap::new();
        for range in ranges {
            let work = range.work.as_deref();
            for place in [&range.start, &range.end] {
                for (level, &number) in place.iter().enumerate() {
                    let extent = extents.entry((work, &place[..level])).or_default();
                    extent.0 = extent.0.max(number);
                }
            }
            // A range that leaves a place leaves it at an unknown number.
            for level in 1..range.start.len() {
                let under = &range.start[..level];
                if range.end.get(..level) != Some(under) {
                    extents.entry((work, under)).or_default().1 = true;
                }
            }
            // A range that ends with a whole chapter does not contain its number of verses.
            for place in [&range.start, &range.end] {
                extents.entry((work, place)).or_default().1 = true;
            }
        }
        let extent = |((work, under), (last, open)): (Under<'_>, _)| Extent {
            work: work.map(str::to_owned),
            under: under.to_vec(),
            last,
            open,
        };
        Self(extents.into_iter().map(extent).collect())
    }

    /// Returns whether the document may have every place of a range: no number is 0, and none is above the largest
    /// known one. A range without a work is searched for in all works.
    pub fn contains(&self, range: &LocatorRange) -> bool {
        let has = |work: Option<&str>| self.has(work, &range.start) && self.has(work, &range.end);
        match &range.work {
            Some(work) => has(Some(work)) || has(None),
            None => {
                let mut works = self.0.iter().filter(|extent| extent.under.is_empty());
                works.any(|extent| has(extent.work.as_deref()))
            }
        }
    }

    fn has(&self, work: Option<&str>, place: &[u32]) -> bool {
        for (level, &number) in place.iter().enumerate() {
            let under = &place[..level];
            let found = self.0.binary_search_by(|extent| {
                (extent.work.as_deref(), extent.under.as_slice()).cmp(&(work, under))
            });
            let known = found.ok().and_then(|at| self.0.get(at));
            let beyond = match known {
                Some(extent) => number > extent.last && !extent.open,
                // A work without passages has no places. A chapter without passages is unknown.
                None => level == 0,
            };
            if number == 0 || beyond {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(work: &str, start: &[u32], end: &[u32]) -> LocatorRange {
        LocatorRange::new(Some(work.to_owned()), start.to_vec(), end.to_vec()).unwrap()
    }

    #[test]
    fn bounds_of_a_document() {
        let passages = [
            range("Genesis", &[1, 1], &[1, 31]),
            range("Genesis", &[50, 1], &[50, 26]),
            range("Exodus", &[1, 1], &[1, 22]),
            range("Exodus", &[2, 20], &[3, 4]),
        ];
        let bounds = Bounds::of(&passages);
        for (work, place, has) in [
            ("Genesis", vec![1, 1], true),
            ("Genesis", vec![1, 31], true),
            ("Genesis", vec![1, 32], false),
            ("Genesis", vec![1, 0], false),
            ("Genesis", vec![0, 1], false),
            ("Genesis", vec![51, 1], false),
            ("Genesis", vec![50], true),
            // No passage is in this chapter, so its bounds are unknown.
            ("Genesis", vec![7, 90], true),
            ("Exodus", vec![1, 23], false),
            // A passage contains the end of the second chapter.
            ("Exodus", vec![2, 25], true),
            ("Exodus", vec![3, 5], false),
            ("Exodus", vec![4, 1], false),
            ("Leviticus", vec![1, 1], false),
        ] {
            let named = range(work, &place, &place);
            assert_eq!(bounds.contains(&named), has, "{work} {place:?}");
        }
        let unnamed = LocatorRange::new(None, vec![51, 1], vec![51, 1]).unwrap();
        assert!(!bounds.contains(&unnamed));
        let json = serde_json::to_string(&bounds).unwrap();
        assert_eq!(serde_json::from_str::<Bounds>(&json).unwrap(), bounds);
    }
}
