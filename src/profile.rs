//! Time of each stage of a call, for `reground.profile()`.
//!
//! Each stage reads the clock twice. With about fifteen stages per call this costs microseconds, so it is always on. Stages can
//! nest. Each counts its own time without that of inner stages, so the sum is the time of the call.

use std::cell::RefCell;
use std::time::{Duration, Instant};

/// A stage of a call.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Name, as in the column `stage`.
    pub name: &'static str,
    /// Number of times in this call.
    pub calls: u32,
    /// Time of the stage itself.
    pub time: Duration,
}

/// A call with its stages, in the order in which they were first entered.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Name of the SQL function.
    pub function: &'static str,
    /// The stages. `other` collects the rest.
    pub stages: Vec<Stage>,
}

#[derive(Default)]
struct Stopwatch {
    /// Calls in progress, outermost first. A reranker in SQL can call a function of reground.
    open: Vec<Profile>,
    /// For each stage in progress, the time of its inner stages.
    within: Vec<Duration>,
    /// Names of the stages in progress.
    running: Vec<&'static str>,
    last: Option<Profile>,
}

thread_local! {
    static STOPWATCH: RefCell<Stopwatch> = RefCell::default();
}

/// Runs a call. If it succeeds, its profile becomes the last one of the session.
pub fn call<T, E>(function: &'static str, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    /// Closes the call also when an error of PostgreSQL unwinds. A call within a stage of another call has its own profile, and
    /// counts as time of that stage.
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

/// Runs and measures a stage of the current call. Without a call, nothing is measured.
pub fn stage<T>(name: &'static str, work: impl FnOnce() -> T) -> T {
    struct Running {
        name: &'static str,
        depth: usize,
        /// Number of stages around it.
        outer: usize,
        begun: Instant,
    }
    impl Drop for Running {
        fn drop(&mut self) {
            let took = self.begun.elapsed();
            STOPWATCH.with_borrow_mut(|watch| {
                watch.running.truncate(self.outer);
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
        watch.running.push(name);
        Running {
            name,
            depth: watch.within.len() - 1,
            outer: watch.running.len() - 1,
            begun: Instant::now(),
        }
    });
    work()
}

/// Runs a part of a call; also returns its microseconds, inner stages included.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, i32) {
    let begun = Instant::now();
    let done = work();
    let took = begun.elapsed().as_micros();
    (done, i32::try_from(took).unwrap_or(i32::MAX))
}

/// The innermost stage in progress.
pub fn current_stage() -> Option<&'static str> {
    STOPWATCH.with_borrow(|watch| watch.running.last().copied())
}

/// The profile of the last successful call of the session.
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
