//! A check and a diagnosis over a month of data can be cancelled, and look at each hour once.

use reground_audit::alert::CheckInput;
use reground_audit::diagnosis::{ComponentCell, DiagnosisInput};
use reground_audit::hours::{AnswerCell, Cells, CitationCell, Corpus, HOUR, Hours};
use reground_audit::indicator::Indicator;
use reground_audit::rule::{Rule, Severity};
use reground_audit::traffic::EarlierCell;
use reground_citations::{LossStage, Status};
use reground_interrupt::test_support::Checks;
use reground_interrupt::{CHECK_INTERVAL, test_support};

const MONTH: i64 = 31 * 24;

/// Returns a month of hours. Each hour has this number of citations, each of another document type.
fn month(citations: usize) -> Hours {
    let cells = (0..MONTH).flat_map(|hour| {
        (0..citations).map(move |number| CitationCell {
            hour: hour * HOUR,
            corpus: "help".into(),
            document_type: Some(number.to_string()),
            status: Status::Unretrieved,
            lost_stage: Some(LossStage::Rerank),
            citations: 1,
        })
    });
    Hours::from(Cells {
        citations: cells.collect(),
        ..Cells::default()
    })
}

/// Checks a rule whose window must grow to the whole month before it has enough samples.
fn check(citations: usize) -> Checks {
    let input = CheckInput {
        now: (MONTH - 1) * HOUR,
        hours: month(citations),
        baselines: Vec::new(),
        open: Vec::new(),
        counts: Vec::new(),
        usual: Vec::new(),
        earlier: Vec::new(),
        reported: Vec::new(),
    };
    let rule = Rule {
        rule: "r".into(),
        indicator: Indicator::Survival(LossStage::Rerank),
        threshold: 0.9,
        hours: MONTH,
        whole_period: false,
        min_answers: MONTH as u64 * citations as u64,
        per_corpus: true,
        severity: Severity::Warning,
    };
    let mut found = 0;
    let checks = test_support::measure(|| found = input.check(&[rule]).len());
    assert_eq!(found, 1);
    checks
}

#[test]
fn a_check_is_interruptible_and_looks_at_each_hour_once() {
    let cells = MONTH as usize * 500;
    let checks = check(500);
    let work = checks.count * CHECK_INTERVAL;
    // Each cell is read when splitting by corpus, for the window, for its figure, and for the first bad hour.
    assert!((4 * cells..6 * cells).contains(&work), "{checks:?}");
    assert!(checks.longest < 2 * CHECK_INTERVAL, "{checks:?}");
}

#[test]
fn traffic_of_many_corpora_is_interruptible_and_read_by_corpus() {
    const CORPORA: usize = 200;
    let corpora: Vec<Corpus> = (0..CORPORA)
        .map(|n| n.to_string().as_str().into())
        .collect();
    let day = |back: i64| (1..=24).map(move |hour| (MONTH - back * 168 - hour) * HOUR);
    let answers = corpora.iter().flat_map(|corpus| {
        day(0).map(|hour| AnswerCell {
            hour,
            corpus: corpus.clone(),
            cfs_bin: None,
            answers: 1,
        })
    });
    let earlier = corpora.iter().flat_map(|corpus| {
        (1..=4).flat_map(day).map(|hour| EarlierCell {
            hour,
            corpus: corpus.clone(),
            answers: 1,
        })
    });
    let input = CheckInput {
        now: MONTH * HOUR,
        hours: Hours::from(Cells {
            answers: answers.collect(),
            ..Cells::default()
        }),
        baselines: Vec::new(),
        open: Vec::new(),
        counts: Vec::new(),
        usual: Vec::new(),
        earlier: earlier.collect(),
        reported: Vec::new(),
    };
    let rule = Rule {
        rule: "r".into(),
        indicator: Indicator::Traffic,
        threshold: 0.5,
        hours: 24,
        whole_period: true,
        min_answers: 24,
        per_corpus: true,
        severity: Severity::Warning,
    };
    let checks = test_support::measure(|| assert_eq!(input.check(&[rule]), []));
    // For each hour of the day and each week, the cells of the corpus: 24 · 4 · 96.
    let work = checks.count * CHECK_INTERVAL;
    let cells = CORPORA * 24 * 4 * 96;
    assert!((cells * 9 / 10..cells * 2).contains(&work), "{checks:?}");
}

#[test]
fn a_diagnosis_is_interruptible_over_cells_and_component_values() {
    let mut case = DiagnosisInput {
        indicator: Indicator::Survival(LossStage::Rerank),
        corpus: Some("help".into()),
        first_bad_hour: (MONTH - 24) * HOUR,
        until: MONTH * HOUR,
        hours: month(500),
        components: Vec::new(),
        reranks: Vec::new(),
        reports: 0,
    };
    let cells = MONTH as usize * 500;
    let checks = test_support::measure(|| case.diagnose());
    assert!(checks.count >= cells / CHECK_INTERVAL, "{checks:?}");
    case.hours = Hours::default();
    case.components = (0..2000)
        .map(|number| ComponentCell {
            hour: number % MONTH * HOUR,
            name: "model".into(),
            value: format!("m{number}"),
            turns: 1,
        })
        .collect();
    let checks = test_support::measure(|| case.diagnose());
    assert!(
        checks.count >= 2000 * 2000 / 2 / CHECK_INTERVAL,
        "{checks:?}"
    );
}
