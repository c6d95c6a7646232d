//! A pass over a collection checks for interrupts within its rows and while it ranks them.

mod tsvector_payload;

use std::collections::BTreeSet;

use reground_bm25::{Collector, Parameters, QueryWeight, TsVector};
use reground_interrupt::{CHECK_INTERVAL, test_support};
use tsvector_payload::payload;

#[test]
fn a_long_query_checks_for_interrupts_in_each_row() {
    let terms: Vec<String> = (0..10_000).map(|term| format!("t{term}")).collect();
    let query = terms
        .iter()
        .map(|term| (term.as_bytes().to_vec(), QueryWeight::own(1)))
        .collect();
    let mut collector = Collector::new(query, Parameters::default());
    let row = payload(&terms);
    let row = TsVector::parse(&row).unwrap();
    let reading = test_support::measure(|| {
        for key in 0..20 {
            collector.add(&key.to_string(), true, false, &row);
        }
    });
    assert!(
        reading.count >= 20 * 10_000 / CHECK_INTERVAL - 1,
        "{reading:?}"
    );
    let ranking = test_support::measure(|| collector.finish(10, &BTreeSet::new()));
    assert!(
        ranking.count >= 20 * 10_000 / CHECK_INTERVAL - 1,
        "{ranking:?}"
    );
}
