//! The text format of [OpenMetrics 1.0](https://prometheus.io/docs/specs/om/open_metrics_spec/): families with their samples, each
//! label set once.

use std::collections::BTreeMap;
use std::fmt::Write;

use reground_interrupt::{check_interrupt, checked};

/// Names and values of labels. Names are literals; values can be data.
pub type Labels = Vec<(&'static str, String)>;

/// Kind of a family.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A value that only grows.
    Counter,
    /// A value that rises and falls.
    Gauge,
    /// Numbers of observations up to these bounds, their sum and their number.
    Histogram(Vec<f64>),
}

/// A metric family.
#[derive(Clone, Debug)]
pub struct Family {
    name: &'static str,
    kind: Kind,
    unit: Option<&'static str>,
    help: &'static str,
    points: BTreeMap<Labels, Point>,
}

/// The values of one label set.
#[derive(Clone, Debug, Default)]
struct Point {
    value: f64,
    /// Observations per bucket of a histogram; the last has no bound.
    buckets: Vec<f64>,
}

impl Family {
    /// Makes an empty family. The name ends with the unit.
    pub fn new(
        name: &'static str,
        kind: Kind,
        unit: Option<&'static str>,
        help: &'static str,
    ) -> Self {
        Self {
            name,
            kind,
            unit,
            help,
            points: BTreeMap::new(),
        }
    }

    /// Adds to the value of a label set; for a histogram, to the sum of its observations.
    pub fn add(&mut self, labels: Labels, value: f64) {
        self.points.entry(labels).or_default().value += value;
    }

    /// Adds observations of a histogram that are at most `bound`, and above the bound before.
    pub fn observe(&mut self, labels: Labels, bound: f64, count: f64) {
        let Kind::Histogram(bounds) = &self.kind else {
            return;
        };
        let bucket = bounds.partition_point(|known| *known < bound);
        let buckets = &mut self.points.entry(labels).or_default().buckets;
        buckets.resize(bounds.len() + 1, 0.0);
        buckets[bucket] += count;
    }
}

/// The text.
#[derive(Debug, Default)]
pub struct Exposition(String);

impl Exposition {
    /// Writes a family with its samples.
    pub fn family(&mut self, family: Family) {
        let Family {
            name,
            kind,
            unit,
            help,
            points,
        } = family;
        let (kind_name, suffix) = match kind {
            Kind::Counter => ("counter", "_total"),
            Kind::Gauge => ("gauge", ""),
            Kind::Histogram(_) => ("histogram", ""),
        };
        self.line(&format!("# TYPE {name} {kind_name}"));
        if let Some(unit) = unit {
            self.line(&format!("# UNIT {name} {unit}"));
        }
        self.0.push_str(&format!("# HELP {name} "));
        self.escaped(help);
        self.0.push('\n');
        for (labels, point) in &points {
            match &kind {
                Kind::Histogram(bounds) => self.histogram(name, labels, bounds, point),
                _ => self.sample(name, suffix, labels, None, point.value),
            }
        }
    }

    /// Returns the text.
    pub fn finish(mut self) -> String {
        self.line("# EOF");
        self.0
    }

    fn histogram(&mut self, name: &str, labels: &Labels, bounds: &[f64], point: &Point) {
        let mut count = 0.0;
        for (index, bound) in bounds.iter().chain([&f64::INFINITY]).enumerate() {
            count += point.buckets.get(index).copied().unwrap_or_default();
            let bound = if bound.is_finite() {
                format!("{bound:?}")
            } else {
                "+Inf".to_owned()
            };
            self.sample(name, "_bucket", labels, Some(&bound), count);
        }
        self.sample(name, "_sum", labels, None, point.value);
        self.sample(name, "_count", labels, None, count);
    }

    fn sample(
        &mut self,
        name: &str,
        suffix: &str,
        labels: &Labels,
        bound: Option<&str>,
        value: f64,
    ) {
        check_interrupt(1);
        self.0.push_str(name);
        self.0.push_str(suffix);
        let mut separator = '{';
        let bound = bound.map(|bound| ("le", bound));
        let labels = labels.iter().map(|(name, value)| (*name, value.as_str()));
        for (label, text) in labels.chain(bound) {
            self.0.push(separator);
            separator = ',';
            self.0.push_str(label);
            self.0.push_str("=\"");
            self.escaped(text);
            self.0.push('"');
        }
        if separator == ',' {
            self.0.push('}');
        }
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, " {value}");
    }

    fn escaped(&mut self, text: &str) {
        for c in checked(text.chars()) {
            match c {
                '\\' => self.0.push_str("\\\\"),
                '"' => self.0.push_str("\\\""),
                '\n' => self.0.push_str("\\n"),
                c => self.0.push(c),
            }
        }
    }

    fn line(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }
}
