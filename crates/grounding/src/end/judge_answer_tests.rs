use reground_citations::{
    Action, Cues, Error, Families, Grammar, Lexemes, LossStage, PolicyRules, StageFacts, Status,
    SupportRules,
};

use super::{
    EndInput, EndRules, JudgedAnswer, Traced, documents_to_look_up, judge_answer, known_markers,
    sources_of, stages_reached,
};
use crate::memory::SourceKey;
use crate::memory::decay::DecayRules;
use crate::memory::decay::tests::shown;
use crate::memory::{BoundMarker, ContextSource, RememberedSource};
use crate::passage::Origin;
use crate::settings::CarryActivation;

const RULES: EndRules = EndRules {
    support: SupportRules {
        threshold: 0.5,
        other_source_margin: 0.2,
    },
    policy: PolicyRules {
        min_support_rate: 0.5,
        min_cfs: Some(0.9),
        min_grounded_cfs: None,
        require_citations: true,
    },
    decay: DecayRules {
        decay: 0.7,
        ttl_turns: 3,
        activation: CarryActivation::Context,
    },
};

fn lexemes(text: &str) -> Lexemes {
    let words = text.split(|c: char| !c.is_alphanumeric());
    Lexemes::of(
        text,
        words.filter(|word| word.len() > 3).map(str::to_lowercase),
    )
}

fn context() -> Vec<ContextSource> {
    vec![
        shown(
            "A1",
            "1",
            Origin::Fresh,
            "Administrators open Settings. Users do not.",
        ),
        shown("A2", "2", Origin::Carried, "Backups run every night."),
    ]
}

fn bound(marker: &str, passage: &str) -> BoundMarker {
    BoundMarker {
        marker: marker.to_owned(),
        corpus: "manual".to_owned(),
        doc_id: "doc".to_owned(),
        chunk_id: passage.to_owned(),
        version: None,
        pages: None,
        chars: None,
        locator: None,
        content_hash: String::new(),
    }
}

fn key(passage: &str) -> SourceKey {
    SourceKey {
        corpus: "manual".to_owned(),
        doc_id: "doc".to_owned(),
        chunk_id: passage.to_owned(),
    }
}

fn remembered(passage: &str, carry_score: f64, inactive_turns: u32) -> RememberedSource {
    RememberedSource {
        corpus: "manual".to_owned(),
        doc_id: "doc".to_owned(),
        chunk_id: passage.to_owned(),
        carry_score,
        inactive_turns,
        pinned: false,
        pin_order: None,
        cited: false,
        content_hash: None,
    }
}

fn ended(answer: &str) -> JudgedAnswer {
    let context = context();
    let extraction = reground_citations::extract(answer, &Families::ALL);
    let sources = sources_of(
        &context,
        context
            .iter()
            .map(|s| lexemes(&s.candidate.passage.content))
            .collect(),
        &Grammar::default(),
    )
    .unwrap();
    let markers = known_markers(
        &[bound("A1", "1"), bound("A2", "2"), bound("A3", "3")],
        &context,
    );
    assert!(documents_to_look_up(&extraction, &sources, &markers).is_empty());
    let claims: Vec<_> = extraction
        .claims
        .iter()
        .map(|claim| lexemes(&claim.text))
        .collect();
    // The third passage was found, but the reranker dropped it.
    let dropped = StageFacts {
        reranked: false,
        in_context: false,
        ..StageFacts::IN_CONTEXT
    };
    let trace = [
        Traced {
            key: key("1"),
            facts: StageFacts::IN_CONTEXT,
        },
        Traced {
            key: key("3"),
            facts: dropped,
        },
    ];
    let input = EndInput {
        compares_statements: false,
        extraction: &extraction,
        context: &context,
        sources: &sources,
        markers: &markers,
        remembered: &[
            remembered("2", 0.7, 0),
            remembered("3", 0.343, 2),
            remembered("4", 0.343, 2),
        ],
        named: &[],
        claim_lexemes: &claims,
        quotes: &[],
        cues: &Cues::LANGUAGE_FREE,
        others: &[],
        read_by: &[],
        conflicts: &[],
        trace: &trace,
        rules: RULES,
    };
    judge_answer(&input).unwrap()
}

