//! The text format of [OpenMetrics 1.0](https://prometheus.io/docs/specs/om/open_metrics_spec/): families with their samples, each
//! label set once.

use std::collections::BTreeMap;
use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};
use reground_interrupt::checked;

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
    buckets: Vec<u64>,
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
    pub fn observe(&mut self, labels: Labels, bound: f64, count: u64) {
        let Kind::Histogram(bounds) = &self.kind else {
            return;
        };
        let bucket = bounds.partition_point(|known| *known < bound);
        let buckets = &mut self.points.entry(labels).or_default().buckets;
        buckets.resize(bounds.len() + 1, 0);
        buckets[bucket] += count;
    }
}

impl Family {
    /// Returns the name without the unit, which the encoder appends.
    fn stem(&self) -> &'static str {
        let stem = self.unit.and_then(|unit| self.name.strip_suffix(unit));
        stem.and_then(|stem| stem.strip_suffix('_'))
            .unwrap_or(self.name)
    }
}

impl Collector for Family {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Counter => MetricType::Counter,
            Kind::Gauge => MetricType::Gauge,
            Kind::Histogram(_) => MetricType::Histogram,
        };
        let unit = self.unit.map(|unit| Unit::Other(unit.to_owned()));
        let mut family = encoder.encode_descriptor(self.stem(), self.help, unit.as_ref(), kind)?;
        for (labels, point) in checked(&self.points) {
            let mut one = family.encode_family(labels)?;
            match &self.kind {
                Kind::Counter => one.encode_counter::<NoLabelSet, _, f64>(&point.value, None)?,
                Kind::Gauge => one.encode_gauge(&point.value)?,
                Kind::Histogram(bounds) => {
                    let bounds = bounds.iter().copied().chain([f64::INFINITY]);
                    let counts = point.buckets.iter().copied().chain(std::iter::repeat(0));
                    let buckets: Vec<(f64, u64)> = bounds.zip(counts).collect();
                    let count = point.buckets.iter().sum();
                    one.encode_histogram::<NoLabelSet>(point.value, count, &buckets, None)?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the text of families.
pub fn text(families: impl IntoIterator<Item = Family>) -> String {
    let mut registry = Registry::default();
    for family in families {
        registry.register_collector(Box::new(family));
    }
    let mut text = String::new();
    let written = encode(&mut text, &registry);
    debug_assert!(written.is_ok(), "writing to a string succeeds");
    text
}
