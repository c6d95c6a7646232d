//! Figures for Prometheus.

use std::time::Duration;

use prometheus::{
    HistogramOpts, HistogramVec, IntCounterVec, IntGaugeVec, Opts, Registry, TextEncoder,
};

/// Upper bounds of call durations in seconds.
const SECONDS: [f64; 10] = [0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];

/// All figures of the worker. Their labels are names of databases and models, never texts.
pub struct Metrics {
    registry: Registry,
    tasks: IntCounterVec,
    calls: IntCounterVec,
    seconds: HistogramVec,
    tokens: IntCounterVec,
    running: IntGaugeVec,
    connected: IntGaugeVec,
}

impl Metrics {
    /// Creates the figures.
    ///
    /// # Errors
    /// The error of prometheus if two figures have one name.
    pub fn new() -> Result<Self, prometheus::Error> {
        let counter = |name: &str, help: &str, labels: &[&str]| {
            IntCounterVec::new(Opts::new(format!("reground_worker_{name}"), help), labels)
        };
        let gauge = |name: &str, help: &str, labels: &[&str]| {
            IntGaugeVec::new(Opts::new(format!("reground_worker_{name}"), help), labels)
        };
        let seconds = HistogramOpts::new("reground_worker_call_seconds", "Duration of calls.");
        let metrics = Self {
            registry: Registry::new(),
            tasks: counter(
                "tasks_total",
                "Tasks by outcome: done, item, model, limit, stopped, lost.",
                &["database", "model", "kind", "outcome"],
            )?,
            calls: counter(
                "calls_total",
                "Calls by outcome: done, item, model, limit, stopped.",
                &["model", "outcome"],
            )?,
            seconds: HistogramVec::new(seconds.buckets(SECONDS.to_vec()), &["model"])?,
            tokens: counter(
                "tokens_total",
                "Tokens that the APIs counted.",
                &["model", "direction"],
            )?,
            running: gauge("running", "Calls that run now.", &["database", "model"])?,
            connected: gauge(
                "connected",
                "1 if the database is connected.",
                &["database"],
            )?,
        };
        let registry = &metrics.registry;
        registry.register(Box::new(metrics.tasks.clone()))?;
        registry.register(Box::new(metrics.calls.clone()))?;
        registry.register(Box::new(metrics.seconds.clone()))?;
        registry.register(Box::new(metrics.tokens.clone()))?;
        registry.register(Box::new(metrics.running.clone()))?;
        registry.register(Box::new(metrics.connected.clone()))?;
        Ok(metrics)
    }

    /// Counts a task.
    pub fn task(&self, database: &str, model: &str, kind: &str, outcome: &str) {
        self.tasks
            .with_label_values(&[database, model, kind, outcome])
            .inc();
    }

    /// Counts a call.
    pub fn call(&self, model: &str, outcome: &str, duration: Duration) {
        self.calls.with_label_values(&[model, outcome]).inc();
        self.seconds
            .with_label_values(&[model])
            .observe(duration.as_secs_f64());
    }

    /// Counts tokens.
    pub fn tokens(&self, model: &str, direction: &str, tokens: Option<i64>) {
        let tokens = tokens.and_then(|tokens| u64::try_from(tokens).ok());
        self.tokens
            .with_label_values(&[model, direction])
            .inc_by(tokens.unwrap_or(0));
    }

    /// Sets the number of running calls.
    pub fn running(&self, database: &str, model: &str, calls: usize) {
        let calls = i64::try_from(calls).unwrap_or(i64::MAX);
        self.running
            .with_label_values(&[database, model])
            .set(calls);
    }

    /// Sets whether a database is connected.
    pub fn connected(&self, database: &str, connected: bool) {
        self.connected
            .with_label_values(&[database])
            .set(i64::from(connected));
    }

    /// Returns everything in the text format of Prometheus.
    ///
    /// # Errors
    /// The error of prometheus.
    pub fn render(&self) -> Result<String, prometheus::Error> {
        TextEncoder::new().encode_to_string(&self.registry.gather())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_text() {
        let metrics = Metrics::new().expect("distinct names");
        metrics.task("app", "e5", "embed", "done");
        metrics.tokens("e5", "input", Some(7));
        metrics.tokens("e5", "input", Some(-1));
        let text = metrics.render().expect("text");
        assert!(text.contains(
            "reground_worker_tasks_total{database=\"app\",kind=\"embed\",model=\"e5\",outcome=\"done\"} 1"
        ));
        assert!(text.contains("tokens_total{direction=\"input\",model=\"e5\"} 7"));
    }
}
