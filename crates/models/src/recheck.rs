//! When the passages of a corpus are compared again with what is recorded about them.

use serde::Deserialize;

/// A comparison reads all passages of a corpus. It takes at most this share of the time.
const SHARE: f64 = 0.05;

/// Seconds after which a corpus is compared although no change was counted: the counters of a server can be reset or lost.
const AT_LEAST_EVERY: f64 = 3600.0;

/// Seconds after which a call that compares all corpora ends.
const LONG_CALL: f64 = 2.0;

/// Seconds that a comparison is counted for at least after an error, so that it is repeated once a minute.
const AFTER_ERROR: f64 = 3.0;

/// Tasks of a corpus and a model in the queue at a time. The next comparison queues more.
pub const MOST_QUEUED: i64 = 20_000;

/// The last comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
pub struct LastCheck {
    /// Counter of changes of the relation before it; `None` if there was none, or if it left something to do.
    pub changes: Option<i64>,
    /// How long it took.
    pub seconds: Option<f64>,
    /// Seconds since it; `None` if there was none.
    pub age: Option<f64>,
}

impl LastCheck {
    /// Whether the corpus is compared now, `changes` being the present counter.
    #[must_use]
    pub fn is_due(&self, changes: Option<i64>) -> bool {
        let (Some(age), Some(seconds)) = (self.age, self.seconds) else {
            return true;
        };
        let changed = changes.is_none() || self.changes != changes;
        age >= seconds / SHARE && (changed || age >= AT_LEAST_EVERY)
    }
}

/// Whether the next comparison could queue enough tasks, with this many in the queue.
#[must_use]
pub fn has_room(queued: i64) -> bool {
    queued < MOST_QUEUED / 2
}

/// Whether a call that compares all corpora has taken long enough.
#[must_use]
pub fn is_long(seconds: f64) -> bool {
    seconds >= LONG_CALL
}

/// The duration that a comparison with an error is counted with.
#[must_use]
pub fn duration_after_error(seconds: f64) -> f64 {
    seconds.max(AFTER_ERROR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corpus_is_compared_after_a_change_but_not_all_the_time() {
        let never = LastCheck::default();
        assert!(never.is_due(Some(1)));
        let last = LastCheck {
            changes: Some(7),
            seconds: Some(1.0),
            age: Some(30.0),
        };
        assert!(last.is_due(Some(8)));
        assert!(!last.is_due(Some(7)));
        assert!(
            !LastCheck {
                age: Some(19.0),
                ..last
            }
            .is_due(Some(8))
        );
        assert!(
            LastCheck {
                age: Some(3600.0),
                ..last
            }
            .is_due(Some(7))
        );
        // Statistics were reset, or the last comparison left something.
        assert!(last.is_due(Some(0)));
        assert!(
            LastCheck {
                changes: None,
                ..last
            }
            .is_due(Some(7))
        );
        assert!(last.is_due(None));
    }

    #[test]
    fn a_queue_that_is_half_full_has_no_room() {
        assert!(has_room(MOST_QUEUED / 2 - 1));
        assert!(!has_room(MOST_QUEUED / 2));
    }
}
