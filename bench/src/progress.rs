//! Signs of life on standard error; standard output belongs to the results.

use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Time between two lines of progress.
const PAUSE: Duration = Duration::from_secs(5);

/// Counts steps of a task from any thread and says now and then how far it is.
pub struct Progress<'a> {
    task: &'a str,
    total: usize,
    begun: Instant,
    state: Mutex<(usize, Instant)>,
}

impl<'a> Progress<'a> {
    /// Begins a task of `total` steps.
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
        // A thread that panicked while counting leaves a count that is still good enough.
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

    /// Ends the task; how long it took.
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
