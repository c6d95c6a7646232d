use reground_documents::CallerPassage;
use serde_json::json;

use super::*;
use crate::begin::Gathered;
use crate::begin::carry::Effect;
use crate::fixtures::{candidate, passage};
use crate::passage::{Reason, Stage};

fn placed(candidates: Vec<Candidate>) -> (Vec<ContextSource>, Vec<BoundMarker>) {
    placed_after(candidates, &MarkerRegister::default())
}

fn placed_after(
    candidates: Vec<Candidate>,
    register: &MarkerRegister,
) -> (Vec<ContextSource>, Vec<BoundMarker>) {
    let settings = Settings::default();
    let mut parts = PromptParts::new(register, "q", &settings);
    assign_markers_and_facts(candidates, register, &mut parts, &settings)
}

fn gathered(candidates: Vec<Candidate>) -> Gathered {
    Gathered {
        candidates,
        pins: Vec::new(),
        carried: Vec::new(),
        effect: Effect {
            carries: false,
            reserved_slots: 0,
            anchors: false,
        },
        entities: Vec::new(),
        dropped: Vec::new(),
        warnings: Vec::new(),
        remembered: Vec::new(),
        words: Default::default(),
        answerability: None,
        withdrawn: Default::default(),
    }
}

fn fresh(doc: &str, key: &str) -> Candidate {
    let start: u32 = key.bytes().map(u32::from).sum::<u32>() * 100;
    candidate(
        passage(doc, key, 0, start, &format!("Text {doc} {key}.")),
        0.5,
    )
}

fn markers(sources: &[ContextSource]) -> Vec<&str> {
    sources.iter().map(|source| &*source.marker).collect()
}

fn handed_over(passages: serde_json::Value) -> Vec<Candidate> {
    caller_sources(CallerPassage::parse_list(&passages).expect("passages")).expect("candidates")
}

#[test]
fn a_passage_that_is_shown_by_its_facts_is_added_under_another_marker() {
    let (mut context, bound) = placed(vec![fresh("a", "1")]);
    context[0].candidate.origin = Origin::Remembered;
    let mut found = gathered(vec![fresh("a", "1")]);
    match_known_sources(&mut found, None, &context);
    let register = MarkerRegister {
        markers: bound,
        taken: taken_markers(&context),
        ..MarkerRegister::default()
    };
    let (found, new) = placed_after(found.candidates, &register);
    assert_eq!(found[0].candidate.passage.content, "Text a 1.");
    let further = AdditionalSources::of(&context, found, new, 1);
    assert_eq!(markers(&further.added), ["A2"]);
}

#[test]
fn known_sources_are_shown_but_not_added() {
    let (context, bound) = placed(vec![fresh("a", "1"), fresh("b", "2")]);
    let register = MarkerRegister {
        markers: bound,
        ..MarkerRegister::default()
    };
    let (found, new) = placed_after(vec![fresh("c", "3"), fresh("a", "1")], &register);
    let further = AdditionalSources::of(&context, found, new, 1);
    assert_eq!(markers(&further.shown), ["C1", "A1"]);
    assert_eq!(markers(&further.added), ["C1"]);
    assert_eq!(
        (further.added[0].position, further.added[0].retrieval_no),
        (3, 1)
    );
}

#[test]
fn a_part_of_a_source_matches_that_source() {
    let mut merged = fresh("a", "1");
    merged.member_chunk_ids = vec!["1".into(), "2".into()];
    merged.passage.content.push_str(" Text a 2.");
    let (context, _) = placed(vec![merged]);
    let mut found = gathered(vec![fresh("a", "2"), fresh("b", "2"), fresh("a", "1")]);
    let mut scores = vec![Some(0.1), Some(0.2), Some(0.3)];
    match_known_sources(&mut found, Some(&mut scores), &context);
    assert_eq!(scores, [Some(0.1), Some(0.2)]);
    let of: Vec<(&str, &str)> = found
        .candidates
        .iter()
        .map(|found| (&*found.passage.doc_id, &*found.passage.chunk_id))
        .collect();
    // The key 2 in another document is another passage.
    assert_eq!(of, [("a", "1"), ("b", "2")]);
    assert_eq!(found.candidates[0].member_chunk_ids, ["1", "2"]);
    let gone: Vec<_> = found
        .dropped
        .iter()
        .map(|gone| (gone.stage, gone.reason))
        .collect();
    assert_eq!(gone, [(Stage::Collapse, Reason::Merged)]);
}

