//! Circuit breakers, attempts and delays.

use crate::error::ModelError;

/// Consecutive failures that open a breaker.
pub const OPENS_AT: i32 = 5;

/// Whom a failed call counts against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The task: it is too long, was refused, or its answer cannot be used.
    Item,
    /// The model: it does not exist, refuses the key, or does not answer.
    Model,
    /// Nobody: a rate limit.
    Limit,
    /// Nobody: the worker did not try.
    Stopped,
}

/// Seconds until a task is tried again whose source no session could read.
pub const SEALED_DELAY: f64 = 60.0;

impl Failure {
    const ALL: [Self; 4] = [Self::Item, Self::Model, Self::Limit, Self::Stopped];

    /// The name in SQL.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Item => "item",
            Self::Model => "model",
            Self::Limit => "limit",
            Self::Stopped => "stopped",
        }
    }

    /// Reads a name.
    ///
    /// # Errors
    /// The name is unknown.
    pub fn parse(name: &str) -> Result<Self, ModelError> {
        let found = Self::ALL.into_iter().find(|failure| failure.name() == name);
        found.ok_or_else(|| ModelError::unrecognized("failure", name, Self::ALL.map(Self::name)))
    }

    /// Whether an attempt counts against the task. A failure of the model counts only after a success: a task that makes a working model
    /// fail must not be tried for ever, and an outage must not use up the attempts of the tasks.
    #[must_use]
    pub fn counts(self, breaker: &Breaker) -> bool {
        match self {
            Self::Item => true,
            Self::Model => breaker.failures == 0,
            Self::Limit | Self::Stopped => false,
        }
    }

    /// Seconds until the next attempt, after this many attempts that count. `jitter` is between 0 and 1.
    #[must_use]
    pub fn delay(self, attempts: i32, jitter: f64) -> f64 {
        match self {
            Self::Stopped => 0.0,
            Self::Limit => 10.0 + 10.0 * jitter,
            Self::Item | Self::Model => grown(5.0, attempts, 600.0) * (0.5 + 0.5 * jitter),
        }
    }
}

/// The breaker of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Breaker {
    /// Consecutive failures.
    pub failures: i32,
    /// Seconds until it lets one task pass; `None` if it is closed. Negative if that time has passed.
    pub open_for: Option<f64>,
}

impl Breaker {
    /// The breaker after a failure that counts against the model.
    #[must_use]
    pub fn failed(self) -> Self {
        let failures = self.failures.saturating_add(1);
        let open_for = (failures >= OPENS_AT).then(|| grown(15.0, failures - OPENS_AT, 300.0));
        Self { failures, open_for }
    }

    /// How many of `wanted` tasks the model may get. After an open period one task tries it.
    #[must_use]
    pub fn room(self, wanted: i32) -> i32 {
        match self.open_for {
            None => wanted,
            Some(seconds) if seconds > 0.0 => 0,
            Some(_) => wanted.min(1),
        }
    }

    /// Whether a task that passes now only tries the model.
    #[must_use]
    pub fn is_half_open(self) -> bool {
        self.open_for.is_some_and(|seconds| seconds <= 0.0)
    }
}

/// Room below an hourly budget.
#[must_use]
pub fn budget_room(budget: Option<u32>, used: i64) -> i32 {
    match budget {
        None => i32::MAX,
        Some(budget) => {
            i32::try_from(i64::from(budget).saturating_sub(used).max(0)).unwrap_or(i32::MAX)
        }
    }
}

/// A task is given up when its attempts are used up.
#[must_use]
pub fn is_dead(attempts: i32, max_attempts: u32) -> bool {
    i64::from(attempts) >= i64::from(max_attempts)
}

/// `first`, doubled `times` times, at most `most`.
fn grown(first: f64, times: i32, most: f64) -> f64 {
    (first * 2.0_f64.powi(times.clamp(0, 30))).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_failures_open_the_breaker_and_one_task_tries_it_later() {
        let mut breaker = Breaker::default();
        for _ in 0..4 {
            breaker = breaker.failed();
            assert_eq!(breaker.room(32), 32);
        }
        breaker = breaker.failed();
        assert_eq!(breaker.open_for, Some(15.0));
        assert_eq!(breaker.room(32), 0);
        breaker.open_for = Some(-1.0);
        assert!(breaker.is_half_open());
        assert_eq!(breaker.room(32), 1);
        assert_eq!(breaker.failed().open_for, Some(30.0));
        let long = Breaker {
            failures: 1000,
            open_for: None,
        };
        assert_eq!(long.failed().open_for, Some(300.0));
    }

    #[test]
    fn an_outage_does_not_use_up_the_attempts_of_a_task() {
        let open = Breaker {
            failures: 7,
            open_for: Some(-1.0),
        };
        assert!(!Failure::Model.counts(&open));
        let failing = Breaker {
            failures: 1,
            open_for: None,
        };
        assert!(!Failure::Model.counts(&failing));
        assert!(Failure::Model.counts(&Breaker::default()));
        assert!(Failure::Item.counts(&open));
        assert!(!Failure::Limit.counts(&Breaker::default()));
        assert!(!Failure::Stopped.counts(&Breaker::default()));
    }

    #[test]
    fn delays_grow_up_to_a_limit_and_vary() {
        assert!((Failure::Item.delay(0, 1.0) - 5.0).abs() < 1e-9);
        assert!((Failure::Item.delay(1, 0.0) - 5.0).abs() < 1e-9);
        assert!((Failure::Item.delay(2, 1.0) - 20.0).abs() < 1e-9);
        assert!((Failure::Model.delay(i32::MAX, 1.0) - 600.0).abs() < 1e-9);
        assert!(Failure::Stopped.delay(9, 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_budget_is_never_negative() {
        assert_eq!(budget_room(Some(10), 4), 6);
        assert_eq!(budget_room(Some(10), 40), 0);
        assert_eq!(budget_room(None, i64::MAX), i32::MAX);
        assert!(is_dead(5, 5) && !is_dead(4, 5));
    }
}
