//! The loop of one model of one database. A slow model does not delay the others.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tokio_postgres::Error;
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use super::session::Session;
use crate::batch::{Outcome, Runner, Scope};
use crate::failure::Failure;
use crate::model::{Model, Task};
use crate::queue::{self, Stored};

/// Time between two looks at the queue without a notification.
const POLL: Duration = Duration::from_secs(5);
/// Calls end this long before their lease.
const MARGIN: Duration = Duration::from_secs(20);
/// Longest pause between two attempts to use the database.
pub const LONGEST_BACKOFF: Duration = Duration::from_secs(15);
/// Time to store the last results of a shutdown.
const LAST_STORE: Duration = Duration::from_secs(5);

/// Attempts to store a result that meets conflicts, after the first one.
const CONFLICTS: u32 = 4;
/// A task whose result always met conflicts is done again after this time.
const AFTER_CONFLICTS: Duration = Duration::from_secs(30);

/// What a run has done, for `--once`.
#[derive(Default)]
pub struct Tally {
    claimed: Mutex<u64>,
    failed: Mutex<BTreeSet<(String, i64)>>,
}

impl Tally {
    /// Returns the number of claimed tasks so far.
    pub fn claimed(&self) -> u64 {
        *self.claimed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of tasks whose last attempt failed.
    pub fn failed(&self) -> usize {
        let failed = self.failed.lock();
        failed.unwrap_or_else(PoisonError::into_inner).len()
    }

    fn claim(&self, tasks: usize) {
        *self.claimed.lock().unwrap_or_else(PoisonError::into_inner) += tasks as u64;
    }

    fn note(&self, database: &str, task: i64, failed: bool) {
        let mut list = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (database.to_owned(), task);
        if failed {
            list.insert(key);
        } else {
            list.remove(&key);
        }
    }
}

/// What all lanes share.
pub struct Worker {
    /// The name that the queue stores with a claim.
    pub name: String,
    /// Runs the tasks.
    pub runner: Runner,
    /// What has been done.
    pub tally: Tally,
    /// Ends when nothing is left.
    pub once: bool,
    /// Cancelled at the end of the grace period.
    pub kill: CancellationToken,
}

/// What the queue has to learn about a task.
struct Report<'a> {
    task: &'a Task,
    outcome: Outcome,
    conflicts: u32,
}

/// The loop of one model.
pub struct Lane {
    worker: Arc<Worker>,
    session: Arc<Session>,
    model: Model,
    stop: CancellationToken,
}

impl Lane {
    /// Creates the loop. Cancelling `stop` ends it after its running calls.
    pub fn new(
        worker: Arc<Worker>,
        session: Arc<Session>,
        model: Model,
        stop: CancellationToken,
    ) -> Self {
        Self {
            worker,
            session,
            model,
            stop,
        }
    }

    /// Runs until it is stopped, or with `once` until no task is left. `wake` changes when tasks may have arrived.
    pub async fn run(self, mut wake: watch::Receiver<u64>) {
        let lane = Arc::new(self);
        let (name, limits) = (&lane.model.name, &lane.worker.runner.limits);
        let mut units = JoinSet::new();
        let mut backoff = Duration::ZERO;
        loop {
            let pause = limits.of(&lane.model).pause();
            let mut claimed = 0;
            let free = lane.model.concurrency().saturating_sub(units.len());
            if free > 0 && pause.is_none() && !lane.stop.is_cancelled() {
                match lane.claim(free, &mut units).await {
                    Ok(tasks) => (claimed, backoff) = (tasks, Duration::ZERO),
                    Err(error) => {
                        let database = lane.session.label();
                        warn!(database, model = %name, code = code(&error), "cannot claim tasks");
                        backoff = next_backoff(backoff);
                    }
                }
            }
            let metrics = &lane.worker.runner.metrics;
            metrics.running(lane.session.label(), name, units.len());
            let idle = units.is_empty();
            let nothing_left =
                lane.worker.once && claimed == 0 && pause.is_none() && backoff.is_zero();
            if idle && (nothing_left || lane.stop.is_cancelled()) {
                return;
            }
            let wait = if backoff.is_zero() {
                pause.map_or(POLL, |pause| pause.min(POLL))
            } else {
                backoff
            };
            let stopped = lane.stop.is_cancelled();
            let may_claim = units.len() < lane.model.concurrency() && !stopped;
            tokio::select! {
                Some(_) = units.join_next(), if !idle => {}
                Ok(()) = wake.changed(), if may_claim && backoff.is_zero() && pause.is_none() => {}
                () = sleep(wait), if may_claim => {}
                () = lane.stop.cancelled(), if !stopped => {}
            }
        }
    }

    /// Claims tasks for the free calls, and starts the calls. Returns the number of tasks.
    async fn claim(self: &Arc<Self>, free: usize, units: &mut JoinSet<()>) -> Result<usize, Error> {
        let start = Instant::now();
        let (batch, lease) = (self.model.batch(), self.model.lease());
        let client = self.session.client().await?;
        let (worker, model) = (&self.worker.name, &self.model.name);
        let tasks = queue::claim(&client, worker, model, free * batch, lease).await?;
        drop(client);
        self.worker.tally.claim(tasks.len());
        let scope = Scope {
            until: start + lease - MARGIN,
            stop: self.worker.kill.clone(),
            drain: self.stop.clone(),
        };
        for unit in tasks.chunks(batch) {
            let (lane, unit, scope) = (Arc::clone(self), unit.to_vec(), scope.clone());
            units.spawn(async move { lane.unit(&unit, &scope).await });
        }
        Ok(tasks.len())
    }

