//! The pulse of a piece of work, for the tests of the crates that beat.

use std::cell::Cell;

use crate::{STRETCH, on_beat};

/// How a piece of work beat.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Felt {
    /// How often the hook was called.
    pub beats: usize,
    /// The most that was done from one call to the next. It exceeds [`STRETCH`](crate::STRETCH) by what the last beat said
    /// at once.
    pub longest: usize,
}

thread_local! {
    static FELT: Cell<Felt> = const { Cell::new(Felt { beats: 0, longest: 0 }) };
}

/// Does the work and feels its pulse. The thread's hook is replaced.
pub fn of<T>(work: impl FnOnce() -> T) -> Felt {
    on_beat(|done| {
        let felt = FELT.get();
        FELT.set(Felt {
            beats: felt.beats + 1,
            longest: felt.longest.max(done),
        });
    });
    FELT.take();
    work();
    FELT.take()
}

/// What texts are made of that a reader has to take in one go, or in very many.
pub const UNITS: [&str; 14] = [
    "x",
    "xq",
    "[",
    " ",
    "\n",
    "a\u{c}",
    "字",
    "é ",
    "0",
    "e\u{301}",
    "👍",
    "` ",
    "It is so [A1]. ",
    "The quick brown fox jumps over the lazy dog. ",
];

/// A text of so many characters, made of one of the [`UNITS`].
pub fn text_of(unit: &str, characters: usize) -> String {
    unit.repeat(characters.div_ceil(unit.chars().count()))
}

/// Checks that `work` beats on a text of each of the [`UNITS`], `least` times at least for each [`STRETCH`] of its
/// characters, and never says more than a stretch at once.
///
/// # Panics
/// Where it does not.
pub fn check<T>(name: &str, least: usize, work: impl Fn(&str) -> T) {
    for unit in UNITS {
        let text = text_of(unit, 4 * STRETCH);
        let felt = of(|| work(&text));
        // One less, as a beat that says several at once may overshoot its stretch.
        assert!(felt.beats + 1 >= 4 * least, "{name} of {unit:?}: {felt:?}");
        assert!(felt.longest < 2 * STRETCH, "{name} of {unit:?}: {felt:?}");
    }
}
