//! The state of a queued evaluation, the rows with their published values, and the agreement with humans.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "shared functions of tests"
)]

use reground_metrics::factuality::comparison::{ComparisonRow, System, compare};
use reground_metrics::factuality::outcome::{Outcome, Tally};
use reground_metrics::factuality::published::{MODELS, RETRIEVAL, Setting};
use reground_metrics::factuality::validation::{LabelledDecomposition, LabelledVerdict, agreement};
use reground_metrics::factuality::verdicts::{AnswerVerdicts, Entailment, Unmeasured};

/// Verdicts from letters: e, c, n, and `?` for a missing one.
fn verdicts(letters: &str) -> Vec<Option<Entailment>> {
    let verdict = |letter| match letter {
        'e' => Some(Entailment::Entailed),
        'c' => Some(Entailment::Contradicted),
        'n' => Some(Entailment::Neutral),
        '?' => None,
        other => panic!("{other}"),
    };
    letters.chars().map(verdict).collect()
}

fn answer(statements: Option<&str>, facts: &str) -> AnswerVerdicts {
    AnswerVerdicts {
        statements: statements.map(verdicts),
        facts: Some(verdicts(facts)),
        tokens: 60,
    }
}

fn outcome(statements: Option<&str>, facts: &str, queued: u64) -> &'static str {
    Outcome::of(&answer(statements, facts), queued).name()
}

#[test]
fn an_evaluation_waits_only_for_queued_tasks() {
    assert_eq!(outcome(None, "??", 1), "pending");
    // The decomposition was given up.
    assert_eq!(outcome(None, "??", 0), "judge_failed");
    assert_eq!(outcome(Some("e?"), "?c", 2), "pending");
    // One of two missing verdicts was given up.
    assert_eq!(outcome(Some("e?"), "?c", 1), "judge_failed");
    assert_eq!(outcome(Some("en"), "ec", 0), "done");
    // Nothing is asked about facts that cannot be measured.
    assert_eq!(outcome(Some(""), "??", 0), "no_statements");
    assert_eq!(outcome(None, "", 0), "no_facts");
}

#[test]
fn a_name_is_read_back() {
    let done = Outcome::of(&answer(Some("ec"), "en"), 0);
    for outcome in [
        Outcome::Pending,
        done,
        Outcome::Unmeasured(Unmeasured::NoFacts),
        Outcome::Unmeasured(Unmeasured::NoStatements),
        Outcome::Unmeasured(Unmeasured::JudgeFailed),
    ] {
        let read = Outcome::parse(outcome.name(), outcome.measures().copied());
        assert_eq!(read, Some(outcome));
    }
    assert_eq!(Outcome::parse("done", None), None);
    assert_eq!(Outcome::parse("Done", None), None);
    assert_eq!(
        Tally::of(&verdicts("eecn?")),
        Tally {
            all: 5,
            entailed: 2,
            contradicted: 1,
            missing: 1
        }
    );
}

