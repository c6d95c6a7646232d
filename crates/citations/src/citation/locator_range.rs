//! Places of a work, such as chapter and verse.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;

/// A closed range of places of a work. A place has one number for each level, outermost first. A place with fewer
/// levels includes everything below it: `[3]` is the whole third chapter.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LocatorRange {
    /// The work, by its name in the schema; `None` if the citation names no work.
    pub work: Option<String>,
    /// First place.
    pub start: Vec<u32>,
    /// Last place, not before the first.
    pub end: Vec<u32>,
}

impl LocatorRange {
    /// Returns the range between two places; `None` if the last is before the first.
    pub fn new(work: Option<String>, start: Vec<u32>, end: Vec<u32>) -> Option<Self> {
        let ordered = first_to_last(&start, &end) != Ordering::Greater;
        ordered.then_some(Self { work, start, end })
    }

    /// Returns whether both ranges can be in the same work. A range without a work can be in any work.
    pub fn same_work(&self, other: &Self) -> bool {
        match (&self.work, &other.work) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        }
    }

    /// Returns whether this range contains all of `inner`.
    pub fn contains(&self, inner: &Self) -> bool {
        self.same_work(inner)
            && padded(&self.start, 0, &inner.start, 0) != Ordering::Greater
            && padded(&inner.end, u32::MAX, &self.end, u32::MAX) != Ordering::Greater
    }

    /// Returns whether the ranges overlap.
    pub fn touches(&self, other: &Self) -> bool {
        self.same_work(other)
            && first_to_last(&self.start, &other.end) != Ordering::Greater
            && first_to_last(&other.start, &self.end) != Ordering::Greater
    }
}

/// Compares the start of one place with the end of another.
fn first_to_last(first: &[u32], last: &[u32]) -> Ordering {
    padded(first, 0, last, u32::MAX)
}

/// Writes a range for readers: `Genesis 1:3–1:5`.
impl fmt::Display for LocatorRange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(work) = self.work.as_ref().filter(|work| !work.is_empty()) {
            write!(out, "{work} ")?;
        }
        write_place(out, &self.start)?;
        if self.end != self.start {
            out.write_str("–")?;
            write_place(out, &self.end)?;
        }
        Ok(())
    }
}

fn write_place(out: &mut fmt::Formatter<'_>, place: &[u32]) -> fmt::Result {
    for (level, number) in place.iter().enumerate() {
        let colon = if level > 0 { ":" } else { "" };
        write!(out, "{colon}{number}")?;
    }
    Ok(())
}

/// Compares two places. Missing levels have the value of the filler.
fn padded(a: &[u32], a_filler: u32, b: &[u32], b_filler: u32) -> Ordering {
    let levels = 0..a.len().max(b.len());
    let at = |place: &[u32], filler, level: usize| place.get(level).copied().unwrap_or(filler);
    let each = levels.map(|level| at(a, a_filler, level).cmp(&at(b, b_filler, level)));
    each.fold(Ordering::Equal, Ordering::then)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: &[u32], end: &[u32]) -> LocatorRange {
        LocatorRange::new(None, start.to_vec(), end.to_vec()).unwrap()
    }

    #[test]
    fn a_short_place_contains_everything_below_it() {
        let chapter = range(&[3], &[3]);
        assert!(chapter.contains(&range(&[3, 1], &[3, 24])));
        assert!(!range(&[3, 1], &[3, 24]).contains(&chapter));
        assert!(range(&[3, 1], &[3, 24]).touches(&chapter));
        assert!(!chapter.touches(&range(&[4, 1], &[4, 2])));
        assert!(range(&[34, 28], &[35, 2]).contains(&range(&[34, 30], &[34, 40])));
        assert!(!range(&[34, 28], &[35, 2]).contains(&range(&[35, 2], &[35, 3])));
        assert_eq!(LocatorRange::new(None, vec![2, 1], vec![1, 9]), None);
    }

    #[test]
    fn places_are_displayed() {
        let work = Some("Genesis".to_owned());
        let verses = LocatorRange::new(work, vec![1, 3], vec![1, 5]).unwrap();
        assert_eq!(verses.to_string(), "Genesis 1:3–1:5");
        assert_eq!(range(&[12], &[12]).to_string(), "12");
    }
}
