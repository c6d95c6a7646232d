//! Checks in loops whose steps are too cheap to report one by one.

use crate::check_interrupt;

/// Steps that are reported together.
const BATCH: usize = 1 << 10;

/// Counts the steps of a loop and reports them to [`check_interrupt`] 1,024 at a time. The remainder is not reported.
#[derive(Debug, Default)]
pub struct Steps(usize);

impl Steps {
    /// Counts one step.
    #[inline]
    pub fn step(&mut self) {
        self.0 += 1;
        if self.0 == BATCH {
            self.0 = 0;
            check_interrupt(BATCH);
        }
    }
}

/// An iterator that counts each item as a step. See [`checked`].
#[derive(Debug)]
pub struct Checked<I> {
    items: I,
    steps: Steps,
}

/// Iterates over `items` and counts each as a step of [`Steps`]: for passes over a whole text.
#[inline]
pub fn checked<I: IntoIterator>(items: I) -> Checked<I::IntoIter> {
    Checked {
        items: items.into_iter(),
        steps: Steps::default(),
    }
}

impl<I: Iterator> Iterator for Checked<I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        self.steps.step();
        self.items.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CHECK_INTERVAL, test_support};

    #[test]
    fn a_checked_iterator_returns_the_same_items() {
        let text = "aé字".repeat(CHECK_INTERVAL);
        let mut copy = String::new();
        let checks = test_support::measure(|| copy.extend(checked(text.chars())));
        assert_eq!(copy, text);
        assert_eq!((checks.count, checks.longest), (3, CHECK_INTERVAL));
    }
}
