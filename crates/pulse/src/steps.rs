//! Steps too small to be said one by one.

use crate::beat;

/// Steps that are said together.
const TOGETHER: usize = 1 << 10;

/// Counts the steps of a loop on its own, and [`beat`]s once in 1024 of them. What is left over at the end stays unsaid.
#[derive(Debug, Default)]
pub struct Steps(usize);

impl Steps {
    /// One step more.
    #[inline]
    pub fn step(&mut self) {
        self.0 += 1;
        if self.0 == TOGETHER {
            self.0 = 0;
            beat(TOGETHER);
        }
    }
}

/// An iterator whose items are steps. See [`along`].
#[derive(Debug)]
pub struct Along<I> {
    items: I,
    steps: Steps,
}

/// The items of `items`, each a step of [`Steps`]: for passes over a whole text.
#[inline]
pub fn along<I: IntoIterator>(items: I) -> Along<I::IntoIter> {
    Along {
        items: items.into_iter(),
        steps: Steps::default(),
    }
}

impl<I: Iterator> Iterator for Along<I> {
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
    use crate::{STRETCH, felt};

    #[test]
    fn an_iterator_beats_and_gives_what_it_had() {
        let text = "aé字".repeat(STRETCH);
        let mut walked = String::new();
        let pulse = felt::of(|| walked.extend(along(text.chars())));
        assert_eq!(walked, text);
        assert_eq!((pulse.beats, pulse.longest), (3, STRETCH));
    }
}
