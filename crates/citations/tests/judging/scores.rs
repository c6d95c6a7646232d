//! Loss stages, scores of an answer, and decisions.
#![allow(clippy::unwrap_used)] // for the shared functions of tests

use reground_citations::{
    Action, Diagnostic, Factors, Judgement, LossStage, MessageScores, PolicyRules, RefusalReason,
    StageFacts, Status, decide, score,
};

use crate::fixture::{context, judged_by, source};

#[test]
fn factors_and_loss_stages() {
    let facts = |retrieved, reranked, in_context| {
        Some(StageFacts {
            coordinates: true,
            retrieved,
            reranked,
            in_context,
        })
    };
    for (status, facts, lost, product) in [
        (
            Status::ResolvedCurrent,
            facts(true, true, true),
            None,
            Some(1.0),
        ),
        (Status::InsufficientAttribution, None, None, Some(1.0)),
        (
            Status::Unsupported,
            facts(true, true, true),
            Some(LossStage::Generation),
            Some(0.0),
        ),
        (
            Status::StaleTurn,
            facts(true, true, false),
            Some(LossStage::Context),
            Some(0.0),
        ),
        (
            Status::Unretrieved,
            facts(true, false, false),
            Some(LossStage::Rerank),
            Some(0.0),
        ),
        (
            Status::InvalidPage,
            None,
            Some(LossStage::Retrieval),
            Some(0.0),
        ),
        (
            Status::UnknownId,
            None,
            Some(LossStage::Generation),
            Some(0.0),
        ),
        (Status::Malformed, None, None, None),
    ] {
        let factors = Factors::of(status, facts);
        assert_eq!(
            (factors.lost_stage(), factors.product()),
            (lost, product),
            "{status:?}"
        );
    }
    assert_eq!(
        Factors::of(Status::UnknownId, None).0,
        [None, None, None, None, Some(false)]
    );
    assert_eq!(
        Factors::of(Status::Unretrieved, facts(true, false, false)).0,
        [Some(true), Some(true), Some(false), None, None]
    );
}

fn scored(answer: &str) -> (Vec<Judgement>, MessageScores) {
    let judged = judged_by(answer, &context()).1;
    let facts = vec![None; judged.len()];
    let scores = score(&judged, &facts, |_| 1.0).unwrap().0;
    (judged, scores)
}

#[test]
fn message_scores_and_decision() {
    let (judged, scores) = scored(
        "The server listens on port 5432 [A1]. Quantum toasters hover [A2]. It is so [C9]. Nothing else [Z1]. Or this [A1,].",
    );
    let near = |value: Option<f64>, expected: f64| (value.unwrap() - expected).abs() < 1e-12;
    assert_eq!(
        (
            scores.citations,
            scores.scored,
            scores.holding,
            scores.malformed
        ),
        (5, 4, 1, 1)
    );
    assert!(near(scores.cfs, (1.0 + 1.0 + 0.3 + 0.0) / 4.0));
    assert!(near(scores.stage_cfs, 0.25));
    // The stale citation has no support and is excluded.
    assert!(near(scores.grounded_cfs, 1.0 / 3.0));
    assert_eq!(
        judged[3].status.diagnostic(),
        Some(Diagnostic::HallucinatedDocumentId)
    );
    let rules = PolicyRules {
        min_support_rate: 0.75,
        min_cfs: Some(0.9),
        min_grounded_cfs: Some(0.4),
        require_citations: true,
    };
    let decision = decide(&judged, &scores, false, &rules);
    assert_eq!(decision.action, Action::Regenerate);
    assert_eq!(
        decision.reasons,
        [
            RefusalReason::UnknownId,
            RefusalReason::FewHold,
            RefusalReason::LowCfs,
            RefusalReason::LowGroundedCfs,
        ]
    );
    let (judged, scores) = scored("No citation at all.");
    assert_eq!(
        (scores.cfs, scores.stage_cfs, scores.diagnostic()),
        (None, None, Some("no_citations_found"))
    );
    assert_eq!(
        decide(&judged, &scores, false, &rules).reasons,
        [RefusalReason::NoCitations]
    );
    assert_eq!(
        decide(&judged, &scores, false, &PolicyRules::default()).action,
        Action::Accept
    );
    assert_eq!(
        decide(&judged, &scores, true, &PolicyRules::default()).reasons,
        [RefusalReason::OneSided]
    );
}

#[test]
fn answers_whose_citations_mostly_fail_are_refused() {
    let rules = PolicyRules {
        min_support_rate: 0.5,
        ..PolicyRules::default()
    };
    let reasons = |answer: &str| {
        let (judged, scores) = scored(answer);
        decide(&judged, &scores, false, &rules).reasons
    };
    let right = "The server listens on port 5432 [A1].";
    let wrong = "Telephones ring loudly everywhere [A1].";
    assert_eq!(reasons(right), []);
    assert_eq!(reasons(wrong), [RefusalReason::FewHold]);
    assert_eq!(reasons(&format!("{right} {wrong}")), []);
    assert_eq!(
        reasons(&format!("{right} {wrong} Pigs fly southwards [A1].")),
        [RefusalReason::FewHold]
    );
    // An open bracket is malformed.
    assert_eq!(
        reasons("The server listens on port 5432 [A1"),
        [RefusalReason::Malformed]
    );
    assert_eq!(reasons(&format!("{right} It listens [A1")), []);
}

#[test]
fn an_answer_that_contradicts_its_source_is_refused() {
    let text = "Several masons from Pilsen built the grain market near the river bridge during 1843 with stones.";
    let sources = [source("S1", "S1", None, text)];
    let reasons = |claim: &str| {
        let answer = format!("{claim} [S1]. {text} [S1]. {text} [S1].");
        let judged = judged_by(&answer, &sources).1;
        let rules = PolicyRules::default();
        decide(&judged, &MessageScores::default(), false, &rules).reasons
    };
    assert_eq!(reasons(&text.replace('.', "")), []);
    let other = text.replace("1843", "1834").replace('.', "");
    assert_eq!(reasons(&other), [RefusalReason::Contradicted]);
}
