//! The OpenMetrics text is read by a strict parser of the grammar and of the rules of the specification, with hostile names.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use reground_report::openmetrics::{
    Alerts, Faults, Metrics, Operation, Queue, Status, Task, Total,
};

/// Labels without `le`.
type Labels = Vec<(String, String)>;

/// A family according to the parser.
#[derive(Debug, Default)]
struct Family {
    kind: String,
    unit: Option<String>,
    samples: Vec<(String, BTreeMap<String, String>, f64)>,
}

/// Reads an escaped text up to a quotation mark, and returns it with the rest.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((value, &text[at + 1..])),
            '\n' => break,
            '\\' => match chars.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, c @ ('\\' | '"'))) => value.push(c),
                other => return Err(format!("escape {other:?}")),
            },
            c => value.push(c),
        }
    }
    Err(format!("no end in {text:?}"))
}

fn name(text: &str) -> Result<(&str, &str), String> {
    let end = text
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    if end == 0 || text.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(format!("no name in {text:?}"));
    }
    Ok(text.split_at(end))
}

fn sample(line: &str) -> Result<(String, BTreeMap<String, String>, f64), String> {
    let (metric, mut rest) = name(line)?;
    let mut labels = BTreeMap::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        loop {
            let (label, after) = name(rest)?;
            let (value, after) = quoted(after.strip_prefix("=\"").ok_or("no value")?)?;
            if labels.insert(label.to_owned(), value).is_some() {
                return Err(format!("{label} twice in {line}"));
            }
            match after.split_at_checked(1) {
                Some((",", after)) => rest = after,
                Some(("}", after)) => {
                    rest = after;
                    break;
                }
                _ => return Err(format!("labels of {line}")),
            }
        }
    }
    let value = rest
        .strip_prefix(' ')
        .ok_or(format!("no value in {line}"))?;
    let value = value.parse().map_err(|_| format!("value {value:?}"))?;
    Ok((metric.to_owned(), labels, value))
}

/// Parses a text. A line ends with LF only.
fn parse(text: &str) -> Result<BTreeMap<String, Family>, String> {
    let body = text.strip_suffix("# EOF\n").ok_or("no end")?;
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    let mut current = String::new();
    for line in body.split_terminator('\n') {
        let Some(described) = line.strip_prefix("# ") else {
            let (metric, labels, value) = sample(line)?;
            let family = families
                .get_mut(&current)
                .ok_or("a sample without a family")?;
            let suffix = metric
                .strip_prefix(current.as_str())
                .ok_or(format!("{metric} in {current}"))?;
            let allowed: &[&str] = match family.kind.as_str() {
                "counter" => &["_total"],
                "gauge" => &[""],
                "histogram" => &["_bucket", "_sum", "_count"],
                _ => &[],
            };
            if !allowed.contains(&suffix) {
                return Err(format!("{metric} of a {}", family.kind));
            }
            family.samples.push((suffix.to_owned(), labels, value));
            continue;
        };
        let mut words = described.splitn(3, ' ');
        let (what, family, rest) = (words.next(), words.next(), words.next());
        let (Some(what), Some(family), Some(rest)) = (what, family, rest) else {
            return Err(format!("line {line:?}"));
        };
        if family != current {
            if families.contains_key(family) {
                return Err(format!("{family} twice"));
            }
            current = family.to_owned();
            families.insert(current.clone(), Family::default());
        }
        let of = families.get_mut(family).filter(|_| family == current);
        let of = of.ok_or(format!("{line} outside of its family"))?;
        if !of.samples.is_empty() {
            return Err(format!("{line} after samples"));
        }
        match what {
            "UNIT" if family.ends_with(&format!("_{rest}")) => of.unit = Some(rest.to_owned()),
            "TYPE" if of.kind.is_empty() => of.kind = rest.to_owned(),
            "HELP" => {}
            _ => return Err(format!("line {line:?}")),
        }
    }
    families.values().try_for_each(check)?;
    Ok(families)
}

/// Checks values, that no sample occurs twice, and that buckets are complete, in order and cumulative.
fn check(family: &Family) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    let mut buckets: BTreeMap<Labels, Vec<(f64, f64)>> = BTreeMap::new();
    for (suffix, labels, value) in &family.samples {
        if !seen.insert((suffix, labels)) {
            return Err(format!("{labels:?} twice"));
        }
        if family.kind != "gauge" && (*value < 0.0 || !value.is_finite()) {
            return Err(format!("{value}"));
        }
        if suffix == "_bucket" {
            let bound = labels.get("le").ok_or("no le")?;
            let bound = bound.parse::<f64>().map_err(|_| format!("le {bound}"))?;
            let key = labels.iter().filter(|(name, _)| *name != "le");
            let key = key.map(|(name, value)| (name.clone(), value.clone()));
            buckets
                .entry(key.collect())
                .or_default()
                .push((bound, *value));
        }
    }
    for (labels, buckets) in buckets {
        let rises = buckets
            .windows(2)
            .all(|w| w[0].0 < w[1].0 && w[0].1 <= w[1].1);
        let last = *buckets.last().ok_or("no bucket")?;
        let counted = family.samples.iter().any(|(suffix, other, count)| {
            let same = other
                .iter()
                .map(|(a, b)| (a.clone(), b.clone()))
                .eq(labels.clone());
            suffix == "_count" && same && *count == last.1
        });
        if !rises || last.0 != f64::INFINITY || !counted {
            return Err(format!("buckets {buckets:?}"));
        }
    }
    Ok(())
}

fn total(text: &str, metric: &str, label: &str, total: f64) -> Total {
    Total {
        tenant: text.to_owned(),
        corpus: text.to_owned(),
        model: text.to_owned(),
        metric: metric.to_owned(),
        label: label.to_owned(),
        total,
    }
}

