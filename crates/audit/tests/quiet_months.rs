//! How often the built-in rules fire in simulated months in which nothing is wrong, and how soon they find a planted fault.
//!
//! Seeds below 1000 were used to choose the limits of the rules. The tests use others. The ignored test prints the figures of more
//! months.

mod months;

use months::{Fault, Month};

#[test]
fn quiet_months_have_less_than_one_false_alarm() {
    let alarms: Vec<String> = (1000..1006)
        .flat_map(|seed| Month::new(seed, 10.0, 28).alarms(1))
        .map(|alarm| format!("{} of {}", alarm.rule, alarm.corpus))
        .collect();
    assert!(alarms.len() <= 6, "{alarms:?}");
}

#[test]
fn a_fault_of_pdf_documents_is_found_within_a_day_at_ten_answers_an_hour() {
    let mut late = 0;
    for seed in 1000..1008 {
        let mut month = Month::new(seed, 10.0, 28);
        let found = month.first_alarm(Fault::DocumentType, 1, 72);
        let found = found.expect("an alert within three days");
        assert_eq!(found.rule, "fewer_hold", "seed {seed}");
        assert!(found.answers > 20, "seed {seed}: {found:?}");
        late += u32::from(found.hours > 24.0);
    }
    assert!(late <= 1, "{late} of 8 later than a day");
}

#[test]
fn other_faults_are_found_by_their_rules() {
    // An invented source also lowers the score of its answer.
    for (fault, rules, hours) in [
        (Fault::Reranker, &["reranker_losses"][..], 12.0),
        (Fault::ModelVersion, &["fewer_hold", "low_tail"], 48.0),
        (Fault::Traffic, &["traffic_stops"], 24.0),
    ] {
        let mut month = Month::new(1000, 10.0, 28);
        let found = month.first_alarm(fault, 1, 72).expect("an alert");
        assert!(
            rules.contains(&found.rule.as_str()) && found.hours <= hours,
            "{found:?}"
        );
    }
}

#[test]
#[ignore = "takes an hour; make eval prints the tables"]
fn tables_of_many_months() {
    months::tables::print(100, 20, 2000);
}
