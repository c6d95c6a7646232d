//! The metrics of the audit, as OpenMetrics text. Counters never fall: a regenerated answer does not take back the one before.

mod exposition;

use serde::Deserialize;

use exposition::{Family, Kind, text};

/// Upper bounds of the histogram of the time to an answer, in seconds.
pub const SECONDS: [f64; 9] = [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0];
/// Name of the last bucket of a histogram.
pub const INFINITE: &str = "+Inf";

/// The rows behind the metrics.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Metrics {
    /// Totals of answers.
    pub totals: Vec<Total>,
    /// Verdicts that a citation can have.
    pub statuses: Vec<Status>,
    /// State of the operation; `None` for readers who may not see it.
    pub operation: Option<Operation>,
}

/// A total of `metric_totals`.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Total {
    /// Tenant of the answers.
    pub tenant: String,
    /// Leading corpus of the turns.
    pub corpus: String,
    /// Model that wrote the answers; empty if unknown.
    pub model: String,
    /// What is counted.
    pub metric: String,
    /// Which of these.
    pub label: String,
    /// The total.
    pub total: f64,
}

/// A verdict.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Status {
    /// Name of the verdict.
    pub status: String,
    /// Whether a citation with the verdict holds.
    pub holds: Option<bool>,
    /// Hallucination mode of the verdict.
    pub hallucination_mode: Option<String>,
}

/// State of the operation.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Operation {
    /// Firing alerts.
    pub alerts: Vec<Alerts>,
    /// Tasks that wait.
    pub queues: Vec<Queue>,
    /// Passages with a wrong position.
    pub faults: Vec<Faults>,
    /// Tasks of maintenance.
    pub tasks: Vec<Task>,
}

/// Firing alerts of a rule.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Alerts {
    /// Name of the rule.
    pub rule: String,
    /// Severity of the alerts.
    pub severity: String,
    /// Tenant of the corpus.
    pub tenant: Option<String>,
    /// Corpus, for rules per corpus.
    pub corpus: Option<String>,
    /// Number of alerts.
    pub alerts: f64,
}

/// Tasks in a queue.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Queue {
    /// Name of the queue: audit, or the kind of the tasks of models.
    pub queue: String,
    /// Model that does the tasks.
    pub model: Option<String>,
    /// State of the tasks: waiting, leased or dead.
    pub state: String,
    /// Number of tasks.
    pub tasks: f64,
}

/// Passages of a corpus with a wrong position.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Faults {
    /// Tenant of the corpus.
    pub tenant: Option<String>,
    /// Name of the corpus.
    pub corpus: String,
    /// Number of passages.
    pub faults: f64,
}

/// A task of maintenance.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Task {
    /// Name of the task.
    pub task: String,
    /// When it finished last, in seconds since 1970.
    pub finished: Option<f64>,
    /// Whether its last run failed.
    pub failed: bool,
}

/// Metric of `metric_totals`, family, label that distinguishes its totals, help.
const COUNTERS: [(&str, &str, &str, &str); 6] = [
    (
        "turns",
        "reground_turns",
        "context",
        "Turns with an answer. context: filled, or empty without a source.",
    ),
    (
        "answers",
        "reground_answers",
        "decision",
        "Answers, superseded ones included, by the decision of the policy.",
    ),
    (
        "refusals",
        "reground_refusals",
        "reason",
        "Reasons to regenerate an answer. An answer can have several.",
    ),
    (
        "citations",
        "reground_citations",
        "status",
        "Citations by verdict. holds: true, false, or unknown if it cannot be told.",
    ),
    (
        "tokens",
        "reground_tokens",
        "kind",
        "Tokens of the answers. kind: input (without cached ones), cached or output.",
    ),
    (
        "cost",
        "reground_cost",
        "",
        "Cost of the answers, in the unit of model_prices.",
    ),
];

