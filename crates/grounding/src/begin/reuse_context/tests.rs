use super::*;
use crate::begin::carry::CarriedOption;
use crate::begin::compose;
use crate::fixtures::{candidate, passage};
use crate::memory::{BoundMarker, MarkerRegister, RememberedSource};

fn places(passages: &[Passage]) -> BTreeMap<PassageId, Passage> {
    let of = |p: &Passage| (PassageId::of(p), p.clone());
    passages.iter().map(of).collect()
}

/// Passages in order, each in its own document.
fn apart(n: usize) -> Vec<Passage> {
    (0..n)
        .map(|i| {
            passage(
                &format!("d{i}"),
                &format!("k{i}"),
                0,
                0,
                &format!("Number {i} says so."),
            )
        })
        .collect()
}

/// A composed context, with its marker registry.
fn composed(
    candidates: Vec<Candidate>,
    settings: &Settings,
) -> (Vec<ContextSource>, Vec<BoundMarker>) {
    let gathered = Gathered {
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
    };
    let composed = compose(
        gathered,
        None,
        &MarkerRegister::default(),
        "what is said?",
        settings,
    )
    .unwrap();
    (composed.context, composed.new_markers)
}

fn fresh(passages: &[Passage]) -> Vec<Candidate> {
    let of = |p: &Passage| candidate(p.clone(), 0.5);
    passages.iter().map(of).collect()
}

fn again(
    input: ReuseInput,
    markers: &[BoundMarker],
    settings: &Settings,
) -> (Vec<ContextSource>, Vec<BoundMarker>) {
    let register = MarkerRegister {
        markers: markers.to_vec(),
        ..MarkerRegister::default()
    };
    let composed = compose(
        reuse_context(input, settings),
        None,
        &register,
        "and now?",
        settings,
    )
    .unwrap();
    (composed.context, composed.new_markers)
}

fn shown(context: &[ContextSource]) -> Vec<(&str, &str, &str)> {
    context
        .iter()
        .map(|source| {
            let passage = &source.candidate.passage;
            (
                source.marker.as_str(),
                passage.chunk_id.as_str(),
                passage.content.as_str(),
            )
        })
        .collect()
}

#[test]
fn reused_sources_keep_order_text_and_markers() {
    let passages = apart(7);
    for order in [PassageOrder::Score, PassageOrder::Edges] {
        let settings = Settings {
            passage_order: order,
            ..Settings::default()
        };
        let (before, markers) = composed(fresh(&passages), &settings);
        let input = ReuseInput {
            context: before.clone(),
            order: Some(order),
            passages: places(&passages),
            ..ReuseInput::default()
        };
        let (after, new) = again(input, &markers, &settings);
        assert_eq!(shown(&after), shown(&before), "{order:?}");
        assert!(new.is_empty());
        assert!(
            after
                .iter()
                .all(|source| source.candidate.origin == Origin::Carried)
        );
    }
}

#[test]
fn a_merged_source_stays_merged() {
    let (a, b) = ("First half of it. ", "Second half of it.");
    let passages = [
        passage("d", "1", 0, 0, a),
        passage("d", "2", 1, a.len() as u32, b),
    ];
    let settings = Settings::default();
    // The second is the stronger one, so the merge has its key.
    let (merged, _) = collapse(
        fresh(&[passages[1].clone(), passages[0].clone()]),
        &settings,
    );
    let (before, markers) = composed(merged, &settings);
    assert_eq!(shown(&before), [("A1", "2", format!("{a}{b}").as_str())]);
    assert_eq!(passages_of(&before).count(), 2);
    let input = |passages: &[Passage]| ReuseInput {
        context: before.clone(),
        passages: places(passages),
        ..ReuseInput::default()
    };
    let narrow = Settings {
        max_merged_tokens: 1,
        ..Settings::default()
    };
    let (after, new) = again(input(&passages), &markers, &narrow);
    assert_eq!(shown(&after), shown(&before));
    assert!(new.is_empty());
    // If half of it is deleted, the rest stays as a passage with a new marker.
    let kept = reuse_context(input(&passages[..1]), &settings);
    assert_eq!(kept.candidates.len(), 1);
    assert_eq!(kept.candidates[0].passage.content, a);
    assert_eq!(kept.warnings.len(), 1);
    let gone: Vec<_> = kept
        .dropped
        .iter()
        .map(|d| (d.candidate.passage.chunk_id.as_str(), d.reason))
        .collect();
    assert_eq!(gone, [("2", Reason::Gone)]);
}

