//! Tests of diagnoses on generated faults.

use reground_citations::{LossStage, Status};
use serde_json::json;

use crate::counts::Kind;
use crate::diagnosis::{Clue, ComponentCell, DiagnosisInput, RerankCell};
use crate::hours::{AnswerCell, Cells, CitationCell, HOUR, Hours, StaleCell};
use crate::indicator::Indicator;
use crate::rule::Severity;

const BAD: i64 = 500 * HOUR;

fn cell(
    hour: i64,
    kind: &str,
    status: Status,
    lost_stage: Option<LossStage>,
    citations: u64,
) -> CitationCell {
    CitationCell {
        hour,
        corpus: "help".into(),
        document_type: Some(kind.into()),
        status,
        lost_stage,
        citations,
    }
}

/// Returns an input with a week in which only generation loses a few citations, followed by the passed cells.
fn case(indicator: Indicator, bad: Vec<CitationCell>) -> DiagnosisInput {
    let week = (1..168).flat_map(|back| {
        let hour = BAD - back * HOUR;
        let lost = Some(LossStage::Generation);
        [
            cell(hour, "pdf", Status::ResolvedCurrent, None, 90),
            cell(hour, "pdf", Status::UnknownId, lost, 10),
        ]
    });
    DiagnosisInput {
        indicator,
        corpus: Some("help".into()),
        first_bad_hour: BAD,
        until: BAD + 2 * HOUR,
        hours: Hours::from(Cells {
            citations: week.chain(bad).collect(),
            ..Cells::default()
        }),
        components: Vec::new(),
        reranks: Vec::new(),
        reports: 0,
    }
}

fn conclusion(case: &DiagnosisInput) -> Clue {
    let clues = case.diagnose();
    assert_eq!((clues[0].step, clues[0].clue), (0, "conclusion"));
    assert!(clues.iter().skip(1).all(|clue| clue.step > 0));
    clues[0].clone()
}

#[test]
fn the_stage_is_the_one_whose_losses_grew() {
    // Generation loses more citations, but at the same rate as before.
    let bad = vec![
        cell(BAD, "pdf", Status::ResolvedCurrent, None, 81),
        cell(
            BAD,
            "pdf",
            Status::UnknownId,
            Some(LossStage::Generation),
            10,
        ),
        cell(BAD, "md", Status::Unretrieved, Some(LossStage::Context), 9),
    ];
    let found = conclusion(&case(Indicator::Percentile(5), bad));
    assert_eq!((found.stage, found.stage_no), (Some("context"), Some(4)));
    assert_eq!(found.hour, BAD);
    assert_eq!(found.details["rate"], json!(0.09));
    assert_eq!(found.details["rate_before"], json!(0.0));
    assert_eq!(found.document_type.as_deref(), Some("md"));
}

#[test]
fn invalid_pages_are_attributed_to_the_chunker() {
    let bad = vec![
        cell(BAD, "html", Status::ResolvedCurrent, None, 50),
        cell(BAD, "pdf", Status::ResolvedCurrent, None, 20),
        cell(
            BAD,
            "pdf",
            Status::InvalidPage,
            Some(LossStage::Context),
            30,
        ),
    ];
    let found = conclusion(&case(Indicator::Mean, bad));
    assert_eq!(found.stage, Some("chunk"));
    assert_eq!(found.document_type.as_deref(), Some("pdf"));
}

#[test]
fn a_type_that_is_lost_as_often_as_the_others_is_no_clue() {
    let lost = Some(LossStage::Retrieval);
    let bad = vec![
        cell(BAD, "html", Status::ResolvedCurrent, None, 10),
        cell(BAD, "html", Status::Unretrieved, lost, 10),
        cell(BAD, "pdf", Status::ResolvedCurrent, None, 40),
        cell(BAD, "pdf", Status::Unretrieved, lost, 40),
    ];
    let found = conclusion(&case(Indicator::Mean, bad));
    assert_eq!(
        (found.stage, found.document_type),
        (Some("retrieval"), None)
    );
}

#[test]
fn malformed_citations_are_attributed_to_the_last_stage() {
    let bad = vec![cell(BAD, "pdf", Status::Malformed, None, 5)];
    let found = conclusion(&case(Indicator::ParseFailures, bad));
    assert_eq!((found.stage, found.stage_no), (Some("citation"), Some(6)));
}

#[test]
fn the_conclusion_names_the_worst_corpus() {
    let mut of_two = case(
        Indicator::Survival(LossStage::Rerank),
        vec![cell(
            BAD,
            "pdf",
            Status::Unretrieved,
            Some(LossStage::Rerank),
            3,
        )],
    );
    let mut law = cell(BAD, "md", Status::Unretrieved, Some(LossStage::Rerank), 9);
    law.corpus = "law".into();
    of_two.hours.add(Cells {
        citations: vec![law],
        ..Cells::default()
    });
    of_two.corpus = None;
    let found = conclusion(&of_two);
    assert_eq!(
        (
            found.stage,
            found.corpus.as_ref().map(|corpus| corpus.name.as_str())
        ),
        (Some("rerank"), Some("law"))
    );
}