/// Metrics in which every text is `text`.
fn metrics(text: &str, value: f64) -> Metrics {
    let some = || Some(text.to_owned());
    let counters = [
        "turns",
        "answers",
        "refusals",
        "citations",
        "tokens",
        "cost",
    ];
    let mut totals: Vec<Total> = counters
        .map(|metric| total(text, metric, text, value))
        .into();
    totals.push(total("acme", "citations", "unsupported", 3.0));
    totals.push(total("acme", "citations", "resolved_current", 5.0));
    for (bound, count) in [("120", 1.0), ("0.5", 2.0), ("+Inf", 4.0), ("2", 3.0)] {
        totals.push(total(text, "answer_seconds", bound, count));
    }
    totals.push(total(text, "answer_seconds_sum", "", value));
    // The same totals again: no label set may occur twice.
    totals.extend(totals.clone());
    let alerts = Alerts {
        rule: text.to_owned(),
        severity: "critical".to_owned(),
        tenant: some(),
        corpus: None,
        alerts: 1.0,
    };
    let queue = |state: &str| Queue {
        queue: "judge".to_owned(),
        model: some(),
        state: state.to_owned(),
        tasks: value,
    };
    let faults = Faults {
        tenant: None,
        corpus: text.to_owned(),
        faults: value,
    };
    let task = |task: &str, finished| Task {
        task: task.to_owned(),
        finished,
        failed: true,
    };
    let status = |status: &str, holds, mode: Option<&str>| Status {
        status: status.to_owned(),
        holds,
        hallucination_mode: mode.map(str::to_owned),
    };
    Metrics {
        totals,
        statuses: vec![
            status("unsupported", Some(false), Some("paraphrase_attribution")),
            status("resolved_current", Some(true), None),
            status("malformed", None, None),
        ],
        operation: Some(Operation {
            alerts: vec![alerts],
            queues: vec![queue("waiting"), queue("dead")],
            faults: vec![faults],
            tasks: vec![task(text, Some(1_790_000_000.25)), task("never", None)],
        }),
    }
}

#[test]
fn a_text_has_the_expected_lines() {
    let text = metrics("a\\b\"c\nd", 2.0).text();
    for line in [
        "# HELP reground_citations Citations by verdict. holds: true, false, or unknown if it cannot be told.\n# TYPE reground_citations counter\n",
        "reground_citations_total{tenant=\"acme\",corpus=\"acme\",model=\"acme\",holds=\"false\",hallucination=\"paraphrase_attribution\",status=\"unsupported\"} 6.0\n",
        "reground_citations_total{tenant=\"acme\",corpus=\"acme\",model=\"acme\",holds=\"true\",hallucination=\"\",status=\"resolved_current\"} 10.0\n",
        "reground_cost_total{tenant=\"a\\\\b\\\"c\\nd\",corpus=\"a\\\\b\\\"c\\nd\",model=\"a\\\\b\\\"c\\nd\"} 4.0\n",
        "# TYPE reground_answer_seconds histogram\n# UNIT reground_answer_seconds seconds\n",
        "} 1790000000.25\n",
        "# TYPE reground_maintenance_failed gauge\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    for (bound, count) in [
        ("0.5", 4),
        ("1.0", 4),
        ("2.0", 10),
        ("120.0", 12),
        ("+Inf", 20),
    ] {
        let mut lines = text
            .lines()
            .filter(|line| line.contains(&format!("le=\"{bound}\"")));
        assert!(
            lines.any(|line| line.ends_with(&format!("}} {count}"))),
            "{bound}\n{text}"
        );
    }
    assert!(text.ends_with("\n# EOF\n") && !text.contains("never"));
}

#[test]
fn nothing_is_a_valid_text_and_hides_the_operation() {
    let text = Metrics::default().text();
    let families = parse(&text).unwrap();
    assert_eq!(families.len(), 7);
    assert!(families.values().all(|family| family.samples.is_empty()));
    assert!(!text.contains("reground_alerts"));
}

#[test]
fn the_parser_detects_faults() {
    for bad in [
        "",
        "# EOF",
        "a 1\n# EOF\n",
        "# TYPE a counter\na 1\n# EOF\n",
        "# TYPE a counter\na_total{b=\"\\x\"} 1\n# EOF\n",
        "# TYPE a counter\na_total{b=\"c} 1\n# EOF\n",
        "# TYPE a counter\na_total{b=\"c\",b=\"c\"} 1\n# EOF\n",
        "# TYPE a counter\na_total -1\n# EOF\n",
        "# TYPE a gauge\na 1\na 2\n# EOF\n",
        "# TYPE a gauge\n# UNIT a b\n# EOF\n",
        "# TYPE a gauge\n# TYPE b gauge\na 1\n# EOF\n",
        "# TYPE a histogram\na_bucket{le=\"1\"} 1\na_count 1\n# EOF\n",
        "# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_count 1\n# EOF\n",
    ] {
        assert!(parse(bad).is_err(), "{bad:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_name_is_read_back(text in prop_oneof![any::<String>(), "[\\\\\"\n\r{},=# a]{0,12}"], value in 0.0_f64..1e18) {
        let families = parse(&metrics(&text, value).text()).map_err(TestCaseError::fail)?;
        let samples = &families["reground_answers"].samples;
        prop_assert_eq!(samples.len(), 1);
        let (_, labels, found) = &samples[0];
        for label in ["tenant", "corpus", "model", "decision"] {
            prop_assert_eq!(&labels[label], &text);
        }
        prop_assert_eq!(*found, 2.0 * value);
        let units: Vec<_> = families.values().filter_map(|family| family.unit.as_deref()).collect();
        prop_assert_eq!(units, ["seconds", "seconds", "tasks", "tokens"]);
    }
}