#[test]
fn deleted_sources_are_dropped_and_changed_ones_give_a_warning() {
    let passages = apart(3);
    let settings = Settings::default();
    let (before, _) = composed(fresh(&passages), &settings);
    let mut now = places(&passages);
    now.remove(&PassageId::of(&passages[0]));
    let rewritten = passage("d1", "k1", 0, 0, "It says something else.");
    now.insert(PassageId::of(&rewritten), rewritten);
    let moved = Passage {
        doc_id: "other".into(),
        ..passages[2].clone()
    };
    now.insert(PassageId::of(&moved), moved);
    let kept = reuse_context(
        ReuseInput {
            context: before,
            passages: now,
            ..ReuseInput::default()
        },
        &settings,
    );
    let texts: Vec<_> = kept
        .candidates
        .iter()
        .map(|c| c.passage.content.as_str())
        .collect();
    assert_eq!(texts, ["It says something else."]);
    assert_eq!(
        kept.warnings,
        [Warning::SourceChanged {
            doc_id: "d1".into(),
            chunk_id: "k1".into()
        }]
    );
    let left: Vec<_> = kept
        .dropped
        .iter()
        .map(|d| (d.candidate.passage.chunk_id.as_str(), d.reason))
        .collect();
    assert_eq!(left, [("k0", Reason::Gone), ("k2", Reason::Changed)]);
}

#[test]
fn pins_come_first_with_their_best_passage() {
    let passages = apart(3);
    let settings = Settings::default();
    let (before, markers) = composed(fresh(&passages), &settings);
    let pinned = [
        passage("p", "p1", 0, 0, "Weak."),
        passage("p", "p2", 1, 40, "Strong."),
    ];
    let option = |passage: &Passage, score| CarriedOption {
        handle: None,
        passage: passage.clone(),
        lexical_score: Some(score),
        vector_distance: None,
    };
    let remembered = |doc: &str, key: &str, order| RememberedSource {
        corpus: "manual".into(),
        doc_id: doc.into(),
        chunk_id: key.into(),
        carry_score: 1.0,
        inactive_turns: 0,
        pinned: true,
        pin_order: Some(order),
        cited: false,
        content_hash: None,
    };
    let pins = vec![
        CarriedInput {
            source: remembered("p", "", 1),
            options: vec![option(&pinned[0], 1.0), option(&pinned[1], 2.0)],
            age: None,
            asked: None,
        },
        CarriedInput {
            source: remembered("d1", "k1", 2),
            options: vec![option(&passages[1], 0.5)],
            age: None,
            asked: None,
        },
    ];
    let input = ReuseInput {
        context: before,
        passages: places(&passages),
        pins,
        ..ReuseInput::default()
    };
    let (after, _) = again(input, &markers, &settings);
    let keys: Vec<_> = shown(&after)
        .into_iter()
        .map(|(marker, key, _)| (marker, key))
        .collect();
    assert_eq!(
        keys,
        [("D1", "p2"), ("B1", "k1"), ("A1", "k0"), ("C1", "k2")]
    );
    let origins: Vec<_> = after.iter().map(|s| s.candidate.origin).collect();
    assert_eq!(
        origins,
        [
            Origin::Pinned,
            Origin::Pinned,
            Origin::Carried,
            Origin::Carried
        ]
    );
}

#[test]
fn an_empty_context_stays_empty() {
    let kept = reuse_context(ReuseInput::default(), &Settings::default());
    assert!(kept.candidates.is_empty() && kept.warnings.is_empty() && kept.dropped.is_empty());
}
