//! Judging: from evidence to verdict, score and decision.

mod evidence;
mod fixture;
mod places;
mod scores;
mod verdicts;
mod whole_answer;

use reground_citations::{FailureMode, Status};

#[test]
fn the_table_of_statuses() {
    let row = |s: Status| (s.holds(), s.score(), s.mode());
    let fabricated = Some(FailureMode::FabricatedCoordinate);
    let expected = [
        (Some(true), Some(1.0), None),
        (Some(true), Some(1.0), None),
        (
            Some(false),
            Some(1.0),
            Some(FailureMode::CrossTextConflation),
        ),
        (
            Some(false),
            Some(1.0),
            Some(FailureMode::ParaphraseAttribution),
        ),
        (Some(false), Some(1.0), None),
        (Some(false), Some(0.3), None),
        (Some(false), Some(0.3), None),
        (Some(false), Some(0.3), None),
        (Some(false), Some(0.0), fabricated),
        (Some(false), Some(0.0), fabricated),
        (Some(true), Some(1.0), None),
        (None, None, None),
        (None, None, None),
    ];
    assert_eq!(Status::ALL.map(row), expected);
}
