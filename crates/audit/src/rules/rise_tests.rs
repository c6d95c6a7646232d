//! Tests of accumulating rules on hand-computed counts.

use crate::counts::{CountCell, Kind, Part, UsualCell};
use crate::hours::HOUR;
use crate::indicator::Indicator;
use crate::rise::RiseRule;
use crate::rule::{Reading, Rule, Severity};

const NOW: i64 = 1000 * HOUR;

/// A hundred hours with ten trials each, half of them with two events and half with none: the mean is 0.1, and the variance of a trial
/// 100 / 1000 · 100 / 99, which is 1.122 times that of independent trials.
fn usual(part: Part) -> UsualCell {
    UsualCell {
        corpus: "help".into(),
        kind: Kind::Failing,
        part,
        hours: 100.0,
        events: 100.0,
        trials: 1000.0,
        events_squared: 200.0,
        events_trials: 1000.0,
        trials_squared: 10_000.0,
        // Five days of twenty hours, each with twenty events more or less than 20 by √20, as independent hours have.
        day_events_squared: 5.0 * (400.0 + 20.0),
        day_events_trials: 5.0 * 20.0 * 200.0,
        day_trials_squared: 5.0 * 40_000.0,
    }
}

fn cell(back: i64, document_type: &str, events: f64, trials: f64) -> CountCell {
    CountCell {
        hour: NOW - back * HOUR,
        corpus: "help".into(),
        kind: Kind::Failing,
        document_type: Some(document_type.into()),
        model: Some("small".into()),
        events,
        trials,
    }
}

fn read(cells: &[CountCell], usual: &[UsualCell]) -> Option<Reading> {
    read_with(0.1, cells, usual)
}

fn read_with(threshold: f64, cells: &[CountCell], usual: &[UsualCell]) -> Option<Reading> {
    let rule = Rule {
        rule: "fewer_hold".into(),
        indicator: Indicator::Rise(Kind::Failing),
        threshold,
        hours: 72,
        whole_period: true,
        min_answers: 200,
        per_corpus: true,
        severity: Severity::Warning,
    };
    let cells: Vec<&CountCell> = cells.iter().collect();
    let usual: Vec<&UsualCell> = usual.iter().collect();
    RiseRule {
        rule: &rule,
        kind: Kind::Failing,
        cells: &cells,
        usual: &usual,
        now: NOW,
    }
    .read()
}

#[test]
fn evidence_is_the_log_likelihood_ratio_over_the_dispersion() {
    // (21 ln 2 + 19 ln (8 / 9)) / 1.122 = 10.97, and (22 ln 2 + 18 ln (8 / 9)) / 1.122 = 11.70. The limit is 11.
    let fires = |events| {
        let found = read(&[cell(0, "pdf", events, 40.0)], &[usual(Part::Corpus)]);
        found.expect("usual figures").is_bad
    };
    assert_eq!((fires(21.0), fires(22.0)), (false, true));
}

#[test]
fn evidence_accumulates_from_the_hour_of_the_change() {
    let good = (20..70).map(|back| cell(back, "pdf", 1.0, 10.0));
    let bad = (0..20).map(|back| cell(back, "pdf", 3.0, 10.0));
    let found = read(&good.chain(bad).collect::<Vec<_>>(), &[usual(Part::Corpus)]);
    let found = found.expect("usual figures");
    assert!(found.is_bad && !found.is_over);
    assert_eq!(found.first_bad_hour, Some(NOW - 19 * HOUR));
    assert!((found.value - 0.2).abs() < 1e-9, "{found:?}");
    assert_eq!((found.samples, found.baseline), (200, Some(0.9)));
    // Good hours take the evidence away, also after a long fault.
    let long = (40..72).map(|back| cell(back, "pdf", 9.0, 10.0));
    let repaired = |hours| {
        let good = (0..hours).map(|back| cell(39 - back, "pdf", 1.0, 10.0));
        let cells: Vec<CountCell> = long.clone().chain(good).collect();
        read(&cells, &[usual(Part::Corpus)])
            .expect("usual figures")
            .is_over
    };
    assert_eq!((repaired(10), repaired(40)), (false, true));
}

#[test]
fn a_fault_of_one_type_is_not_diluted_by_the_others() {
    let cells = [cell(0, "pdf", 20.0, 30.0), cell(0, "html", 40.0, 500.0)];
    let alone = read(&cells, &[usual(Part::Corpus)]).expect("usual figures");
    assert!(
        alone.is_bad,
        "a type without figures of its own is compared with the corpus"
    );
    assert_eq!(alone.samples, 30);
    // PDF documents that always fail as often are no fault.
    let often = UsualCell {
        events: 600.0,
        events_squared: 6.0 * 6.0 * 100.0 + 100.0,
        events_trials: 6000.0,
        day_events_squared: 5.0 * (120.0 * 120.0 + 20.0),
        day_events_trials: 5.0 * 120.0 * 200.0,
        ..usual(Part::DocumentType("pdf".into()))
    };
    let found = read(&cells, &[usual(Part::Corpus), often]).expect("usual figures");
    assert!(!found.is_bad, "{found:?}");
}

#[test]
fn a_fault_of_all_types_is_one_of_the_corpus() {
    // The evidence of each type reaches its limit, too.
    let cells = [cell(0, "pdf", 300.0, 300.0), cell(0, "html", 300.0, 300.0)];
    let found = read(&cells, &[usual(Part::Corpus)]).expect("usual figures");
    assert_eq!(found.samples, 600);
}

#[test]
fn few_usual_trials_or_hours_make_no_reading() {
    let cells = [cell(0, "pdf", 30.0, 30.0)];
    assert_eq!(read(&cells, &[]), None);
    let few = UsualCell {
        hours: 23.0,
        ..usual(Part::Corpus)
    };
    assert_eq!(read(&cells, &[few]), None);
    let few = UsualCell {
        trials: 199.0,
        ..usual(Part::Corpus)
    };
    assert_eq!(read(&cells, &[few]), None);
}

#[test]
fn days_that_differ_raise_the_usual_share() {
    let cells = [cell(0, "pdf", 25.0, 40.0)];
    assert!(
        read(&cells, &[usual(Part::Corpus)])
            .expect("usual figures")
            .is_bad
    );
    // Days with 0 to 0.3: a standard deviation of 0.15.
    let different = UsualCell {
        day_events_squared: 5.0 * (400.0 + 20.0 + 900.0),
        ..usual(Part::Corpus)
    };
    assert!(!read(&cells, &[different]).expect("usual figures").is_bad);
}

#[test]
fn a_rise_by_nothing_is_no_evidence() {
    let never = UsualCell {
        events: 0.0,
        events_squared: 0.0,
        events_trials: 0.0,
        day_events_squared: 0.0,
        day_events_trials: 0.0,
        ..usual(Part::Corpus)
    };
    let found = read_with(0.0, &[cell(0, "pdf", 5.0, 40.0)], &[never]);
    let found = found.expect("usual figures");
    assert!(!found.is_bad && found.is_over, "{found:?}");
}