impl Metrics {
    /// Returns the OpenMetrics text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut families = Vec::new();
        for (metric, family, label, help) in COUNTERS {
            let unit = (metric == "tokens").then_some("tokens");
            let mut family = Family::new(family, Kind::Counter, unit, help);
            let labels = |total: &Total, own: &str| {
                let mut labels = total.labels();
                if metric == "citations" {
                    labels.extend(self.verdict(own));
                }
                if !label.is_empty() {
                    labels.push((label, own.to_owned()));
                }
                labels
            };
            for total in self.totals_of(metric) {
                family.add(labels(total, &total.label), total.total);
                // `rate` ignores the value with which a series appears, so each verdict has one from the start.
                for known in self.statuses.iter().filter(|_| metric == "citations") {
                    family.add(labels(total, &known.status), 0.0);
                }
            }
            families.push(family);
        }
        families.push(self.seconds());
        families.extend(self.operation.iter().flat_map(Operation::families));
        text(families)
    }

    fn totals_of<'a>(&'a self, metric: &'a str) -> impl Iterator<Item = &'a Total> {
        self.totals
            .iter()
            .filter(move |total| total.metric == metric)
    }

    /// Returns the labels of a verdict.
    fn verdict(&self, status: &str) -> Vec<(&'static str, String)> {
        let known = self.statuses.iter().find(|known| known.status == status);
        let holds = match known.and_then(|known| known.holds) {
            Some(true) => "true",
            Some(false) => "false",
            None => "unknown",
        };
        let mode = known.and_then(|known| known.hallucination_mode.clone());
        vec![
            ("holds", holds.to_owned()),
            ("hallucination", mode.unwrap_or_default()),
        ]
    }

    /// Returns the histogram of the time to an answer.
    fn seconds(&self) -> Family {
        let mut family = Family::new(
            "reground_answer_seconds",
            Kind::Histogram(SECONDS.to_vec()),
            Some("seconds"),
            "Time from begin_turn to end_turn.",
        );
        for total in self.totals_of("answer_seconds") {
            let bound = match total.label.as_str() {
                INFINITE => f64::INFINITY,
                label => label.parse().unwrap_or(f64::INFINITY),
            };
            family.observe(total.labels(), bound, total.total as u64);
        }
        for total in self.totals_of("answer_seconds_sum") {
            family.add(total.labels(), total.total);
        }
        family
    }
}

impl Total {
    fn labels(&self) -> Vec<(&'static str, String)> {
        vec![
            ("tenant", self.tenant.clone()),
            ("corpus", self.corpus.clone()),
            ("model", self.model.clone()),
        ]
    }
}

impl Operation {
    fn families(&self) -> Vec<Family> {
        let gauge = |name, unit, help| Family::new(name, Kind::Gauge, unit, help);
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let mut alerts = gauge("reground_alerts", None, "Firing alerts.");
        for firing in &self.alerts {
            let labels = vec![
                ("rule", firing.rule.clone()),
                ("severity", firing.severity.clone()),
                ("tenant", text(&firing.tenant)),
                ("corpus", text(&firing.corpus)),
            ];
            alerts.add(labels, firing.alerts);
        }
        let mut queues = gauge(
            "reground_queue_tasks",
            Some("tasks"),
            "Tasks that are not done. queue: audit for answers that the rollups do not count yet, or the kind of the tasks of models.",
        );
        for queue in &self.queues {
            let labels = vec![
                ("queue", queue.queue.clone()),
                ("model", text(&queue.model)),
                ("state", queue.state.clone()),
            ];
            queues.add(labels, queue.tasks);
        }
        let mut faults = gauge(
            "reground_coordinate_faults",
            None,
            "Passages with a wrong position, at the last check of the corpus.",
        );
        for corpus in &self.faults {
            let labels = vec![
                ("tenant", text(&corpus.tenant)),
                ("corpus", corpus.corpus.clone()),
            ];
            faults.add(labels, corpus.faults);
        }
        let mut finished = gauge(
            "reground_maintenance_finished_timestamp_seconds",
            Some("seconds"),
            "When the last run of a maintenance task finished, in seconds since 1970.",
        );
        let mut failed = gauge(
            "reground_maintenance_failed",
            None,
            "Whether the last run of a maintenance task failed, or reported a problem.",
        );
        for task in &self.tasks {
            let labels = vec![("task", task.task.clone())];
            if let Some(at) = task.finished {
                finished.add(labels.clone(), at);
                failed.add(labels, f64::from(u8::from(task.failed)));
            }
        }
        vec![alerts, queues, faults, finished, failed]
    }
}
