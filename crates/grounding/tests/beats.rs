//! A turn over a query or a passage of megabytes can be given up.

use reground_grounding::cues::Cues;
use reground_grounding::defuse::defuse;
use reground_grounding::intent::{PastTurn, classify};
use reground_grounding::settings::MarkerStyle;
use reground_grounding::{entities, facts};
use reground_pulse::felt::{check, text_of};
use reground_pulse::{STRETCH, felt};

#[test]
fn intent_beats() {
    let earlier = PastTurn {
        query: "Where do guinea pigs sleep?".to_owned(),
        ..PastTurn::default()
    };
    check("classify", 2, |query| {
        classify(query, std::slice::from_ref(&earlier), None)
    });
    let query = text_of("quick fox ", 8 * STRETCH);
    let felt = felt::of(|| entities::comparison(&query, Cues::built_in()));
    assert!(felt.beats >= 8, "{felt:?}");
}

#[test]
fn passages_beat() {
    check("defuse", 1, |text| {
        defuse(text, MarkerStyle::Lettered).len()
    });
    check("facts", 1, |text| {
        facts::extract(text, "the quick fox", 2, Cues::built_in())
    });
    let query = text_of("quick fox ", 8 * STRETCH);
    let felt = felt::of(|| facts::extract("It is so.", &query, 2, Cues::built_in()));
    assert!(felt.beats >= 8, "{felt:?}");
}
