//! Tests of the rule on traffic.

use crate::hours::{AnswerCell, Cells, HOUR, Hours};
use crate::indicator::Indicator;
use crate::rule::{Reading, Rule, Severity};
use crate::traffic::{EarlierCell, TrafficRule};

const NOW: i64 = 10_000 * HOUR;

/// Reads the rule for ten answers in each hour of these earlier weeks, and these answers per hour since three hours ago.
fn read(weeks: &[(i64, u64)], recent: u64) -> Option<Reading> {
    let earlier = weeks.iter().flat_map(|(week, answers)| {
        (1..=24).map(move |back| EarlierCell {
            hour: NOW - (week * 168 + back) * HOUR,
            corpus: "help".into(),
            answers: *answers,
        })
    });
    let earlier: Vec<EarlierCell> = earlier.collect();
    let answers = (0..24).map(|back| AnswerCell {
        hour: NOW - back * HOUR,
        corpus: "help".into(),
        cfs_bin: None,
        answers: if back <= 8 { recent } else { 10 },
    });
    let hours = Hours::from(Cells {
        answers: answers.collect(),
        ..Cells::default()
    });
    let rule = Rule {
        rule: "traffic_stops".into(),
        indicator: Indicator::Traffic,
        threshold: 0.05,
        hours: 24,
        whole_period: true,
        min_answers: 50,
        per_corpus: true,
        severity: Severity::Critical,
    };
    TrafficRule {
        rule: &rule,
        hours: &hours,
        corpus: Some(&"help".into()),
        earlier: &earlier.iter().collect::<Vec<_>>(),
        now: NOW,
    }
    .read()
}

#[test]
fn a_stop_fires_after_as_many_hours_as_usually_have_fifty_answers() {
    let found = read(&[(1, 10), (2, 20)], 0).expect("an earlier week");
    assert!(found.is_bad && !found.is_over);
    assert_eq!((found.value, found.since), (0.0, NOW - 5 * HOUR));
    let found = read(&[(1, 10)], 10).expect("an earlier week");
    assert!(!found.is_bad && found.is_over);
}

#[test]
fn the_smallest_earlier_week_is_expected() {
    // A holiday two weeks ago had one answer an hour, so a day has too few to tell.
    assert_eq!(read(&[(1, 10), (2, 1)], 0), None);
    assert_eq!(read(&[], 0), None);
}
