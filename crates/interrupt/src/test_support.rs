//! Counts interrupt checks, for the tests of the crates that make them.

use std::cell::Cell;

use crate::{CHECK_INTERVAL, set_hook};

/// The interrupt checks of a piece of work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checks {
    /// Number of calls of the hook.
    pub count: usize,
    /// The most work between two calls. It can exceed [`CHECK_INTERVAL`] by the size of the last report.
    pub longest: usize,
}

thread_local! {
    static CHECKS: Cell<Checks> = const { Cell::new(Checks { count: 0, longest: 0 }) };
}

/// Runs `work` and returns its interrupt checks. Replaces the thread's hook.
pub fn measure<T>(work: impl FnOnce() -> T) -> Checks {
    set_hook(|done| {
        let checks = CHECKS.get();
        CHECKS.set(Checks {
            count: checks.count + 1,
            longest: checks.longest.max(done),
        });
    });
    CHECKS.take();
    work();
    CHECKS.take()
}

/// Units of text that a parser reads at once, or that occur very often.
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

/// A text of at least `characters` characters that repeats `unit`.
pub fn text_of(unit: &str, characters: usize) -> String {
    unit.repeat(characters.div_ceil(unit.chars().count()))
}

/// Asserts, on a text of each of the [`UNITS`], that `work` checks at least `least` times per [`CHECK_INTERVAL`] characters
/// and never does two intervals of work without a check.
///
/// # Panics
/// If it checks less often.
pub fn assert_checked<T>(name: &str, least: usize, work: impl Fn(&str) -> T) {
    for unit in UNITS {
        let text = text_of(unit, 4 * CHECK_INTERVAL);
        let checks = measure(|| work(&text));
        // One less is allowed, because a report of several units can overshoot its interval.
        assert!(
            checks.count + 1 >= 4 * least,
            "{name} of {unit:?}: {checks:?}"
        );
        assert!(
            checks.longest < 2 * CHECK_INTERVAL,
            "{name} of {unit:?}: {checks:?}"
        );
    }
}