#[test]
fn stale_citations_are_attributed_to_the_document() {
    let mut stale = case(Indicator::Stale, Vec::new());
    let of = |kind: &str, stale| StaleCell {
        hour: BAD,
        corpus: "help".into(),
        document_type: Some(kind.into()),
        citations: 40,
        stale,
    };
    stale.hours.add(Cells {
        stale: vec![of("md", 20), of("pdf", 0)],
        ..Cells::default()
    });
    let found = conclusion(&stale);
    assert_eq!((found.stage, found.stage_no), (Some("document"), Some(0)));
    assert_eq!(found.document_type.as_deref(), Some("md"));
}

#[test]
fn a_new_component_version_within_a_day_is_a_suspect() {
    let mut changed = case(
        Indicator::Mean,
        vec![cell(BAD, "pdf", Status::Malformed, None, 5)],
    );
    let of = |back: i64, name: &str, value: &str, turns| ComponentCell {
        hour: BAD - back * HOUR,
        name: name.into(),
        value: value.into(),
        turns,
    };
    changed.components = vec![
        of(100, "component_versions", "reranker=1 chunker=4", 50),
        of(3, "component_versions", "reranker=2 chunker=4", 20),
        of(0, "component_versions", "reranker=2 chunker=4", 20),
        of(100, "fusion", "rrf", 50),
        of(30, "fusion", "scores", 50),
        of(0, "fusion", "scores", 20),
        of(100, "max_sources", "10", 50),
        of(0, "max_sources", "10", 19),
        of(0, "max_sources", "3", 1),
        of(0, "new_setting", "x", 20),
    ];
    let clues = changed.diagnose();
    let found: Vec<_> = clues.iter().filter(|clue| clue.step == 1).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].details["component"], "reranker version");
    assert_eq!(
        (&found[0].details["before"], &found[0].details["since"]),
        (&json!("1"), &json!("2"))
    );
    assert_eq!(found[0].hour, BAD - 3 * HOUR);
}

#[test]
fn missing_ids_of_a_reranker_are_a_clue_without_losses() {
    let mut stripped = case(Indicator::Mean, Vec::new());
    stripped.reranks = vec![
        RerankCell {
            hour: BAD - HOUR,
            turns: 100,
            missing: 2,
            changed: 0,
        },
        RerankCell {
            hour: BAD,
            turns: 40,
            missing: 30,
            changed: 1,
        },
    ];
    let clues = stripped.diagnose();
    assert_eq!(clues[0].stage, Some("rerank"));
    let found: Vec<_> = clues.iter().filter(|clue| clue.step == 2).collect();
    assert_eq!((found.len(), found[0].clue), (1, "ids_missing"));
    assert_eq!(found[0].details["rate"], json!(0.75));
}

#[test]
fn user_reports_and_low_means_are_critical() {
    let severity = |cfs_bin, reports| {
        let malformed = cell(BAD, "pdf", Status::Malformed, None, 5);
        let mut bad = case(Indicator::Mean, vec![malformed]);
        bad.hours.add(Cells {
            answers: vec![AnswerCell {
                hour: BAD,
                corpus: "help".into(),
                cfs_bin: Some(cfs_bin),
                answers: 60,
            }],
            ..Cells::default()
        });
        bad.reports = reports;
        conclusion(&bad).severity
    };
    assert_eq!(severity(800, 0), Some(Severity::Warning));
    assert_eq!(severity(800, 1), Some(Severity::Critical));
    assert_eq!(severity(650, 0), Some(Severity::Critical));
}

#[test]
fn losses_of_a_reranker_have_its_stage_also_without_a_lost_citation() {
    let good = vec![cell(BAD, "pdf", Status::ResolvedCurrent, None, 90)];
    let found = conclusion(&case(Indicator::Rise(Kind::RerankLost), good.clone()));
    assert_eq!(found.stage, Some("rerank"));
    let found = conclusion(&case(Indicator::Rise(Kind::AnswerMs), good));
    assert_eq!(found.stage, None);
}

#[test]
fn a_type_that_always_fails_is_no_clue_when_another_begins_to() {
    let lost = Some(LossStage::Generation);
    let mut bad = case(Indicator::Rise(Kind::Failing), Vec::new());
    for back in 1..168 {
        let scanned = cell(BAD - back * HOUR, "tif", Status::Unsupported, lost, 50);
        bad.hours.add(Cells {
            citations: vec![scanned],
            ..Cells::default()
        });
    }
    bad.hours.add(Cells {
        citations: vec![
            cell(BAD, "tif", Status::Unsupported, lost, 50),
            cell(BAD, "pdf", Status::ResolvedCurrent, None, 60),
            cell(BAD, "pdf", Status::Unsupported, lost, 40),
        ],
        ..Cells::default()
    });
    assert_eq!(conclusion(&bad).document_type.as_deref(), Some("pdf"));
}