#[test]
fn systems_stand_above_the_published_rows() {
    // The first system has no contradicted fact: its cost is that of the second, 60 / 1. The second has no entailed fact: its costs
    // are those of the first, 60 / 1 and 60 / (1 / 2).
    let system = |name: &str, outcomes: Vec<Outcome>| System {
        name: Some(name.to_owned()),
        setting: Setting::MultiTurn,
        outcomes,
    };
    let one = system(
        "one",
        vec![
            Outcome::of(&answer(Some("en"), "en"), 0),
            Outcome::of(&answer(None, "?"), 1),
        ],
    );
    let other = system(
        "other",
        vec![
            Outcome::of(&answer(Some("cn"), "cn"), 0),
            Outcome::of(&answer(Some(""), "?"), 0),
        ],
    );
    let rows = compare(&[one, other]);
    assert_eq!(rows.len(), 2 + MODELS.len() + RETRIEVAL.len());
    let costs = |row: &ComparisonRow| {
        [
            row.tokens_per_entailed_fact,
            row.tokens_per_contradicted_fact,
            row.tokens_to_cover_all,
        ]
        .map(Option::unwrap)
    };
    assert_eq!(costs(&rows[0]), [60.0, 60.0, 120.0]);
    assert_eq!(costs(&rows[1]), [60.0, 60.0, 120.0]);
    let counts = |row: &ComparisonRow| {
        [row.answers, row.measured, row.pending, row.no_statements].map(Option::unwrap)
    };
    assert_eq!(counts(&rows[0]), [2, 1, 1, 0]);
    assert_eq!(counts(&rows[1]), [2, 1, 0, 1]);
    assert_eq!(rows[0].without_contradicted_fact, Some(1));
    assert_eq!(rows[1].without_entailed_fact, Some(1));
    assert_eq!(
        (rows[0].factual_f1, rows[1].factual_f1),
        (Some(0.5), Some(0.0))
    );
    // Table 8 begins with Gemini-2.5-Pro: recall 57.32 %, F1 23.15 %.
    let first = &rows[2];
    assert_eq!(
        (first.published_table, first.value.as_deref()),
        (Some(8), Some("Gemini-2.5-Pro"))
    );
    assert!((first.factual_recall.unwrap() - 0.5732).abs() < 1e-12);
    assert!((first.factual_f1.unwrap() - 0.2315).abs() < 1e-12);
    assert_eq!(first.answers, None);
}

#[test]
fn agreement_computed_by_hand() {
    let review = |statements, human_statements, omitted_statements| LabelledDecomposition {
        statements,
        human_statements,
        omitted_statements,
    };
    let one = |verdict: char, labels: &str| LabelledVerdict {
        verdict: verdicts(&verdict.to_string())[0],
        labels: verdicts(labels).into_iter().flatten().collect(),
    };
    // |8 - 10| / 9 and 0; 1 of 10 and 0 of 4 statements omitted.
    let decompositions = [review(8, 10, 1), review(4, 4, 0)];
    // Majorities: e, e, c, n; the tie and the failed verdict are not compared.
    let labelled = [
        one('e', "eec"),
        one('n', "e"),
        one('c', "ccc"),
        one('n', "nnn"),
        one('e', "ec"),
        one('?', "eee"),
    ];
    let rows = agreement(&decompositions, &labelled);
    let row = |measure: &str| *rows.iter().find(|row| row.measure == measure).unwrap();
    let near = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-12;
    assert!(near(row("smape").value, 1.0 / 9.0));
    assert_eq!(row("smape").samples, 2);
    assert!(near(row("omission_rate").value, 1.0 / 14.0));
    assert_eq!(row("omission_rate").samples, 14);
    // F1: e 2·1 / (2 + 1), c 1, n 2·1 / (1 + 2); weights 2, 1, 1.
    let f1 = (2.0 * (2.0 / 3.0) + 1.0 + 2.0 / 3.0) / 4.0;
    assert!(near(row("weighted_f1").value, f1));
    assert_eq!(row("weighted_f1").samples, 4);
    // Observed 3/4; by chance (2·1 + 1·1 + 1·2) / 16.
    let kappa = (3.0 / 4.0 - 5.0 / 16.0) / (1.0 - 5.0 / 16.0);
    assert!(near(row("kappa").value, kappa));
    assert_eq!(
        (row("kappa").source_low, row("kappa").source_high),
        (0.79, 0.81)
    );
    // Four verdicts have three labels: eec, ccc, nnn, eee. Agreement (1/3 + 1 + 1 + 1) / 4; shares e 5/12, c 4/12, n 3/12.
    let (observed, chance) = (10.0 / 12.0, (25.0 + 16.0 + 9.0) / 144.0);
    assert!(near(
        row("fleiss_kappa").value,
        (observed - chance) / (1.0 - chance)
    ));
    assert_eq!(row("fleiss_kappa").samples, 4);
    let none = agreement(&[], &[]);
    assert!(
        none.iter()
            .all(|row| row.value.is_none() && row.samples == 0)
    );
}