/// A citation of the other document must resolve to it.
#[test]
fn the_same_text_in_another_document_is_another_source() {
    let (context, _) = placed(vec![fresh("a", "1")]);
    let mut twin = fresh("copy", "9");
    twin.passage.content_hash = context[0].candidate.passage.content_hash.clone();
    let mut found = gathered(vec![twin]);
    match_known_sources(&mut found, None, &context);
    assert_eq!(found.candidates[0].passage.doc_id, "copy");
}

/// The search found the current text, so the model must see that text.
#[test]
fn a_changed_passage_is_another_source() {
    let (context, _) = placed(vec![fresh("a", "1")]);
    let mut changed = fresh("a", "1");
    changed.passage.content = "It says something else.".into();
    changed.passage.content_hash = reground_documents::content_hash_hex(&changed.passage.content);
    let mut found = gathered(vec![changed.clone()]);
    match_known_sources(&mut found, None, &context);
    assert_eq!(found.candidates, [changed]);
    assert_eq!(found.dropped, []);
}

#[test]
fn a_passage_provided_twice_is_one_source() {
    let settings = Settings::default();
    let results = json!([
        {"content": "Rain tomorrow.", "uri": "https://weather.example/berlin"},
        {"content": "Rain tomorrow.", "uri": "https://weather.example/berlin"},
        {"content": "Wind today.", "uri": "https://weather.example/berlin"},
        {"content": "Ferries run."},
        {"content": "Rain tomorrow.", "uri": "https://another.example/berlin"}
    ]);
    let first = add_caller_sources(
        &[],
        handed_over(results.clone()),
        &MarkerRegister::default(),
        "q",
        &settings,
        1,
    );
    // Passages with the same address belong to one document.
    assert_eq!(markers(&first.added), ["A1", "A2", "B1", "C1"]);
    let register = MarkerRegister {
        markers: first.new_markers,
        ..MarkerRegister::default()
    };
    let again = add_caller_sources(
        &first.added,
        handed_over(results),
        &register,
        "q",
        &settings,
        2,
    );
    assert_eq!(markers(&again.shown), ["A1", "A2", "B1", "C1"]);
    assert!(again.added.is_empty() && again.new_markers.is_empty());
}

#[test]
fn passages_with_markers_are_an_error() {
    let passages =
        CallerPassage::parse_list(&json!([{"content": "a", "marker": "A1"}])).expect("passages");
    assert_eq!(
        caller_sources(passages),
        Err(GroundingError::GivenMarker("A1".into()))
    );
}

#[test]
fn a_trace_contains_each_candidate_once() {
    let id = |key: &str| PassageId::of(&fresh("a", key).passage);
    let dropped = |key: &str| Dropped {
        candidate: fresh("a", key),
        stage: Stage::Context,
        reason: Reason::OverMaxSources,
        into: None,
    };
    let (added, _) = placed(vec![fresh("a", "3")]);
    let known = [(id("1"), false), (id("2"), true), (id("3"), true)];
    let left = [
        dropped("1"),
        dropped("2"),
        dropped("4"),
        dropped("4"),
        dropped("3"),
    ];
    let retraced = trace_update(&known, &added, &left);
    assert_eq!(retraced.still_left, [1]);
    assert_eq!(retraced.newly_left, [2]);
}
