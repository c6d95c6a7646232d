//! Progress on standard error; standard output has the results.

use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Time between two progress lines.
const PAUSE: Duration = Duration::from_secs(5);

/// Counts the steps of a task from any thread, and prints progress lines.
pub struct Progress<'a> {
    task: &'a str,
    total: usize,
    begun: Instant,
    state: Mutex<(usize, Instant)>,
}

impl<'a> Progress<'a> {
    /// Starts a task of `total` steps.
    pub fn new(task: &'a str, total: usize) -> Self {
        let begun = Instant::now();
        eprintln!("{task} …");
        Self {
            task,
            total,
            begun,
            state: Mutex::new((0, begun)),
        }
    }

    /// Counts `steps` as done.
    pub fn step(&self, steps: usize) {
        // After a panic of another thread the count is still usable.
        let mut state = self
            .state
            .lock()
            .unwrap_or_else(|broken| broken.into_inner());
        state.0 += steps;
        if state.1.elapsed() >= PAUSE {
            state.1 = Instant::now();
            eprintln!(
                "{} … {} of {}, {:.0} s",
                self.task,
                state.0,
                self.total,
                self.begun.elapsed().as_secs_f64()
            );
        }
    }

    /// Ends the task and returns its time.
    pub fn finish(self) -> Duration {
        let took = self.begun.elapsed();
        eprintln!(
            "{}: {} in {:.1} s",
            self.task,
            self.total,
            took.as_secs_f64()
        );
        took
    }
}