    /// Runs the tasks of one call, and stores what became of them.
    async fn unit(&self, tasks: &[Task], scope: &Scope) {
        let start = Instant::now();
        let outcomes = self.worker.runner.run(&self.model, tasks, scope).await;
        let done = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        let mut until = scope.until + MARGIN;
        if scope.stop.is_cancelled() {
            until = until.min(Instant::now() + LAST_STORE);
        }
        let calls = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let reports = tasks.iter().zip(outcomes).map(|(task, outcome)| Report {
            task,
            outcome,
            conflicts: 0,
        });
        self.store(reports.collect(), until).await;
        let (database, model) = (self.session.label(), &self.model.name);
        let failed = tasks.len() - done;
        info!(database, model = %model, done, failed, milliseconds = calls, "ran tasks");
    }

    /// Stores results and reports failures, until all are settled or the lease ends.
    async fn store(&self, mut reports: Vec<Report<'_>>, until: Instant) {
        let (database, model) = (self.session.label(), &self.model.name);
        let mut backoff = Duration::ZERO;
        while !reports.is_empty() {
            let client = match self.session.client().await {
                Ok(client) => client,
                Err(error) => {
                    warn!(database, model = %model, code = code(&error), "cannot connect");
                    backoff = next_backoff(backoff);
                    if !queue::is_passing(&error) || Instant::now() + backoff >= until {
                        return;
                    }
                    sleep(backoff).await;
                    continue;
                }
            };
            let list: Vec<(&Task, &Outcome)> = reports
                .iter()
                .map(|report| (report.task, &report.outcome))
                .collect();
            let stored = queue::report(&client, &list).await;
            // Other models use the connection during the pause.
            drop(client);
            if let Some(Err(error)) = stored.iter().find(|stored| stored.is_err()) {
                warn!(database, model = %model, code = code(error), "cannot store results");
            }
            let mut pause = false;
            let mut left = Vec::new();
            for (report, stored) in reports.into_iter().zip(stored) {
                let next = self.settle(report, stored);
                pause |= next.as_ref().is_some_and(|(_, pause)| *pause);
                left.extend(next.map(|(report, _)| report));
            }
            reports = left;
            if pause {
                backoff = next_backoff(backoff);
                if Instant::now() + backoff >= until {
                    let left = reports.len();
                    warn!(database, model = %model, left, "the leases end before the results are stored");
                    return;
                }
                sleep(backoff).await;
            }
        }
    }

    /// Returns what is still to be reported, and whether after a pause.
    fn settle<'a>(
        &self,
        mut report: Report<'a>,
        stored: Result<Stored, Error>,
    ) -> Option<(Report<'a>, bool)> {
        let (database, task) = (self.session.label(), report.task.id);
        match stored {
            Ok(Stored::Yes) => self.stored(&report),
            Ok(Stored::Lost) => self.count(report.task, "lost"),
            Ok(Stored::Conflict(_)) if report.conflicts < CONFLICTS => {
                report.conflicts += 1;
                return Some((report, true));
            }
            Ok(Stored::Conflict(message)) if report.outcome.is_ok() => {
                report.conflicts = 0;
                report.outcome = Err(Failure {
                    retry_after: Some(AFTER_CONFLICTS),
                    ..Failure::stopped(message)
                });
                return Some((report, false));
            }
            Ok(Stored::Refused(message)) if report.outcome.is_ok() => {
                report.outcome = Err(Failure::item(message));
                return Some((report, false));
            }
            Ok(Stored::Conflict(_) | Stored::Refused(_)) => {
                warn!(database, task, "the failure cannot be stored");
            }
            Err(_) => return Some((report, true)),
        }
        None
    }

    fn stored(&self, report: &Report<'_>) {
        let task = report.task;
        let Err(failure) = &report.outcome else {
            self.count(task, "done");
            return;
        };
        let outcome = failure.class.name();
        let attempts = task.attempts;
        debug!(task = task.id, attempts, outcome, "task failed");
        self.count(task, outcome);
    }

    fn count(&self, task: &Task, outcome: &str) {
        let (database, model) = (self.session.label(), &self.model.name);
        let metrics = &self.worker.runner.metrics;
        metrics.task(database, model, &task.kind, outcome);
        let failed = matches!(outcome, "item" | "model" | "limit");
        self.worker.tally.note(database, task.id, failed);
    }
}

/// Returns the next pause, with jitter: half a second at first, then twice the last one.
pub fn next_backoff(last: Duration) -> Duration {
    let next = (last * 2).clamp(Duration::from_millis(500), LONGEST_BACKOFF);
    next.mul_f64(0.75 + 0.5 * fastrand::f64())
}

/// Returns the SQLSTATE of an error; none for an error of the connection. Messages can contain data, so they are not logged.
pub fn code(error: &Error) -> &str {
    error.code().map_or("connection", |state| state.code())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_succeeds_later_has_not_failed() {
        let tally = Tally::default();
        tally.claim(3);
        tally.note("a", 1, true);
        tally.note("b", 1, true);
        tally.note("a", 1, false);
        assert_eq!((tally.claimed(), tally.failed()), (3, 1));
    }

    #[test]
    fn pauses_grow_up_to_a_limit() {
        let mut pause = Duration::ZERO;
        for _ in 0..20 {
            pause = next_backoff(pause);
            assert!(pause >= Duration::from_millis(375));
        }
        assert!(pause <= LONGEST_BACKOFF.mul_f64(1.25));
        assert!(pause >= LONGEST_BACKOFF.mul_f64(0.75));
    }
}
