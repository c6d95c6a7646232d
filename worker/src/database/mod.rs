//! Everything of one database: its notifications, its models, and one loop per model.

pub mod connection;
pub mod lane;
pub mod session;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_postgres::{Client, Error};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::model::Model;
use crate::queue::{self, UnusableModel};
use crate::registry::Registry;
use connection::Target;
use lane::{Lane, Worker, code, next_backoff};
use session::Session;

/// Time between two looks at the models and at the passages to embed.
const REFRESH: Duration = Duration::from_secs(10);

/// Serves one database.
pub struct Database {
    worker: Arc<Worker>,
    registry: Arc<Registry>,
    target: Target,
    session: Arc<Session>,
    stop: CancellationToken,
    wake: watch::Sender<u64>,
    lanes: BTreeMap<String, (Model, CancellationToken)>,
    running: JoinSet<()>,
    /// Models that were reported as not served, each once.
    reported: BTreeSet<String>,
}

impl Database {
    /// Creates the service of a database.
    pub fn new(
        worker: Arc<Worker>,
        registry: Arc<Registry>,
        target: Target,
        stop: CancellationToken,
    ) -> Self {
        let database = Self {
            worker,
            registry,
            session: Arc::new(Session::new(target.clone())),
            target,
            stop,
            wake: watch::Sender::new(0),
            lanes: BTreeMap::new(),
            running: JoinSet::new(),
            reported: BTreeSet::new(),
        };
        database.connected(false);
        database
    }

    /// Serves the database until it is stopped. Running calls end before this returns.
    pub async fn serve(mut self) {
        let stop = self.stop.clone();
        let mut backoff = Duration::ZERO;
        while !stop.is_cancelled() {
            let database = self.target.label.clone();
            let closed = CancellationToken::new();
            match self.listen(&closed).await {
                Ok(client) => {
                    info!(database, "connected");
                    self.connected(true);
                    // Notifications of the time without a connection are lost.
                    self.wake.send_modify(|count| *count += 1);
                    backoff = Duration::ZERO;
                    if let Err(error) = self.refresh_until_stopped(&client, &closed).await {
                        warn!(database, code = code(&error), "lost the connection");
                    }
                    self.connected(false);
                }
                Err(error) => warn!(database, code = code(&error), "cannot connect"),
            }
            backoff = next_backoff(backoff);
            tokio::select! {
                () = stop.cancelled() => {}
                () = sleep(backoff) => {}
            }
        }
        while self.running.join_next().await.is_some() {}
    }

    /// Works until nothing is left.
    ///
    /// # Errors
    /// The error of connecting or of the queue.
    pub async fn serve_once(mut self) -> Result<(), Error> {
        let client = self.target.connect().await?;
        self.connected(true);
        loop {
            let before = self.worker.tally.claimed();
            let models = self.models(&client).await?;
            let queued = queue::queue_embeddings(&client).await?;
            self.lanes.clear();
            self.reconcile(models);
            while self.running.join_next().await.is_some() {}
            let idle = self.worker.tally.claimed() == before && queued == 0;
            if idle || self.stop.is_cancelled() {
                return Ok(());
            }
        }
    }

    async fn listen(&self, closed: &CancellationToken) -> Result<Client, Error> {
        let wake = self.wake.clone();
        let notified = move || wake.send_modify(|count| *count += 1);
        let client = self.target.listen(notified, closed.clone()).await?;
        client.batch_execute("LISTEN reground_tasks").await?;
        Ok(client)
    }

    /// Looks at models and passages every 10 seconds, and at once when the connection has ended, to see its error.
    async fn refresh_until_stopped(
        &mut self,
        client: &Client,
        closed: &CancellationToken,
    ) -> Result<(), Error> {
        let mut ticks = interval(REFRESH);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let stop = self.stop.clone();
        loop {
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = closed.cancelled() => {}
                _ = ticks.tick() => {}
            }
            let models = self.models(client).await?;
            self.reconcile(models);
            let queued = tokio::select! {
                () = stop.cancelled() => return Ok(()),
                queued = queue::queue_embeddings(client) => queued,
            };
            let database = &self.target.label;
            match queued {
                Ok(0) => {}
                Ok(tasks) => info!(database, tasks, "queued passages"),
                Err(error) if queue::is_passing(&error) => return Err(error),
                Err(error) => warn!(database, code = code(&error), "cannot queue passages"),
            }
            while self.running.try_join_next().is_some() {}
        }
    }

    /// Returns the models that this worker can serve. The tasks of the others are left to workers that have their keys.
    async fn models(&mut self, client: &Client) -> Result<Vec<Model>, Error> {
        let mut models = Vec::new();
        for model in queue::worker_models(client).await? {
            let served = model.and_then(|model| {
                let apis = &self.worker.runner.apis;
                let served = apis.can_serve(&model);
                served.map_err(|failure| UnusableModel {
                    name: model.name.clone(),
                    reason: failure.message,
                })?;
                Ok(model)
            });
            match served {
                Ok(model) => models.push(model),
                Err(UnusableModel { name, reason }) => {
                    if self.reported.insert(name.clone()) {
                        let database = &self.target.label;
                        warn!(database, model = name, reason, "does not serve model");
                    }
                }
            }
        }
        self.reported
            .retain(|name| models.iter().all(|model| model.name != *name));
        self.registry.set_models(&self.target.label, &models);
        Ok(models)
    }

    /// Starts the loops of new models, and stops those of models that are gone or have changed.
    fn reconcile(&mut self, models: Vec<Model>) {
        self.lanes.retain(|_, (model, stop)| {
            let stays = models.contains(model);
            if !stays {
                stop.cancel();
            }
            stays
        });
        for model in models {
            if self.lanes.contains_key(&model.name) {
                continue;
            }
            let (database, name, api) = (&self.target.label, &model.name, model.api);
            info!(database, model = %name, %api, "serves model");
            let stop = self.stop.child_token();
            let lane = Lane::new(
                Arc::clone(&self.worker),
                Arc::clone(&self.session),
                model.clone(),
                stop.clone(),
            );
            self.running.spawn(lane.run(self.wake.subscribe()));
            self.lanes.insert(model.name.clone(), (model, stop));
        }
    }

    fn connected(&self, connected: bool) {
        let database = &self.target.label;
        self.registry.set_connected(database, connected);
        let metrics = &self.worker.runner.metrics;
        metrics.connected(database, connected);
    }
}
