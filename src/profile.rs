//! Where the time of a call goes: a stopwatch a stage, always running, read by `reground.profile()`.
//!
//! Two readings of the clock a stage, some fifteen stages a call: microseconds against milliseconds. Stages may nest; each
//! counts its own time without that of the stages within it, so they add up to the call.

use std::cell::RefCell;
use std::time::{Duration, Instant};

/// A stage of a call.
#[derive(Clone, Debug)]
pub struct Stage {
    /// What was done, as the SQL function shows it.
    pub name: &'static str,
    /// How often in this call.
    pub calls: u32,
    /// Its own time.
    pub time: Duration,
}

/// A call with its stages, in the order in which they were first entered.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The SQL function.
    pub function: &'static str,
    /// Its stages; what belongs to none is in the stage `other`.
    pub stages: Vec<Stage>,
}

#[derive(Default)]
struct Stopwatch {
    /// Calls in progress, outermost first: a reranker in SQL may call us again.
    open: Vec<Profile>,
    /// For each stage in progress the time that stages within it took.
    within: Vec<Duration>,
    last: Option<Profile>,
}

thread_local! {
    static STOPWATCH: RefCell<Stopwatch> = RefCell::default();
}

/// Runs a call and keeps its profile as the session's last one, if it succeeds.
pub fn call<T, E>(function: &'static str, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    /// Closes the call on every way out: PostgreSQL's errors unwind. A call within a stage of another keeps its own
    /// account, and counts as that stage's own time.
    struct Open(Vec<Duration>);
    impl Drop for Open {
        fn drop(&mut self) {
            STOPWATCH.with_borrow_mut(|watch| {
                watch.open.pop();
                watch.within = std::mem::take(&mut self.0);
            });
        }
    }
    let _open = STOPWATCH.with_borrow_mut(|watch| {
        watch.open.push(Profile {
            function,
            stages: Vec::new(),
        });
        Open(std::mem::take(&mut watch.within))
    });
    let done = stage("other", work)?;
    STOPWATCH.with_borrow_mut(|watch| watch.last = watch.open.last().cloned());
    Ok(done)
}

/// Runs a stage of the call in progress; outside one it only runs it.
pub fn stage<T>(name: &'static str, work: impl FnOnce() -> T) -> T {
    struct Running {
        name: &'static str,
        depth: usize,
        begun: Instant,
    }
    impl Drop for Running {
        fn drop(&mut self) {
            let took = self.begun.elapsed();
            STOPWATCH.with_borrow_mut(|watch| {
                let within = watch.within.get(self.depth).copied().unwrap_or_default();
                watch.within.truncate(self.depth);
                if let Some(outer) = watch.within.last_mut() {
                    *outer += took;
                }
                if let Some(profile) = watch.open.last_mut() {
                    profile.add(self.name, took.saturating_sub(within));
                }
            });
        }
    }
    let _running = STOPWATCH.with_borrow_mut(|watch| {
        watch.within.push(Duration::ZERO);
        Running {
            name,
            depth: watch.within.len() - 1,
            begun: Instant::now(),
        }
    });
    work()
}

/// Runs a part of a call; with the microseconds that it took in all, stages within it included.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, i32) {
    let begun = Instant::now();
    let done = work();
    let took = begun.elapsed().as_micros();
    (done, i32::try_from(took).unwrap_or(i32::MAX))
}

/// The profile of the session's last call that succeeded.
pub fn last() -> Option<Profile> {
    STOPWATCH.with_borrow(|watch| watch.last.clone())
}

impl Profile {
    fn add(&mut self, name: &'static str, time: Duration) {
        match self.stages.iter_mut().find(|stage| stage.name == name) {
            Some(stage) => {
                stage.calls += 1;
                stage.time += time;
            }
            None => self.stages.push(Stage {
                name,
                calls: 1,
                time,
            }),
        }
    }
}
