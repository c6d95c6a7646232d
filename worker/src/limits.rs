//! Calls and tokens per minute of a model, and pauses that its API asks for.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::failure::Failure;
use crate::model::Model;

const MINUTE: Duration = Duration::from_secs(60);
/// First and longest pause after a refusal that names none.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The limiters of all models. Two databases that use one model with one key share its limiter.
#[derive(Default)]
pub struct Limits(Mutex<BTreeMap<String, Arc<Limiter>>>);

impl Limits {
    /// Returns the limiter of a model. Changed settings of the model apply at once.
    pub fn of(&self, model: &Model) -> Arc<Limiter> {
        let key = format!(
            "{} {} {} {}",
            model.api,
            model.endpoint.as_deref().unwrap_or_default(),
            model.api_model,
            model.key_name.as_deref().unwrap_or_default()
        );
        let mut limiters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let limiter = Arc::clone(limiters.entry(key).or_default());
        let mut state = limiter.state();
        state.requests = model.settings.requests_per_minute;
        state.tokens = model.settings.tokens_per_minute;
        drop(state);
        limiter
    }
}

/// Limits the calls of one model, by the calls of the last minute.
#[derive(Default)]
pub struct Limiter(Mutex<State>);

#[derive(Default)]
struct State {
    requests: Option<u32>,
    tokens: Option<u64>,
    /// Calls of the last minute with their tokens, the oldest first.
    sent: VecDeque<(Instant, u64)>,
    held_until: Option<Instant>,
    refusals: u32,
}

impl Limiter {
    /// Waits until a call with so many tokens is allowed, and counts it.
    ///
    /// # Errors
    /// A failure of class limit if the API has asked for a pause, or if the wait would end after `until`.
    pub async fn acquire(&self, tokens: u64, until: Instant) -> Result<(), Failure> {
        loop {
            let now = Instant::now();
            let wait = {
                let mut state = self.state();
                if let Some(pause) = state.held_for(now) {
                    return Err(Failure::limit("the API has asked for a pause", Some(pause)));
                }
                match state.wait(now, tokens) {
                    None => {
                        state.sent.push_back((now, tokens));
                        return Ok(());
                    }
                    Some(wait) => wait,
                }
            };
            if now + wait >= until {
                let message = "the model's limit of a minute is reached";
                return Err(Failure::limit(message, Some(wait)));
            }
            sleep(wait).await;
        }
    }

    /// Returns how long no call is possible.
    pub fn pause(&self) -> Option<Duration> {
        let now = Instant::now();
        let mut state = self.state();
        state.held_for(now).or_else(|| state.wait(now, 1))
    }

    /// Stops all calls after a refusal, for the time that the API asks for, else for an exponentially growing one.
    pub fn hold(&self, retry_after: Option<Duration>) -> Duration {
        let mut state = self.state();
        let pause = retry_after.unwrap_or_else(|| {
            let factor = 1_u32 << state.refusals.min(6);
            (FIRST_PAUSE * factor).min(LONGEST_PAUSE)
        });
        state.refusals = state.refusals.saturating_add(1);
        let until = Instant::now() + pause;
        state.held_until = Some(state.held_until.map_or(until, |held| held.max(until)));
        pause
    }

    /// Ends the growth of the pauses.
    pub fn succeeded(&self) {
        self.state().refusals = 0;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn held_for(&self, now: Instant) -> Option<Duration> {
        let held = self.held_until?.saturating_duration_since(now);
        (!held.is_zero()).then_some(held)
    }

    /// Returns how long a call has to wait.
    fn wait(&mut self, now: Instant, tokens: u64) -> Option<Duration> {
        while self
            .sent
            .front()
            .is_some_and(|(sent, _)| now.duration_since(*sent) >= MINUTE)
        {
            self.sent.pop_front();
        }
        let mut used: u64 = self.sent.iter().map(|(_, tokens)| tokens).sum();
        let mut calls = self.sent.len();
        // The call is allowed when enough of the oldest calls are a minute old. A call that is larger than the limit goes
        // alone.
        let mut wait = None;
        for (sent, tokens_sent) in &self.sent {
            let too_many = self
                .requests
                .is_some_and(|limit| calls >= limit.max(1) as usize);
            let too_large = self
                .tokens
                .is_some_and(|limit| used.saturating_add(tokens) > limit);
            if !too_many && !too_large {
                break;
            }
            wait = Some(MINUTE.saturating_sub(now.duration_since(*sent)));
            used -= tokens_sent;
            calls -= 1;
        }
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Class;
    use crate::model::tests::model;

    fn limiter(requests: Option<u32>, tokens: Option<u64>) -> Arc<Limiter> {
        let mut limited = model("embed");
        limited.settings.requests_per_minute = requests;
        limited.settings.tokens_per_minute = tokens;
        Limits::default().of(&limited)
    }

    fn far() -> Instant {
        Instant::now() + Duration::from_secs(600)
    }

    #[tokio::test(start_paused = true)]
    async fn requests_of_any_minute_stay_below_the_limit() {
        let limiter = limiter(Some(3), None);
        let start = Instant::now();
        let mut times = Vec::new();
        for _ in 0..7 {
            limiter.acquire(1, far()).await.expect("allowed");
            times.push(start.elapsed().as_secs());
        }
        assert_eq!(times, [0, 0, 0, 60, 60, 60, 120]);
    }

    #[tokio::test(start_paused = true)]
    async fn tokens_of_any_minute_stay_below_the_limit() {
        let limiter = limiter(None, Some(100));
        let start = Instant::now();
        for (tokens, seconds) in [(60, 0), (40, 0), (1, 60), (500, 120), (10, 180)] {
            limiter.acquire(tokens, far()).await.expect("allowed");
            assert_eq!(start.elapsed().as_secs(), seconds, "{tokens}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_beyond_the_lease_is_refused() {
        let limiter = limiter(Some(1), None);
        limiter.acquire(1, far()).await.expect("allowed");
        let until = Instant::now() + Duration::from_secs(30);
        let failure = limiter.acquire(1, until).await.expect_err("too late");
        assert_eq!(failure.class, Class::Limit);
        assert_eq!(failure.retry_after, Some(MINUTE));
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_holds_all_calls() {
        let limiter = limiter(None, None);
        assert_eq!(
            limiter.hold(Some(Duration::from_secs(9))),
            Duration::from_secs(9)
        );
        assert_eq!(limiter.pause(), Some(Duration::from_secs(9)));
        let failure = limiter.acquire(1, far()).await.expect_err("held");
        assert_eq!(failure.retry_after, Some(Duration::from_secs(9)));
        sleep(Duration::from_secs(9)).await;
        limiter.acquire(1, far()).await.expect("allowed");
        assert_eq!(limiter.hold(None), Duration::from_secs(2));
        limiter.succeeded();
        assert_eq!(limiter.hold(None), Duration::from_secs(1));
    }

    #[test]
    fn databases_share_the_limiter_of_one_key() {
        let limits = Limits::default();
        let (first, mut second) = (model("embed"), model("embed"));
        second.name = "other".into();
        assert!(Arc::ptr_eq(&limits.of(&first), &limits.of(&second)));
        second.key_name = Some("k".into());
        assert!(!Arc::ptr_eq(&limits.of(&first), &limits.of(&second)));
    }
}