#[test]
fn citations_of_each_kind_are_judged() {
    let judged = ended(
        "Administrators open Settings [A1]. Backups run every night [A1]. It is so [A3]. Or so [Z9].",
    );
    let statuses: Vec<_> = judged
        .citations
        .iter()
        .map(|c| c.judgement.status)
        .collect();
    assert_eq!(
        statuses,
        [
            Status::ResolvedCurrent,
            Status::WrongSource,
            Status::StaleTurn,
            Status::UnknownId
        ]
    );
    let lost: Vec<_> = judged
        .citations
        .iter()
        .map(|c| c.factors.lost_stage())
        .collect();
    assert_eq!(
        lost,
        [
            None,
            Some(LossStage::Generation),
            Some(LossStage::Rerank),
            Some(LossStage::Generation)
        ]
    );
    assert_eq!(judged.decision.action, Action::Regenerate);
    // Fresh; cited under its old marker; carried only. The fourth is forgotten.
    let after: Vec<_> = judged
        .sources_after
        .iter()
        .map(|s| (s.chunk_id.as_str(), s.carry_score, s.cited))
        .collect();
    assert_eq!(
        after,
        [("1", 0.7, true), ("2", 0.7 * 0.7, false), ("3", 0.7, true)]
    );
}

#[test]
fn lexemes_must_match_sources_and_claims() {
    assert_eq!(
        sources_of(&context(), Vec::new(), &Grammar::default()),
        Err(Error::SourceLexemes {
            sources: 2,
            given: 0
        })
    );
}

#[test]
fn a_dropped_duplicate_does_not_lower_the_factors() {
    let lost = StageFacts {
        retrieved: false,
        reranked: false,
        in_context: false,
        ..StageFacts::IN_CONTEXT
    };
    let shown = Traced {
        key: key("p1"),
        facts: StageFacts::IN_CONTEXT,
    };
    let duplicate = Traced {
        key: key("p1"),
        facts: lost,
    };
    for trace in [[shown.clone(), duplicate.clone()], [duplicate, shown]] {
        assert_eq!(
            stages_reached(&trace).get(&key("p1")),
            Some(&StageFacts::IN_CONTEXT)
        );
    }
}

#[test]
fn a_marker_is_replaced_if_its_key_has_another_text() {
    use crate::passage::CharRange;
    let chars = |start, end| CharRange::of(Some(start), Some(end));
    let of = |hash: &str, range: Option<CharRange>| {
        let mut source = shown("A9", "1", Origin::Fresh, "Pigs fly.");
        source.candidate.passage.chars = range;
        source.candidate.passage.content_hash = hash.to_owned();
        let marker = BoundMarker {
            content_hash: "h1".to_owned(),
            chars: chars(0, 30),
            ..bound("A1", "1")
        };
        known_markers(&[marker, bound("A2", "2")], &[source])
            .iter()
            .map(|known| known.replaced)
            .collect::<Vec<_>>()
    };
    // The same text, in any place.
    assert_eq!(of("h1", chars(0, 30)), [false, false]);
    assert_eq!(of("h1", chars(40, 70)), [false, false]);
    // Another text, in the same or another place.
    assert_eq!(of("h2", chars(0, 30)), [true, false]);
    assert_eq!(of("h2", chars(40, 70)), [true, false]);
    assert_eq!(of("h2", None), [true, false]);
    // A merge that contains it, and a merge of which it is a part.
    assert_eq!(of("h2", chars(0, 60)), [false, false]);
    assert_eq!(of("h2", chars(0, 10)), [false, false]);
}
